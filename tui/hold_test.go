package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/go-cmp/cmp"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/remoting/protocol"
	"eyeq/tui/change"
	"eyeq/tui/live"
	"eyeq/tui/page"
)

// holding is the fixture with held messages: 7 of queue 3, 2 of queue 0.
func holding() *engine.Snapshot {
	s := fixture(0)
	s.ThreadsBusy = 0
	for i := range s.Queues {
		q := &s.Queues[i]
		q.HeldFirst, q.HeldLast = engine.Unknown, engine.Unknown
		if !q.Own || q.QueueID != 0 && q.QueueID != 3 {
			continue
		}
		q.Held = map[int32]int64{0: 2, 3: 7}[q.QueueID]
		q.HeldFirst, q.HeldLast = q.CommittedOffset, q.CommittedOffset+q.Held-1
		q.HeadStarted, q.HeadHeld = time.Time{}, fixtureNow.Add(-83*time.Second)
		q.CachedCount, q.CachedDone, q.Flow, q.State = q.Held+2, 0, core.FlowNone, engine.QueueRun
		q.Detail = fmt.Sprintf("%d held", q.Held)
	}
	return s
}

// heldHere are the cached messages of a queue: 7 held ones and a waiting one.
func heldHere(t testing.TB, mq engine.MessageQueue) (list []engine.HeldMessage) {
	for i := range int64(8) {
		m := engine.HeldMessage{Stage: core.StageTaken, Held: fixtureNow.Add(-83 * time.Second), Message: delivered(t, protocol.Record{
			Topic: mq.Topic, QueueOffset: 18_204_551 + i, Born: fixtureNow.Add(-time.Minute), Stored: fixtureNow.Add(-time.Minute),
			Body:       fmt.Appendf(nil, `{"id":778120%d,"amount":1299.00}`, i),
			Properties: []protocol.Property{{Name: "UNIQ_KEY", Value: fmt.Sprintf("0A000415000078D9F3C%d", i)}, {Name: "KEYS", Value: fmt.Sprintf("o-778120%d", i)}},
		})}
		if i == 7 {
			m.Stage, m.Held = core.StageCached, time.Time{}
		}
		list = append(list, m)
	}
	return list
}

func drivesHold(t testing.TB, w, h int, e *fakeEngine) *driver {
	t.Helper()
	o := defaultOptions()
	o.Hold = true
	return drivesHoldWith(t, w, h, o, e)
}

func drivesHoldWith(t testing.TB, w, h int, o page.Options, e *fakeEngine) *driver {
	t.Helper()
	if e == nil {
		e = &fakeEngine{}
	}
	e.held = func(mq engine.MessageQueue, n int) ([]engine.HeldMessage, error) { return heldHere(t, mq), nil }
	d := driveEmpty(t, w, h, o, e)
	d.send(snapshotsMsg{snapshots: []*engine.Snapshot{holding()}})
	return d.keys("G", "g") // the cursor is on queue 3, the one with the largest lag
}

// settleRows answers a request; from the n-th row on it fails.
func settleRows(r engine.SettleRequest, n int) (rows []engine.SettleRow) {
	for i, m := range r.Messages {
		row := engine.SettleRow{MessageQueue: m.MessageQueue, Offset: m.First, MessageID: "id", Became: map[engine.SettleVerdict]string{
			engine.SettleAck: "acknowledged", engine.SettleRefuse: "sent back", engine.SettleDeadLetter: "dead letter"}[r.Verdict]}
		if i >= n {
			row.Became, row.Err = "", errors.New("send back to 10.0.4.1:10911: broker busy (code 2)\x1b[31m")
		}
		rows = append(rows, row)
	}
	return rows
}

// settles is an engine that notes what it is asked.
func settles(asked *[]engine.SettleRequest, good int) *fakeEngine {
	return &fakeEngine{settle: func(r engine.SettleRequest) ([]engine.SettleRow, error) {
		*asked = append(*asked, r)
		return settleRows(r, good), nil
	}}
}

var heldQueue = mq("orders-paid", "broker-a", 3)

func one(o int64) engine.HeldRange {
	return engine.HeldRange{MessageQueue: heldQueue, First: o, Last: o}
}

