package tui

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/engine/inspect"
	"eyeq/tui/change"
	"eyeq/tui/page"
	"eyeq/tui/words"
)

// The screen says which way keeps a member's queues and which hands them over.
func TestPauseSaysWhoKeepsTheQueues(t *testing.T) {
	o := defaultOptions()
	o.Member = true
	d := drive(t, 120, 36, o, &fakeEngine{})
	d.keys("P").see("the member keeps its queues").see("Nobody else reads them meanwhile. To hand them to the other members, leave (q).").keys("esc")
	d.keys("q").see("gives them to the").see("other 2 members.")
}

// Nobody is promised queues that nobody is there for.
func TestLeavingSaysWhoGetsTheQueues(t *testing.T) {
	change := func(f func(s *engine.Snapshot)) *driver {
		o := defaultOptions()
		o.Member = true
		d := driveEmpty(t, 200, 60, o, nil)
		s := *fixture(0)
		s.Topics = slices.Clone(s.Topics)
		f(&s)
		d.send(snapshotsMsg{snapshots: []*engine.Snapshot{&s}})
		return d
	}
	alone := func(s *engine.Snapshot) {
		for i := range s.Topics {
			s.Topics[i].Members = slices.DeleteFunc(slices.Clone(s.Topics[i].Members), func(m engine.MemberSnapshot) bool { return !m.Self })
		}
	}
	d := change(alone)
	d.keys("q").see("There is no other member: nobody reads them until one joins.").miss("gives them")
	d.keys("esc", "P").see("Nobody else reads them meanwhile: there is no other member.").miss("hand them")
	change(func(s *engine.Snapshot) { s.Topics[0].MembersError = "timeout" }).keys("q").see("other members, where there are any")
	change(func(s *engine.Snapshot) { s.Topics[0].Members = s.Topics[0].Members[:2] }).keys("q").see("to the other member.")
	d = change(func(s *engine.Snapshot) { s.Model = words.Broadcasting })
	d.keys("q").see("each member reads all queues for itself").keys("esc", "P").miss("hand them")
	change(func(s *engine.Snapshot) {
		s.Queues = slices.Clone(s.Queues)
		for i := range s.Queues {
			s.Queues[i].Own = false
		}
	}).keys("q").see("Leaving moves no queue.")
}

func TestPausingAsksFirst(t *testing.T) {
	var got []engine.PauseRequest
	var resumed []engine.ResumeRequest
	e := &fakeEngine{
		pause: func(r engine.PauseRequest) error { got = append(got, r); return nil },
		resume: func(r engine.ResumeRequest) error {
			resumed = append(resumed, r)
			return errors.New("the coordinator is busy")
		},
	}
	d := drive(t, 120, 36, defaultOptions(), e).keys("p")
	if len(got) != 0 {
		t.Fatal("a single key paused")
	}
	d.see("PAUSE orders-paid broker-a/3").typing("bad batch 7781").keys("tab").typing("1x").keys("enter").see("is no time")
	d.keys("backspace", "0", "m", "enter").see("paused orders-paid broker-a/3")
	want := []engine.PauseRequest{{Queues: []engine.MessageQueue{mq("orders-paid", "broker-a", 3)}, By: "wang", Reason: "bad batch 7781", ResumeAfter: 10 * time.Minute}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the request (-want +got):\n%s", diff)
	}
	d.keys("P", "esc", "P").see("PAUSE the whole consumer").keys("enter")
	if len(got) != 2 || got[1].Queues != nil {
		t.Errorf("the whole consumer: %+v", got)
	}
	// broker-a/4 is paused already: the prompt offers to resume, and tells what goes wrong.
	d.keys("/").typing("a/4").keys("enter", "p").see("RESUME orders-paid broker-a/4").keys("enter").see("resumed orders-paid broker-a/4: the coordinator is busy")
	if len(resumed) != 1 {
		t.Errorf("resume was called %d times", len(resumed))
	}
}

func TestPausingMarkedQueuesLeavesOthersOut(t *testing.T) {
	var got []engine.PauseRequest
	e := &fakeEngine{pause: func(r engine.PauseRequest) error { got = append(got, r); return nil }}
	d := drive(t, 120, 36, defaultOptions(), e).keys("v", "v", "v", "p")
	d.see("1 marked queue is left out: not ours (any more)").keys("esc", "R").see("1 marked queue is left out").see("marked of orders-paid (2)").keys("esc", "p", "enter")
	if len(got) != 1 || len(got[0].Queues) != 2 {
		t.Errorf("two own queues of three marked: %+v", got)
	}
	d.keys("esc", "/").typing("b/2").keys("enter", "p").see("only own queues can be paused here; orders-paid broker-b/2 is not ours")
}

