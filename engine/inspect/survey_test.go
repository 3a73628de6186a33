package inspect_test

import (
	"context"
	"testing"
	"time"

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
