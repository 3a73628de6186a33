package message

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

func TestFilterMatches(t *testing.T) {
	const order = `{"id":9007199254740993,"cur":"CNY","amount":1299.50,"items":[{"sku":"A-1"},{"sku":"B-9"}],"paid":true,"note":null,"名称":"退款","esc":"\u0043NY"}`
	m := sandboxtest.MessageOf(t, protocol.Record{Body: []byte(order), Properties: []protocol.Property{
		{Name: "TAGS", Value: "Aa"}, {Name: "KEYS", Value: "k1 k2"}, {Name: "shop", Value: "x=y"}}})
	tests := map[string]struct {
		filter Filter
		want   bool
	}{
		"nothing asked":        {Filter{}, true},
		"tag":                  {Filter{Tags: "Aa"}, true},
		"one of the tags":      {Filter{Tags: "x||Aa"}, true},
		"same hash code":       {Filter{Tags: "BB"}, false},
		"any tag":              {Filter{Tags: "*"}, true},
		"key":                  {Filter{Key: "k2"}, true},
		"part of a key":        {Filter{Key: "k"}, false},
		"property":             {Filter{Properties: map[string]string{"shop": "x=y"}}, true},
		"other value":          {Filter{Properties: map[string]string{"shop": "x"}}, false},
		"grep":                 {Filter{Grep: `"cur":"(CNY|USD)"`}, true},
		"grep without":         {Filter{Grep: "^refund"}, false},
		"jq":                   {Filter{JQ: `.amount > 1000 and .cur == "CNY"`}, true},
		"jq false":             {Filter{JQ: `.amount > 1000 and .cur == "USD"`}, false},
		"jq null":              {Filter{JQ: `.note`}, false},
		"jq missing":           {Filter{JQ: `.nope`}, false},
		"jq value":             {Filter{JQ: `.id`}, true},
		"jq select":            {Filter{JQ: `select(.cur == "CNY")`}, true},
		"jq select none":       {Filter{JQ: `select(.cur == "USD")`}, false},
		"jq one of many":       {Filter{JQ: `.items[] | .sku == "B-9"`}, true},
		"jq none of many":      {Filter{JQ: `.items[] | .sku == "C"`}, false},
		"jq many digits":       {Filter{JQ: `.id == 9007199254740993`}, true},
		"jq one digit off":     {Filter{JQ: `.id == 9007199254740992`}, false},
		"jq escaped spelling":  {Filter{JQ: `.esc == "CNY"`}, true},
		"jq other characters":  {Filter{JQ: `.["名称"] == "退款"`}, true},
		"jq not":               {Filter{JQ: `.cur == "USD" | not`}, true},
		"jq or":                {Filter{JQ: `.cur == "USD" or .paid`}, true},
		"jq defined function":  {Filter{JQ: `def f: "CNY"; .cur == f`}, true},
		"jq halt":              {Filter{JQ: `halt`}, false},
		"all":                  {Filter{Tags: "Aa", Key: "k1", Properties: map[string]string{"shop": "x=y"}, Grep: "CNY", JQ: ".paid"}, true},
		"all but one":          {Filter{Tags: "Aa", Key: "k1", Properties: map[string]string{"shop": "x=y"}, Grep: "CNY", JQ: ".paid|not"}, false},
		"jq of an interpolate": {Filter{JQ: `.cur == "\("CN")Y"`}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f, err := tt.filter.Compile()
			if err != nil {
				t.Fatal(err)
			}
			if got := f.Match(t.Context(), m); got != tt.want {
				t.Errorf("Match = %v, want %v; %+v", got, tt.want, f.Counts())
			}
			want := MatchCounts{Seen: 1}
			if tt.want {
				want.Matched = 1
			}
			if got := f.Counts(); got != want {
				t.Errorf("Counts = %+v, want %+v", got, want)
			}
		})
	}
}

