package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
	"eyeq/tui/live"
	"eyeq/tui/page"
	"eyeq/tui/words"
)

var watchSilent = inspect.Reason{Kind: inspect.ReasonUnreachable, Text: "no answer to 307 within 3s"}

// watchStates are the states of a watched group, for the goldens and the fuzzer.
func watchStates() map[string]func(t testing.TB, w, h int) *driver {
	return map[string]func(t testing.TB, w, h int) *driver{
		"watch": func(t testing.TB, w, h int) *driver { return watching(t, w, h, defaultOptions(), lives(20)...) },
		"watch-moved": func(t testing.TB, w, h int) *driver {
			list := lives(20)
			leave(&list[18], memberC)
			give(&list[18], memberC, "")
			leave(&list[19], memberC)
			give(&list[19], memberC, memberB)
			return watching(t, w, h, defaultOptions(), list...)
		},
		"watch-silent": func(t testing.TB, w, h int) *driver {
			list := lives(20)
			silence(&list[19], memberC, watchSilent)
			return watching(t, w, h, defaultOptions(), list...)
		},
		"watch-trouble": func(t testing.TB, w, h int) *driver { return watching(t, w, h, defaultOptions(), inTrouble()...) },
		"watch-orderly": func(t testing.TB, w, h int) *driver {
			list := lives(20)
			for i := range list {
				orderlyLimits(&list[i])
			}
			return watching(t, w, h, defaultOptions(), list...)
		},
		"watch-paused": func(t testing.TB, w, h int) *driver {
			list := lives(20)
			list[19].Lag.Pause = inspect.Pause{Brokers: []string{"broker-a"}, Of: 2}
			return watching(t, w, h, defaultOptions(), list...)
		},
		"watch-offline": func(t testing.TB, w, h int) *driver { return watching(t, w, h, defaultOptions(), offlineLive()) },
		"watch-broadcast": func(t testing.TB, w, h int) *driver {
			return watching(t, w, h, defaultOptions(), broadcastLive())
		},
		"watch-pop": func(t testing.TB, w, h int) *driver { return watching(t, w, h, defaultOptions(), popLives()...) },
		"watch-error": func(t testing.TB, w, h int) *driver {
			f := fixtureCluster()
			f.live = func(string) (inspect.Live, error) {
				return inspect.Live{}, errors.New("no name server answers: 10.0.3.11:9876: connection refused")
			}
			return driveCluster(t, w, h, defaultOptions(), f).keys(":").typing("live order-settle").keys("enter")
		},
		"watch-queue": func(t testing.TB, w, h int) *driver {
			d := watching(t, w, h, defaultOptions(), lives(20)...).keys("enter")
			q := d.a.source().Scene.Queue(d.a.queue.MQ)
			at, _ := live.HeadOffset(q)
			r := fixtureHeld()[0]
			d.send(live.HeadMsg{MQ: d.a.queue.MQ, Offset: at, Row: &r})
			return d
		},
		"watch-events": func(t testing.TB, w, h int) *driver {
			list := lives(20)
			leave(&list[18], memberC)
			give(&list[18], memberC, "")
			give(&list[19], memberC, memberB)
			leave(&list[19], memberC)
			return watching(t, w, h, defaultOptions(), list...).keys("7")
		},
	}
}

// inTrouble has a queue with two owners, one with none, one whose commit stands, a
// member that disagrees and one whose host flaps.
func inTrouble() []inspect.Live {
	list := lives(20)
	for i := range list {
		l := &list[i]
		q := &l.Queues[6]
		q.Owners = []string{memberA, memberB}
		l.Queues[9].Owner, l.Queues[9].Owners, l.Queues[9].Info = "", nil, nil
		l.Queues[7].Committed, l.Queues[7].Lag, l.Queues[7].Max = inspect.Exact(18_206_004), inspect.Exact(int64(1802+i*10)), inspect.Exact(18_206_004+int64(1802+i*10))
		l.Queues[12].Committed, l.Queues[12].Lag = inspect.Unknown(inspect.Reason{Kind: inspect.ReasonNoCommit}), inspect.Exact(17_926_331-11_000_000)
		l.Queues[14].Lag, l.Queues[14].Max = inspect.Unknown(watchSilent), inspect.Unknown(watchSilent)
		l.Topics[0].Strategy, l.Topics[0].Differ = "", []string{"10.0.4.22@6023#1 holds broker-a/6, AVG gives it to 10.0.4.21@7181#1"}
		l.LimitsDiffer = []string{"pullThresholdForQueue"}
		l.Problems = []inspect.Problem{{What: "offsets", Where: "broker-c", Why: watchSilent}}
		if i%4 > 1 {
			leave(l, memberC)
		}
	}
	return list
}

