package inspect_test

import (
	"errors"
	"strings"
	"testing"

	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// One member is asked for its stack, and it alone; one that gives none is named
// with its language, and is no failure.
func TestStackOfOneMember(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, group := tg.Topic(t, 2), tg.Group(t)
		d.makeGroup(tg, group)
		mqs := d.queues(topic)
		const stack = "main                                    TID: 1 STATE: RUNNABLE\nmain                                    a.B.c(B.java:1)\n\n"
		tells := newStub(t, tg, group, "192.0.2.1@tells", 0, mqs[:1], func(s *stub) { s.still, s.jstack = true, stack })
		silent := newStub(t, tg, group, "192.0.2.1@none", 0, mqs[1:], func(s *stub) { s.still = true })

		s, err := d.Stack(t.Context(), group, tells.id)
		if err != nil {
			t.Fatal(err)
		}
		threads, _ := s.Count()
		if s.Text != stack || threads != 1 || s.Threads[0].Top() != "a.B.c(B.java:1)" || s.Why != (inspect.Reason{}) || s.At.IsZero() || s.ClientID != tells.id {
			t.Errorf("got %+v", s)
		}
		if n := silent.askedForStack(); n != 0 {
			t.Errorf("the other member was asked %d times", n)
		}
		s, err = d.Stack(t.Context(), group, silent.id)
		if err != nil || s.Why.Kind != inspect.ReasonUnsupported || !strings.HasPrefix(s.Why.Text, "GO "+protocol.VersionName) || s.Threads != nil {
			t.Errorf("got %+v, %v; want not supported by its GO client", s, err)
		}
		_, err = d.Stack(t.Context(), group, "nobody")
		if _, missing := errors.AsType[*inspect.NotFoundError](err); !missing {
			t.Errorf("of no member: %v, want that there is none", err)
		}
	})
}
