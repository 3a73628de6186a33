package inspect_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// What one caller had no time left for is not told to the next one.
func TestAnEndedSurveyIsNotKept(t *testing.T) {
	const heartbeats = "DefaultHeartBeatSyncerTopic"
	sandboxtest.RunSandbox(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		group := tg.Group(t)
		d.makeGroup(tg, group)
		tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault {
			return sandbox.Fault{Drop: protocol.RequestCode(r.Command.Code) == protocol.SearchOffsetByTimestamp}
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := d.Groups(ctx); err == nil {
			t.Error("a survey that was ended is given")
		}
		tg.Sandbox.SetFault(nil)
		l, err := d.Lag(t.Context(), group)
		if err != nil || len(l.Problems) > 0 {
			t.Errorf("problems %v, %v; want none", l.Problems, err)
		}
	}, sandboxtest.Topic(heartbeats, 1))
}

// A page asks for its list every 15 s, and for details of what it shows every 5 s: each
// broker sends the table of its groups once a list.
func TestAPageAsksForTablesOnceAList(t *testing.T) {
	sandboxtest.RunSandbox(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		group := tg.Group(t)
		d.makeGroup(tg, group)
		var tables atomic.Int32
		tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault {
			if protocol.RequestCode(r.Command.Code) == protocol.GetAllSubscriptionGroupConfig {
				tables.Add(1)
				return sandbox.Fault{Delay: 100 * time.Millisecond} // both questions are under way
			}
			return sandbox.Fault{}
		})
		for tick := range 7 { // half a minute
			var wg sync.WaitGroup
			if tick%3 == 0 {
				wg.Go(func() {
					if l, err := d.Groups(t.Context()); err != nil || len(l.Groups) == 0 {
						t.Errorf("groups %v, %v", l.Groups, err)
					}
				})
			}
			wg.Go(func() {
				if rows := d.GroupRows(t.Context(), []string{group}); len(rows[0].Problems) > 0 {
					t.Errorf("problems %v", rows[0].Problems)
				}
			})
			wg.Wait()
			time.Sleep(5 * time.Second)
		}
		if got, want := int(tables.Load()), 3*len(tg.Masters(t)); got != want {
			t.Errorf("%d tables of groups were sent, want %d", got, want)
		}
	})
}

// Who asks while another's survey is under way has an answer although that one gives up.
func TestASurveyThatIsAbandonedIsAskedAgain(t *testing.T) {
	sandboxtest.RunSandbox(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		group := tg.Group(t)
		d.makeGroup(tg, group)
		tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault {
			if protocol.RequestCode(r.Command.Code) == protocol.GetAllSubscriptionGroupConfig {
				return sandbox.Fault{Delay: time.Second}
			}
			return sandbox.Fault{}
		})
		impatient, giveUp := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := d.Groups(impatient); !errors.Is(err, context.Canceled) {
				t.Errorf("the one that gave up was told %v", err)
			}
		})
		time.Sleep(100 * time.Millisecond)
		wg.Go(func() {
			if l, err := d.Groups(t.Context()); err != nil || len(l.Groups) == 0 {
				t.Errorf("groups %v, %v", l.Groups, err)
			}
		})
		time.Sleep(100 * time.Millisecond)
		giveUp()
		wg.Wait()
	})
}

// What a survey was told before a change is not kept after it.
func TestASurveyFromBeforeAChangeIsNotKept(t *testing.T) {
	sandboxtest.RunSandbox(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		group := tg.Group(t)
		d.makeGroup(tg, group)
		p, err := d.PlanPause(t.Context(), inspect.PauseRequest{Group: group})
		if err != nil {
			t.Fatal(err)
		}
		var lists atomic.Int32
		tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault { // the end of the first survey is late
			if protocol.RequestCode(r.Command.Code) == protocol.GetAllTopicListFromNamesrv && lists.Add(1) == 1 {
				return sandbox.Fault{Delay: 2 * time.Second}
			}
			return sandbox.Fault{}
		})
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := d.Groups(t.Context()); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(time.Second)
		if _, err := d.ApplyPause(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		if rows := d.GroupRows(t.Context(), []string{group}); rows[0].State != inspect.StatePaused {
			t.Errorf("the group is %q, want %q", rows[0].State, inspect.StatePaused)
		}
	})
}
