package tui

import (
	"strings"
	"testing"
	"time"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/pages"
	"eyeq/tui/words"
)

// A paused group whose members finish what they have cached is not said to be empty soon:
// what they have not pulled stays.
func TestLagPageOfAPausedGroup(t *testing.T) {
	for paused, want := range map[bool]string{false: " falling, empty in 1m40s", true: " falling: members finish what they have cached"} {
		v := pages.NewLagView(&page.Env{Theme: draw.NewTheme(nil, "")}, "g")
		v.Data = inspect.GroupLag{Lag: inspect.Exact(1000)}
		if paused {
			v.Data.Pause = inspect.Pause{Brokers: []string{"broker-a"}, Of: 1}
		}
		v.Hist.Marks = []pages.LagMark{{At: fixtureNow, Max: 1100, Known: 1}, {At: fixtureNow.Add(10 * time.Second), Committed: 100, Max: 1100, Known: 1}}
		if got, _ := v.Outlook(true); !strings.HasSuffix(got, want) {
			t.Errorf("paused %v: %q, want %q", paused, got, want)
		}
	}
}

// A command that is to be pasted names the cluster that the screen is on.
func TestResetDialogNamesTheCluster(t *testing.T) {
	o := defaultOptions()
	o.TargetFlags = " --cluster prod-sh"
	d := driveCluster(t, 120, 36, o, fullCluster())
	d.keys(":").typing("lag order-settle").keys("enter", "R").see("--dry-run --cluster prod-sh")
}

// How long ago something was consumed is shown whole, up to months.
func TestLagPageShowsTimesWhole(t *testing.T) {
	for _, old := range []time.Duration{54*time.Minute + 4*time.Second, 23*time.Hour + 59*time.Minute, 30*24*time.Hour + 11*time.Hour} {
		f := fullCluster()
		lag := f.lag
		f.lag = func(group string) (inspect.GroupLag, error) {
			l, err := lag(group)
			for i := range l.Queues {
				l.Queues[i].LastConsumed = fixtureNow.Add(-old)
			}
			return l, err
		}
		d := driveCluster(t, 80, 24, defaultOptions(), f)
		d.keys(":").typing("lag order-settle").keys("enter").see(words.Age(old) + " ago")
	}
}

// Pages are of what is on the screen, and the window moves when the cursor leaves it.
func TestLagMovesByPages(t *testing.T) {
	f := fullCluster()
	l := fixtureLag()
	l.Queues, l.UnknownTopics = nil, nil
	for i := range 100 {
		l.Queues = append(l.Queues, inspect.QueueLag{MessageQueue: mq("orders-paid", "broker-a", i), Min: inspect.Exact(0), Max: inspect.Exact(9), Committed: inspect.Exact(8), Lag: inspect.Exact(1)})
	}
	f.lag = func(string) (inspect.GroupLag, error) { return l, nil }
	d := driveCluster(t, 80, 24, defaultOptions(), f).keys("2", "g")
	cursor := func() int { v := d.a.page().(pages.LagView); return v.Rows.List.Cursor() }
	d.keys("j", "j")
	if line := d.at("▸"); line != d.at("─ Lag")+4 {
		t.Errorf("two rows down the cursor is on line %d:\n%s", line, d.frame())
	}
	d.keys("g", "ctrl+f")
	if page := d.a.bodyHeight() - 2 - page.TableFrame; cursor() != page {
		t.Errorf("a page is %d rows, want %d", cursor(), page)
	}
}

// The command that is shown does what the dialog does, the retry topic included.
func TestResetDialogNamesTheRetryTopic(t *testing.T) {
	d := driveCluster(t, 120, 36, defaultOptions(), fullCluster()).keys("2", "R").see("--dry-run").miss("--retry")
	d.keys("tab", "right").see("(•)all topics").miss("--retry").keys("right").see("(•)all and %RETRY%").see(" --retry ").miss("the retry topic is not touched")
}

// Where no broker can move the offsets, nothing is said about how it would be verified.
func TestResetDialogOfABroadcastingGroup(t *testing.T) {
	f := fullCluster()
	const why = "the group is broadcasting: no broker can move its offsets"
	f.planReset = func(r inspect.ResetRequest) (inspect.ResetPlan, error) {
		return inspect.ResetPlan{Request: r, At: fixtureNow, Method: inspect.MethodNone, Why: why}, nil
	}
	for _, size := range sizes[1:] {
		driveCluster(t, size[0], size[1], defaultOptions(), f).keys("2", "R").see("Apply is off: the group is broadcasting").miss("no queue is included").miss("until all queues are verified")
	}
}

// Queues that nobody can read are in no lag; the pages of the group and of the topic say so.
func TestQueuesThatCannotBeReadAreOnThePages(t *testing.T) {
	f := fullCluster()
	lag, topic := f.lag, f.topic
	f.lag = func(group string) (inspect.GroupLag, error) {
		l, err := lag(group)
		for id := range 2 {
			l.Unreadable = append(l.Unreadable, inspect.UnreadableQueue{MessageQueue: mq("orders-paid", "broker-a", 2+id), Min: inspect.Exact(0), Max: inspect.Exact(6), Read: 2, Write: 4, Perm: 6})
		}
		return l, err
	}
	f.topic = func(name string) (inspect.TopicDetail, error) {
		d, err := topic(name)
		d.Queues[1].Closed = "not readable: the permission there is -W-"
		return d, err
	}
	d := driveCluster(t, 120, 36, defaultOptions(), f)
	d.keys(":").typing("lag order-settle").keys("enter").see("! broker-a/2-3 of orders-paid not readable: of its 4 queues there 2 can be read (readQueueNums); 12 messages lie there")
	d.keys(":").typing("topic orders-paid").keys("enter").see("! not readable: the permis")
}
