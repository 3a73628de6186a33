package tui

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/go-cmp/cmp"

	"eyeq/engine"
	"eyeq/tui/live"
	"eyeq/tui/page"
)

func TestFastKeysArriveAsOneMessage(t *testing.T) {
	d := drive(t, 120, 36, defaultOptions(), nil).keys("jjj")
	if got := d.a.live[0].Queues.Cursor(); got != 3 {
		t.Errorf("after jjj the cursor is on row %d, want 3", got)
	}
	d.keys("/a/3").see("/a/3")
	if got := d.a.live[0].Queues.Len(); got != 1 {
		t.Errorf("a filter typed fast shows %d rows, want 1", got)
	}
}

func TestLettersAreTextWhileAFieldHasFocus(t *testing.T) {
	d := drive(t, 120, 36, defaultOptions(), nil)
	for _, open := range []string{"/", ":", "p", "?"} {
		d.keys(open).typing("qR7P!p")
		if d.quit || len(d.a.dialogs) != 1 || d.a.shown != page.ViewLive {
			t.Errorf("after %q letters did something: quit %v, %d dialogs, view %d", open, d.quit, len(d.a.dialogs), d.a.shown)
		}
		d.keys("esc", "esc")
		d.a.dialogs = nil
		d.a.live[0].Filter = page.Filter{}
	}
}

func TestPastedTextPressesNoKeys(t *testing.T) {
	d := drive(t, 120, 36, defaultOptions(), nil)
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("qq"), Paste: true})
	if d.quit {
		t.Error("pasting qq left")
	}
}

func TestEscapeGoesBackStepByStep(t *testing.T) {
	d := drive(t, 120, 36, defaultOptions(), nil).keys("v", "/").typing("a/").keys("enter", "?")
	v := func() *live.View { return &d.a.live[0] }
	d.keys("esc")
	if len(d.a.dialogs) != 0 || !v().Filter.Active() || v().Queues.MarkCount() != 1 {
		t.Error("the first esc closes the dialog only")
	}
	d.keys("esc")
	if v().Filter.Active() || v().Queues.MarkCount() != 1 {
		t.Error("the second clears the filter only")
	}
	d.keys("esc")
	if v().Queues.MarkCount() != 0 {
		t.Error("the third clears the marks")
	}
	d.keys("esc", "esc")
	if d.quit {
		t.Error("esc never leaves")
	}
	d.keys("7", "esc")
	if d.a.shown != page.ViewLive {
		t.Error("esc goes back from a view")
	}
}

func TestABadRegexpKeepsTheOldFilter(t *testing.T) {
	d := drive(t, 120, 36, defaultOptions(), nil).keys("/").typing("~a/[3")
	d.see("✗ not whole: missing closing ] · rows as before").see("filter ~a/ (")
	if got := d.a.live[0].Filter.Text; got != "~a/" {
		t.Errorf("the filter in force is %q, want the last good one", got)
	}
	d.typing("]")
	if got := d.a.live[0].Queues.Len(); got != 1 {
		t.Errorf("%d rows match, want 1", got)
	}
	d.keys("enter", "/").see("~a/[3]") // it is kept to be edited
	d.keys("esc")
	if d.a.live[0].Filter.Active() {
		t.Error("esc in the bar leaves no filter")
	}
	d.keys("/", "up").see("~a/[3]") // and remembered
}

