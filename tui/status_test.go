package tui

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"github.com/muesli/termenv"

	"eyeq/engine"
	"eyeq/tui/words"
)

func TestTheStatusLineTellsTheWorst(t *testing.T) {
	tests := map[string]struct {
		change func(s *engine.Snapshot)
		want   string
	}{
		"all is well": {func(s *engine.Snapshot) {}, "✓ engine ok · 2 brokers · heartbeat 11s ago · 3 members, told 12s ago by 10.0.4.1:10911"},
		"not running": {func(s *engine.Snapshot) { s.State, s.StateCause = engine.StartFailed, "offset file" }, "! START_FAILED: offset file"},
		"name server": {func(s *engine.Snapshot) { s.NamesrvError = "refused" }, "✗ name server: refused"},
		"broker": {func(s *engine.Snapshot) {
			s.Brokers[1].Error, s.Brokers[1].ErrorSince = "refused", fixtureNow.Add(-9*time.Second)
		}, "✗ broker-b 10.0.4.2:10911: refused, since 9s"},
		"a broker that the name servers forgot": {func(s *engine.Snapshot) {
			b := &s.Brokers[1]
			b.Gone, b.Error, b.ErrorSince = true, "connect to 10.0.4.2:10911: connection refused", fixtureNow.Add(-9*time.Second)
		}, "✗ broker-b 10.0.4.2:10911: connection refused, since 9s, in no route any more"},
		"a broker that is slow at the start": {func(s *engine.Snapshot) {
			s.Brokers[1] = engine.BrokerSnapshot{Name: "broker-b", Address: "10.0.4.2:10911", Waiting: fixtureNow.Add(-2 * time.Second)}
		}, "! broker-b 10.0.4.2:10911 has not answered the first heartbeat for 2s"},
		"the oldest beat": {func(s *engine.Snapshot) { s.Brokers[1].LastHeartbeat = fixtureNow.Add(-28 * time.Second) }, "heartbeat 28s ago"},
		"no route":        {func(s *engine.Snapshot) { s.Topics[0].Missing = "no route" }, "! topic orders-paid: no route"},
		"members unknown": {func(s *engine.Snapshot) { s.Topics[0].MembersError = "timeout" }, "! members of orders-paid ?: timeout"},
		"old figures":     {func(s *engine.Snapshot) { s.At = fixtureNow.Add(-41 * time.Second) }, "! figures are 41s old: the engine does not answer"},
		"a recent error":  {func(s *engine.Snapshot) { s.LastError, s.LastErrorAt = "pull: busy", fixtureNow.Add(-3*time.Second) }, "✗ 3s ago: pull: busy"},
		"an old error":    {func(s *engine.Snapshot) { s.LastError, s.LastErrorAt = "pull: busy", fixtureNow.Add(-time.Hour) }, "3 members, told"},
		"not saved": {func(s *engine.Snapshot) {
			s.PersistError, s.PersistErrorSince = "write offsets.json: permission denied", fixtureNow.Add(-12*time.Second)
		}, "✗ offsets are not saved since 12s: write offsets.json: permission denied"},
		"an operator's act": {func(s *engine.Snapshot) {
			s.LastOperator, s.LastOperatorAt = "resumed by its time: broker-a/4", fixtureNow.Add(-2*time.Second)
		}, "2s ago: resumed by its time: broker-a/4"},
		"paused": {func(s *engine.Snapshot) {
			s.Pause = &engine.PauseState{By: "wang", Reason: "deploy", ResumeAt: fixtureNow.Add(90 * time.Second)}
		}, "PAUSED by wang “deploy”, resumes in 1m30s"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := fixture(0)
			tt.change(s)
			lines := withSnapshot(t, 120, 36, s).lines()
			if status := lines[35]; !strings.Contains(status, tt.want) {
				t.Errorf("got %q, want %q in it", status, tt.want)
			}
		})
	}
}

