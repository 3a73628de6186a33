package tui

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"eyeq/engine"
	"eyeq/tui/draw"
	"eyeq/tui/live"
)

func TestSafeText(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"plain":                        {"orders-paid", "orders-paid"},
		"double width":                 {"订单结算", "订单结算"},
		"escape sequence":              {"\x1b[31mred\x1b[0m", "␛[31mred␛[0m"},
		"clipboard sequence":           {"\x1b]52;c;aGk=\a", "␛]52;c;aGk=␇"},
		"controls":                     {"\x00\x01\b\v\f\x1f\x7f", "␀␁␈␋␌␟␡"},
		"newlines":                     {"a\nb\r\nc\rd", "a⏎b⏎c␍d"},
		"tab to the next stop":         {"ab\tc", "ab      c"},
		"tab after wide text":          {"订\tc", "订       c"},
		"C1 as UTF-8":                  {"a\u0085b\u009bc", "a‹U+0085›b‹U+009B›c"},
		"bidi":                         {"abc\u202egpj.exe", "abc‹U+202E›gpj.exe"},
		"zero width":                   {"a\u200bb\ufeffc\u2060d", "a‹U+200B›b‹U+FEFF›c‹U+2060›d"},
		"separators":                   {"a\u2028b\u2029c", "a‹U+2028›b‹U+2029›c"},
		"tags beyond the first plane":  {"a\U000e0041b", "a‹U+E0041›b"},
		"invalid UTF-8":                {"a\xff\xfeb\xc3", "a‹ff›‹fe›b‹c3›"},
		"a true replacement character": {"a\uFFFDb", "a\uFFFDb"},
		"variation selectors":          {"❤️", "❤"},
		"combining mark":               {"e\u0301", "e\u0301"},
		"a leading combining mark":     {"\u0301a", "‹U+0301›a"},
		"too many combining marks":     {"a" + strings.Repeat("\u0301", 6), "a" + strings.Repeat("\u0301", 4) + "‹U+0301›" + "\u0301"},
		"blanks that are not ASCII":    {"a\u00a0b\u3000c", "a\u00a0b\u3000c"},
		"private use":                  {"a\ue000b", "a‹U+E000›b"},
		"blank letters":                {"a\u3164b\uffa0c\u034fd", "a‹U+3164›b‹U+FFA0›c‹U+034F›d"},
		"Hangul of parts":              {"\u1112\u1161\u11ab하\u11ab한\u1161", "\u1112\u1161\u11ab하\u11ab한‹U+1161›"},
		"parts of no syllable":         {"\u1161a\u11abㅎ\u1161", "‹U+1161›a‹U+11AB›ㅎ‹U+1161›"},
		"empty":                        {"", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := draw.SafeText(tt.in); got != tt.want {
				t.Errorf("SafeText(%q)\n got %q\nwant %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestSafeTextOfSafeTextAllocatesNothing(t *testing.T) {
	for _, s := range []string{"orders-paid", "订单结算-消费组", strings.Repeat("x", 4000)} {
		if n := testing.AllocsPerRun(10, func() { draw.SafeText(s) }); n != 0 {
			t.Errorf("SafeText(%.20q) allocates %v times", s, n)
		}
	}
}

func TestSafeHeadCutsBetweenCharacters(t *testing.T) {
	long := strings.Repeat("订单\x1b", 1000)
	s, whole := draw.SafeHead([]byte(long), 10)
	if whole || !utf8.ValidString(s) || strings.Contains(s, "‹") {
		t.Errorf("safeHead = %q, %v", s, whole)
	}
	if s, whole := draw.SafeHead([]byte("ab"), 10); s != "ab" || !whole {
		t.Errorf("a short text: %q, %v", s, whole)
	}
}

func FuzzSafeText(f *testing.F) {
	for _, s := range []string{"", "plain", "\x1b]0;x\a", "订\t单", "\xff", "a\u0301\u202e", "👩‍👩‍👧", "🇩🇪", "\u0e33", "\u1100\u1161"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := draw.SafeText(s)
		if bad := foreignControls(got); bad != "" || strings.Contains(got, "\x1b") {
			t.Errorf("SafeText(%q) = %q has %s", s, got, bad)
		}
		if !utf8.ValidString(got) {
			t.Errorf("SafeText(%q) = %q is no UTF-8", s, got)
		}
		if again := draw.SafeText(got); again != got {
			t.Errorf("SafeText is not settled: %q, then %q", got, again)
		}
		if w := ansi.StringWidth(got); w < 0 || s != "" && got != "" && w == 0 {
			t.Errorf("SafeText(%q) = %q takes %d cells", s, got, w)
		}
	})
}

// eachString calls f for every string in v that can be set.
func eachString(v reflect.Value, path string, f func(path string, s reflect.Value)) {
	switch v.Kind() {
	case reflect.String:
		f(path, v)
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			eachString(v.Elem(), path, f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				eachString(v.Field(i), path+"."+v.Type().Field(i).Name, f)
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			eachString(v.Index(i), path+"[]", f)
		}
	}
}

// TestTheDoorCleansEveryText fails when a snapshot gets a text that the door forgets.
func TestTheDoorCleansEveryText(t *testing.T) {
	s := twoTopics()
	s.Pause = &engine.PauseState{}
	paths := map[string]bool{}
	eachString(reflect.ValueOf(s).Elem(), "Snapshot", func(path string, v reflect.Value) {
		paths[path] = true
		v.SetString(v.String() + "\x1b[31m\u202e")
	})
	if len(paths) < 30 {
		t.Fatalf("the fixture sets only %d texts: %v", len(paths), paths)
	}
	before := s.Queues[3].MessageQueue
	clean := live.Door(s, nil)
	eachString(reflect.ValueOf(clean.Snapshot).Elem(), "Snapshot", func(path string, v reflect.Value) {
		if bad := foreignControls(v.String()); bad != "" || strings.Contains(v.String(), "\x1b") {
			t.Errorf("%s comes through the door with %s: %q", path, bad, v.String())
		}
	})
	if s.Queues[3].MessageQueue != before {
		t.Error("the engine's snapshot was changed")
	}
	if clean.Queue(before) == nil {
		t.Error("a queue is not found by its true name")
	}
	for path := range paths { // and each is missed by itself
		one := twoTopics()
		one.Pause = &engine.PauseState{}
		set := false
		eachString(reflect.ValueOf(one).Elem(), "Snapshot", func(p string, v reflect.Value) {
			if p == path && !set {
				v.SetString("\x1b")
				set = true
			}
		})
		if set && live.SnapshotIsSafe(one) {
			t.Errorf("an unsafe %s goes unnoticed", path)
		}
	}
}

func TestASafeSnapshotIsTakenAsItIs(t *testing.T) {
	s := wideNames()
	if live.Door(s, nil).Snapshot != s {
		t.Error("a snapshot with nothing to clean was copied")
	}
}
