package tui

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"eyeq/engine"
	"eyeq/tui/page"
)

// pasted is the text of the last sequence that a terminal was sent.
func pasted(t *testing.T, out *bytes.Buffer, before, after string) string {
	t.Helper()
	text, ok := strings.CutPrefix(out.String(), before)
	text, end := strings.CutSuffix(text, after)
	if !ok || !end {
		t.Fatalf("the terminal got %.200q", out)
	}
	out.Reset()
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatalf("%v: %.200q", err, text)
	}
	return string(b)
}

const oscBegin, oscEnd = "\x1b]52;c;", "\a"

func copying(out *bytes.Buffer) page.Options {
	o := defaultOptions()
	o.Output, o.Hold = out, true
	o.MessageJSON = func(m *engine.Message) []byte { return []byte(`{"id":"` + m.MessageID() + `"}`) }
	o.EventJSON = func(e engine.Event, group string) []byte {
		return []byte(`{"event":"` + e.EventName() + `","group":"` + group + `"}`)
	}
	return o
}

func TestWhatIsCopied(t *testing.T) {
	tests := map[string]struct {
		keys []string
		want string
		says string
	}{
		"a queue's name":    {[]string{"y"}, "orders-paid broker-a/3", "sent the queue's name, 22 B"},
		"a member":          {[]string{"tab", "tab", "y"}, memberA, "sent the client id"},
		"a message's body":  {[]string{"enter", "j", "y"}, `{"id":7781201,"amount":1299.00}`, "sent the body at 18,204,552, 31 B"},
		"a message as JSON": {[]string{"enter", "Y"}, `{"id":"0A000415000078D9F3C0"}`, "sent the message at 18,204,551 as JSON"},
		"an event":          {[]string{"7", "E", "y"}, "consume_failed", "sent the event"},
		"an event as JSON":  {[]string{"7", "E", "Y"}, `{"event":"consume_failed","group":"order-settle"}`, "sent the event as JSON"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			d := drivesHoldWith(t, 120, 36, copying(&out), nil)
			d.send(eventsMsg{events: fixtureEvents()})
			d.keys(tt.keys...).see(tt.says)
			if got := pasted(t, &out, oscBegin, oscEnd); !strings.Contains(got, tt.want) {
				t.Errorf("copied %q, want %q", got, tt.want)
			}
		})
	}
}

func TestQueueAsJSON(t *testing.T) {
	var out bytes.Buffer
	d := drivesHoldWith(t, 120, 36, copying(&out), nil)
	read := func() (row map[string]any) {
		t.Helper()
		if err := json.Unmarshal([]byte(pasted(t, &out, oscBegin, oscEnd)), &row); err != nil {
			t.Fatal(err)
		}
		return row
	}
	d.keys("Y")
	if r := read(); r["topic"] != "orders-paid" || r["queue"] != 3.0 || r["lag"] != 31_220.0 || r["held"] != 7.0 || r["client_id"] != memberA || r["flow"] != nil {
		t.Errorf("an own queue: %v", r)
	}
	d.keys("j", "j", "Y") // another member's: what nobody tells is null
	if r := read(); r["own"] != false || r["held"] != nil || r["cached_count"] != nil || r["locked"] != nil || r["next_offset"] != nil || r["committed_offset"] == nil {
		t.Errorf("another member's queue: %v", r)
	}
}

func TestCopiesAreBoundedAndWrapped(t *testing.T) {
	long := "x" + strings.Repeat("退", maxCopy/3) + "款款"
	c := drive(t, 80, 24, defaultOptions(), nil).a.cmds
	var out bytes.Buffer
	msg := copyText(c, &out, "", page.Literal("it", long))().(copiedMsg)
	if got := pasted(t, &out, oscBegin, oscEnd); !strings.HasPrefix(long, got) || len(got) != msg.n || msg.n > maxCopy || msg.n < maxCopy-8 || msg.of != len(long) || strings.ContainsRune(got, '\ufffd') {
		t.Errorf("copied %d of %d bytes: %+v", len(got), len(long), msg)
	}
	copyText(c, &out, "tmux", page.Literal("it", "x"))()
	plain, _ := strings.CutSuffix(out.String(), "\x1bPtmux;\x1b\x1b]52;c;eA==\a\x1b\\") // what tmux passes through where it may
	out.Reset()
	out.WriteString(plain)
	if got := pasted(t, &out, oscBegin, oscEnd); got != "x" {
		t.Errorf("to tmux itself: %q", got)
	}
	copyText(c, &out, "screen", page.Literal("it", "x"))()
	if got := pasted(t, &out, "\x1bP\x1b]52;c;", "\a\x1b\\"); got != "x" {
		t.Errorf("through screen: %q", got)
	}
	bad := copyText(c, &out, "", page.Copied{What: "it", Text: func() (string, error) { return "", errors.New("no zlib\x1b") }})().(copiedMsg)
	if bad.err != "no zlib␛" || out.Len() > 0 {
		t.Errorf("what cannot be made: %+v, %q", bad, out.String())
	}
}

func TestNothingToCopy(t *testing.T) {
	var out bytes.Buffer
	d := driveEmpty(t, 120, 36, copying(&out), nil)
	d.keys("y").see("there is nothing under the cursor to copy")
	drive(t, 120, 36, defaultOptions(), nil).keys("y").see("there is no terminal to copy to")
	if out.Len() > 0 {
		t.Errorf("the terminal got %q", out.String())
	}
}

func TestHistoryOfViews(t *testing.T) {
	d := drive(t, 120, 36, defaultOptions(), nil)
	d.keys("[").see("this is the first view")
	d.keys("enter").see("Queue  broker-a/3").keys("7").see("[7 Events").keys("!").see("Log of eyeq")
	d.keys("[").see("[7 Events").keys("[").see("Queue  broker-a/3").keys("[").see("Allocation")
	d.keys("]", "]").see("[7 Events").keys("1").see("Allocation").keys("]").see("this is the last view")
	d.keys("[").see("[7 Events").keys("[").see("Queue  broker-a/3")
}

func TestSuspendIsRefusedWithItsReason(t *testing.T) {
	o := defaultOptions()
	o.NoSuspend = "nobody would wake it"
	d := drive(t, 120, 36, o, nil).keys("ctrl+z").see("ctrl-z: nobody would wake it")
	if d.suspended {
		t.Error("suspended all the same")
	}
}

func TestLeavingByCtrlCThatFailsIsBoth(t *testing.T) {
	o := defaultOptions()
	o.Leave, o.Left = func() {}, make(chan error)
	d := drive(t, 120, 36, o, nil).keys("ctrl+c")
	late := errors.New("broker-a does not answer")
	d.send(leftMsg{late})
	if !d.quit || !errors.Is(d.a.exit, ErrInterrupted) || !errors.Is(d.a.exit, late) {
		t.Errorf("quit %v, exit %v", d.quit, d.a.exit)
	}
}