func TestDecisionsAboutHeldMessages(t *testing.T) {
	tests := map[string]struct {
		keys []string
		want *engine.SettleRequest // nil: nothing is asked of the engine
	}{
		"acknowledge one: enter applies": {[]string{"enter", "a", "enter"},
			&engine.SettleRequest{Messages: []engine.HeldRange{one(18_204_551)}, Verdict: engine.SettleAck, By: "wang"}},
		"refuse one at a level": {[]string{"enter", "j", "x", "backspace", "5", "enter"},
			&engine.SettleRequest{Messages: []engine.HeldRange{one(18_204_552)}, Verdict: engine.SettleRefuse, DelayLevel: 5, By: "wang"}},
		"a level that is none":                  {[]string{"enter", "x", "9", "9", "enter"}, nil},
		"a letter is no level":                  {[]string{"enter", "x", "x", "enter"}, nil},
		"a dead letter is not one enter away":   {[]string{"enter", "D", "enter"}, nil},
		"a dead letter":                         {[]string{"enter", "D", "tab", "enter"}, &engine.SettleRequest{Messages: []engine.HeldRange{one(18_204_551)}, Verdict: engine.SettleDeadLetter, By: "wang"}},
		"many are not one enter away":           {[]string{"enter", " ", " ", "a", "enter"}, nil},
		"many, then esc":                        {[]string{"enter", " ", " ", "a", "tab", "esc", "enter"}, nil},
		"the marked ones":                       {[]string{"enter", " ", "j", " ", "a", "tab", "enter"}, &engine.SettleRequest{Messages: []engine.HeldRange{one(18_204_551), one(18_204_553)}, Verdict: engine.SettleAck, By: "wang"}},
		"a range":                               {[]string{"enter", "j", "v", "j", "V", "x", "tab", "tab", "enter"}, &engine.SettleRequest{Messages: []engine.HeldRange{one(18_204_552), one(18_204_553), one(18_204_554)}, Verdict: engine.SettleRefuse, By: "wang"}},
		"what is not held is left out of marks": {[]string{"enter", "G", "v", "k", "v", "a", "enter"}, &engine.SettleRequest{Messages: []engine.HeldRange{one(18_204_557)}, Verdict: engine.SettleAck, By: "wang"}},
		"a message that is not held":            {[]string{"enter", "G", "a", "enter"}, nil},
		"all of a queue": {[]string{"a", "tab", "enter"},
			&engine.SettleRequest{Messages: []engine.HeldRange{{MessageQueue: heldQueue, First: 18_204_551, Last: 18_204_557}}, Verdict: engine.SettleAck, By: "wang"}},
		"a queue that holds nothing": {[]string{"j", "a", "tab", "enter"}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var asked []engine.SettleRequest
			d := drivesHold(t, 120, 36, settles(&asked, 99))
			d.keys(tt.keys...)
			if tt.want == nil {
				if len(asked) > 0 {
					t.Errorf("asked %+v, want nothing", asked)
				}
				return
			}
			if len(asked) != 1 {
				t.Fatalf("asked %d times\n%s", len(asked), d.frame())
			}
			if diff := cmp.Diff(asked[0], *tt.want); diff != "" {
				t.Errorf("asked (-got +want):\n%s", diff)
			}
			if len(d.a.dialogs) != 0 || d.a.writing != "" {
				t.Errorf("after all came true the dialog is still there (%d), writing %q", len(d.a.dialogs), d.a.writing)
			}
		})
	}
}

// The reason stays readable where the screen is too narrow for a line of it.
func TestWhyItDidNotComeTrueIsReadWhole(t *testing.T) {
	reason := "send back the message at 18204552 of broker-a for audit: CONSUMER_SEND_MSG_BACK: connect to 10.0.4.1:10911: connection refused; fallback: no address known"
	d := drivesHold(t, 60, 16, &fakeEngine{settle: func(r engine.SettleRequest) (rows []engine.SettleRow, err error) {
		for o := range int64(7) {
			rows = append(rows, engine.SettleRow{MessageQueue: heldQueue, Offset: o, Err: errors.New(reason)})
		}
		return rows, nil
	}})
	d.keys("enter", "ctrl+a", "x", "tab", "tab", "enter").see("7 messages not refused").see("more")
	var shownWords []string
	for _, l := range strings.Split(d.frame(), "\n") {
		shownWords = append(shownWords, strings.Fields(strings.Trim(l, "┃ "))...)
	}
	if shown := strings.Join(shownWords, ""); !strings.Contains(shown, strings.ReplaceAll(reason, " ", "")) {
		t.Errorf("the reason is not there:\n%s", d.frame())
	}
}

