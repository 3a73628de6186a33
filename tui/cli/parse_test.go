package cli

import (
	"strings"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/remoting/sandbox/sandboxtest"
)

// A star is a pattern to nobody: it stands for all tags alone, and is a tag's letter else.
func TestStarTags(t *testing.T) {
	for expression, want := range map[string]string{
		"": "", "*": "", " * ": "", "A||B": "", "||*||": `here "*" is read as a tag`, "* || A": `here "*" is read as a tag of exactly that name`,
		"A*": `-t orders: a star stands for all tags only alone; here "A*" is read as a tag`, "A*||B||*c": `"A*", "*c"`,
	} {
		if got := starTags("-t orders", expression); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", expression, got, want)
		}
	}
	_, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	for _, args := range [][]string{
		{"tail", "orders", "--tag", "A*", "--until", "now"},
		{"consume", "-g", "g", "-t", "orders:A*", "--headless", "--idle-exit", "1ms"},
	} {
		runs(t, append(args, "--namesrv", namesrv)).want(t, statusDone, `here "A*" is read as a tag`)
	}
}

func TestParseQueueRef(t *testing.T) {
	for text, want := range map[string]queueRef{
		"broker-a:3": {"broker-a", 3}, "broker-a/3": {"broker-a", 3}, "ns:b:0": {"ns:b", 0},
		"broker-a": {}, "broker-a:": {}, ":3": {}, "b:-1": {}, "b:x": {}, "b:99999999999": {},
	} {
		if got, err := parseQueueRef(text); got != want || (err != nil) != (want == queueRef{}) {
			t.Errorf("parseQueueRef(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
}

func TestParseSubscription(t *testing.T) {
	for text, want := range map[string]engine.Subscription{
		"orders": {Topic: "orders"}, "orders:a||b": {Topic: "orders", Expression: "a||b"}, "orders: a || b ": {Topic: "orders", Expression: "a || b"},
		"orders:*": {Topic: "orders", Expression: "*"},
	} {
		if got := parseSubscription(text); got != want {
			t.Errorf("parseSubscription(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestParsePosition(t *testing.T) {
	now := time.Unix(1000, 0)
	for text, want := range map[string]position{
		"earliest": {kind: posEarliest}, "latest": {kind: posLatest}, "now": {kind: posLatest},
		"offset:0": {kind: posOffset}, "offset:42": {kind: posOffset, offset: 42},
		"-10s":     {kind: posTime, time: time.Unix(990, 0)},
		"offset:x": {}, "offset:-1": {}, "soon": {},
	} {
		got, err := parsePosition(text, time.UTC, now)
		if (err != nil) != (want == position{}) || err == nil && (got.kind != want.kind || got.offset != want.offset || !got.time.Equal(want.time)) {
			t.Errorf("parsePosition(%q) = %+v, %v, want %+v", text, got, err, want)
		}
	}
}

func TestParseThreads(t *testing.T) {
	for text, want := range map[string][2]int{"5:20": {5, 20}, "8": {8, 8}} {
		if lo, hi, err := parseThreads(text); lo != want[0] || hi != want[1] || err != nil {
			t.Errorf("parseThreads(%q) = %d, %d, %v, want %v", text, lo, hi, err, want)
		}
	}
}

func TestAsciiTerminal(t *testing.T) {
	for name, tt := range map[string]struct {
		env  map[string]string
		want bool
	}{
		"nothing set":       {nil, false},
		"UTF-8":             {map[string]string{"LANG": "ja_JP.UTF-8"}, false},
		"C":                 {map[string]string{"LANG": "C"}, true},
		"C.utf8":            {map[string]string{"LC_ALL": "C.utf8", "LANG": "C"}, false},
		"Latin-1":           {map[string]string{"LC_CTYPE": "de_DE.ISO-8859-1"}, true},
		"the Linux console": {map[string]string{"TERM": "linux", "LANG": "en_US.UTF-8"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := asciiTerminal(func(k string) string { return tt.env[k] }); got != tt.want {
				t.Errorf("asciiTerminal = %v, want %v", got, tt.want)
			}
		})
	}
}