func offlineLive() inspect.Live {
	l := fixtureLive(0)
	none := inspect.Reason{Kind: inspect.ReasonOffline}
	l.Members.Members, l.Lag.Members, l.Lag.State = nil, inspect.Exact(0), "offline"
	l.Members.Kind, l.Members.Model = inspect.KindUnknown, 0
	l.Topics[0].Strategy, l.Topics[0].Expected = "", nil
	for i := range l.Queues {
		l.Queues[i].Owner, l.Queues[i].Owners, l.Queues[i].Info, l.Queues[i].OwnersWhy, l.Queues[i].Expected = "", nil, nil, none, ""
	}
	return l
}

func broadcastLive() inspect.Live {
	l := fixtureLive(0)
	why := inspect.Reason{Kind: inspect.ReasonBroadcasting}
	l.Members.Model, l.Lag.Model, l.Lag.State = 2, 2, "broadcasting"
	for i := range l.Queues {
		q := &l.Queues[i]
		q.Owners = []string{memberA, memberB, memberC}
		q.Committed, q.Lag = inspect.Unknown(why), inspect.Unknown(why)
	}
	return l
}

// A lag that nobody knows says why.
func TestWatchBroadcastSaysWhoKeepsTheOffsets(t *testing.T) {
	watching(t, 120, 36, defaultOptions(), broadcastLive()).see("the members keep the offsets")
	watching(t, 80, 24, defaultOptions(), broadcastLive()).see("kept by members").miss("─  ")
}

func TestGoldenWatch(t *testing.T) {
	for name, start := range watchStates() {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			for _, size := range sizes {
				d := start(t, size[0], size[1])
				fmt.Fprintf(&got, "== %dx%d\n%s\n", size[0], size[1], trimLines(d.frame()))
			}
			compareGolden(t, name, got.String())
		})
	}
}

// eventNames are the names of events, in order.
func eventNames(events []engine.Event) []string {
	var names []string
	for _, e := range events {
		names = append(names, e.EventName())
	}
	return names
}

func TestWhatHappensBetweenTwoPicturesIsAnEvent(t *testing.T) {
	tests := map[string]struct {
		change func(l *inspect.Live)
		want   []string
	}{
		"nothing": {func(*inspect.Live) {}, nil},
		"a member joins": {func(l *inspect.Live) {
			l.Members.Members = append(l.Members.Members, inspect.Member{ClientID: "10.0.4.24@1#1", Info: l.Members.Members[0].Info})
		}, []string{"member_joined"}},
		"a member leaves and its queues go on": {func(l *inspect.Live) {
			leave(l, memberC)
			give(l, memberC, memberB)
		}, []string{"member_left", "queue_moved", "queue_moved", "queue_moved", "queue_moved", "queue_moved"}},
		"a member leaves and nobody takes over": {func(l *inspect.Live) {
			leave(l, memberC)
			give(l, memberC, "")
		}, []string{"member_left", "queue_moved", "queue_moved", "queue_moved", "queue_moved", "queue_moved"}},
		"a member falls silent: its queues have not moved":          {func(l *inspect.Live) { silence(l, memberC, watchSilent) }, []string{"member_silent"}},
		"members pop, and one of them leaves: no queue was its own": {func(l *inspect.Live) { *l = popLives()[1] }, []string{"member_left", "flow_end", "flow_end"}},
		"flow control ends": {func(l *inspect.Live) {
			info := *l.Queues[1].Info
			info.CachedMsgCount = 900
			l.Queues[1].Info = &info
		}, []string{"flow_end"}},
		"flow control begins": {func(l *inspect.Live) {
			info := *l.Queues[0].Info
			info.CachedMsgCount = 1001
			l.Queues[0].Info = &info
		}, []string{"flow_begin"}},
		"flow control by size": {func(l *inspect.Live) {
			info := *l.Queues[0].Info
			info.CachedMsgSizeInMiB = 101
			l.Queues[0].Info = &info
		}, []string{"flow_begin"}},
		"the group is paused": {func(l *inspect.Live) { l.Lag.Pause = inspect.Pause{Brokers: []string{"broker-a"}, Of: 2} }, []string{"group_paused"}},
		"the member list could not be read: nobody has left": {func(l *inspect.Live) {
			l.Members.Members, l.Lag.Members = nil, inspect.Unknown(watchSilent)
			for i := range l.Queues {
				q := &l.Queues[i]
				q.Owner, q.Owners, q.Info, q.OwnersWhy = "", nil, nil, watchSilent
			}
		}, []string{"flow_end", "flow_end"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := live.NewWatchPast()
			before, now := fixtureLive(2), fixtureLive(0)
			p.Add(&before)
			tt.change(&now)
			_, events := p.Add(&now)
			if diff := cmp.Diff(tt.want, eventNames(events)); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			for _, e := range events {
				if !e.When().Equal(now.At) {
					t.Errorf("%s is told for %v, the picture is of %v", e.EventName(), e.When(), now.At)
				}
			}
		})
	}
}

