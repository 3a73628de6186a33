package inspect_test

import (
	"testing"
	"time"

	"eyeq/engine/core"
	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// Two members of one group have limits of their own, and so have the queues that they hold;
// what a client does not report is not the other's.
func TestLimitsAreTheHoldersOwn(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, group := tg.Topic(t, 4), tg.Group(t)
		d.makeGroup(tg, group)
		mqs := d.queues(topic)
		bounds := map[string]string{"192.0.2.1@one": "100", "192.0.2.2@two": "1000"}
		for i, id := range []string{"192.0.2.1@one", "192.0.2.2@two"} {
			newStub(t, tg, group, id, 0, mqs[2*i:2*i+2], func(s *stub) {
				s.still, s.properties = true, map[string]string{"pullThresholdForQueue": bounds[id], "PROP_CONSUMEORDERLY": "false"}
			})
		}
		l, err := d.Live(t.Context(), group)
		if err != nil {
			t.Fatal(err)
		}
		for i := range l.Queues {
			q := &l.Queues[i]
			want := inspect.Limit{Value: map[string]int64{"192.0.2.1@one": 100, "192.0.2.2@two": 1000}[q.Owner]}
			if q.Retry {
				continue
			}
			if got := q.Limits.Count; got.Value != want.Value || got.Likely() != want.Value {
				t.Errorf("%v of %s: limit %+v, want %d", q.MessageQueue, q.Owner, got, want.Value)
			}
			if got := q.Limits.Span; got.Known() || got.Why.Kind != inspect.ReasonUnsupported {
				t.Errorf("%v: span limit %+v, want it unknown with the reason", q.MessageQueue, got)
			}
		}
		if len(l.LimitsDiffer) != 1 || l.LimitsDiffer[0] != "pullThresholdForQueue" {
			t.Errorf("limits differ in %v", l.LimitsDiffer)
		}
	})
}

// Who asks is no member to be asked: its holdings are put beside what the others say.
func TestOthersAreAskedAndNotOneself(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, group := tg.Topic(t, 4), tg.Group(t)
		d.makeGroup(tg, group)
		mqs := d.queues(topic)
		self := newStub(t, tg, group, "192.0.2.1@self", 0, mqs[:2], func(s *stub) { s.still = true })
		newStub(t, tg, group, "192.0.2.2@other", 0, mqs[1:3], func(s *stub) { s.still = true })
		m, err := d.Others(t.Context(), group, self.id)
		if err != nil {
			t.Fatal(err)
		}
		self.mu.Lock()
		defer self.mu.Unlock()
		if len(m.Members) != 1 || m.Members[0].ClientID != "192.0.2.2@other" || m.Members[0].Info == nil || self.infos != 0 {
			t.Fatalf("members %+v, asked ourselves %d times", m.Members, self.infos)
		}
		a := m.Allocation(topic, mqs, core.Holder{ClientID: self.id, Strategy: "AVG", Holds: mqs[:2]})
		if len(a.Shared) != 1 || a.Shared[0].Queue != mqs[1] || len(a.Unowned) != 1 || a.Unowned[0] != mqs[3] {
			t.Errorf("shared %v, unowned %v", a.Shared, a.Unowned)
		}
		for i, want := range []int{1, 2, 1, 0} {
			if got := a.Owners[mqs[i]]; len(got) != want {
				t.Errorf("%v is of %v, want %d", mqs[i], got, want)
			}
		}
	})
}

// For how long a holder has finished nothing is a difference of its own times: a clock that
// is an hour off changes nothing.
func TestIdleIsTheHoldersOwnTime(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic := tg.Topic(t, 1)
		pulled := time.Now().Add(time.Hour)
		for _, tt := range []struct {
			cached   int32
			consumed time.Time
			want     time.Duration
		}{{8, pulled.Add(-45 * time.Second), 45 * time.Second}, {0, pulled.Add(-45 * time.Second), 0}, {8, time.Time{}, 0}} {
			info := protocol.ProcessQueueInfo{CachedMsgCount: tt.cached, LastPullTimestamp: pulled.UnixMilli()}
			if !tt.consumed.IsZero() {
				info.LastConsumeTimestamp = tt.consumed.UnixMilli()
			}
			group := tg.Group(t)
			d.makeGroup(tg, group)
			newStub(t, tg, group, "192.0.2.1@one", 0, d.queues(topic), func(s *stub) { s.still, s.says = true, &info })
			l, err := d.Live(t.Context(), group)
			if err != nil {
				t.Fatal(err)
			}
			for i := range l.Queues {
				if q := &l.Queues[i]; !q.Retry && (q.Info == nil || q.Idle != tt.want) {
					t.Errorf("%d cached, consumed %v before: info %+v, idle %v, want %v", tt.cached, pulled.Sub(tt.consumed), q.Info, q.Idle, tt.want)
				}
			}
		}
	})
}
