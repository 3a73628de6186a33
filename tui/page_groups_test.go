package tui

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"eyeq/engine/inspect"
	"eyeq/tui/page"
	"eyeq/tui/pages"
	"eyeq/tui/words"
)

func TestTheScreenOpensAtGroupsWithoutAnEngine(t *testing.T) {
	f := fixtureCluster()
	d := driveCluster(t, 120, 36, defaultOptions(), f).see("[4 Groups]").see("order-settle").see("≥ 409,310").see("1 hidden (a shows)")
	if want := []string{"groups", "rows 9"}; !slices.Equal(f.asked, want) {
		t.Errorf("asked %q, want %q: names first, then what is on the screen", f.asked, want)
	}
	if got := d.groupUnderCursor(); got != "order-settle" {
		t.Errorf("the cursor is on %q, want the group with the highest lag", got)
	}
	d.miss("CID_RMQ_SYS_TRANS").keys("a").see("CID_RMQ_SYS_TRANS (system)")
	if d.keys("esc"); d.quit {
		t.Error("esc never leaves")
	}
	if d.keys("q"); !d.quit {
		t.Error("q leaves from the top view")
	}
}

func TestGroupsAreReadNamesFirstThenWhatIsOnTheScreen(t *testing.T) {
	const n = 10_000
	f := &fakeCluster{groups: func() (inspect.GroupList, error) {
		l := inspect.GroupList{}
		for i := range n {
			l.Groups = append(l.Groups, inspect.GroupName{Group: fmt.Sprintf("group-%05d", i)})
		}
		return l, nil
	}}
	f.groupRows = func(groups []string) []inspect.GroupRow {
		rows := make([]inspect.GroupRow, len(groups))
		for i, g := range groups {
			rows[i] = inspect.GroupRow{GroupName: inspect.GroupName{Group: g}, State: "online", Lag: inspect.Exact(int64(len(g)))}
		}
		return rows
	}
	d := driveCluster(t, 120, 36, defaultOptions(), f).see("group-00000").see("of 10,000").see("sort name")
	if want := []string{"groups", "rows 29"}; !slices.Equal(f.asked, want) {
		t.Fatalf("asked %q, want %q", f.asked, want)
	}
	f.asked = nil
	d.keys("/").typing("9876").keys("enter").see("group-09876").see("1 of 10,000")
	for _, a := range f.asked {
		if a == "groups" || len(a) > len("rows 29") {
			t.Errorf("asked %q while typing, want rows on the screen only", f.asked)
		}
	}
}

func TestDetailsOfAllAreReadWhenTheOrderNeedsThem(t *testing.T) {
	f := &fakeCluster{groups: func() (inspect.GroupList, error) {
		l := inspect.GroupList{}
		for i := range 300 {
			l.Groups = append(l.Groups, inspect.GroupName{Group: fmt.Sprintf("g%03d", i)})
		}
		return l, nil
	}}
	f.groupRows = func(groups []string) []inspect.GroupRow {
		rows := make([]inspect.GroupRow, len(groups))
		for i, g := range groups {
			rows[i] = inspect.GroupRow{State: "online", Lag: inspect.Exact(int64(g[3]-'0') + 1)}
		}
		return rows
	}
	d := driveCluster(t, 80, 24, defaultOptions(), f)
	if got, want := len(f.asked), 1+1+6; got != want {
		t.Errorf("asked %q", f.asked)
	}
	if first := d.groupUnderCursor(); !strings.HasSuffix(first, "9") {
		t.Errorf("the first is %s, want one with the highest lag", first)
	}
}

func TestGroupsSayWhatIsWrong(t *testing.T) {
	f := fixtureCluster()
	good := f.groups
	f.groups = func() (inspect.GroupList, error) {
		return inspect.GroupList{}, errors.New("name server 10.0.3.11:9876: connection refused")
	}
	d := driveCluster(t, 100, 30, defaultOptions(), f).see("groups: name server 10.0.3.11:9876: connection refused").see("1 try").see("next try in 2s")
	d.keys("ctrl+r").see("2 tries")
	f.groups = good
	d.later(31 * time.Second).see("order-settle").miss("connection refused")
	f.groups = func() (inspect.GroupList, error) { return inspect.GroupList{}, errors.New("i/o timeout") }
	d.later(16 * time.Second).see("order-settle").see("stale 16s").see("i/o timeout")
	f.groups = func() (inspect.GroupList, error) { return inspect.GroupList{}, nil }
	driveCluster(t, 80, 24, defaultOptions(), f).see("No consumer group is known")
}

