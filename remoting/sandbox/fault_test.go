package sandbox_test

import (
	"errors"
	"testing"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
)

// strike has a fault hit the requests of one code.
func (f *fixture) strike(code protocol.RequestCode, fault sandbox.Fault) {
	f.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault {
		if r.Command.Code == int32(code) {
			return fault
		}
		return sandbox.Fault{}
	})
}

func TestFaults(t *testing.T) {
	const update = protocol.UpdateConsumerOffset
	tests := map[string]struct {
		fault    sandbox.Fault
		executed bool
		takes    time.Duration
		check    func(error) bool
	}{
		"none":         {sandbox.Fault{}, true, 0, func(err error) bool { return err == nil }},
		"delay":        {sandbox.Fault{Delay: 2 * time.Second}, true, 2 * time.Second, func(err error) bool { return err == nil }},
		"drop":         {sandbox.Fault{Drop: true}, false, 3 * time.Second, timedOut},
		"lose":         {sandbox.Fault{Lose: true}, true, 3 * time.Second, timedOut},
		"code":         {sandbox.Fault{Code: protocol.SystemBusy, Remark: "busy"}, false, 0, busy},
		"late code":    {sandbox.Fault{Code: protocol.SystemBusy, Remark: "busy", Delay: time.Second}, false, time.Second, busy},
		"cut":          {sandbox.Fault{Cut: true}, false, 0, closed},
		"lose and cut": {sandbox.Fault{Lose: true, Cut: true}, true, 0, closed},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, f *fixture) {
				f.pull(f.header(0)) // makes the group
				f.strike(update, tt.fault)
				begun := time.Now()
				err := f.c.UpdateConsumerOffset(t.Context(), "g", f.mq, 7)
				if !tt.check(err) {
					t.Errorf("got %v", err)
				}
				if took := time.Since(begun); took != tt.takes {
					t.Errorf("took %v, want %v", took, tt.takes)
				}
				if _, found, _, _ := f.Sandbox.Offsets("g", f.mq); found != tt.executed {
					t.Errorf("executed: got %v, want %v", found, tt.executed)
				}
				f.Sandbox.SetFault(nil)
				if err := f.c.UpdateConsumerOffset(t.Context(), "g", f.mq, 8); err != nil {
					t.Errorf("afterwards: %v", err)
				}
			})
		})
	}
}

func timedOut(err error) bool { return err != nil && !errors.Is(err, remoting.ErrClosed) }
func closed(err error) bool   { return errors.Is(err, remoting.ErrClosed) }
func busy(err error) bool {
	ce, ok := errors.AsType[*remoting.CodeError](err)
	return ok && ce.Code == protocol.SystemBusy && ce.Remark == "busy"
}

func TestFaultHookSeesTheRequest(t *testing.T) {
	bubble(t, func(t *testing.T, f *fixture) {
		seen := make(chan sandbox.Request, 16)
		f.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault {
			seen <- r
			return sandbox.Fault{}
		})
		if _, _, err := f.c.RefreshRoute(t.Context(), f.topic); err != nil {
			t.Fatal(err)
		}
		if r := <-seen; r.Broker != "" || r.Command.Code != int32(protocol.GetRouteInfoByTopic) || r.Remote == "" {
			t.Errorf("name server: got %+v", r)
		}
		a := f.member("a")
		a.join(1, nil)
		if r := <-seen; r.Broker != "broker-a" || r.ClientID != "" {
			t.Errorf("first heartbeat: got %+v", r)
		}
		a.join(2, nil)
		if r := <-seen; r.ClientID != "a" {
			t.Errorf("second heartbeat: got %+v", r)
		}
	})
}

// A held pull's answer is delayed after it has been released.
func TestFaultDelaysAHeldPull(t *testing.T) {
	bubble(t, func(t *testing.T, f *fixture) {
		f.strike(protocol.PullMessage, sandbox.Fault{Delay: time.Second})
		begun := time.Now()
		answer := f.begin(f.held(0, "*", 10*time.Second))
		time.Sleep(5 * time.Second)
		f.put(1, 0)
		a := <-answer
		if took := time.Since(begun); a.err != nil || a.Code != 0 || took != 6*time.Second {
			t.Errorf("got %v, %v after %v, want messages after 6 s", protocol.ResponseCode(a.Code), a.err, took)
		}
	})
}
