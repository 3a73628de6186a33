package remoting_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// A thousand calls to a peer that never answers all end at their limit, and
// answers that come later disturb nobody.
func TestTimedOutCallsLeaveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls = 1000
		var mu sync.Mutex // guards held
		var held []protocol.Command
		var server *remoting.Conn
		silent := true
		h := handlerFunc(func(c *remoting.Conn, req protocol.Command) {
			mu.Lock()
			defer mu.Unlock()
			if !silent {
				echo(c, req)
				return
			}
			held, server = append(held, req), c
		})
		c, _ := connPair(t, remoting.ConnOptions{}, remoting.ConnOptions{Handler: h})
		waiting := func() (n int) {
			buf := make([]byte, 8<<20)
			for one := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
				if strings.Contains(one, "remoting.(*Conn).Invoke") {
					n++
				}
			}
			return n
		}
		var wg sync.WaitGroup
		began := time.Now()
		for range calls {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if _, err := c.Invoke(ctx, request("x")); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
					t.Errorf("ended after %v: %v", time.Since(began), err)
				}
			})
		}
		synctest.Wait()
		if n := waiting(); n != calls {
			t.Fatalf("%d calls wait, want %d", n, calls)
		}
		wg.Wait()
		synctest.Wait()
		if n := waiting(); n != 0 {
			t.Errorf("%d calls still wait", n)
		}
		mu.Lock()
		silent = false
		late := held
		mu.Unlock()
		if len(late) != calls {
			t.Errorf("the peer got %d requests, want %d", len(late), calls)
		}
		for _, req := range late {
			echo(server, req)
		}
		synctest.Wait()
		if answer, err := c.Invoke(t.Context(), request("next")); err != nil || string(answer.Body) != "next" {
			t.Errorf("after a thousand late answers: %q, %v", answer.Body, err)
		}
	})
}