// The list is green only if something is known of every group: a broker that is away, or
// that says nothing, is told wherever the cursor is.
func TestGroupsAreAsGoodAsTheWorst(t *testing.T) {
	for name, tt := range map[string]struct {
		state string
		want  string
	}{
		"unreachable": {inspect.StateUnreachable, "✗ 1 of 9 groups not known: members from broker-a: unreachable: connection refused"},
		"in part":     {inspect.StateOnline, "! 1 of 9 groups partial: members from broker-a: unreachable: connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			f := fixtureCluster()
			rows := f.groupRows
			f.groupRows = func(groups []string) []inspect.GroupRow {
				rows := rows(groups)
				for i := range rows {
					rows[i].State, rows[i].Problems = inspect.StateOnline, nil
					if groups[i] == "mail-out" {
						rows[i].State, rows[i].Lag = tt.state, inspect.Unknown(inspect.Reason{Kind: inspect.ReasonUnreachable})
						rows[i].Problems = []inspect.Problem{{What: "members", Where: "broker-a", Why: inspect.Reason{Kind: inspect.ReasonUnreachable, Text: "connection refused"}}}
					}
				}
				return rows
			}
			driveCluster(t, 120, 36, defaultOptions(), f).see(tt.want).miss("✓ 9 groups")
		})
	}
}