func TestThePromptCountsMarksItLeavesOut(t *testing.T) {
	d := drive(t, 120, 36, defaultOptions(), nil).keys("v", "v", "v", "v", "v", "v", "G", "v", "/").typing("~a/[3-5]").keys("enter", "p")
	d.see("PAUSE orders-paid broker-a/3").see("6 marked queues are left out: 5 hidden by filter or topic, 1 paused already").keys("esc", "esc")
	s := fixture(0)
	s.At = s.At.Add(2 * time.Second)
	s.Queues = s.Queues[:12] // the last rows are gone
	d.send(snapshotsMsg{snapshots: []*engine.Snapshot{s}})
	d.keys("p").see("4 marked queues are left out: 1 not ours (any more), 2 gone from the route, 1 paused already")
}

func TestDialogsNameTheTopic(t *testing.T) {
	s := twoTopics()
	for i := range s.Queues {
		if q := &s.Queues[i]; q.Retry && q.Own {
			q.MaxOffset = q.CommittedOffset + 1e9 // the worst of all
		} else if !q.Own && q.MaxOffset == engine.Unknown {
			q.CommittedOffset, q.MaxOffset = 7, 7
		}
	}
	d := driveEmpty(t, 120, 36, defaultOptions(), resetEngine())
	d.send(snapshotsMsg{snapshots: []*engine.Snapshot{s}})
	d.keys("p").see("PAUSE orders-paid broker-a/3").keys("esc")
	if mq, _ := d.a.live[0].Queues.Current(); mq.Topic == "%RETRY%order-settle" {
		t.Error("a fresh screen stands on the retry topic")
	}
	d.a.live[0].Queues.Select(mq("%RETRY%order-settle", "broker-a", 0))
	d.keys("p").see("PAUSE (retry) broker-a/0").keys("enter").see("paused (retry) broker-a/0")
	d.keys("R").see("(•)(retry) broker-a/0  ( )all own of (retry) (1)").see(" (retry) broker-a/0 ").keys("esc")
	for _, w := range []int{60, 80, 120} {
		drive(t, w, 36, defaultOptions(), resetEngine()).keys("R").see("broker-a/3 ")
	}
}

// toReset opens the dialog for all own queues and types the name.
func toReset(t *testing.T, e *fakeEngine) *driver {
	t.Helper()
	return drive(t, 120, 36, defaultOptions(), e).keys("R", "tab", "right", "tab", "left", "left", "enter", "shift+tab")
}

func TestResetNeedsEveryStep(t *testing.T) {
	e := resetEngine()
	var got []engine.ResetRequest
	inner := e.reset
	e.reset = func(r engine.ResetRequest) ([]engine.ResetRow, error) { got = append(got, r); return inner(r) }
	d := toReset(t, e)
	d.see("SKIP 349").see("GONE 30,200").see("replay 11,537").see("1 queue unknown: leave it out by hand")
	d.keys("tab", "tab", "tab", "down", "down", "down", "down", "down", "space") // to the rows: leave broker-a/5 out
	d.see("type the group's name: order-settle").keys("tab").typing("bad batch").keys("tab").typing("order-settl").keys("enter")
	if len(got) != 0 {
		t.Fatal("enter in a field applied")
	}
	d.typing("e").keys("tab") // enter did not leave the field: a paste may end with one
	d.see("Apply writes the offsets of 5 queues")
	d.now = d.now.Add(31 * time.Second)
	d.send(snapshotsMsg{snapshots: []*engine.Snapshot{fixture(0)}, next: true})
	d.see("the preview is older than 30s").keys("enter")
	if len(got) != 0 {
		t.Fatal("an old preview was applied")
	}
	d.keys("ctrl+r").see("Apply writes the offsets of 5 queues").keys("enter")
	if len(got) != 1 {
		t.Fatalf("applied %d times", len(got))
	}
	r := got[0]
	if len(r.Queues) != 5 || r.By != "wang" || r.Reason != "bad batch" || r.Target.Kind != core.ResetTime {
		t.Errorf("the request: %+v", r)
	}
	for i, q := range r.Queues {
		want := 18_201_977 + int64(i)*1000
		if q.QueueID == 4 {
			want = 10_987_802
		}
		if row := r.Preview[i]; row.MessageQueue != q || row.Before != want || row.Effect == 0 {
			t.Errorf("%v is sent as %+v, want what the preview saw, %d", q, row, want)
		}
	}
	d.see("4 of 5 verified").see("moved back to 18,000,000").keys("enter")
	if len(d.a.dialogs) != 0 {
		t.Error("the result does not close")
	}
	d.see("reset: 4 of 5 queues verified")
}

