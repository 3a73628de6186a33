package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// The end of the call that asked a broker for its delay levels is neither the answer to
// the others who wait for it, nor kept as one.
func TestDelayLevelsOutliveWhoAskedForThem(t *testing.T) {
	sandboxtest.RunSandbox(t, func(t *testing.T, tg *sandboxtest.Target) {
		e := &Engine{d: Deps{Client: tg.Client(t, nil)}, o: Options{Group: "g"}}
		tg.Sandbox.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
			if protocol.RequestCode(r.Command.Code) == protocol.GetBrokerConfig {
				f.Delay = time.Second
			}
			return f
		})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		asked := make(chan error, 1)
		go func() {
			_, err := e.levelsOf(ctx, "broker-a")
			asked <- err
		}()
		time.Sleep(10 * time.Millisecond)
		if levels, err := e.levelsOf(t.Context(), "broker-a"); err != nil || len(levels) == 0 {
			t.Errorf("who waits is told %v, %v; want the broker's levels", levels, err)
		}
		<-asked
		waiting, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer stop()
		e.delays.of["broker-b"] = &brokerLevels{done: make(chan struct{})} // somebody asks, for ever
		if _, err := e.levelsOf(waiting, "broker-b"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("who waits no longer is told %v, want that its time has ended", err)
		}
	}, sandboxtest.Topic(protocol.RetryTopic("g"), 1))
}