func TestABadFilterKeepsTheLastGoodOne(t *testing.T) {
	d := driveCluster(t, 120, 36, defaultOptions(), fixtureCluster()).keys("/").typing("~order-s").see("order-settle").miss("audit-copy")
	for _, bad := range []string{"[", "(", "*", `a\`} {
		d.keys("esc", "/").typing("~" + bad)
		if got := d.a.filterText(); strings.Contains(got, bad) && bad != "*" && bad != `a\` {
			t.Errorf("filter %q is in force", got)
		}
		d.see(words.Failure.Sign())
	}
	d.keys("esc", "/").typing(">lag 1000").keys("enter").see("order-settle").see("bonus").miss("audit-copy").see("secrets") // unknown is not small
}

// groupUnderCursor is the true name of the group under the cursor of Groups.
func (d *driver) groupUnderCursor() string {
	v := d.a.page().(pages.GroupsView)
	return v.Current()
}

// Groups of one system begin alike: at 80 columns they are told apart by their ends.
func TestGroupsWithALongCommonBeginningAreToldApart(t *testing.T) {
	f := &fakeCluster{groups: func() (l inspect.GroupList, err error) {
		for _, end := range []string{"east", "west"} {
			l.Groups = append(l.Groups, inspect.GroupName{Group: "com.example.payments.settlement.order-consumer-" + end})
		}
		return l, nil
	}}
	f.groupRows = func(groups []string) []inspect.GroupRow { return make([]inspect.GroupRow, len(groups)) }
	driveCluster(t, 80, 24, defaultOptions(), f).see("com.example.").see("consumer-east").see("consumer-west")
}

// The names take the room that the shown ones need: a long one that is not shown does not
// cost the topics.
func TestHiddenNamesTakeNoRoom(t *testing.T) {
	f := fullCluster()
	of := f.groups
	long := "a-group-with-a-name-as-long-as-generators-make-them"
	f.groups = func() (inspect.GroupList, error) {
		l, err := of()
		l.Groups = append(slices.Clone(l.Groups), inspect.GroupName{Group: long})
		return l, err
	}
	d := driveCluster(t, 120, 36, defaultOptions(), f).see(long[:10]).miss(" topics ")
	d.keys("/").typing("order-settle").keys("enter").see(" topics ").see("orders-paid")
	d.keys("esc").miss(" topics ")
}

// A paused group is called so once.
func TestTheLagPageSaysPausedOnce(t *testing.T) {
	v := pages.LagView{Name: "order-settle", Ask: page.Question[inspect.GroupLag]{Schedule: page.Schedule{Asked: true}}, Data: inspect.GroupLag{State: inspect.StatePaused,
		Members: inspect.Exact(1), Pause: inspect.Pause{Brokers: []string{"broker-a"}, Of: 1}}}
	if got, want := v.Subject(), "group order-settle  PAUSED  (1 member)"; got != want {
		t.Errorf("subject = %q, want %q", got, want)
	}
}

// The age of what was consumed last is whole: its longest text has minutes and seconds.
func TestTheLagPageShowsWholeAges(t *testing.T) {
	f := fullCluster()
	l := fixtureLag()
	for i := range l.Queues {
		l.Queues[i].LastConsumed = fixtureNow.Add(-28*time.Minute - 24*time.Second)
	}
	f.lag = func(string) (inspect.GroupLag, error) { return l, nil }
	driveCluster(t, 80, 24, defaultOptions(), f).keys("2").see("28m24s ago")
}

// lagging is a cluster of groups, or topics, whose figures are those of values.
func lagging(values map[string]int64) *fakeCluster {
	names := slices.Sorted(maps.Keys(values))
	f := &fakeCluster{
		groups: func() (l inspect.GroupList, err error) {
			for _, n := range names {
				l.Groups = append(l.Groups, inspect.GroupName{Group: n})
			}
			return l, nil
		},
		topics: func() (l inspect.TopicList, err error) {
			for _, n := range names {
				l.Topics = append(l.Topics, inspect.TopicName{Topic: n})
			}
			return l, nil
		},
	}
	f.groupRows = func(groups []string) (rows []inspect.GroupRow) {
		for _, g := range groups {
			rows = append(rows, inspect.GroupRow{GroupName: inspect.GroupName{Group: g}, State: "online", Lag: inspect.Exact(values[g])})
		}
		return rows
	}
	f.topicRows = func(topics []string) (rows []inspect.TopicRow) {
		for _, n := range topics {
			rows = append(rows, inspect.TopicRow{TopicName: inspect.TopicName{Topic: n}, Stored: inspect.Exact(values[n])})
		}
		return rows
	}
	return f
}

// numbered are n names with their values.
func numbered(n int) map[string]int64 {
	values := map[string]int64{}
	for i := range n {
		values[fmt.Sprintf("g%03d", i)] = int64(i) * 10
	}
	return values
}

// What rises off the screen is seen, in groups and in topics: where the order needs the
// details of all rows, those that were read the longest ago are read anew, some at a time.
func TestRowsOffTheScreenAreReadAnew(t *testing.T) {
	for name, open := range map[string][]string{"groups": nil, "topics": {"5", "s"}} {
		t.Run(name, func(t *testing.T) {
			values := numbered(60)
			d := driveCluster(t, 120, 24, defaultOptions(), lagging(values)).keys(open...).see("g059").miss("g001")
			values["g001"] = 9_999_999
			for range 14 {
				d.later(time.Second)
			}
			d.see("g001").see("9,999,999")
		})
	}
}

// However long the list, the rows off the screen cost one question of some rows a round.
func TestRowsOffTheScreenAreReadInTurn(t *testing.T) {
	f := lagging(numbered(400))
	asked := map[string]int{}
	rows, most := f.groupRows, 0
	f.groupRows = func(groups []string) []inspect.GroupRow {
		most = max(most, len(groups))
		for _, g := range groups {
			asked[g]++
		}
		return rows(groups)
	}
	d := driveCluster(t, 120, 24, defaultOptions(), f).see("g399")
	clear(asked)
	total := func() (n int) {
		for _, times := range asked {
			n += times
		}
		return n
	}
	for range 60 {
		d.later(time.Second)
	}
	const visible = 18
	if n, limit := total(), (60/5+1)*(page.RowsAtOnce+visible); most > page.RowsAtOnce || n > limit {
		t.Errorf("%d rows were asked for in a minute, %d at once; want at most %d, and %d", n, most, limit, page.RowsAtOnce)
	}
	if len(asked) != 400 {
		t.Errorf("%d of 400 rows were asked for within a minute", len(asked))
	}
}

// A list says how old the oldest row is that it is made of.
func TestListsSayHowOldTheirRowsAre(t *testing.T) {
	f := lagging(numbered(60))
	d := driveCluster(t, 120, 24, defaultOptions(), f).see("✓ 60 groups · read ").miss("old")
	read := d.a.env.Now
	rows := f.groupRows
	f.groupRows = func(groups []string) []inspect.GroupRow { // what is off the screen is not answered any more
		if len(groups) == page.RowsAtOnce || !slices.Contains(groups, "g059") {
			return nil
		}
		return rows(groups)
	}
	for range 20 {
		d.later(time.Second)
	}
	d.see("✓ 60 groups · oldest row read " + d.a.env.Clock(read, words.ClockSeconds)).see("rows up to 20s old")
	for range 50 {
		d.later(time.Second)
	}
	d.see("! 60 groups · rows up to 1m10s old").miss("✓ 60 groups")
}

// A filter of text says that it looks at the names of rows whose details are not read.
func TestAFilterSaysWhatItHasLookedThrough(t *testing.T) {
	d := driveCluster(t, 120, 24, defaultOptions(), lagging(numbered(600))).see("sort name").miss("looked through")
	d.keys("/").typing("g0").keys("enter").see("details of 18 looked through")
	driveCluster(t, 120, 24, defaultOptions(), lagging(numbered(60))).keys("/").typing("g0").keys("enter").miss("looked through")
}
