package remoting_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

func TestConnInvokesConcurrentlyWithAnswersOutOfOrder(t *testing.T) {
	const calls = 50
	// The peer collects all requests, then answers the last one first.
	var held []protocol.Command
	hold := handlerFunc(func(c *remoting.Conn, req protocol.Command) {
		held = append(held, req)
		if len(held) < calls {
			return
		}
		for i := len(held) - 1; i >= 0; i-- {
			echo(c, held[i])
		}
	})
	c, _ := connPair(t, remoting.ConnOptions{}, remoting.ConnOptions{Handler: hold})
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() {
			want := fmt.Sprint("body ", i)
			got, err := c.Invoke(t.Context(), request(want))
			if err != nil || string(got.Body) != want {
				t.Errorf("Invoke(%q) = %q, %v", want, got.Body, err)
			}
		})
	}
	wg.Wait()
}

func TestConnSetsLanguageVersionAndEncoding(t *testing.T) {
	for _, serialize := range []protocol.SerializeType{protocol.SerializeJSON, protocol.SerializeRocketMQ} {
		seen := make(chan protocol.Command, 2)
		h := handlerFunc(func(c *remoting.Conn, req protocol.Command) {
			seen <- req
			echo(c, req)
		})
		c, _ := connPair(t, remoting.ConnOptions{Serialize: serialize}, remoting.ConnOptions{Handler: h})
		req := request("x")
		answer, err := c.Invoke(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		got := within(t, seen, "request")
		if got.Language != protocol.LanguageGo || got.Version != protocol.Version || got.Serialize != serialize || got.Flag != 0 {
			t.Errorf("request = %+v, want Go, version %d, encoding %v", got, protocol.Version, serialize)
		}
		if answer.Serialize != serialize {
			t.Errorf("answer in encoding %v, want that of the request, %v", answer.Serialize, serialize)
		}
		if req.Opaque != 0 || req.Version != 0 {
			t.Errorf("Invoke changed its request: %+v", req)
		}
	}
}

func TestConnOnewayIsMarkedAndNotAnswered(t *testing.T) {
	seen := make(chan protocol.Command, 1)
	h := handlerFunc(func(c *remoting.Conn, req protocol.Command) {
		echo(c, req) // Respond must do nothing
		seen <- req
	})
	c, far := pipe(t, remoting.ConnOptions{})
	s := remoting.NewConn(far, remoting.ConnOptions{Handler: h})
	if err := c.InvokeOneway(t.Context(), request("x")); err != nil {
		t.Fatal(err)
	}
	if got := within(t, seen, "one-way request"); !got.IsOneway() {
		t.Errorf("flag = %d, want one-way", got.Flag)
	}
	before := c.LastRead()
	s.Close(nil)
	<-c.Done()
	if !c.LastRead().Equal(before) {
		t.Error("a one-way request was answered")
	}
}

func TestConnOrderlyCloseWritesWhatIsQueued(t *testing.T) {
	const frames = 100
	synctest.Test(t, func(t *testing.T) {
		seen := make(chan protocol.Command, frames)
		h := handlerFunc(func(_ *remoting.Conn, req protocol.Command) { seen <- req })
		c, _ := connPair(t, remoting.ConnOptions{}, remoting.ConnOptions{Handler: h})
		for range frames {
			if err := c.InvokeOneway(t.Context(), request("x")); err != nil {
				t.Fatal(err)
			}
		}
		c.Close(nil)
		synctest.Wait()
		if len(seen) != frames {
			t.Errorf("%d of %d one-way requests arrived", len(seen), frames)
		}
	})
}

func TestConnInboundRequestAnsweredFromAnotherGoroutine(t *testing.T) {
	var wg sync.WaitGroup
	defer wg.Wait()
	fromBroker := handlerFunc(func(c *remoting.Conn, req protocol.Command) {
		wg.Go(func() { echo(c, req) })
	})
	// Both ends use the same opaques, in both directions at once.
	c, s := connPair(t, remoting.ConnOptions{Handler: fromBroker}, remoting.ConnOptions{Handler: handlerFunc(echo)})
	for i := range 20 {
		for name, end := range map[string]*remoting.Conn{"client": c, "server": s} {
			want := fmt.Sprint(name, i)
			got, err := end.Invoke(t.Context(), request(want))
			if err != nil || string(got.Body) != want {
				t.Fatalf("%s Invoke(%q) = %q, %v", name, want, got.Body, err)
			}
		}
	}
}

func TestConnWithoutHandlerSaysNotSupported(t *testing.T) {
	c, _ := connPair(t, remoting.ConnOptions{}, remoting.ConnOptions{})
	got, err := c.Invoke(t.Context(), &protocol.Command{Code: 326})
	if err != nil {
		t.Fatal(err)
	}
	if want := "request type 326 not supported"; got.Code != int32(protocol.RequestCodeNotSupported) || got.Remark != want {
		t.Errorf("answer = %d %q, want 3 %q", got.Code, got.Remark, want)
	}
}

func TestConnDeathFailsAllPendingAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, far := pipe(t, remoting.ConnOptions{})
		go io.Copy(io.Discard, far)
		begin := time.Now()
		replies := make(chan remoting.Reply, 3)
		opaques := map[int32]bool{}
		for range cap(replies) {
			opaque, err := c.Start(encoded("x"), replies)
			if err != nil {
				t.Fatal(err)
			}
			opaques[opaque] = true
		}
		invoked := make(chan error, 1)
		go func() {
			_, err := c.Invoke(t.Context(), request("x"))
			invoked <- err
		}()
		synctest.Wait()
		far.Close()
		for range cap(replies) {
			r := <-replies
			if !errors.Is(r.Err, remoting.ErrClosed) || !errors.Is(r.Err, io.EOF) || !opaques[r.Opaque] {
				t.Errorf("reply = %+v, want ErrClosed and EOF", r)
			}
			delete(opaques, r.Opaque)
		}
		if err := <-invoked; !errors.Is(err, remoting.ErrClosed) {
			t.Errorf("Invoke = %v, want ErrClosed", err)
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("the calls failed after %v, want at once", took)
		}
		<-c.Done()
		if _, err := c.Start(encoded("x"), replies); !errors.Is(err, remoting.ErrClosed) {
			t.Errorf("Start afterwards = %v, want ErrClosed", err)
		}
		if err := c.InvokeOneway(t.Context(), request("x")); !errors.Is(err, remoting.ErrClosed) {
			t.Errorf("InvokeOneway afterwards = %v, want ErrClosed", err)
		}
		if err := c.Err(); !errors.Is(err, remoting.ErrClosed) {
			t.Errorf("Err = %v, want ErrClosed", err)
		}
		if len(replies) != 0 {
			t.Errorf("%d replies too many", len(replies))
		}
	})
}

func TestConnDropsLateReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var held protocol.Command
		var server *remoting.Conn
		h := handlerFunc(func(c *remoting.Conn, req protocol.Command) {
			if string(req.Body) == "late" {
				held, server = req, c
				return
			}
			echo(c, req)
		})
		c, _ := connPair(t, remoting.ConnOptions{}, remoting.ConnOptions{Handler: h})
		replies := make(chan remoting.Reply, 1)
		opaque, err := c.Start(encoded("late"), replies)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if !c.Cancel(opaque) {
			t.Error("Cancel = false for a pending call")
		}
		echo(server, held)
		synctest.Wait()
		if len(replies) != 0 {
			t.Error("a reply arrived after Cancel")
		}
		if c.Cancel(opaque) {
			t.Error("Cancel = true the second time")
		}
		if _, err := c.Invoke(t.Context(), request("next")); err != nil {
			t.Errorf("the connection did not survive a late reply: %v", err)
		}
	})
}

func TestConnCancelAfterReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := connPair(t, remoting.ConnOptions{}, remoting.ConnOptions{Handler: handlerFunc(echo)})
		replies := make(chan remoting.Reply, 1)
		opaque, err := c.Start(encoded("x"), replies)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if c.Cancel(opaque) {
			t.Error("Cancel = true for an answered call")
		}
		if r := <-replies; r.Err != nil || string(r.Command.Body) != "x" || r.Opaque != opaque || !r.At.Equal(time.Now()) {
			t.Errorf("reply = %+v", r)
		}
	})
}

// An answer to a call that was never made ends the connection; one to a call that
// was given up does not.
func TestConnAnswerToNobody(t *testing.T) {
	for name, tt := range map[string]struct {
		opaque int32
		ends   bool
	}{"given up": {1, false}, "to come": {2, true}, "none": {0, true}, "negative": {-5, true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, far := pipe(t, remoting.ConnOptions{})
				replies := make(chan remoting.Reply, 1)
				go io.Copy(io.Discard, far)
				opaque, err := c.Start(encoded("x"), replies)
				if err != nil || opaque != 1 {
					t.Fatal(opaque, err)
				}
				c.Cancel(opaque)
				answer, err := protocol.AppendFrame(nil, &protocol.Command{Opaque: tt.opaque, Flag: protocol.FlagResponse}, protocol.SerializeJSON)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := far.Write(answer); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if err := c.Err(); (err != nil) != tt.ends || tt.ends && !strings.Contains(err.Error(), "a call that was never made") {
					t.Errorf("the connection: %v, want it to end: %v", err, tt.ends)
				}
			})
		})
	}
}

func TestConnStartReportsEncodeError(t *testing.T) {
	c, _ := connPair(t, remoting.ConnOptions{}, remoting.ConnOptions{Handler: handlerFunc(echo)})
	want := errors.New("too long")
	replies := make(chan remoting.Reply) // unbuffered: a reply would panic
	_, err := c.Start(func([]byte, int32) ([]byte, error) { return nil, want }, replies)
	if !errors.Is(err, want) {
		t.Errorf("Start = %v, want %v", err, want)
	}
	c.Close(nil)
}

func TestConnInvokeHonoursContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := connPair(t, remoting.ConnOptions{}, remoting.ConnOptions{Handler: handlerFunc(silent)})
		ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
		defer cancel()
		begin := time.Now()
		_, err := c.Invoke(ctx, request("x"))
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 7*time.Second {
			t.Errorf("Invoke = %v after %v, want a timeout after 7s", err, time.Since(begin))
		}
		if want := "GET_MAX_OFFSET to pipe: no answer"; !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %q does not begin with %q", err, want)
		}
		cause := errors.New("the user left")
		stopped, stop := context.WithCancelCause(t.Context())
		stop(cause)
		if _, err := c.Invoke(stopped, request("x")); !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
			t.Errorf("Invoke = %v, want Canceled and its cause", err)
		}
	})
}

func TestConnWriteToPeerThatNeverReadsEndsByWriteTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := pipe(t, remoting.ConnOptions{WriteTimeout: 4 * time.Second})
		begin := time.Now()
		replies := make(chan remoting.Reply, 1000)
		var started int
		var err error
		body := strings.Repeat("x", 4<<10) // so that one write joins few of them
		for err == nil {                   // until the queue is full, and then until the end
			if _, err = c.Start(encoded(body), replies); err == nil {
				started++
			}
		}
		if !errors.Is(err, remoting.ErrClosed) || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("Start = %v, want ErrClosed by a write timeout", err)
		}
		if took := time.Since(begin); took != 4*time.Second {
			t.Errorf("the connection ended after %v, want 4s", took)
		}
		if started < 256 || started > 1000 {
			t.Errorf("%d frames were queued, want the queue's 256 and what one write takes", started)
		}
		if len(replies) != started {
			t.Errorf("%d calls were begun, %d failed", started, len(replies))
		}
	})
}

func TestConnFullQueueHonoursContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := pipe(t, remoting.ConnOptions{WriteTimeout: time.Hour})
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		var err error
		for err == nil {
			err = c.InvokeOneway(ctx, request("x"))
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("InvokeOneway = %v, want a timeout", err)
		}
		if err := c.Err(); err != nil {
			t.Errorf("the connection ended: %v", err)
		}
	})
}

func TestConnCloseAsyncFromHandler(t *testing.T) {
	cause := errors.New("unwelcome")
	ended := make(chan error, 1)
	h := handlerFunc(func(c *remoting.Conn, _ protocol.Command) { c.CloseAsync(cause) })
	c, s := connPair(t, remoting.ConnOptions{}, remoting.ConnOptions{Handler: h})
	go func() {
		<-s.Done()
		ended <- s.Err()
	}()
	if _, err := c.Invoke(t.Context(), request("x")); !errors.Is(err, remoting.ErrClosed) {
		t.Errorf("Invoke = %v, want ErrClosed", err)
	}
	if err := within(t, ended, "end"); !errors.Is(err, cause) {
		t.Errorf("Err = %v, want %v", err, cause)
	}
}

func TestConnReusesWriteBuffersSafely(t *testing.T) {
	c, _ := connPair(t, remoting.ConnOptions{}, remoting.ConnOptions{Handler: handlerFunc(echo)})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 100 {
				want := strings.Repeat(fmt.Sprint(g, "-", i, " "), 1+i%50)
				got, err := c.Invoke(t.Context(), request(want))
				if err != nil || string(got.Body) != want {
					t.Errorf("Invoke(%.20q…) = %.20q…, %v", want, got.Body, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// A caller that finds its call answered takes the reply without waiting and uses
// its channel, which has room for one, again.
func TestConnCancelLeavesNoReplyBehind(t *testing.T) {
	c, _ := connPair(t, remoting.ConnOptions{}, remoting.ConnOptions{Handler: handlerFunc(echo)})
	replies := make(chan remoting.Reply, 1)
	for i := range 1000 {
		opaque, err := c.Start(encoded("x"), replies)
		if err != nil {
			t.Fatal(err)
		}
		for range i % 50 {
			runtime.Gosched()
		}
		if c.Cancel(opaque) {
			continue
		}
		select {
		case r := <-replies:
			if r.Opaque != opaque {
				t.Fatalf("reply to %d, want %d", r.Opaque, opaque)
			}
		default:
			t.Fatal("Cancel = false, and no reply")
		}
	}
}

// A connection that nobody uses ends after the idle limit; traffic either way
// keeps it.
func TestConnIdleLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := remoting.ConnOptions{IdleTimeout: 2 * time.Minute}
		client, server := connPair(t, o, remoting.ConnOptions{Handler: handlerFunc(echo)})
		for range 5 {
			time.Sleep(119 * time.Second)
			if _, err := client.Invoke(t.Context(), request("x")); err != nil {
				t.Fatalf("Invoke = %v on a connection that was idle for less than its limit", err)
			}
		}
		for range 5 {
			time.Sleep(119 * time.Second)
			if err := server.InvokeOneway(t.Context(), request("y")); err != nil {
				t.Fatalf("the other side's request: %v", err)
			}
		}
		time.Sleep(119 * time.Second)
		synctest.Wait()
		if err := client.Err(); err != nil {
			t.Fatalf("the connection ended after 119 s: %v", err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if err := client.Err(); !errors.Is(err, remoting.ErrClosed) || !strings.Contains(err.Error(), "idle") {
			t.Errorf("Err = %v after 121 s, want the idle limit", err)
		}
	})
}
