package inspect

import (
	"testing"
	"time"

	"eyeq/remoting/protocol"
)

// A resumed member without messages is proved by the pull that the broker holds: it
// began after the change and has stood still since the last look.
func TestJudgePause(t *testing.T) {
	began := time.UnixMilli(1_800_000_000_000)
	at := func(seconds float64) map[protocol.MessageQueue]pullState {
		return map[protocol.MessageQueue]pullState{mqOf("t", 0): {max: 5, pulled: 5, told: true, lastPull: began.Add(time.Duration(seconds * float64(time.Second)))}}
	}
	for name, tt := range map[string]struct {
		last, after float64
		words       string
		proved      bool
	}{
		"held since the last look": {1, 1, "members pull again: 1 of 1 queues wait for messages, none is refused", true},
		"refused every second":     {1, 4, "no queue of 1 was pulled yet: there was nothing to pull", false},
		"held from before":         {-0.5, -0.5, "no queue of 1 was pulled yet: there was nothing to pull", false},
	} {
		t.Run(name, func(t *testing.T) {
			words, proved := judgePause(&PauseRequest{Resume: true}, began, at(-0.5), at(tt.last), at(tt.after))
			if words != tt.words || proved != tt.proved {
				t.Errorf("%v, %q; want %v, %q", proved, words, tt.proved, tt.words)
			}
		})
	}
}

// A pause that finds nothing to pull says how much members have pulled before: that no
// message waits would be false of a group whose lag is all in their caches.
func TestJudgePauseOfAGroupThatHasPulledAll(t *testing.T) {
	began := time.UnixMilli(1_800_000_000_000)
	for name, tt := range map[string]struct {
		committed int64
		want      string
	}{
		"all finished": {7_200, "no queue of 1 was pulled for 3s; no message waits"},
		"all cached":   {34, "no queue of 1 was pulled for 3s; no message waits to be pulled, members have 7,166 that they pulled before and have not committed"},
		"no commit":    {-1, "no queue of 1 was pulled for 3s; no message waits"},
	} {
		look := map[protocol.MessageQueue]pullState{mqOf("t", 0): {max: 7_200, pulled: 7_200, committed: tt.committed, told: true}}
		if got, proved := judgePause(&PauseRequest{}, began, look, look, look); got != tt.want || !proved {
			t.Errorf("%s: %v, %q; want %q", name, proved, got, tt.want)
		}
	}
}