func TestAllocationSaysWhatIsNotKnown(t *testing.T) {
	tests := map[string]struct {
		change func(s *engine.Snapshot)
		want   []string
	}{
		"no members":      {func(s *engine.Snapshot) { s.Topics[0].Members = nil }, []string{"no members: no broker has named any yet"}},
		"members unknown": {func(s *engine.Snapshot) { s.Topics[0].Members, s.Topics[0].MembersError = nil, "timeout after 3s" }, []string{"members ?: timeout after 3s", "what is held stays as it is"}},
		"old members":     {func(s *engine.Snapshot) { s.Topics[0].MembersError = "timeout" }, []string{"members 12s old", "A A A"}},
		"no topics":       {func(s *engine.Snapshot) { s.Topics, s.Queues = nil, nil }, []string{"no topics yet"}},
		"not taken yet":   {func(s *engine.Snapshot) { s.Topics[0].Members[0].Held = 4 }, []string{"holds 4"}},
		"owner unknown": {func(s *engine.Snapshot) {
			for i := range s.Queues {
				if !s.Queues[i].Own {
					s.Queues[i].Owner = ""
				}
			}
		}, []string{"(owner ?)"}},
		"lists of their own": {func(s *engine.Snapshot) {
			s.Strategy = "CONFIG"
			for i := range s.Topics[0].Members {
				m := &s.Topics[0].Members[i]
				if m.Unknown = !m.Self; m.Unknown {
					m.Queues = nil
				}
			}
		}, []string{"its own list: CONFIG", "  ?"}},
		"broadcasting": {func(s *engine.Snapshot) {
			s.Model = 2
			s.Topics[0].Members = s.Topics[0].Members[:1]
		}, []string{"broadcast·concurrent", "broadcasting: each member has all 16 queues"}},
		"a slave is pulled from": {func(s *engine.Snapshot) { s.Queues[5].BrokerID = 1 }, []string{"run from slave 1"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := fixture(0)
			tt.change(s)
			d := withSnapshot(t, 120, 36, s)
			for _, want := range tt.want {
				d.see(want)
			}
		})
	}
}

func TestManyMembersScroll(t *testing.T) {
	s := manyQueues(300)
	members := s.Topics[0].Members
	for i := range 60 {
		members = append(members, engine.MemberSnapshot{ClientID: fmt.Sprintf("10.1.0.%d@1#1", i), Since: s.Started})
	}
	s.Topics[0].Members = members
	d := withSnapshot(t, 120, 36, s).see("300 queues / 63 members")
	d.keys("shift+tab", "G").see("10.1.0.59@1#1").keys("z").see("10.1.0.40@1#1")
	for _, size := range sizes {
		withSnapshot(t, size[0], size[1], s).lines()
	}
}

// TestColourIsNeverTheOnlySign: with and without colours the screen says the same.
func TestColourIsNeverTheOnlySign(t *testing.T) {
	color := lipgloss.NewRenderer(io.Discard)
	color.SetColorProfile(termenv.ANSI)
	keys := [][]string{{}, {"v", "V"}, {"tab", "j"}, {"7", "E"}, {"enter"}, {"R", "tab"}, {"p"}, {"?"}, {"space"}}
	for _, k := range keys {
		for _, size := range sizes {
			frame := func(r *lipgloss.Renderer) string {
				d := driveOn(t, size[0], size[1], defaultOptions(), resetEngine(), r)
				d.send(snapshotsMsg{snapshots: []*engine.Snapshot{fixture(0)}})
				d.send(eventsMsg{events: fixtureEvents()})
				return d.keys(k...).frame()
			}
			colored, plain := frame(color), frame(lipgloss.NewRenderer(io.Discard))
			if !strings.Contains(colored, "\x1b[") || strings.Contains(plain, "\x1b") {
				t.Fatalf("keys %v at %v: colours where there should be none, or none", k, size)
			}
			if diff := cmp.Diff(plain, ansi.Strip(colored)); diff != "" {
				t.Errorf("keys %v at %v (-plain +coloured):\n%s", k, size, diff)
			}
			for i, l := range strings.Split(colored, "\n") {
				if n := strings.LastIndex(l, "\x1b["); n >= 0 && !strings.HasPrefix(l[n:], "\x1b[0m") {
					t.Errorf("keys %v at %v: line %d leaves a colour on: %q", k, size, i+1, l)
				}
			}
		}
	}
}

// What was said on another view stands beside the shown one's own words where there is
// room for both, and never in their place.
func TestANoteOfAnotherViewReplacesNothing(t *testing.T) {
	d := driveCluster(t, 80, 24, defaultOptions(), fullCluster())
	d.keys(":").typing("nonsense of some length").keys("enter").see("nonsense")
	d.now = d.now.Add(time.Second)
	d.keys("6")
	if status := d.lines()[23]; !strings.Contains(status, "1 of 3 brokers") && !strings.Contains(status, "broker") || strings.Contains(status, "nonsense") {
		t.Errorf("the status of Brokers is %q", status)
	}
	d.keys(":").typing("nonsense").keys("enter").see("nonsense") // said here it is the answer
}

func TestAnAnswerOfThisInstantIsReadNow(t *testing.T) {
	d := driveCluster(t, 120, 36, defaultOptions(), fullCluster()).keys("5", "ctrl+t").see("times are relative").miss("-0ms")
	d.now = d.now.Add(11 * time.Second)
	d.keys("j").miss("-0ms").see("ago")
	for d, want := range map[time.Duration]string{0: "now", 300 * time.Microsecond: "now", -500 * time.Microsecond: "now", 20 * time.Millisecond: "-20ms", -20 * time.Millisecond: "+20ms", 70 * time.Second: "-1m10s"} {
		if got := words.TimeRelative.Clock(fixtureNow.Add(-d), fixtureNow, time.UTC, words.ClockSeconds); got != want {
			t.Errorf("%v ago is written %q, want %q", d, got, want)
		}
	}
}