// Bodies that a program fails on do not match; they are counted, and the first is
// named with its reason.
func TestFilterCountsWhatAProgramFailsOn(t *testing.T) {
	f, err := Filter{JQ: `.a.b > 1`}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{`{"a":{"b":2}}`, `{"a":{"b":1}}`, `{"a":[1]}`, "plain", `{"a":`, `{"a":{"b":2}} trailing`, "", "\xff"} {
		f.Match(t.Context(), bodyOf(t, body))
	}
	f.Match(t.Context(), compressedOf(t, protocol.SysFlagZLIB, []byte("no zlib")))
	got := f.Counts()
	if got.Seen != 9 || got.Matched != 1 || got.Failed != 7 || got.Kinds != 3 {
		t.Errorf("counts = %+v, want 9 seen, 1 matched, 7 failed for 3 reasons", got)
	}
	if want := "orders broker-a/0 at offset 0: expected an object but got: array ([1])"; got.Why != want {
		t.Errorf("why = %q, want %q", got.Why, want)
	}
}

// A program that does not end costs a message its programTime, no more.
func TestFilterProgramHasATimeLimit(t *testing.T) {
	for _, endless := range []string{"def f: f; f", "[range(infinite)]", "repeat(1) | empty", "[limit(100000000; repeat(1))] | length"} {
		f, err := Filter{JQ: endless}.Compile()
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if f.Match(t.Context(), bodyOf(t, "{}")) {
			t.Errorf("%s matches", endless)
		}
		if took := time.Since(began); took > 20*programTime {
			t.Errorf("%s took %v", endless, took)
		}
		if c := f.Counts(); c.Failed != 1 || !strings.Contains(c.Why, "the program took longer than 200ms") {
			t.Errorf("%s: counts = %+v, want it to say that the time was up", endless, c)
		}
	}
}

// Nor does a number without end, in what somebody else has sent: nothing interrupts
// the reckoning with it.
func TestFilterMeetsNoEndlessNumber(t *testing.T) {
	f, err := Filter{JQ: ".. | numbers | . + 1 > 5"}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for _, body := range []string{`{"n":[{"m":%s}]}`, `[-%s]`, `%s`} {
		if f.Match(t.Context(), bodyOf(t, fmt.Sprintf(body, strings.Repeat("1", 2<<20)))) {
			t.Errorf("%s matches", body)
		}
	}
	if took := time.Since(began); took > 20*programTime {
		t.Errorf("took %v", took)
	}
	if c := f.Counts(); c.Failed != 3 || !strings.Contains(c.Why, "a number of more than 10000 digits") {
		t.Errorf("counts = %+v, want it to say what is wrong with the number", c)
	}
	long := `{"n":` + strings.Repeat("1", programDigits) + `,"text":"` + strings.Repeat("1", 2<<20) + `"}`
	if !f.Match(t.Context(), bodyOf(t, long)) {
		t.Error("a number of many digits, or a text of them, keeps a message out")
	}
}

// What a caller ends is no failure of the message.
func TestFilterEndedIsNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, err := Filter{JQ: ".a"}.Compile()
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if f.Match(ctx, bodyOf(t, `{"a":1}`)) || f.Counts() != (MatchCounts{}) {
			t.Errorf("counts = %+v, want none", f.Counts())
		}
	})
}

func TestFilterRefuses(t *testing.T) {
	tests := map[string]struct {
		filter     Filter
		part, want string
	}{
		"grep":              {Filter{Grep: "a(b"}, "grep", "missing closing )"},
		"jq syntax":         {Filter{JQ: `.a >`}, "jq", "ends too early"},
		"jq token":          {Filter{JQ: `.a ) 1`}, "jq", `")" is not expected at character 4`},
		"jq function":       {Filter{JQ: `nope(.a)`}, "jq", "function not defined: nope/1"},
		"jq environment":    {Filter{JQ: `$__prog_args`}, "jq", "variable not defined"},
		"jq module":         {Filter{JQ: `import "x" as x; .`}, "jq", "cannot load module"},
		"jq input":          {Filter{JQ: `input`}, "jq", "input(s)/0 is not allowed"},
		"property no name":  {Filter{Properties: map[string]string{"": "x"}}, "property", "it has no name"},
		"tags of wrong use": {Filter{Tags: "||"}, "tags", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := tt.filter.Compile()
			bad, ok := errors.AsType[*FilterError](err)
			if !ok || bad.Part != tt.part || !strings.Contains(bad.Err.Error(), tt.want) {
				t.Errorf("Compile = %v, want an error of %s with %q", err, tt.part, tt.want)
			}
		})
	}
}

