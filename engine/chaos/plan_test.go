package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// lengths that plans are tried at.
var lengths = []time.Duration{78 * time.Second, 90 * time.Second, 100 * time.Second, 2 * time.Minute, 3 * time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour}

func eachPlan(t *testing.T, check func(t *testing.T, p Plan)) {
	t.Helper()
	for name := range profiles {
		for _, length := range lengths {
			for seed := range uint64(20) {
				p, err := MakePlan(seed, length, name)
				if err != nil {
					t.Fatal(err)
				}
				check(t, p)
				if t.Failed() {
					t.Fatalf("profile %s, length %v, seed %d:\n%v", name, length, seed, p.Events)
				}
			}
		}
	}
}

func TestPlanComesFromTheSeed(t *testing.T) {
	eachPlan(t, func(t *testing.T, p Plan) {
		again, _ := MakePlan(p.Seed, p.Length, p.Profile)
		if diff := cmp.Diff(p, again); diff != "" {
			t.Errorf("the same seed gives another plan:\n%s", diff)
		}
	})
	a, _ := MakePlan(1, 15*time.Minute, "mixed")
	b, _ := MakePlan(2, 15*time.Minute, "mixed")
	if cmp.Equal(a.Events, b.Events) {
		t.Error("seeds 1 and 2 give the same plan")
	}
}

// A plan that was published with its figures must stay what it was.
func TestPlanOfASeedStays(t *testing.T) {
	p, err := MakePlan(1, 3*time.Minute, "mixed")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range p.Events {
		got = append(got, strings.TrimSpace(e.String()))
	}
	want := []string{
		"5.0s broker kill for 1.3s",
		"18.3s freeze      c03-slow for 40.0s",
		"21.5s kill        c01-eyeq",
		"91.3s kill        o03-slow",
		"96.3s join        c04-java",
		"100.6s freeze      o01-eyeq for 3.2s",
		"101.1s kill        c02-java",
		"110.7s join        c05-eyeq",
		"114.1s leave       c03-slow",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("plan of seed 1 (-want +got):\n%s", diff)
	}
}

func TestPlanKeepsTwoToFiveMembers(t *testing.T) {
	eachPlan(t, func(t *testing.T, p Plan) {
		size := map[Group]int{}
		for _, name := range p.Initial {
			size[p.Roles[name].Group]++
		}
		for _, e := range p.Events {
			switch e.Kind {
			case Join:
				size[e.Group]++
			case Leave, Kill:
				size[e.Group]--
			}
			if n := size[e.Group]; e.Group != "" && (n < minMembers || n > maxMembers) {
				t.Errorf("%d members after %v", n, e)
			}
		}
	})
}

// An event meets a member that is there, and that no other event holds.
func TestPlanMeetsPresentMembers(t *testing.T) {
	eachPlan(t, func(t *testing.T, p Plan) {
		free := map[string]time.Duration{} // from when on
		for _, name := range p.Initial {
			free[name] = 0
		}
		for _, e := range p.Events {
			if e.Kind == BrokerKill {
				continue
			}
			if e.Kind == Join {
				if _, there := free[e.Member]; there {
					t.Errorf("%v: it is there already", e)
				}
				free[e.Member] = e.At
				continue
			}
			from, there := free[e.Member]
			if !there || e.At < from {
				t.Errorf("%v: the member is not there (%v) or busy until %v", e, there, from)
			}
			if free[e.Member] = e.At + e.For; e.Kind == Leave || e.Kind == Kill {
				delete(free, e.Member)
			}
		}
	})
}

// After the last event each group has the time in which its queues must be owned
// again, within the run.
func TestPlanEndsQuietly(t *testing.T) {
	eachPlan(t, func(t *testing.T, p Plan) {
		for _, e := range p.Events {
			end := e.At + e.For
			if e.Kind == BrokerKill {
				end += brokerTakes
			}
			for _, g := range groups {
				if (e.Group == g || e.Group == "") && end+ownedWithin[g] > p.Length {
					t.Errorf("%v ends %v before the end, group %s wants %v", e, p.Length-end, g, ownedWithin[g])
				}
			}
		}
	})
}

func TestPlanOfFifteenMinutesHasEverything(t *testing.T) {
	for seed := range uint64(20) {
		p, err := MakePlan(seed, 15*time.Minute, "mixed")
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]int{}
		for _, e := range p.Events {
			key := string(e.Group) + " " + string(e.Kind)
			seen[key]++
			if e.Kind == Freeze && e.For == frozenFor {
				seen[key+" whole"]++
			}
		}
		for _, g := range groups {
			for _, kind := range violent {
				if seen[string(g)+" "+string(kind)] == 0 {
					t.Errorf("seed %d: no %s in the %s group", seed, kind, g)
				}
			}
			if seen[string(g)+" freeze whole"] == 0 {
				t.Errorf("seed %d: nobody of the %s group is frozen for %v", seed, g, frozenFor)
			}
		}
		if seen[" "+string(BrokerKill)] < 2 {
			t.Errorf("seed %d: the broker is killed %d times", seed, seen[" "+string(BrokerKill)])
		}
	}
}

func TestCalmProfilesOnlyJoinAndLeave(t *testing.T) {
	for _, name := range []string{"calm", "calm-mixed"} {
		p, err := MakePlan(1, 15*time.Minute, name)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(p.Events, func(e Event) bool { return e.Kind != Join && e.Kind != Leave }) {
			t.Errorf("%s: %v", name, p.Events)
		}
		java := 0
		for _, r := range p.Roles {
			if r.Java {
				java++
			}
		}
		if (java > 0) != (name == "calm-mixed") {
			t.Errorf("%s casts %d Java members", name, java)
		}
	}
}

func TestPlanRefusesWhatItCannotPlan(t *testing.T) {
	if _, err := MakePlan(1, time.Minute, "mixed"); err == nil || !strings.Contains(err.Error(), "at least 1m18s") {
		t.Errorf("a minute: %v", err)
	}
	if _, err := MakePlan(1, time.Hour, "wild"); err == nil || !strings.Contains(err.Error(), "mixed") {
		t.Errorf("profile wild: %v", err)
	}
}
