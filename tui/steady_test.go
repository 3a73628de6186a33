package tui

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"eyeq/engine/inspect"
	"eyeq/tui/page"
	"eyeq/tui/pages"
)

// byLag sorts names by their lag, the largest first, and keeps them steady.
func byLag(before []string, lag map[string]float64) []string {
	now := slices.Sorted(maps.Keys(lag))
	slices.SortStableFunc(now, func(a, b string) int { return cmp.Compare(lag[b], lag[a]) })
	return page.Steadily(before, now, func(a, b string) bool { return lag[a] > lag[b] && !page.Near("lag", lag[a], lag[b]) })
}

func TestRowsKeepTheirPlacesWhileTheyAreNearlyRight(t *testing.T) {
	tests := map[string]struct {
		before []string
		lag    map[string]float64
		want   []string
	}{
		"the first time it is exact":     {nil, map[string]float64{"a": 100, "b": 105}, []string{"b", "a"}},
		"nearly equal ones stay":         {[]string{"a", "b", "c"}, map[string]float64{"a": 100, "b": 105, "c": 101}, []string{"a", "b", "c"}},
		"a clear one moves, no other":    {[]string{"a", "b", "c"}, map[string]float64{"a": 100, "b": 105, "c": 200}, []string{"c", "a", "b"}},
		"it passes all it is worse than": {[]string{"a", "b", "c"}, map[string]float64{"a": 100, "b": 107, "c": 114}, []string{"c", "a", "b"}},
		"one that has shrunk sinks":      {[]string{"a", "b", "c"}, map[string]float64{"a": 10, "b": 90, "c": 85}, []string{"b", "c", "a"}},
		"small ones do not dance":        {[]string{"a", "b"}, map[string]float64{"a": 1, "b": 3}, []string{"a", "b"}},
		"some is more than none":         {[]string{"a", "b"}, map[string]float64{"a": 0, "b": 1}, []string{"b", "a"}},
		"who is gone is gone":            {[]string{"a", "b"}, map[string]float64{"b": 1}, []string{"b"}},
		"who is new comes to its place":  {[]string{"a", "b"}, map[string]float64{"a": 100, "b": 50, "c": 70}, []string{"a", "c", "b"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := gocmp.Diff(tt.want, byLag(tt.before, tt.lag)); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever happens, no row that is clearly worse stands below another, and none is
// lost or doubled.
func TestSteadyRowsAreNeverClearlyWrong(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 5))
	lag := map[string]float64{}
	var rows []string
	for range 400 {
		for i := range 30 {
			name := string(rune('a' + i))
			switch rnd.IntN(12) {
			case 0:
				delete(lag, name)
			case 1:
				lag[name] = float64(rnd.IntN(2000))
			default:
				if v, ok := lag[name]; ok {
					lag[name] = max(v+float64(rnd.IntN(41)-20), 0)
				}
			}
		}
		rows = byLag(rows, lag)
		if got, want := slices.Sorted(slices.Values(rows)), slices.Sorted(maps.Keys(lag)); !slices.Equal(got, want) {
			t.Fatalf("rows %q of %q", got, want)
		}
		for i, a := range rows {
			for _, b := range rows[i+1:] {
				if lag[b] > lag[a] && !page.Near("lag", lag[a], lag[b]) {
					t.Fatalf("%s (%v) stands below %s (%v)", b, lag[b], a, lag[a])
				}
			}
		}
	}
}

// Groups that lag about alike stay where they are from one answer to the next, until
// they are asked for anew.
func TestGroupsDoNotDance(t *testing.T) {
	values := map[string]int64{"audit": 940, "billing": 930}
	f := &fakeCluster{groups: func() (l inspect.GroupList, err error) {
		l.Groups = []inspect.GroupName{{Group: "audit"}, {Group: "billing"}}
		return l, nil
	}}
	f.groupRows = func(groups []string) []inspect.GroupRow {
		rows := make([]inspect.GroupRow, len(groups))
		for i, g := range groups {
			rows[i] = inspect.GroupRow{GroupName: inspect.GroupName{Group: g}, State: "online", Lag: inspect.Exact(values[g])}
		}
		return rows
	}
	d := driveCluster(t, 120, 36, defaultOptions(), f)
	first := func() string {
		v := d.a.page().(pages.GroupsView)
		return v.Rows.List.Key(0)
	}
	values["billing"] = 945
	if d.later(6 * time.Second).see("945"); first() != "audit" {
		t.Errorf("945 and 940 changed places")
	}
	d.keys("ctrl+r")
	if d.later(0).see("945"); first() != "billing" {
		t.Errorf("a refresh that was asked for is not exact")
	}
	values["audit"] = 2000
	if d.later(6 * time.Second).see("2,000"); first() != "audit" {
		t.Errorf("2,000 stands below 945")
	}
	d.keys("S")
	if first() != "billing" {
		t.Errorf("turning the order round did not sort")
	}
}

// Queues that have caught up stand by their numbers, in whatever order they did.
func TestQueuesThatCaughtUpStandByTheirNumbers(t *testing.T) {
	before, after := fixtureLive(2), fixtureLive(0)
	for i := range after.Queues {
		after.Queues[i].Lag, after.Queues[i].Committed = inspect.Exact(0), after.Queues[i].Max
	}
	d := watching(t, 120, 36, defaultOptions(), before, after)
	keys := d.a.live[d.a.cur].Queues.Keys()
	for i := 1; i < len(keys); i++ {
		a, b := keys[i-1], keys[i]
		if cmp.Or(cmp.Compare(a.BrokerName, b.BrokerName), cmp.Compare(a.QueueID, b.QueueID)) > 0 {
			t.Errorf("%v stands above %v", a, b)
		}
	}
}

// While rows keep their places although one belongs elsewhere, the order is called what it
// is; some seconds later it is exact.
func TestASortedListIsSortedWhenItSaysSo(t *testing.T) {
	values := map[string]int64{"audit": 33, "billing": 30}
	d := driveCluster(t, 120, 36, defaultOptions(), lagging(values)).see("sort lag↓ ").miss("nearly")
	first := func() string { v := d.a.page().(pages.GroupsView); return v.Rows.List.Key(0) }
	if first() != "audit" {
		t.Fatalf("%s stands first", first())
	}
	values["audit"], values["billing"] = 30, 33
	if d.later(6 * time.Second).see("sort lag↓ nearly").see("lag≈"); first() != "audit" {
		t.Error("33 and 30 changed places at once")
	}
	if d.later(6 * time.Second).see("sort lag↓ ").miss("nearly"); first() != "billing" {
		t.Error("30 stands above 33")
	}
}

// So it is with the queues of a topic on the lag page.
func TestQueuesOfTheLagPageAreSortedWhenTheySaySo(t *testing.T) {
	l := inspect.GroupLag{Lag: inspect.Exact(16)}
	lags := []int64{3, 3, 2, 2, 2, 2, 2}
	for i := range lags {
		l.Queues = append(l.Queues, inspect.QueueLag{MessageQueue: mq("orders", "broker-a", i), Committed: inspect.Exact(0)})
	}
	f := fullCluster()
	f.lag = func(string) (inspect.GroupLag, error) {
		answer := l
		answer.Queues = slices.Clone(l.Queues)
		for i := range lags {
			answer.Queues[i].Lag, answer.Queues[i].Max = inspect.Exact(lags[i]), inspect.Exact(lags[i])
		}
		return answer, nil
	}
	d := driveCluster(t, 120, 36, defaultOptions(), f).keys("2").see("sort lag↓ ").miss("nearly")
	lags = []int64{2, 3, 2, 2, 2, 2, 3}
	d.later(3 * time.Second).see("sort lag↓ nearly")
	d.later(3 * time.Second).see("sort lag↓ nearly")
	d.later(6 * time.Second).see("sort lag↓ ").miss("nearly")
	v := d.a.page().(pages.LagView)
	var got []int64
	for _, k := range v.Rows.List.Keys() {
		if k.Queue {
			got = append(got, v.Queue(k).Lag.Value)
		}
	}
	if want := []int64{3, 3, 2, 2, 2, 2, 2}; !slices.Equal(got, want) {
		t.Errorf("lags %v, want %v", got, want)
	}
}