func TestALostLockIsAnEvent(t *testing.T) {
	p := live.NewWatchPast()
	before, now := fixtureLive(2), fixtureLive(0)
	orderlyLimits(&before)
	orderlyLimits(&now)
	info := *now.Queues[0].Info
	info.Locked = false
	now.Queues[0].Info = &info
	p.Add(&before)
	s, events := p.Add(&now)
	if diff := cmp.Diff([]string{"lock_lost"}, eventNames(events)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if got := s.Queues[0].State; got != engine.QueueUnlocked {
		t.Errorf("the queue is %v", got)
	}
}

// A topic is deleted and created again under a running member, which corrects its
// offset some looks later. Nothing that can be asked then tells of the messages it passed.
func TestAQueueMadeAnewIsToldWithWhatIsPassed(t *testing.T) {
	p := live.NewWatchPast()
	var got []engine.Event
	for i, is := range []struct {
		there          bool
		committed, max int64
	}{
		{true, 100, 100}, {}, {true, -1, 5}, {true, 100, 5}, {true, 5, 5}, {true, 9, 9},
	} {
		l := fixtureLive(10 - 2*i)
		q := l.Queues[0]
		l.Queues = nil
		if is.there {
			q.Info, q.Min, q.Max, q.Committed = nil, inspect.Exact(0), inspect.Exact(is.max), inspect.Exact(is.committed)
			if is.committed < 0 {
				q.Committed = inspect.Unknown(inspect.Reason{Kind: inspect.ReasonNoCommit})
			}
			q.Lag = inspect.Exact(0)
			l.Queues = append(l.Queues, q)
		}
		_, events := p.Add(&l)
		for _, e := range events {
			switch e.(type) {
			case words.EndFell, words.CommitBack:
				got = append(got, e)
			}
		}
	}
	at := func(back int) engine.At {
		l := fixtureLive(back)
		return engine.At{Time: l.At, MQ: l.Queues[0].MessageQueue}
	}
	want := []engine.Event{words.EndFell{At: at(6), From: 100, To: 5}, words.CommitBack{At: at(2), From: 100, To: 5, Passed: 5}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	row := words.Describe(got[1])
	if want := "from 100, beyond the end, to 5: up to 5 messages of the queue may not have been consumed"; row.Text != want {
		t.Errorf("it says %q, want %q", row.Text, want)
	}
}

func TestACommitThatStandsStillIsToldOnce(t *testing.T) {
	p := live.NewWatchPast()
	var names []string
	for back := 60; back >= 0; back -= 2 {
		l := fixtureLive(back)
		q := &l.Queues[0]
		switch {
		case back >= 10: // stands
			q.Committed, q.Max, q.Lag = inspect.Exact(1000), inspect.Exact(2000), inspect.Exact(1000)
		default:
			q.Committed, q.Max, q.Lag = inspect.Exact(1500), inspect.Exact(2000), inspect.Exact(500-int64(10-back))
			q.Committed.Value += int64(10 - back)
		}
		_, events := p.Add(&l)
		names = append(names, eventNames(events)...)
	}
	if diff := cmp.Diff([]string{"flow_begin", "flow_begin", "commit_stands", "commit_moves"}, names); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// One of three clients is killed and started again every 20 s.
func TestAFlappingClientIsNamedWithItsRate(t *testing.T) {
	var list []inspect.Live
	for back := 180; back >= 0; back -= 2 {
		l := fixtureLive(back)
		life := (180 - back) / 20
		if life%2 == 1 {
			leave(&l, memberC)
			give(&l, memberC, memberB)
		} else { // a process that starts again has another client id
			id := fmt.Sprintf("10.0.4.23@%d#%d", 100+life, life)
			l.Members.Members[2].ClientID = id
			give(&l, memberC, id)
		}
		list = append(list, l)
	}
	d := watching(t, 120, 36, defaultOptions(), list...)
	d.see("FLAPPING 3/min, 9 of 9 by 10.0.4.23").see("left")
	d.keys("7").see("joined").see("10.0.4.22@6023#1 → 10.0.4.23@108#8").see("was here for")
}

func TestAWatchedGroupIsAskedOneAtATime(t *testing.T) {
	f := fixtureCluster()
	asked := 0
	f.live = func(string) (inspect.Live, error) {
		asked++
		return fixtureLive(0), nil
	}
	d := driveCluster(t, 120, 36, defaultOptions(), f)
	d.keys(":").typing("live order-settle").keys("enter")
	if asked != 1 {
		t.Fatalf("asked %d times at first", asked)
	}
	d.later(time.Second)
	if asked != 1 {
		t.Errorf("asked again after 1s: %d", asked)
	}
	d.later(time.Second)
	if asked != 2 {
		t.Errorf("asked %d times after 2s, want 2", asked)
	}
	w := d.a.watchedNow()
	w.Asking = true // an answer is out
	d.later(10 * time.Second)
	if asked != 2 {
		t.Errorf("asked while an answer is out: %d", asked)
	}
	w.Asking = false
	d.keys("4").later(10 * time.Second)
	if asked != 2 {
		t.Errorf("asked while nobody looks: %d", asked)
	}
	d.keys(":").typing("live order-settle").keys("enter").keys(":").typing("set refresh 5s").keys("enter").see("every 5s")
	asked = 0
	d.later(3 * time.Second)
	if asked != 0 {
		t.Errorf("asked after 3s of 5s: %d", asked)
	}
	d.keys("ctrl+r").later(0)
	if asked != 1 {
		t.Errorf("refresh asked %d times, want 1", asked)
	}
}

func TestAnAnswerForAnotherGroupIsDropped(t *testing.T) {
	d := watching(t, 120, 36, defaultOptions(), fixtureLive(0))
	other := fixtureLive(0)
	other.Group = "other"
	d.send(page.AnswerMsg{Ticket: 9999, Raw: other})
	d.see("order-settle").miss("other")
}

func TestUnknownIsNeverZero(t *testing.T) {
	l := offlineLive() // nobody says whether anybody is connected
	l.Lag.Members = inspect.Unknown(inspect.Reason{Kind: inspect.ReasonUnreachable})
	watching(t, 120, 36, defaultOptions(), l).see("?/s").miss(" 0/s").miss("no member is connected")
	l = fixtureLive(0)
	for i := range l.Queues {
		l.Queues[i].Lag = inspect.Unknown(watchSilent)
	}
	watching(t, 120, 36, defaultOptions(), l).miss("lag          0").miss("caught up")
}

func TestFrozenWatchGoesOnAsking(t *testing.T) {
	list := lives(3)
	leave(&list[2], memberC)
	give(&list[2], memberC, memberB)
	n := 0
	f := fixtureCluster()
	f.live = func(string) (inspect.Live, error) {
		n++
		return list[min(n, 3)-1], nil
	}
	d := driveCluster(t, 120, 36, defaultOptions(), f)
	d.now = list[0].At
	d.keys(":").typing("live order-settle").keys("enter").later(2 * time.Second).keys("space").later(2 * time.Second)
	d.see("FROZEN").see("C 10.0.4.23@9912#1")
	if n != 3 {
		t.Errorf("asked %d times, want 3", n)
	}
	d.keys("space").miss("C 10.0.4.23@9912#1").see("left")
}

func TestKeysOfAWatchedGroup(t *testing.T) {
	d := watching(t, 120, 36, defaultOptions(), lives(3)...)
	d.keys("enter").see("Queue  broker-a/3").keys("q").see("Allocation").keys("7").see("Events").keys("esc").see("Allocation")
	d.keys("q").see("Groups").keys("[").see("Allocation")
	d.keys("/").typing("broker-b").keys("enter").see("filter broker-b").keys("esc").miss("filter broker-b")
	d.keys("p", "P", "a", "x", "D")
	if len(d.a.dialogs) != 0 {
		t.Errorf("keys of an own consumer open %T", d.a.dialogs[0])
	}
	if d.quit {
		t.Error("the screen has ended")
	}
}

func TestFlowIsJudgedAsTheClientDoes(t *testing.T) {
	tests := map[string]struct {
		count, span, mib int64
		orderly          bool
		want             engine.FlowCause
	}{
		"at the limit, nothing stops": {1000, 2000, 100, false, core.FlowNone},
		"count first":                 {1001, 2001, 101, false, core.FlowCount},
		"then size":                   {1000, 2001, 101, false, core.FlowSize},
		"then span":                   {1000, 2001, 100, false, core.FlowSpan},
		"orderly has no span limit":   {1000, 2001, 100, true, core.FlowNone},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			q := inspect.LiveQueue{Info: &protocol.ProcessQueueInfo{CachedMsgSizeInMiB: int32(tt.mib)}, Orderly: tt.orderly,
				Limits: inspect.MemberLimits{Count: inspect.Limit{Value: 1000}, SizeMiB: inspect.Limit{Value: 100}, Span: inspect.Limit{Value: 2000}}}
			got, _, _ := live.WatchFlow(&q, &engine.QueueSnapshot{CachedCount: tt.count, Span: tt.span})
			if got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	byDefault := inspect.LiveQueue{Info: &protocol.ProcessQueueInfo{}, Limits: inspect.MemberLimits{Count: inspect.Limit{Default: 1024}}}
	if got, _, _ := live.WatchFlow(&byDefault, &engine.QueueSnapshot{CachedCount: 1 << 20}); got != core.FlowNone {
		t.Errorf("by a default that may have been changed: %v", got)
	}
}

func TestAWatchedQueueIsCopiedAsJSON(t *testing.T) {
	d := watching(t, 120, 36, defaultOptions(), lives(2)...)
	x, why := d.a.underCursor(true)
	if why != "" {
		t.Fatal(why)
	}
	got, err := x.Text()
	if err != nil || strings.Count(got, `"topic"`) != 1 || !strings.Contains(got, `"queue": 3`) || !strings.Contains(got, `"client_id": "`+memberA) || strings.Contains(got, `"own"`) {
		t.Errorf("%v, %s", err, got)
	}
}

// Where nobody is connected nothing is cached, pulled or held: that is known, and the
// screen says it in words instead of meters of nothing and question marks.
func TestAStoppedGroupHasNoUnknownFigures(t *testing.T) {
	l := fixtureLive(0)
	for _, id := range []string{memberA, memberB, memberC} {
		give(&l, id, "")
		leave(&l, id)
	}
	l.Lag.State, l.Members.Model, l.Members.Kind = "offline", 0, inspect.KindUnknown
	for _, size := range [][2]int{{80, 24}, {120, 36}} {
		d := watching(t, size[0], size[1], defaultOptions(), l)
		d.see("no member").see("(nobody").see("pull").miss("model ?").miss("?/s").miss("/ 0 msgs").miss("cache 0/0").miss("threads ?").miss("flow ?")
	}
	watching(t, 120, 36, defaultOptions(), l).see("offline·0 members").see("cache  –   no member is connected")
}

// The queues of the retry topic say so in their names, at every width: a column for
// two topics would cost the ones that matter.
func TestTheRetryTopicTakesNoColumn(t *testing.T) {
	l := fixtureLive(0)
	q := l.Queues[0]
	q.Topic, q.Retry, q.Lag = "%RETRY%order-settle", true, inspect.Exact(99_999)
	l.Queues = append(l.Queues, q)
	l.Topics = append(l.Topics, inspect.LiveTopic{Topic: q.Topic, Retry: true, Queues: 1, Brokers: []string{"broker-a"}})
	for _, w := range []int{60, 80, 100, 120} {
		watching(t, w, 36, defaultOptions(), l).see("retry a/0").miss("(retry)")
	}
	watching(t, 120, 36, defaultOptions(), l).see("max cached")
}

// A broker that is frozen answers nobody: its queues say so, the status line says since
// when, and both ends of it are events.
func TestABrokerThatDoesNotAnswerIsSaidLive(t *testing.T) {
	deaf := func(l inspect.Live) inspect.Live {
		why := inspect.Reason{Kind: inspect.ReasonUnreachable, Text: "no answer in time"}
		for i := range l.Queues {
			if q := &l.Queues[i]; q.BrokerName == "broker-b" {
				q.Min, q.Max, q.Committed, q.Lag = inspect.Unknown(why), inspect.Unknown(why), inspect.Unknown(why), inspect.Unknown(why)
			}
		}
		l.Problems = append(l.Problems, inspect.Problem{What: "offsets of order-settle", Where: "broker-b", Why: why},
			inspect.Problem{What: "groups", Where: "broker-b", Why: why})
		return l
	}
	all := lives(5)
	all[2], all[3] = deaf(all[2]), deaf(all[3])
	for _, size := range [][2]int{{80, 24}, {120, 36}} {
		d := watching(t, size[0], size[1], defaultOptions(), all[:4]...)
		d.see("broker silent").see("✗ broker-b does not answer since 14:32:03 (2s)").see("brokers ✗ down 1/2")
		d.keys("4").miss("down 1/2") // nobody asks for the picture any more
	}
	d := watching(t, 120, 36, defaultOptions(), all...).miss("broker silent").miss("down 1/2")
	d.see("broker-b after 4.0s").see("broker-b: no answer in time")
	denied := lives(1)
	denied[0].Problems = []inspect.Problem{{What: "offsets", Where: "broker-b", Why: inspect.Reason{Kind: inspect.ReasonDenied}}}
	watching(t, 120, 36, defaultOptions(), denied...).miss("broker silent") // who refuses answers
}

// The end of the line of tabs does not call live what was never told, or is there no more.
func TestAWatchedGroupThatIsNotThere(t *testing.T) {
	f := fixtureCluster()
	gone := func(g string) (inspect.Live, error) {
		return inspect.Live{}, &inspect.NotFoundError{Kind: "group", Name: g}
	}
	f.live = gone
	d := driveCluster(t, 120, 36, defaultOptions(), f).keys(":").typing("live order-settle").keys("enter")
	d.see("✗ not there").see("there is no group order-settle").miss("● live")
	f.live = func(string) (inspect.Live, error) { return fixtureLive(0), nil }
	d.later(3 * time.Second).see("● live").miss("not there")
	f.live = gone
	d.see("orders-paid").see("cluster·concurrent")
	d.later(3 * time.Second).see("✗ not there").miss("● live").see("there is no group order-settle")
	for _, old := range []string{"orders-paid", "cluster·concurrent", "18,204,551", "128,412", "seen for"} {
		d.miss(old)
	}
	f.live = func(string) (inspect.Live, error) { return fixtureLive(0), nil }
	d.later(3*time.Second).see("cluster·concurrent").keys("tab", "enter").see("broker-a/3")
	f.live = gone
	d.later(3 * time.Second).miss("● live").miss("cluster·concurrent")
	for _, key := range []string{"enter", "j", "J", "v", "d", "R", "p", "t", "y", "Y", "s", "i", "S", " ", " ", "x", "tab", "o"} { // none of them finds a picture
		d.keys(key)
		d.frame()
		d.keys("esc")
	}
	d.keys(":").typing("live order-settle").keys("enter").see("there is no group order-settle")
	f.live = func(string) (inspect.Live, error) { return inspect.Live{}, errors.New("no broker answers") }
	d.keys(":").typing("live other").keys("enter").see("✗ no answer").miss("● live")
}

// A C++ member's lock has a time that is none: that is not a lock which nobody renews.
func TestLockOfUnknownAge(t *testing.T) {
	list := lives(2)
	for i := range list {
		orderlyLimits(&list[i])
		for j := range list[i].Queues {
			if info := list[i].Queues[j].Info; info != nil {
				info.Locked, info.LastLockTimestamp = true, 0
			}
		}
	}
	d := watching(t, 120, 36, defaultOptions(), list...).miss("not renewed").miss("UNLOCKED")
	d.keys("enter").see("held, when it was renewed its member does not tell")
}
