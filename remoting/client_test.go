package remoting_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

func TestNewClientChecksOptions(t *testing.T) {
	tests := map[string]struct {
		namesrv []string
		ok      bool
	}{
		"none":      {nil, false},
		"empty":     {[]string{"a:1", ""}, false},
		"no port":   {[]string{"namesrv"}, false},
		"host name": {[]string{"namesrv:9876", "[::1]:9876"}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c, err := remoting.NewClient(remoting.Options{Namesrv: tt.namesrv})
			if (err == nil) != tt.ok {
				t.Errorf("NewClient(%q) = %v, want ok %v", tt.namesrv, err, tt.ok)
			}
			if err == nil {
				c.Close()
			}
		})
	}
}

func TestClientConcurrentCallersShareOneDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newMemoryNet()
		n.Serve(t, "b:1", handlerFunc(echo))
		c := n.newClient(t, remoting.Options{})
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if _, err := c.Invoke(t.Context(), "b:1", request("x")); err != nil {
					t.Errorf("Invoke = %v", err)
				}
			})
		}
		wg.Wait()
		if got := n.Dialled("b:1"); got != 1 {
			t.Errorf("%d dials, want 1", got)
		}
	})
}

// A caller that leaves does not take the dial away from the others.
func TestClientDialOutlivesItsFirstCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newMemoryNet()
		n.Hang("b:1")
		c := n.newClient(t, remoting.Options{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { _, err := c.Conn(ctx, "b:1"); first <- err }()
		go func() { _, err := c.Conn(t.Context(), "b:1"); second <- err }()
		begin := time.Now()
		if err := <-first; !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
			t.Errorf("first caller: %v after %v, want its deadline after 1s", err, time.Since(begin))
		}
		if _, ok := errors.AsType[*remoting.DialError](<-second); !ok || time.Since(begin) != 3*time.Second {
			t.Errorf("second caller ended after %v, want the dial timeout, 3s", time.Since(begin))
		}
		if got := n.Dialled("b:1"); got != 1 {
			t.Errorf("%d dials, want 1", got)
		}
	})
}

func TestClientBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newMemoryNet()
		c := n.newClient(t, remoting.Options{})
		dials := 0
		for _, wait := range []time.Duration{100, 200, 400, 800, 1600, 3200, 5000, 5000} {
			wait *= time.Millisecond
			// The dial, one that fails at once in the back-off, and one at its end.
			for _, after := range []time.Duration{0, wait - time.Millisecond} {
				time.Sleep(after)
				begin := time.Now()
				_, err := c.Conn(t.Context(), "b:1")
				if de, ok := errors.AsType[*remoting.DialError](err); !ok || de.Addr != "b:1" || !errors.Is(err, errRefused) {
					t.Errorf("Conn = %v, want a DialError with the reason", err)
				}
				if time.Since(begin) != 0 {
					t.Errorf("Conn took %v, want none", time.Since(begin))
				}
			}
			dials++
			if got := n.Dialled("b:1"); got != dials {
				t.Errorf("%d dials within %v, want %d", got, wait, dials)
			}
			time.Sleep(time.Millisecond)
		}
		n.Serve(t, "b:1", handlerFunc(echo))
		time.Sleep(5 * time.Second)
		conn, err := c.Conn(t.Context(), "b:1")
		if err != nil {
			t.Fatal(err)
		}
		// After a success the next dial is not delayed, and a failure counts from the beginning.
		conn.Close(nil)
		if _, err := c.Conn(t.Context(), "b:1"); err != nil {
			t.Errorf("Conn after the connection ended = %v", err)
		}
	})
}

func TestClientSlowAddressDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newMemoryNet()
		n.Hang("slow:1")
		n.Serve(t, "deaf:1", handlerFunc(silent))
		n.Serve(t, "b:1", handlerFunc(echo))
		c := n.newClient(t, remoting.Options{})
		var wg sync.WaitGroup
		for _, addr := range []string{"slow:1", "deaf:1"} {
			wg.Go(func() {
				if _, err := c.Invoke(t.Context(), addr, request("x")); !remoting.Retryable(err) {
					t.Errorf("Invoke(%s) = %v, want a timeout", addr, err)
				}
			})
		}
		synctest.Wait()
		begin := time.Now()
		if _, err := c.Invoke(t.Context(), "b:1", request("x")); err != nil || time.Since(begin) != 0 {
			t.Errorf("Invoke(b) = %v after %v, want an answer at once", err, time.Since(begin))
		}
		wg.Wait()
	})
}

func TestClientInvokeErrorHasAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newMemoryNet()
		n.Serve(t, "b:1", handlerFunc(func(c *remoting.Conn, req protocol.Command) {
			c.Respond(&req, &protocol.Command{Code: 16, Remark: "go away", Body: []byte("body")})
		}))
		c := n.newClient(t, remoting.Options{})
		answer, err := c.Invoke(t.Context(), "b:1", request("x"))
		want := remoting.CodeError{Request: protocol.GetMaxOffset, Code: protocol.NoPermission, Remark: "go away", Addr: "b:1"}
		if ce, ok := errors.AsType[*remoting.CodeError](err); !ok || *ce != want {
			t.Errorf("Invoke = %v, want %v", err, &want)
		}
		if string(answer.Body) != "body" {
			t.Errorf("answer = %+v, want its body too", answer)
		}
	})
}

// A broker's words may be megabytes: their beginning says what there is to say.
func TestRemarksAreCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newMemoryNet()
		n.Serve(t, "b:1", handlerFunc(func(c *remoting.Conn, req protocol.Command) {
			c.Respond(&req, &protocol.Command{Code: 1, Remark: strings.Repeat("订单", 200_000)})
		}))
		c := n.newClient(t, remoting.Options{})
		_, err := c.Invoke(t.Context(), "b:1", request("x"))
		ce, ok := errors.AsType[*remoting.CodeError](err)
		if !ok || len(ce.Remark) > 2100 || !utf8.ValidString(ce.Remark) || !strings.HasPrefix(ce.Remark, "订单订单") || !strings.HasSuffix(ce.Remark, "… (1200000 bytes)") {
			t.Errorf("Invoke = %.100v… of %d bytes", err, len(err.Error()))
		}
	})
}

// A member that does not answer keeps the broker waiting, and its broker is asked for
// others by the same connection.
func TestADeafMemberCostsNoConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newMemoryNet()
		n.Serve(t, "b:1", handlerFunc(func(c *remoting.Conn, req protocol.Command) {
			if protocol.RequestCode(req.Code) != protocol.GetConsumerRunningInfo {
				time.AfterFunc(4*time.Second, func() { echo(c, req) })
			}
		}))
		c := n.newClient(t, remoting.Options{CallTimeout: 5 * time.Second})
		var wg sync.WaitGroup
		wg.Go(func() {
			if answer, err := c.Invoke(t.Context(), "b:1", request("other")); err != nil || string(answer.Body) != "other" {
				t.Errorf("another call: %q, %v", answer.Body, err)
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if _, err := c.RunningInfo(ctx, "b:1", "G", "deaf", false); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("RunningInfo = %v, want that it was not answered in time", err)
		}
		wg.Wait()
	})
}

func TestClientClosesHalfOpenConnection(t *testing.T) {
	tests := map[string]struct {
		timeout time.Duration // of the caller; 0: CallTimeout counts
		noise   bool          // another answer arrives meanwhile
		closed  bool
	}{
		"silent":                    {closed: true},
		"silent, caller's deadline": {timeout: 2 * time.Second, closed: true},
		"silent, but hardly asked":  {timeout: 10 * time.Millisecond},
		"only this call unanswered": {noise: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newMemoryNet()
				n.Serve(t, "b:1", handlerFunc(func(c *remoting.Conn, req protocol.Command) {
					if string(req.Body) == "echo" {
						echo(c, req)
					}
				}))
				c := n.newClient(t, remoting.Options{})
				conn, err := c.Conn(t.Context(), "b:1")
				if err != nil {
					t.Fatal(err)
				}
				held := make(chan remoting.Reply, 1)
				if _, err := conn.Start(encoded("held"), held); err != nil {
					t.Fatal(err)
				}
				ctx := t.Context()
				if tt.timeout > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.timeout)
					defer cancel()
				}
				time.Sleep(time.Second)
				var wg sync.WaitGroup
				wg.Go(func() {
					if _, err := c.Invoke(ctx, "b:1", request("lost")); !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("Invoke = %v, want a timeout", err)
					}
				})
				if tt.noise {
					time.Sleep(time.Second)
					if _, err := c.Invoke(ctx, "b:1", request("echo")); err != nil {
						t.Error(err)
					}
				}
				wg.Wait()
				synctest.Wait()
				if got := conn.Err() != nil; got != tt.closed {
					t.Errorf("closed = %v (%v), want %v", got, conn.Err(), tt.closed)
				}
				if tt.closed {
					if r := <-held; !errors.Is(r.Err, remoting.ErrClosed) {
						t.Errorf("a pending call ended with %v, want ErrClosed", r.Err)
					}
				}
				if _, err := c.Invoke(t.Context(), "b:1", request("echo")); err != nil {
					t.Errorf("Invoke afterwards = %v", err)
				}
			})
		})
	}
}