// A queue that another member has now shows none of the messages that were held here.
func TestHeldMessagesGoWithTheirQueue(t *testing.T) {
	d := drivesHold(t, 120, 36, nil)
	d.keys("enter").see("18,204,551 held")
	s := holding()
	for i := range s.Queues {
		if q := &s.Queues[i]; q.MessageQueue == heldQueue {
			q.Own, q.State, q.Held, q.HeldFirst, q.HeldLast, q.CachedCount = false, engine.QueueOther, 0, engine.Unknown, engine.Unknown, 0
		}
	}
	d.send(snapshotsMsg{snapshots: []*engine.Snapshot{s}})
	d.see("not ours: its messages are in another member's cache").miss("18,204,551 held")
}

func TestHeldMessagesAreSeen(t *testing.T) {
	d := drivesHold(t, 120, 36, nil)
	d.see("HOLDS 9").see("7 held")
	d.keys("enter").see("Held messages  1-8 of 8").see("7 held of 9 cached").see("18,204,551 held").see("1m23s").see("held for the operator for")
	d.keys("enter").see("stage   held for the operator since").keys("esc")
	d.keys(" ", " ").see("2 marked").keys("esc").miss("marked").see("Held messages").keys("esc").see("Allocation")
	none := holding()
	for i := range none.Queues {
		none.Queues[i].Held = 0
	}
	d.send(snapshotsMsg{snapshots: []*engine.Snapshot{none}})
	d.see("holds nothing")
}

func TestWhatFailedIsListed(t *testing.T) {
	var asked []engine.SettleRequest
	d := drivesHold(t, 120, 36, settles(&asked, 1)).keys("enter", " ", " ", " ", "x", "tab", "tab", "enter")
	d.see("2 messages not refused").see("broker-a/3  18,204,552  send back to 10.0.4.1:10911: broker busy (code 2)␛[31m").see("1 of 3 messages done")
	d.keys("esc").miss("not refused")
}

func TestADecisionHoldsALeaveUp(t *testing.T) {
	o := defaultOptions()
	o.Hold, o.Leave, o.Left = true, func() {}, make(chan error)
	d := drivesHoldWith(t, 120, 36, o, nil)
	d.keys("enter", "a")
	_, r := d.a.dialogs[0].Update(tea.KeyMsg{Type: tea.KeyEnter})
	d.a.serve(r) // its command is not carried out yet
	d.keys("ctrl+c").see("a decision about 1 held message is still being written")
	d.send(change.SettleDoneMsg{Ticket: d.a.env.Tickets})
	d.see("leaving: stopping")
}

func TestHoldKeysAreOnlyThereWhereTheyMeanSomething(t *testing.T) {
	d := drive(t, 120, 36, defaultOptions(), nil)
	d.miss("HOLDS").miss("holds nothing").keys("a").see("only --listener hold").keys("?").typing("dead").miss("dead letters")
	o := defaultOptions()
	o.Hold, o.Mode = true, "read-only"
	d = drivesHoldWith(t, 120, 36, o, nil)
	d.keys("a").see("is read-only, nothing sent")
	if len(d.a.dialogs) != 0 {
		t.Error("a dialog opened in read-only mode")
	}
	s := holding()
	s.Model = protocol.Broadcasting
	o = defaultOptions()
	o.Hold = true
	d = driveEmpty(t, 120, 36, o, nil)
	d.send(snapshotsMsg{snapshots: []*engine.Snapshot{s}})
	d.keys("x").see("no retry topic").keys("a").see("ACKNOWLEDGE")
}

func TestOrderlyRefusalSaysWhatHappens(t *testing.T) {
	s := holding()
	s.Orderly = true
	o := defaultOptions()
	o.Hold = true
	d := driveEmpty(t, 120, 36, o, nil)
	d.send(snapshotsMsg{snapshots: []*engine.Snapshot{s}})
	d.keys("x").see("what is left of its held batch").miss("Delay level")
}

func TestRowsOfKnownMessagesAreKept(t *testing.T) {
	list := heldHere(t, heldQueue)
	rows := live.HeldRows(list, nil)
	rows[0].Body = "as made before"
	list[0].Held = fixtureNow
	again := live.HeldRows(list, rows)
	if again[0].Body != "as made before" || !again[0].Held.Equal(fixtureNow) || !strings.Contains(again[1].Body, "7781201") {
		t.Errorf("rows made again: %+v", again[:2])
	}
}
