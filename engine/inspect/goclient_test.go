package inspect_test

import (
	"slices"
	"strings"
	"testing"

	"eyeq/engine/inspect"
	"eyeq/remoting/sandbox/sandboxtest"
)

// A Go client of 2.1 has seconds in which it cannot write its running info. What
// it reads it says then when it is asked for its status; what nobody says is not
// reported by the client, which is not the same as unowned.
func TestOwnersOfQueuesReadByAGoClient(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, group := tg.Topic(t, 4), tg.Group(t)
		d.makeGroup(tg, group)
		mqs := d.queues(topic)
		newStub(t, tg, group, "192.0.2.1@go", 5, mqs[:3], func(s *stub) { s.still, s.infoless = true, true })
		l, err := d.Live(t.Context(), group)
		if err != nil {
			t.Fatal(err)
		}
		for i := range l.Queues {
			q := &l.Queues[i]
			switch {
			case q.Retry:
			case slices.Contains(mqs[:3], q.MessageQueue):
				if q.Owner != "192.0.2.1@go" || q.Info != nil || !slices.Equal(q.Owners, []string{q.Owner}) {
					t.Errorf("%v: owner %q of %v, %v; want the Go client, without its inside", q.MessageQueue, q.Owner, q.Owners, q.Info)
				}
			case q.Owner != "" || q.OwnersWhy.Kind != inspect.ReasonBadAnswer || q.OwnersWhy.Text != "not reported by GO client 192.0.2.1@go":
				t.Errorf("%v: owner %q, %v; want it not reported", q.MessageQueue, q.Owner, q.OwnersWhy)
			}
		}
		m := l.Members.Members[0]
		if m.Info != nil || !strings.Contains(m.Why.Text, "unsupported value: NaN") || m.Held[mqs[0]] != 5 {
			t.Errorf("member %+v, want the client's own words for why, and what it holds", m)
		}
	})
}

func TestOwnersThatAGoClientDoesNotReport(t *testing.T) {
	bothLines(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, group := tg.Topic(t, 2), tg.Group(t)
		d.makeGroup(tg, group)
		newStub(t, tg, group, "192.0.2.1@go", 0, d.queues(topic), func(s *stub) { s.still, s.infoless, s.statusless = true, true, true })
		l, err := d.Lag(t.Context(), group)
		if err != nil {
			t.Fatal(err)
		}
		for i := range l.Queues {
			if q := &l.Queues[i]; q.Owners != nil || q.OwnersWhy.Text != "not reported by GO client 192.0.2.1@go" {
				t.Errorf("%v: owners %v, %v; want it not reported", q.MessageQueue, q.Owners, q.OwnersWhy)
			}
		}
	})
}

// A Go client commits -1 where it has consumed nothing: no message of offset -1 has
// expired unread.
func TestCommitBeforeTheFirstMessage(t *testing.T) {
	bothLines(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, group := tg.Topic(t, 1), tg.Group(t)
		d.makeGroup(tg, group)
		tg.Produce(t, topic, 3)
		d.commit(group, -1, d.queues(topic)[0])
		l, err := d.Lag(t.Context(), group)
		if err != nil {
			t.Fatal(err)
		}
		if q := &l.Queues[0]; q.Committed.Known || q.Committed.Why.Kind != inspect.ReasonNoCommit || q.Expired != 0 || q.Max.Value == 0 || q.Lag != q.Max {
			t.Errorf("committed %+v, expired %d, lag %+v of %+v; want -1, 0, and all of it", q.Committed, q.Expired, q.Lag, q.Max)
		}
	})
}