func TestFilters(t *testing.T) {
	tests := map[string]struct {
		text string
		want int
	}{
		"text, any case": {"BROKER-A", 8}, "without": {"!broker-a", 8}, "regexp": {"~broker-[ab]/[01]$|FLOW", 5},
		"state": {"paused", 1}, "above": {">lag 10,000", 5}, "below": {"<lag 1k", 2}, "not above": {"!>lag 10000", 11},
		"a column that other members' queues do not have": {">span 1000", 11}, "empty": {"", 16},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := drive(t, 120, 36, defaultOptions(), nil)
			if err := d.a.setFilter(tt.text); err != nil {
				t.Fatal(err)
			}
			if got := d.a.live[0].Queues.Len(); got != tt.want {
				t.Errorf("%q shows %d rows, want %d", tt.text, got, tt.want)
			}
		})
	}
	for _, bad := range []string{">lag", ">nothing 1", ">lag x", "~["} {
		if _, err := page.ParseFilter(bad, live.FilterColumns); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestSortGoesThroughTheColumns(t *testing.T) {
	d := drive(t, 120, 36, defaultOptions(), nil)
	d.see("lag↓").keys("j", "k", "s").see("queue↑")
	if got, _ := d.a.live[0].Queues.Current(); got.Short() != "broker-a/3" {
		t.Errorf("the cursor follows its row, but is on %v", got)
	}
	if got := d.a.live[0].Queues.Key(0).Short(); got != "broker-a/0" {
		t.Errorf("sorted by queue the first is %s", got)
	}
	d.keys("S").see("queue↓")
	if got := d.a.live[0].Queues.Key(0).Short(); got != "broker-b/7" {
		t.Errorf("reversed the first is %s", got)
	}
}

func TestTheCursorStaysOnTheWorstRowUntilItIsMoved(t *testing.T) {
	d := drive(t, 120, 36, defaultOptions(), nil)
	give := func(after time.Duration, id int) string {
		s := fixture(0)
		s.At = fixtureNow.Add(after)
		s.Queues[id].MaxOffset += 1_000_000
		d.send(snapshotsMsg{snapshots: []*engine.Snapshot{s}})
		q, _ := d.a.live[0].Queues.Current()
		return q.Short()
	}
	if got := give(2*time.Second, 5); got != "broker-a/5" {
		t.Errorf("the cursor is on %s, want the new worst", got)
	}
	d.keys("j", "k")
	if got := give(4*time.Second, 2); got != "broker-a/5" {
		t.Errorf("a chosen row is left for %s", got)
	}
}

func TestUnknownLagIsListedLast(t *testing.T) {
	d := withSnapshot(t, 120, 36, twoTopics())
	last := func() engine.MessageQueue { q := &d.a.live[0].Queues; return q.Key(q.Len() - 2) }
	for range 2 {
		if got := last(); got.Topic != "inventory-sync" || got.BrokerName != "broker-b" {
			t.Errorf("the last but one is %v", got)
		}
		d.keys("S")
	}
	d.see("≥ 128,622 · 1 unknown").see("retry ≥ 210") // the retry topic is no part of the lag
}

func TestRowsAreSortedByWhatTheyShow(t *testing.T) {
	d := drive(t, 120, 36, defaultOptions(), nil)
	give := func(after time.Duration, id int, lag int64) string {
		s := fixture(0)
		s.At = fixtureNow.Add(after)
		s.Queues[id].MaxOffset = s.Queues[id].CommittedOffset + lag
		d.now = s.At
		d.send(snapshotsMsg{snapshots: []*engine.Snapshot{s}})
		return d.a.live[0].Queues.Key(0).Short()
	}
	if got := give(250*time.Millisecond, 5, 99_999); got != "broker-a/5" {
		t.Errorf("%s is first, with less lag than the next", got)
	}
	d.keys("j")
	if got := give(750*time.Millisecond, 4, 199_999); got != "broker-a/5" {
		t.Errorf("rows jump to %s while the cursor is being moved", got)
	}
	if got := give(1300*time.Millisecond, 4, 199_999); got != "broker-a/4" {
		t.Errorf("a second after the last key %s is first", got)
	}
}

func TestTopicsOneByOne(t *testing.T) {
	d := withSnapshot(t, 120, 36, twoTopics())
	d.see("1-13 of 20").keys("n").see("of 16").keys("n").see("1-2 of 2").see("Allocation  inventory-sync")
	d.keys("n").see("Allocation  %RETRY%order-settle").keys("n").see("of 20").keys("N").see("%RETRY%order-settle")
	d.keys("esc").see("of 20")
}

func TestQAsksOnceAsAMember(t *testing.T) {
	o := defaultOptions()
	o.Member = true
	left := 0
	o.Leave, o.Left = func() { left++ }, make(chan error)
	d := drive(t, 80, 24, o, nil).keys("q")
	d.see("LEAVE the group?").see("holds 6 queues").keys("enter")
	if left != 0 || d.quit {
		t.Error("enter must not leave: the focus starts on Stay")
	}
	d.keys("q", "y")
	if left != 1 {
		t.Errorf("Leave was called %d times", left)
	}
	d.send(eventsMsg{events: []engine.Event{engine.ShutdownStep{At: engine.At{Time: fixtureNow}, Step: "persist"}}})
	d.see("leaving: persist")
	d.send(leftMsg{})
	if !d.quit || d.a.exit != nil {
		t.Errorf("after the engine's end: quit %v, %v", d.quit, d.a.exit)
	}
}

func TestQLeavesTheSandboxAtOnce(t *testing.T) {
	d := drive(t, 80, 24, defaultOptions(), nil).keys("7", "q")
	if d.quit || d.a.shown != page.ViewLive {
		t.Error("q goes back first")
	}
	d.keys("q")
	if !d.quit || d.a.exit != nil {
		t.Errorf("quit %v, %v", d.quit, d.a.exit)
	}
}

func TestCtrlCLeavesInOrderThenAtOnce(t *testing.T) {
	o := defaultOptions()
	o.Member = true
	left := 0
	o.Leave, o.Left = func() { left++ }, make(chan error)
	d := drive(t, 80, 24, o, nil).keys(":", "ctrl+c")
	if left != 1 || d.quit {
		t.Errorf("the first: Leave called %d times, quit %v", left, d.quit)
	}
	d.see("leaving").keys("ctrl+c")
	if !d.quit || !errors.Is(d.a.exit, ErrInterrupted) {
		t.Errorf("the second: quit %v, %v", d.quit, d.a.exit)
	}
	d = drive(t, 80, 24, o, nil).keys("ctrl+c")
	d.send(leftMsg{})
	if !d.quit || !errors.Is(d.a.exit, ErrInterrupted) {
		t.Errorf("after an orderly end: quit %v, %v", d.quit, d.a.exit)
	}
	d = drive(t, 80, 24, o, nil).keys("ctrl+c")
	d.send(leaveLateMsg{})
	if !d.quit || !errors.Is(d.a.exit, ErrLeaveTimeout) {
		t.Errorf("too late: quit %v, %v", d.quit, d.a.exit)
	}
}

func TestCtrlZIsRefusedAsAMember(t *testing.T) {
	o := defaultOptions()
	o.Member = true
	d := drive(t, 120, 36, o, nil).keys("ctrl+z")
	if d.suspended {
		t.Error("a member was suspended")
	}
	d.see("a stopped member of a real group would keep its queues")
	if d = drive(t, 120, 36, defaultOptions(), nil).keys("ctrl+z"); !d.suspended {
		t.Error("on the sandbox ctrl-z suspends")
	}
}

func TestTheEndOfTheEngineIsShown(t *testing.T) {
	d := drive(t, 120, 36, defaultOptions(), nil)
	d.send(leftMsg{errors.New("offset file is broken\x1b[31m")})
	d.see("the consumer has ended: offset file is broken␛[31m")
	if d.quit {
		t.Error("the screen stays, so that the reason can be read")
	}
	if d.keys("q"); !d.quit {
		t.Error("q leaves afterwards")
	}
}

func TestTheEndOfTheContextLeavesInOrder(t *testing.T) {
	o := defaultOptions()
	left := 0
	o.Leave, o.Left = func() { left++ }, make(chan error)
	d := drive(t, 120, 36, o, nil)
	d.send(endedMsg{})
	if left != 1 || d.quit {
		t.Errorf("Leave called %d times, quit %v", left, d.quit)
	}
	d = drive(t, 120, 36, o, nil)
	fault := errors.New("panic in a worker")
	d.send(endedMsg{fault})
	if !d.quit || !errors.Is(d.a.exit, fault) {
		t.Errorf("a fault ends at once: quit %v, %v", d.quit, d.a.exit)
	}
}

func TestFreezing(t *testing.T) {
	d := drive(t, 120, 36, defaultOptions(), nil).keys("space")
	before := d.lines()
	d.now = d.now.Add(3 * time.Second)
	s := fixture(0)
	s.At = d.now
	s.Queues[0].CommittedOffset += 5
	s.Queues[1].MaxOffset += 7
	s.Totals.Pulled += 99_999
	d.send(snapshotsMsg{snapshots: []*engine.Snapshot{s}})
	d.send(eventsMsg{events: fixtureEvents()[:2]})
	after := d.lines()
	if diff := cmp.Diff(before[2:35], after[2:35]); diff != "" {
		t.Errorf("a frozen screen changed:\n%s", diff)
	}
	d.see("FROZEN 14:32:07 · 3s · 4 changes waiting").keys("j").see("▸ broker-a/1")
	d.keys("7").see("1-13 of 13").keys("1", "space").miss("FROZEN").keys("7").see("1-15 of 15")
}

func TestAnUnchangedScreenIsNotDrawnAgain(t *testing.T) {
	d := drive(t, 120, 36, defaultOptions(), nil).keys("space")
	d.a.View()
	d.send(snapshotsMsg{snapshots: []*engine.Snapshot{fixture(0)}, next: true})
	if !d.a.cache.valid {
		t.Error("frozen, a tick within the second draws the screen anew")
	}
	d.now = d.now.Add(time.Second)
	d.send(snapshotsMsg{snapshots: []*engine.Snapshot{fixture(0)}, next: true})
	if d.a.cache.valid {
		t.Error("the clock stands still")
	}
}

func TestCommands(t *testing.T) {
	d := drive(t, 120, 36, defaultOptions(), resetEngine())
	run := func(line string) *driver { return d.keys(":").typing(line).keys("enter") }
	run("events").see("Events  1-13 of 13")
	run("live").see("Allocation")
	run("queue b/2").see("Queue  broker-b/2").see("not ours")
	run("queue nowhere/1").see("no queue nowhere/1")
	run("set refresh 2s").see("refresh every 2.0s").see("every 2.0s")
	if d.a.refresh != 2*time.Second {
		t.Errorf("refresh = %v", d.a.refresh)
	}
	run("set refresh 1ms").see("set refresh: 100ms to 10s")
	run("live")
	run("pause broker-a/1").see("PAUSE orders-paid broker-a/1").keys("esc")
	run("resume broker-a/1").see("is not paused")
	run("resume broker-a/4").see("RESUME orders-paid broker-a/4").keys("esc")
	run("topic orders-paid").see("topic orders-paid")
	run("topic all")
	run("sort queue").see("queue↓")
	run("reset").see("nothing written yet").keys("esc")
	run("help").see("Keys").keys("esc")
	run("frobnicate").see(`there is no command "frobnicate"`)
	run("log").see("no log is kept").keys("q")
	if d.quit {
		t.Fatal("q left from the log")
	}
	run("q")
	if !d.quit {
		t.Error(":q does not leave")
	}
}

func TestCommandCompletion(t *testing.T) {
	d := drive(t, 120, 36, defaultOptions(), nil).keys(":", "q", "u", "tab").see(":queue ")
	d.typing("broker-b/").keys("tab").see(":queue broker-b/0").keys("tab").see(":queue broker-b/1").keys("shift+tab").see(":queue broker-b/0").keys("enter")
	d.see("Queue  broker-b/0").keys(":", "up").see(":queue broker-b/0").keys("esc", ":", "backspace")
	if len(d.a.dialogs) != 0 {
		t.Error("backspace in an empty bar does not close it")
	}
}

func TestEventsView(t *testing.T) {
	d := drive(t, 120, 36, defaultOptions(), nil)
	d.see("Events(✗1)").keys("7").see("following").miss("Events(✗")
	d.keys("E").see("▸✗14:32:02.000 CONSUME").keys("enter").see("payment service says 503").see("return_type").keys("esc")
	d.send(eventsMsg{events: fixtureEvents()[:3]})
	d.see("3 new").keys("G").see("following")
	d.keys("/").typing("flow").keys("enter").see("1-2 of 2").see("14 hidden").keys("esc")
	d.keys("/").typing("nothing at all").keys("enter").see("No event matches").keys("esc", "k").see("G follow")
}

func TestEventsKeepTheNewest(t *testing.T) {
	d := driveEmpty(t, 120, 36, defaultOptions(), nil).keys("7")
	batch := make([]engine.Event, 400)
	for i := range batch {
		batch[i] = engine.HeartbeatSent{At: engine.At{Time: fixtureNow}, Address: fmt.Sprintf("10.0.0.%d", i)}
	}
	for range 40 {
		d.send(eventsMsg{events: batch, dropped: 1})
	}
	if n := len(d.a.sources[0].Log.Rows); n < live.KeepEvents || n > 2*live.KeepEvents {
		t.Errorf("%d events are kept", n)
	}
	d.see("40 lost").keys("g").see("▸ 14:32:07.000")
	if r := d.a.events[0].Current(); r == nil {
		t.Error("the oldest row is not found by its number")
	}
}

func TestFeedFoldsByQueueAndCause(t *testing.T) {
	d := drive(t, 120, 36, defaultOptions(), nil)
	for i := range 30 {
		d.send(eventsMsg{events: []engine.Event{engine.ConsumeFailed{At: at(5*time.Second-time.Duration(i)*100*time.Millisecond, mq("orders-paid", "broker-a", 0)),
			Count: 1, First: int64(i), ReturnType: "FAILED", Error: "no"}}})
	}
	d.see("×31 in 2s")
	folds := d.a.sources[0].Log.Folds
	n := 0
	for _, f := range folds {
		if f.Row.Kind == "CONSUME" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d lines for one cause of one queue", n)
	}
}

// A reset that begins and ends is one, and what comes twice at one instant has no time.
func TestFeedCountsWhatItSays(t *testing.T) {
	d := drive(t, 120, 36, defaultOptions(), nil)
	a := at(time.Second, mq("orders-paid", "broker-a", 3))
	d.send(eventsMsg{events: []engine.Event{engine.ResetBegin{At: a, From: 9, To: 5, By: "operator"}, engine.ResetEnd{At: a, From: 9, To: 5, By: "operator", Verified: true}}})
	d.see("offset 9 → 5 by operator, read back and verified").miss("×2 │")
	d.send(eventsMsg{events: []engine.Event{engine.ResetBegin{At: a, From: 5, To: 4, By: "operator"}, engine.ResetEnd{At: a, From: 5, To: 4, By: "operator", Verified: true}}})
	d.see("offset 5 → 4 by operator, read back and verified").see("×2 │")
}

func TestFlowInForceIsShownWithoutItsEvent(t *testing.T) {
	withSnapshot(t, 120, 36, fixture(0)).see("span 2,001 > limit 2,000").see("×281 for 10s")
}

func TestEnterOnAFeedLineExpandsIt(t *testing.T) {
	d := drive(t, 120, 36, defaultOptions(), nil).keys("tab", "j", "j", "j", "enter")
	if r := d.a.events[0].Current(); d.a.shown != page.ViewEvents || r == nil || r.Kind != "CONSUME" {
		t.Errorf("view %d, on %+v", d.a.shown, r)
	}
	d.keys("q", "shift+tab", "shift+tab", "j", "enter").see("filter 10.0.4.22@6023#1")
	if got := d.a.live[0].Queues.Len(); got != 5 {
		t.Errorf("enter on a member shows %d of its queues, want 5", got)
	}
}

func TestQueueDetailPollsItsCacheWhileItIsOpen(t *testing.T) {
	asked := 0
	e := &fakeEngine{held: func(q engine.MessageQueue, n int) ([]engine.HeldMessage, error) {
		asked++
		return nil, errors.New("the queue is gone\x1b")
	}}
	d := drive(t, 120, 36, defaultOptions(), e).keys("enter").see("the queue is gone␛")
	if asked != 1 {
		t.Fatalf("asked %d times", asked)
	}
	poll := d.a.poll
	d.send(pollDueMsg{poll})
	d.send(pollDueMsg{poll - 1})
	d.keys("q")
	d.send(pollDueMsg{poll})
	if asked != 2 {
		t.Errorf("asked %d times, want 2: not for an older poll, not after closing", asked)
	}
	d.keys("j", "j", "enter").see("not ours: its messages are in another member's cache")
}

func TestZoomAndPanes(t *testing.T) {
	d := drive(t, 120, 36, defaultOptions(), nil).keys("z").miss("Allocation").see("1-16 of 16").keys("esc").see("Allocation")
	d.keys("tab", "z").see("Flow control & events").miss("Queues").keys("z")
}

func TestSidewaysScrollReachesHiddenColumns(t *testing.T) {
	drive(t, 80, 24, defaultOptions(), nil).miss("max cached").keys("l", "l", "l").see("max cached").keys("0").miss("max cached")
}

func TestTimesHaveThreeModes(t *testing.T) {
	d := drive(t, 120, 36, defaultOptions(), nil).see("14:31:57.10").keys("ctrl+t").see("times are relative").see("-5.0s")
	d.keys("ctrl+t").see("06:32:02.00Z").keys("ctrl+t").see("14:32:07 +08:00")
}

func TestSeveralConsumers(t *testing.T) {
	o := defaultOptions()
	o.Engines = []page.NamedEngine{{Name: "order-settle/1", Engine: &fakeEngine{}}, {Name: "audit", Engine: &fakeEngine{}}}
	d := driveEmpty(t, 120, 36, o, nil)
	other := fixture(0)
	other.Group = "audit-copy"
	d.send(snapshotsMsg{snapshots: []*engine.Snapshot{fixture(0), other}})
	d.see("order-settle/1 [1/2]").keys("j", "ctrl+n").see("audit-copy (audit) [2/2]")
	if got := d.a.live[1].Queues.Cursor(); got != 0 {
		t.Error("each consumer has its own cursor")
	}
	d.keys(":").typing("live order-settle/1").keys("enter").see("[1/2]").see("▸ broker-a/1")
	d.keys(":").typing("live nobody").keys("enter").see("there are: order-settle/1, audit")
}

func TestHelpComesFromTheKeyTable(t *testing.T) {
	o := defaultOptions()
	o.Keys = map[string]string{"reset": "X f5"}
	d := drive(t, 120, 36, o, resetEngine()).see("X reset…").keys("?").see("X/f5").typing("offs").see("reset offsets").miss("half a page")
	d.keys("esc", "esc", "R")
	if len(d.a.dialogs) != 0 {
		t.Error("the old key still works")
	}
	d.keys("X").see("RESET OFFSETS").keys("f1").see("Keys").keys("f1").see("RESET OFFSETS")
}

func TestUpdateStaysShort(t *testing.T) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "app.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(f.Decls, func(d ast.Decl) bool { fn, ok := d.(*ast.FuncDecl); return ok && fn.Name.Name == "Update" })
	lines := fset.Position(f.Decls[i].End()).Line - fset.Position(f.Decls[i].Pos()).Line + 1
	if lines >= 60 {
		t.Errorf("app.Update has %d lines, want under 60", lines)
	}
}