// Close ends what is under way and leaves no goroutine: the bubble would not end.
func TestClientCloseEndsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newMemoryNet()
		n.Hang("slow:1")
		n.Serve(t, "ns:1", handlerFunc(silent))
		n.Serve(t, "b:1", handlerFunc(silent))
		c := n.newClient(t, remoting.Options{})
		calls := map[string]func() error{
			"dial":  func() error { _, err := c.Conn(t.Context(), "slow:1"); return err },
			"call":  func() error { _, err := c.Invoke(t.Context(), "b:1", request("x")); return err },
			"route": func() error { _, err := c.Route(t.Context(), "T"); return err },
			"pull": func() error {
				_, err := c.Pull(t.Context(), "b:1", &protocol.PullMessageRequestHeader{SysFlag: protocol.PullSuspend, SuspendTimeout: time.Hour})
				return err
			},
		}
		var wg sync.WaitGroup
		for name, call := range calls {
			wg.Go(func() {
				if err := call(); !errors.Is(err, remoting.ErrClosed) || remoting.Retryable(err) {
					t.Errorf("%s: %v, want ErrClosed, not retryable", name, err)
				}
			})
		}
		synctest.Wait()
		begin := time.Now()
		c.Close()
		wg.Wait()
		if took := time.Since(begin); took != 0 {
			t.Errorf("Close took %v", took)
		}
		for name, call := range calls {
			if err := call(); !errors.Is(err, remoting.ErrClosed) || remoting.Retryable(err) {
				t.Errorf("%s afterwards: %v, want ErrClosed, not retryable", name, err)
			}
		}
		c.Close() // a second time does no harm
	})
}

func TestClientOnewayIsWrittenBeforeClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newMemoryNet()
		ns := &namesrv{}
		ns.set("T", routeOf(1, "b"))
		n.Serve(t, "ns:1", ns)
		got := make(chan protocol.Command, 1)
		n.Serve(t, "b:1", handlerFunc(func(_ *remoting.Conn, req protocol.Command) { got <- req }))
		c := n.newClient(t, remoting.Options{})
		mq := protocol.MessageQueue{Topic: "T", BrokerName: "b"}
		if err := c.UpdateConsumerOffsetOneway(t.Context(), "g", mq, 42); err != nil {
			t.Fatal(err)
		}
		c.Close()
		synctest.Wait()
		var h protocol.UpdateConsumerOffsetRequestHeader
		if req := <-got; protocol.DecodeFields(req.ExtFields, &h) != nil || h.CommitOffset != 42 || !req.IsOneway() {
			t.Errorf("request = %+v, want a one-way commit of 42", req)
		}
	})
}

func TestClientHandlerGetsRequestsOfBrokers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newMemoryNet()
		conns := make(chan *remoting.Conn, 1)
		n.Serve(t, "b:1", handlerFunc(func(c *remoting.Conn, req protocol.Command) {
			conns <- c
			echo(c, req)
		}))
		c := n.newClient(t, remoting.Options{Handler: handlerFunc(echo)})
		if _, err := c.Invoke(t.Context(), "b:1", request("x")); err != nil {
			t.Fatal(err)
		}
		got, err := (<-conns).Invoke(t.Context(), request("from the broker"))
		if err != nil || string(got.Body) != "from the broker" {
			t.Errorf("answer = %q, %v", got.Body, err)
		}
	})
}

// A connection to an address that nobody needs any more is not kept, and the
// next call makes a new one.
func TestClientClosesIdleConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newMemoryNet()
		n.Serve(t, "b:1", handlerFunc(echo))
		c := n.newClient(t, remoting.Options{})
		for dials := 1; dials <= 2; dials++ {
			conn, err := c.Conn(t.Context(), "b:1")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Invoke(t.Context(), "b:1", request("x")); err != nil {
				t.Fatal(err)
			}
			time.Sleep(121 * time.Second)
			synctest.Wait()
			if conn.Err() == nil {
				t.Error("the connection lives after 121 s without a call")
			}
			if got := n.Dialled("b:1"); got != dials {
				t.Errorf("%d dials, want %d", got, dials)
			}
		}
	})
}
