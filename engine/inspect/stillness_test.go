package inspect_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"eyeq/engine/inspect"
	"eyeq/remoting/sandbox/sandboxtest"
)

// verdict is what a report says of queues that stand still.
func verdict(r inspect.Report) string {
	for _, f := range r.Findings {
		if f.Code == inspect.CodeQueueStuck {
			return string(f.Severity) + " " + f.Code + ": " + f.Evidence[0]
		}
	}
	if slices.ContainsFunc(r.Unchecked, func(p inspect.Problem) bool { return strings.Contains(p.String(), "goes on") }) {
		return "unchecked"
	}
	return ""
}

// A commit that stands with messages waiting is always told, and not by the luck of what
// happens to be consumed between two looks: a doctor that may look on does until it knows,
// and one that may not says so, and knows later how long it has seen the commit stand.
func TestCommitThatStandsIsTold(t *testing.T) {
	bothLines(t, func(t *testing.T, tg *sandboxtest.Target) {
		d, topic, group := faultySandbox(t, tg)
		// It does not tell what it has cached, as many Go clients do not.
		newStub(t, tg, group, "192.0.2.1@go", 1, d.queues(topic), func(s *stub) { s.still, s.infoless, s.statusless = true, true, true })
		examine := func(o inspect.DoctorOptions) (string, time.Duration) {
			t.Helper()
			begun := time.Now()
			r, err := d.DoctorWith(t.Context(), group, o)
			if err != nil {
				t.Fatal(err)
			}
			return verdict(r), time.Since(begun)
		}

		if got, took := examine(inspect.DoctorOptions{}); got != "unchecked" || took > 20*time.Second {
			t.Errorf("at two looks it says %q after %v, want that it cannot tell yet", got, took)
		}
		var longer []int
		got, took := examine(inspect.DoctorOptions{Longer: func(queues int) { longer = append(longer, queues) }})
		if !strings.HasPrefix(got, "critical queue_stuck: "+topic+" broker-a/0 at ") || !strings.Contains(got, "committed at 1 for at least 1m") {
			t.Errorf("where it may look on it says %q", got)
		}
		if took > 90*time.Second || !slices.Equal(longer, []int{4}) {
			t.Errorf("that took %v, and it told of %v queues that stand still, want 4 once", took, longer)
		}
		if got, took := examine(inspect.DoctorOptions{}); !strings.HasPrefix(got, "critical queue_stuck: ") || took > 20*time.Second {
			t.Errorf("at two looks it says %q after %v, want that the commit stands: it has seen it there for more than a minute", got, took)
		}
	})
}

// One message a second is consumed: nothing stands still, and nobody waits for it.
func TestCommitThatMovesIsNotWaitedFor(t *testing.T) {
	bothLines(t, func(t *testing.T, tg *sandboxtest.Target) {
		d, topic, group := faultySandbox(t, tg)
		tg.Produce(t, topic, 4*100)
		newStub(t, tg, group, "192.0.2.1@java", 1, d.queues(topic))
		r, err := d.DoctorWith(t.Context(), group, inspect.DoctorOptions{Longer: func(queues int) { t.Errorf("%d queues are said to stand still", queues) }})
		if got := verdict(r); err != nil || got != "" {
			t.Errorf("%q, %v, want nothing", got, err)
		}
	})
}