// The environment is not for programs: a filter may come from a note somebody else wrote.
func TestFilterProgramSeesNoEnvironment(t *testing.T) {
	t.Setenv("EYEQ_SECRET", "x")
	f, err := Filter{JQ: `env.EYEQ_SECRET // $ENV.EYEQ_SECRET`}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	if f.Match(t.Context(), bodyOf(t, "{}")) {
		t.Error("a program sees the environment")
	}
}

func TestFilterNeeds(t *testing.T) {
	tests := map[string][]string{
		`.cur == "CNY" and .amount > 1000`:            {"CNY"},
		`select(.a.b == "x" and ("y" == .c)) `:        {"x", "y"},
		`.cur == "CNY" or .amount > 1000`:             nil,
		`.cur == "CNY" | not`:                         nil,
		`.cur != "CNY"`:                               nil,
		`(.a | tostring) == "1"`:                      nil,
		`.a == "a\"b"`:                                nil,
		`.a == ""`:                                    nil,
		`def select(f): true; select(.cur == "CNY")`:  nil,
		`(.cur // "CNY") == "CNY"`:                    nil,
		`.a[.b] == "x"`:                               nil,
		`.a? == "x"`:                                  nil,
		`.a == "\(.b)"`:                               nil,
		`if .a == "x" then true else .b == "y" end`:   nil,
		`.a == "x" as $v | true`:                      nil,
		`. == "x"`:                                    {"x"},
		`.a == "x" and (.b == "y" and .c == "z")`:     {"x", "y", "z"},
		`.a == "x" and (.b == "y" or .c == "z")`:      {"x"},
		`.items[] | .sku == "B-9"`:                    nil,
		`(.a == "x") == false`:                        nil,
		`.a == "x" and (.b | test("y")) and .c`:       {"x"},
		`try (.a == "x") catch true`:                  nil,
		`.a == "x" // true`:                           nil,
		`[.a == "x", .b] | any`:                       nil,
		`.a == "x" and error`:                         {"x"},
		`reduce .a as $x (0; . + 1) | . == "x" | not`: nil,
	}
	for text, want := range tests {
		p, err := compileProgram(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var got []string
		for _, n := range p.need {
			got = append(got, string(n))
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s needs %q, want %q", text, got, want)
		}
	}
}

func BenchmarkFilter(b *testing.B) {
	body := `{"id":7781216,"cur":"CNY","amount":1299.00,"pad":"` + strings.Repeat("x", 900) + `"}`
	m := bodyOf(b, body)
	for name, filter := range map[string]Filter{
		"grep":      {Grep: `"cur":"USD"`},
		"jq":        {JQ: `.amount > 1000`},
		"jq needed": {JQ: `.amount > 1000 and .cur == "USD"`},
	} {
		b.Run(name, func(b *testing.B) {
			f, err := filter.Compile()
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				f.Match(b.Context(), m)
			}
		})
	}
}

// A program that takes all of its time on message after message is given up; one that is
// slow now and then is not.
func TestAnEndlessProgramIsGivenUp(t *testing.T) {
	slow, quick := bodyOf(t, `{"n":1e8}`), bodyOf(t, `{"n":1}`)
	f, err := Filter{JQ: `[range(.n)] | length > 0`}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	f.Match(t.Context(), slow)
	if f.endless != 1 {
		t.Fatalf("%d in a row", f.endless)
	}
	f.endless = programRow - 1 // as after so many, which take seconds
	if !f.Match(t.Context(), quick) {
		t.Error("a message that costs little does not match")
	}
	f.Match(t.Context(), slow)
	if f.GivenUp() != nil {
		t.Fatal("given up although one in between was quick")
	}
	f.endless = programRow - 1
	f.Match(t.Context(), slow)
	const why = "the program was given up: it took longer than 200ms on 20 messages in a row"
	if err := f.GivenUp(); err == nil || err.Error() != why {
		t.Fatalf("%v, want %q", err, why)
	}
	began := time.Now()
	for range 10_000 {
		if f.Match(t.Context(), quick) {
			t.Fatal("it is run again")
		}
	}
	if took := time.Since(began); took > programRow*programTime {
		t.Errorf("10,000 messages more took %v", took)
	}
	if c := f.Counts(); c.Failed != 3+10_000 || c.Kinds != 2 {
		t.Errorf("counts = %+v", c)
	}
}
