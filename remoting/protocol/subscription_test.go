package protocol

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNewSubscriptionData(t *testing.T) {
	tests := map[string]struct {
		expression string
		want       SubscriptionData
	}{
		"nothing":          {"", SubscriptionData{SubString: "*", TagsSet: []string{}, CodeSet: []int32{}}},
		"star":             {"*", SubscriptionData{SubString: "*", TagsSet: []string{}, CodeSet: []int32{}}},
		"one":              {"TagA", SubscriptionData{SubString: "TagA", TagsSet: []string{"TagA"}, CodeSet: []int32{2598919}}},
		"two with blanks":  {" TagA ||\tTagB", SubscriptionData{SubString: " TagA ||\tTagB", TagsSet: []string{"TagA", "TagB"}, CodeSet: []int32{2598919, 2598920}}},
		"empty parts":      {"||TagA||||", SubscriptionData{SubString: "||TagA||||", TagsSet: []string{"TagA"}, CodeSet: []int32{2598919}}},
		"one bar is a tag": {"a|b", SubscriptionData{SubString: "a|b", TagsSet: []string{"a|b"}, CodeSet: []int32{TagsCode("a|b")}}},
		"repeated":         {"Z||Z", SubscriptionData{SubString: "Z||Z", TagsSet: []string{"Z"}, CodeSet: []int32{90}}},
		"equal codes":      {"Aa||BB", SubscriptionData{SubString: "Aa||BB", TagsSet: []string{"Aa", "BB"}, CodeSet: []int32{2112}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.want.Topic, tt.want.ExpressionType = "H1", "TAG"
			got, err := NewSubscriptionData("H1", tt.expression)
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	for _, expression := range []string{"||", " || ", " "} {
		if got, err := NewSubscriptionData("H1", expression); err == nil {
			t.Errorf("expression %q: %+v, want an error", expression, got)
		}
	}
}

// SQL92 is kept as it is, for the broker; it has no tags.
func TestParseSubscription(t *testing.T) {
	got, err := ParseSubscription("H1", ExpressionSQL92, " a > 5 || b ")
	want := SubscriptionData{Topic: "H1", ExpressionType: "SQL92", SubString: " a > 5 || b ", TagsSet: []string{}, CodeSet: []int32{}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, expressionType := range []string{"", ExpressionTAG} {
		if got, err := ParseSubscription("H1", expressionType, "A||B"); err != nil || got.ExpressionType != ExpressionTAG || len(got.TagsSet) != 2 {
			t.Errorf("type %q: %+v, %v, want two tags", expressionType, got, err)
		}
	}
	for _, bad := range [][2]string{{ExpressionSQL92, ""}, {ExpressionSQL92, " "}, {"XPATH", "a"}, {ExpressionTAG, "||"}} {
		if got, err := ParseSubscription("H1", bad[0], bad[1]); err == nil {
			t.Errorf("%q of type %s: %+v, want an error", bad[1], bad[0], got)
		}
	}
}

func TestTagsCode(t *testing.T) {
	tests := map[string]int32{
		"": 0, "Z": 90, "TagA": 2598919, "TagB": 2598920,
		"polygenelubricants": -2147483648, // a word known to wrap around
		"é":                  233,
		"🚀":                  0xD83D*31 + 0xDE80, // two UTF-16 units
	}
	for tags, want := range tests {
		if got := TagsCode(tags); got != want {
			t.Errorf("TagsCode(%q) = %d, want %d", tags, got, want)
		}
	}
}

func TestEnumNames(t *testing.T) {
	models := map[string]MessageModel{"CLUSTERING": Clustering, "BROADCASTING": Broadcasting}
	positions := map[string]ConsumeFromWhere{
		"CONSUME_FROM_LAST_OFFSET": ConsumeFromLastOffset, "CONSUME_FROM_FIRST_OFFSET": ConsumeFromFirstOffset,
		"CONSUME_FROM_TIMESTAMP": ConsumeFromTimestamp,
	}
	types := map[string]ConsumeType{"CONSUME_ACTIVELY": ConsumeActively, "CONSUME_PASSIVELY": ConsumePassively, "CONSUME_POP": ConsumePop}
	// By their ordinals in Java, and by other names that Java has.
	checkEnum(t, models, map[string]MessageModel{"0": Broadcasting, "1": Clustering, "Clustering": Clustering, "2": 0, "-1": 0, "X": 0, "": 0})
	checkEnum(t, positions, map[string]ConsumeFromWhere{"0": ConsumeFromLastOffset, "3": ConsumeFromLastOffset, "4": ConsumeFromFirstOffset, "5": ConsumeFromTimestamp, "6": 0, "1000": 0})
	checkEnum(t, types, map[string]ConsumeType{"0": ConsumeActively, "1": ConsumePassively, "2": ConsumePop, "3": 0})
	if got := MessageModel(0).String() + ConsumeFromWhere(9).String() + ConsumeType(0).String(); got != "MessageModel(0)ConsumeFromWhere(9)ConsumeType(0)" {
		t.Errorf("unknown values are %s", got)
	}
}

// checkEnum writes and reads each value by its name, and reads what else stands for one.
func checkEnum[E interface {
	comparable
	fmt.Stringer
}](t *testing.T, names, others map[string]E) {
	t.Helper()
	read := func(text string, want E) {
		t.Helper()
		var got E
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s is read as %v, %v, want %v", text, got, err, want)
		}
	}
	for name, value := range names {
		text, err := json.Marshal(value)
		if got := value.String(); got != name || err != nil || string(text) != `"`+name+`"` {
			t.Errorf("%T is %s, on the wire %s, %v, want %s", value, got, text, err, name)
		}
		read(`"`+name+`"`, value)
	}
	for text, value := range others {
		read(`"`+text+`"`, value)
	}
}

// Brokers filter by the set of tags: how it is written does not matter.
func TestSameFilter(t *testing.T) {
	tag := func(text string) SubscriptionData { return SubscriptionData{Topic: "t", SubString: text} }
	sql := func(text string) SubscriptionData {
		return SubscriptionData{Topic: "t", SubString: text, ExpressionType: ExpressionSQL92}
	}
	for _, tt := range []struct {
		a, b SubscriptionData
		want bool
	}{
		{tag("TagA||TagB"), tag("TagB || TagA"), true},
		{tag("TagA||TagB||TagA"), tag(" TagB||TagA|| "), true},
		{tag(""), tag("*"), true},
		{tag("*"), SubscriptionData{Topic: "t", SubString: "*", ExpressionType: ExpressionTAG}, true},
		{tag("TagA||TagB"), tag("TagA"), false},
		{tag("*"), tag("*||TagA"), false}, // a star beside others is a tag
		{tag("TagA"), tag("taga"), false},
		{tag("TagA"), tag("TagA | TagB"), false}, // which is one tag
		{tag("||"), tag("||"), true},
		{tag("||"), tag("*"), false},
		{sql("a > 1"), sql("a > 1"), true},
		{sql("a > 1"), sql("a>1"), false}, // nobody here compiles it
		{sql("TagA"), tag("TagA"), false},
	} {
		if got, back := tt.a.SameFilter(&tt.b), tt.b.SameFilter(&tt.a); got != tt.want || back != tt.want {
			t.Errorf("%s %q and %s %q: same %v, the other way round %v, want %v", tt.a.ExpressionType, tt.a.SubString, tt.b.ExpressionType, tt.b.SubString, got, back, tt.want)
		}
	}
}
