package tui

import (
	"strings"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect"
)

// statusOf is the last line of the screen.
func statusOf(d *driver) string {
	lines := d.lines()
	return lines[len(lines)-1]
}

// The status line is green only while nothing above it is red: the worst of a screen
// decides.
func TestGreenIsEarned(t *testing.T) {
	stands := lives(20)
	for i := range stands {
		q := &stands[i].Queues[0]
		q.Committed, q.Max, q.Lag = inspect.Exact(1000), inspect.Exact(2000), inspect.Exact(1000)
	}
	differ := lives(2)
	for i := range differ {
		differ[i].SubscriptionsDiffer = []string{"orders-paid"}
	}
	limits := lives(2)
	for i := range limits {
		limits[i].LimitsDiffer = []string{"pullThresholdForQueue"}
	}
	locks := lives(2)
	for i := range locks {
		orderlyLimits(&locks[i])
	}
	refused := fixture(0)
	refused.Queues[0].State, refused.Queues[0].Detail = engine.QueueError, "pull: the broker forbids to pull"
	lost := fixture(0)
	lost.LastError, lost.LastErrorAt = "commit: broker busy", fixtureNow.Add(-3*time.Second)
	tests := map[string]struct {
		at   func(t *testing.T) *driver
		want string
	}{
		"a commit that stands":       {func(t *testing.T) *driver { return watching(t, 120, 36, defaultOptions(), stands...) }, " ✗ 1 commit standing still, for at least 38s"},
		"subscriptions that differ":  {func(t *testing.T) *driver { return watching(t, 120, 36, defaultOptions(), differ...) }, " ✗ members subscribe differently to orders-paid"},
		"limits that differ":         {func(t *testing.T) *driver { return watching(t, 120, 36, defaultOptions(), limits...) }, " ! members differ in pullThresholdForQueue"},
		"locks that are not held":    {func(t *testing.T) *driver { return watching(t, 120, 36, defaultOptions(), locks...) }, " ✗ 6 queues without the broker's lock"},
		"a queue of ours that fails": {func(t *testing.T) *driver { return withSnapshot(t, 120, 36, refused) }, " ✗ 1 queue ERROR: pull: the broker forbids to pull"},
		"an error a moment ago":      {func(t *testing.T) *driver { return withSnapshot(t, 120, 36, lost) }, " engine ok · 2 brokers · heartbeat 11s ago · ✗ 3s ago: commit: broker busy"},
		"a key that is not one, narrow": {func(t *testing.T) *driver {
			return withSnapshot(t, 60, 24, fixture(0)).keys(":").typing("nosuchcommandatallwhatever").keys("enter")
		}, " ! "},
		"a group that subscribes differently": {func(t *testing.T) *driver {
			f := fullCluster()
			return driveCluster(t, 120, 36, defaultOptions(), f).keys(":").typing("group bonus").keys("enter")
		}, " ✗ "},
		"a healthy consumer": {func(t *testing.T) *driver { return withSnapshot(t, 120, 36, fixture(0)) }, " ✓ engine ok"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := tt.at(t)
			if got := statusOf(d); !strings.HasPrefix(got, tt.want) {
				t.Errorf("status line %q, want it to begin with %q\n%s", got, tt.want, d.frame())
			}
		})
	}
}

// A pause is a reason for commits to stand.
func TestACommitOfAPausedGroupDoesNotStand(t *testing.T) {
	list := lives(20)
	for i := range list {
		l := &list[i]
		l.Lag.Pause = inspect.Pause{Brokers: []string{"broker-a", "broker-b"}, Of: 2}
		q := &l.Queues[0]
		q.Committed, q.Max, q.Lag = inspect.Exact(1000), inspect.Exact(2000), inspect.Exact(1000)
	}
	watching(t, 120, 36, defaultOptions(), list...).see("PAUSED").miss("STANDS").miss("standing still")
}

// A cluster that gives no answer has no name server that is known to answer.
func TestAnUnreachableClusterIsNotGreen(t *testing.T) {
	d := watchStates()["watch-error"](t, 120, 36)
	if d.see("ns ? of 2").miss("1/2"); d.a.dot() != d.a.env.Theme.Bad {
		t.Error("the cluster's sign keeps its colour")
	}
}

// Where pulls are forbidden nothing runs, whatever else is told of a queue.
func TestAQueueThatNobodyMayPullDoesNotRun(t *testing.T) {
	const why = "not readable: the permission there is -W-"
	l := fixtureLive(0)
	for i := range l.Queues {
		l.Queues[i].Closed = why
	}
	d := watching(t, 120, 36, defaultOptions(), l).see("✗ 16 queues of which nobody may pull").see("NOT READABLE").miss(" run ").miss("✓")
	d.keys("enter").see(why)

	s := noRoute()
	s.Topics[0].Missing = "pulls are forbidden on broker-a, by the permission of the topic or of the broker"
	withSnapshot(t, 120, 36, s).see("! topic orders-paid: pulls are forbidden on broker-a").see("no queue is held here").miss(" / 0 msgs")
}

// A queue that its member blocked before anybody looked stands in the first picture: the
// member's own times tell for how long, of messages that have waited as long.
func TestAQueueThatWasBlockedBeforeStandsAtOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		idle, stored time.Duration
		want         string
	}{
		"blocked":                        {45 * time.Second, 10 * time.Minute, "✗ 1 commit standing still, for at least 45s"},
		"its next message came later":    {10 * time.Minute, 45 * time.Second, "✗ 1 commit standing still, for at least 45s"},
		"its next message came just now": {10 * time.Minute, time.Second, "✓ "},
		"its member consumes":            {time.Second, 10 * time.Minute, "✓ "},
		"its member does not say":        {0, 10 * time.Minute, "✓ "},
		"the message's age is not known": {10 * time.Minute, 0, "✓ "},
	} {
		t.Run(name, func(t *testing.T) {
			l := fixtureLive(0)
			for i := range l.Queues {
				l.Queues[i].Idle = 0
			}
			q := &l.Queues[0]
			q.Committed, q.Max, q.Lag, q.Idle, q.NextStored = inspect.Exact(1000), inspect.Exact(2000), inspect.Exact(1000), tt.idle, time.Time{}
			if tt.stored > 0 {
				q.NextStored = l.At.Add(-tt.stored)
			}
			d := watching(t, 120, 36, defaultOptions(), l)
			if got := strings.TrimSpace(statusOf(d)); !strings.HasPrefix(got, tt.want) {
				t.Errorf("status line %q, want it to begin with %q", got, tt.want)
			}
		})
	}
}

// Rates that no member reports are not known; those that some report are a bound.
func TestRatesOfMembersThatReportNone(t *testing.T) {
	for n, want := range map[int][2]string{1: {"consume 1m ≥ 1,552/s", "fail ≥ 6.0/s    ?"}, 2: {"consume 1m      ?/s", "fail   ?/s    ?"}} {
		l := fixtureLive(0)
		for i := range l.Members.Members[:n] {
			m := &l.Members.Members[i]
			info := *m.Info
			info.StatusTable = nil
			m.Info = &info
		}
		l.Members.Members = l.Members.Members[:2]
		watching(t, 120, 36, defaultOptions(), l).see(want[0]).see(want[1])
	}
}