func TestTinyScreensStayLiveAndUsable(t *testing.T) {
	d := drive(t, 58, 14, defaultOptions(), resetEngine()).see("lag 128,412").see("enlarge for tables").keys("p").see("PAUSE orders-paid broker-a/3").keys("esc")
	d.keys("R").see("Cancel").keys("esc")
	for _, size := range [][2]int{{1, 1}, {10, 1}, {80, 1}, {80, 2}, {3, 40}, {59, 16}, {60, 15}} {
		d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		for _, k := range []string{"?", "esc", "p", "esc", "R", "esc", "7", "1", ":", "esc", "/", "esc"} {
			d.keys(k).lines()
		}
	}
	d.send(tea.WindowSizeMsg{Width: 80, Height: 1})
	d.see("eyeq 80x1: live · order-settle lag 128k +157/s ↑")
}

func TestRenderNeedsNoTerminal(t *testing.T) {
	o := page.Options{Cluster: "prod-sh", Mode: "confirm", Location: fixtureZone}
	frame := Render(fixtures(40), fixtureEvents(), o, 120, 36)
	if lines := strings.Split(frame, "\n"); len(lines) != 36 || strings.Contains(frame, "\x1b") {
		t.Errorf("%d lines:\n%s", len(lines), frame)
	}
	for _, want := range []string{"4,697/s", "+157/s rising", "14:32:07 +08:00", "FLOW span"} {
		if !strings.Contains(frame, want) {
			t.Errorf("no %q in\n%s", want, frame)
		}
	}
	if empty := Render(nil, nil, page.Options{}, 80, 24); strings.Count(empty, "\n") != 23 {
		t.Errorf("nothing to show:\n%s", empty)
	}
}