// What the dialog opens with skips nothing and repeats nothing, of our own queues and of
// any group's, and a preview that skips says so in its title.
func TestTheResetDialogOpensWithWhatIsSafe(t *testing.T) {
	bounds := core.ResetBounds{Committed: 1_000, Min: 0, Max: 23_010, ByTime: 23_010}
	row := func(t core.ResetTarget) (after int64, effect core.ResetEffect, count int64) {
		return core.PlanReset(bounds, t)
	}
	e := &fakeEngine{preview: func(r engine.ResetRequest) (rows []engine.ResetRow, err error) {
		for _, mq := range r.Queues[:1] {
			after, effect, count := row(r.Target)
			rows = append(rows, engine.ResetRow{MessageQueue: mq, MaxOffset: bounds.Max, Before: bounds.Committed, After: after, Effect: effect, Count: count})
		}
		return rows, nil
	}}
	f := fullCluster()
	f.planReset = func(r inspect.ResetRequest) (inspect.ResetPlan, error) {
		after, effect, count := row(r.Target)
		p := inspect.ResetPlan{Request: r, At: fixtureNow, Method: inspect.MethodCommit}
		if r.Target.Kind == core.ResetShift { // as a 4.9 broker says while members are connected
			p.Method, p.Why = inspect.MethodNone, "a 4.9 broker resets to a time"
		}
		p.Rows = []inspect.ResetRow{{MessageQueue: mq("orders-paid", "broker-a", 0), Max: bounds.Max, Before: bounds.Committed, After: after,
			Effect: effect, Count: count, Method: p.Method}}
		return p, nil
	}
	for _, size := range sizes[1:] {
		for name, d := range map[string]*driver{
			"own": drive(t, size[0], size[1], defaultOptions(), e).keys("R"),
			"any": driveCluster(t, size[0], size[1], defaultOptions(), f).keys("2", "R"),
		} {
			d.see("nothing written yet").miss("SKIP").miss("a 4.9 broker").see("Apply is off: choose where to")
			d.keys("tab", "tab", "left", "left", "enter").see("RESET — SKIPS 22,010 messages in 1 queue")
			if d.keys("left", "left").see("nothing written yet").miss("SKIPS"); t.Failed() {
				t.Fatalf("%s at %v", name, size)
			}
		}
	}
}

func TestOpeningTheResetDialogWritesNothing(t *testing.T) {
	e := resetEngine()
	e.reset = func(engine.ResetRequest) ([]engine.ResetRow, error) {
		t.Error("something was written")
		return nil, nil
	}
	toReset(t, e).keys("esc")
	d := drive(t, 120, 36, defaultOptions(), e).keys("R", "enter") // the focus is on Cancel
	if len(d.a.dialogs) != 0 {
		t.Error("enter on Cancel does not close")
	}
}

func TestAnOldPreviewIsNotShownForANewTarget(t *testing.T) {
	var tickets []engine.ResetRequest
	e := resetEngine()
	inner := e.preview
	e.preview = func(r engine.ResetRequest) ([]engine.ResetRow, error) { tickets = append(tickets, r); return inner(r) }
	d := drive(t, 120, 36, defaultOptions(), e).keys("R", "tab", "tab", "left", "left", "left") // to latest
	if last := tickets[len(tickets)-1].Target.Kind; last != core.ResetLatest {
		t.Errorf("the last preview is of kind %v", last)
	}
	d.send(change.ResetPreviewMsg{Ticket: 1, Err: "too slow"})
	d.miss("too slow")
	d.keys("left").see("(•)earliest").see("replay 11,537").keys("left").see("(•)file").miss("replay 11,537").miss("18,190,440")
	d.keys("left", "tab").see("(•)shift").typing("0").see("the form changed").miss("replay 11,537").keys("enter").see("replay 11,537")
	if got := tickets[len(tickets)-1].Target; got != (core.ResetTarget{Kind: core.ResetShift, Offset: -1000}) {
		t.Errorf("the target is %+v", got)
	}
	d.keys("backspace", "backspace", "backspace", "backspace", "x", "enter").see("is no number")
}

func TestCtrlCWaitsForAWriteOnItsWay(t *testing.T) {
	o := defaultOptions()
	left := 0
	o.Leave, o.Left = func() { left++ }, make(chan error)
	d := drive(t, 120, 36, o, nil)
	d.a.writing = "a reset of 3 queues"
	d.keys("ctrl+c").see("leaving: a reset of 3 queues is still being written")
	if left != 0 || d.quit {
		t.Error("it did not wait")
	}
	d.send(change.ResetDoneMsg{})
	if left != 1 {
		t.Error("it does not go on after the write")
	}
}

func TestReadOnlyHasNoWritingKeys(t *testing.T) {
	o := defaultOptions()
	o.Mode = page.ModeReadOnly
	d := drive(t, 120, 36, o, nil).miss("reset…").keys("R").see("read-only, nothing sent").keys("?").miss("reset offsets")
	d.keys("esc", ":").typing("reset").keys("enter").see("read-only, nothing sent")
	if len(d.a.dialogs) != 0 {
		t.Error("a dialog opened")
	}
}

// Each stop of the tab key is seen without colours: what is typed goes where the mark is.
func TestEachTabStopOfAResetIsMarked(t *testing.T) {
	d := drive(t, 120, 36, defaultOptions(), resetEngine()).keys("R")
	seen := map[string]bool{}
	for range 7 {
		f := d.frame()
		if seen[f] {
			t.Errorf("a stop looks like one before:\n%s", f)
		}
		seen[f] = true
		d.keys("tab")
	}
	d.keys("shift+tab", "shift+tab", "shift+tab").see("▸ queue").see("leave the queue out or take it in")
}
