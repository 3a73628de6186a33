package sandbox_test

import (
	"fmt"
	"slices"
	"testing"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// assigned is what a broker gives a member, as text.
func (f *fixture) assigned(topic, client, strategy string) string {
	f.t.Helper()
	a, err := f.c.Assignment(f.t.Context(), f.addr, &protocol.AssignmentQuestion{
		Topic: topic, Group: f.group, ClientID: client, Strategy: strategy, Model: protocol.Clustering,
	})
	if err != nil {
		f.t.Fatal(err)
	}
	if !a.Known {
		return "unknown"
	}
	var text []string
	for _, q := range a.Queues {
		text = append(text, fmt.Sprintf("%s %s", q.Queue.Short(), q.Mode))
	}
	return fmt.Sprint(text)
}

// A 5.x broker allocates for members that let it, by pulling first; told that they are
// to pop, it lets each have the queues of some more members, or all.
func TestTheBrokerAllocates(t *testing.T) {
	sandboxtest.RunIn(t, sandboxtest.Line5, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 3)
		for _, id := range []string{"a", "b", "c"} {
			f.member(id).join(1, map[string]string{f.topic: "*"})
		}
		tg.AwaitRoute(t, protocol.RetryTopic(f.group), 1) // the broker asks for it too
		mode := func() string {
			modes, err := f.c.RequestModes(t.Context(), f.addr)
			if err != nil {
				t.Fatal(err)
			}
			modes = slices.DeleteFunc(modes, func(m protocol.RequestMode) bool { return m.Group != f.group })
			return fmt.Sprint(modes)
		}
		set := func(topic, mode string, share int32) error {
			return f.c.SetRequestMode(t.Context(), f.addr, &protocol.RequestMode{Topic: topic, Group: f.group, Mode: mode, Share: share})
		}
		name := f.mq.BrokerName
		wantSameText(t, "before it was told, to a", f.assigned(f.topic, "a", "AVG"), "["+name+"/0 PULL]")
		wantSameText(t, "before it was told, to c", f.assigned(f.topic, "c", "AVG"), "["+name+"/2 PULL]")
		wantSameText(t, "to a stranger", f.assigned(f.topic, "nobody", "AVG"), "[]")
		wantSameText(t, "by another strategy", f.assigned(f.topic, "a", "NOSUCH"), "unknown")
		wantSameText(t, "of another topic", f.assigned(f.topic+"x", "a", "AVG"), "unknown")
		wantSameText(t, "modes after being asked", mode(), "[]")

		if err := set(f.topic, protocol.ModePop, 1); err != nil {
			t.Fatal(err)
		}
		wantSameText(t, "modes", mode(), fmt.Sprintf("[{%s %s POP 1}]", f.topic, f.group))
		wantSameText(t, "one more, to a", f.assigned(f.topic, "a", "AVG"), fmt.Sprintf("[%s/0 POP %s/1 POP]", name, name))
		wantSameText(t, "one more, to c", f.assigned(f.topic, "c", "AVG"), fmt.Sprintf("[%s/0 POP %s/2 POP]", name, name))
		wantSameText(t, "retry topic", f.assigned(protocol.RetryTopic(f.group), "a", "AVG"), "["+name+"/0 PULL]")
		for _, share := range []int32{2, 0, -1} {
			if err := set(f.topic, protocol.ModePop, share); err != nil {
				t.Fatal(err)
			}
			wantSameText(t, fmt.Sprintf("share %d, to b", share), f.assigned(f.topic, "b", "AVG"), "["+name+"/-1 POP]")
		}
		f.wantCode("mode of the retry topic", set(protocol.RetryTopic(f.group), protocol.ModePop, 1), protocol.NoPermission)
		if err := set(f.topic, protocol.ModePull, 0); err != nil { // a broker does not forget
			t.Fatal(err)
		}
		wantSameText(t, "pulling again, to b", f.assigned(f.topic, "b", "AVG"), "["+name+"/1 PULL]")
	})
}

// A 4.9 broker knows nothing of it.
func TestFourDoesNotAllocate(t *testing.T) {
	sandboxtest.RunIn(t, sandboxtest.Line4, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		_, err := f.c.RequestModes(t.Context(), f.addr)
		f.wantCode("modes", err, protocol.RequestCodeNotSupported)
		_, err = f.c.Assignment(t.Context(), f.addr, &protocol.AssignmentQuestion{Topic: f.topic, Group: f.group, ClientID: "a", Strategy: "AVG", Model: protocol.Clustering})
		f.wantCode("assignment", err, protocol.RequestCodeNotSupported)
	})
}
