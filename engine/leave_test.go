package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eyeq/engine"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// A leave tells everything that it could not do, a step after the other: what one of
// them hides would be found out by the group alone.
func TestLeaveTellsAllFailures(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 5)
		release := make(chan struct{})
		defer close(release)
		m := join(t, tg, group, topic, func(_ context.Context, msgs []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			if msgs[0].QueueOffset() == 2 {
				<-release
			}
			return engine.ConsumeSuccess, nil
		}, threads(2), named("me@1"))
		m.until("a stuck call, and something to commit", func() bool { return m.distinct() == 5 })
		onFault(tg, func(code protocol.RequestCode, _ string) (f sandbox.Fault) {
			switch code {
			case protocol.UpdateConsumerOffset:
				f.Code, f.Remark = protocol.SystemError, "the disk is full"
			case protocol.UnregisterClient:
				f.Code, f.Remark = protocol.SystemBusy, "no thread is free"
			}
			return f
		})
		err := m.leaving()
		if _, ok := errors.AsType[*engine.StillRunningError](err); !ok {
			t.Errorf("Run = %v, want the call that still runs", err)
		}
		if ce, ok := errors.AsType[*remoting.CodeError](err); !ok || ce.Remark != "the disk is full" {
			t.Errorf("Run = %v, want the failed commit", err)
		}
		for _, part := range []string{"offset 2, message ", "the disk is full", "no thread is free"} {
			if strings.Count(err.Error(), part) != 1 {
				t.Errorf("Run = %q, want %q in it once", err, part)
			}
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("Run = %q is more than a line", err)
		}
	})
}

// A broker that is frozen while a member leaves delays neither the commits nor the
// locks of the others, and they hear of the leave within the time that a command has
// for it.
func TestLeaveWithFrozenBrokers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Brokers("broker-a", "broker-b", "broker-c", "broker-d"), sandboxtest.Topic("orders", 2))
		tg := &sandboxtest.Target{Name: "sandbox", Namesrv: []string{sb.NamesrvAddr()}, Dial: sb.Dial, Line: "5", Sandbox: sb}
		well := map[string]bool{"broker-b": true, "broker-d": true}
		m := join(t, tg, "g", "orders", nil, orderly, named("me@1"))
		m.until("all queues", func() bool { return held(m, "orders") == 8 })
		for i := range 40 {
			sb.Put(sandbox.Message{Topic: "orders", Broker: "broker-" + string(rune('a'+i%4)), QueueID: int32(i / 4 % 2), Body: []byte("body")})
		}
		m.until("all messages", func() bool { return m.distinct() == 40 })
		var mu sync.Mutex
		came := map[string]map[protocol.RequestCode]time.Duration{}
		began := time.Now()
		sb.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
			if r.Broker == "" {
				return f
			}
			mu.Lock()
			defer mu.Unlock()
			if came[r.Broker] == nil {
				came[r.Broker] = map[protocol.RequestCode]time.Duration{}
			}
			came[r.Broker][protocol.RequestCode(r.Command.Code)] = time.Since(began)
			f.Drop = !well[r.Broker]
			return f
		})
		err := m.leaving()
		for broker := range well {
			at := came[broker]
			unlocked, asked := at[protocol.UnlockBatchMQ]
			left, told := at[protocol.UnregisterClient]
			if !asked || unlocked > time.Second || !told || left > 4*time.Second {
				t.Errorf("%s was asked %v, want the locks back within a second and the member out within four", broker, at)
			}
		}
		for _, broker := range []string{"broker-a", "broker-c"} {
			for _, part := range []string{"commit 5 of orders " + broker + "/", "of g on " + broker + ": UNLOCK_BATCH_MQ"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("Run = %q, want %q in it", err, part)
				}
			}
		}
	})
}
