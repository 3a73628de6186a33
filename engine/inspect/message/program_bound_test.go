package message

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/itchyny/gojq"
)

// A step that would take seconds and gigabytes is refused, wherever it stands: the
// time limit stops a program between two steps only.
func TestProgramTakesNoHugeStep(t *testing.T) {
	huge := strings.Repeat("x", 2<<20)
	tests := map[string]struct{ program, body, why string }{
		"a text often":      {`"x" * 1e9`, "{}", "a text repeated to more than 16 MiB"},
		"often a text":      {`1e9 * "x"`, "{}", "a text repeated to more than 16 MiB"},
		"of the message":    {`.amount * .count > 1000`, `{"amount":"` + huge + `","count":1000}`, "a text repeated to more than 16 MiB"},
		"updated":           {`.amount *= .count`, `{"amount":"` + huge + `","count":1000}`, "a text repeated to more than 16 MiB"},
		"inside a text":     {`"a\("x" * 1e9)"`, "{}", "a text repeated to more than 16 MiB"},
		"inside a function": {`def f($n): ["x", $n * "x"] | add; f(1e9)`, "{}", "a text repeated to more than 16 MiB"},
		"inside a pattern":  {`. as {("x" * 1e9): $x} | $x`, "{}", "a text repeated to more than 16 MiB"},
		"inside an object":  {`{a: [{("x" * 1e9): 1}]}`, "{}", "a text repeated to more than 16 MiB"},
		"explode":           {`.a | explode | length`, `{"a":"` + huge + `"}`, "explode of a text of more than 1 MiB"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f, err := Filter{JQ: tt.program}.Compile()
			if err != nil {
				t.Fatal(err)
			}
			if f.Match(t.Context(), bodyOf(t, tt.body)) {
				t.Errorf("it matches")
			}
			if c := f.Counts(); c.Failed != 1 || !strings.HasSuffix(c.Why, tt.why) {
				t.Errorf("counts = %+v, want the reason %q", c, tt.why)
			}
		})
	}
}

// What is bounded gives what it gives unbounded.
func TestBoundedProgramsAreTheSame(t *testing.T) {
	for _, text := range []string{
		`3 * 4`, `.n * .f`, `"ab" * 3`, `3 * "ab"`, `"ab" * 0`, `"ab" * -1`, `"ab" * 0.5`, `"ab" * nan`, `{a:{b:1}} * {a:{c:2}}`, `[1] * 2`, `null * 2`, `"a" * "b"`,
		`9007199254740993 * 9007199254740993`, `(1, 2) * (3, 4)`, `2 * 3 + 4 * 5`, `-(2 * 3)`, `[.list[] * 2]`, `.n *= 3`, `.list[] *= .n`, `.list[0, 1] *= (2, 3)`,
		`.n as $x | .f *= $x`, `reduce .list[] as $i (1; . * $i)`, `foreach .list[] as $i (1; . * $i; [$i, . * 2])`, `if .n * 2 > 3 then "a" * 2 else 1 end`,
		`try ([1] * 2) catch "no"`, `.list | map(. * 10)`, `def f(g): g * 2; f(.n)`, `.["a" * 2]`, `path(.n * 2)`, `.s | explode`, `.s | explode | implode`, `.n | explode`,
		`def explode: "mine"; .s | explode`, `def explode(f): f * 2; explode(.n)`, `"\(.n * 2)x"`, `@base64 "\("a" * 3)"`, `.list[1 * 1:2 * 1]`, `label $f | 1 * 2, break $f`, `. as [$a] ?// $a | 2 * 3`,
		`.n * 2 as $x | $x`,
	} {
		run := func(options ...gojq.CompilerOption) (got []string) {
			q, err := gojq.Parse(text)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if len(options) > 0 {
				boundSteps(q)
			}
			code, err := gojq.Compile(q, options...)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			results := code.Run(map[string]any{"n": 7, "f": 1.5, "s": "a订\x80b", "list": []any{1, 2, 3}})
			for v, ok := results.Next(); ok; v, ok = results.Next() {
				if _, failed := v.(error); failed {
					v = "an error"
				}
				got = append(got, fmt.Sprintf("%v", v))
			}
			return got
		}
		if diff := cmp.Diff(run(), run(boundedFunctions()...)); diff != "" {
			t.Errorf("%s (-unbounded +bounded):\n%s", text, diff)
		}
	}
}
