package remoting_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

func TestNamesrvFailover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newMemoryNet()
		n.Hang("hang:1")
		n.Serve(t, "deaf:1", handlerFunc(silent))
		ns := &namesrv{}
		ns.set("T", routeOf(1, "b"))
		n.Serve(t, "ns:1", ns)
		list := []string{"refused:1", "hang:1", "deaf:1", "ns:1"}
		c := n.newClient(t, remoting.Options{Namesrv: list})
		if addrs, current := c.Namesrv(); current != "" || strings.Join(addrs, " ") != strings.Join(list, " ") {
			t.Errorf("Namesrv = %v %q before the first answer", addrs, current)
		}
		begin := time.Now()
		if _, err := c.Route(t.Context(), "T"); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took != 6*time.Second { // two timeouts of 3 s
			t.Errorf("the first route took %v, want 6s", took)
		}
		if _, current := c.Namesrv(); current != "ns:1" {
			t.Errorf("current = %q, want ns:1", current)
		}
		begin = time.Now()
		if _, _, err := c.RefreshRoute(t.Context(), "T"); err != nil || time.Since(begin) != 0 {
			t.Errorf("second route: %v after %v, want the one that answered last to be asked first", err, time.Since(begin))
		}
		// What a name server says is an answer, good or bad.
		if _, err := c.ClusterInfo(t.Context()); err == nil || !strings.Contains(err.Error(), "ns:1") {
			t.Errorf("ClusterInfo = %v, want a CodeError of ns:1", err)
		}
	})
}

func TestNamesrvDeadlineIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newMemoryNet()
		n.Serve(t, "deaf:1", handlerFunc(silent))
		n.Serve(t, "ns:1", handlerFunc(echo))
		c := n.newClient(t, remoting.Options{Namesrv: []string{"deaf:1", "ns:1"}})
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		begin := time.Now()
		if _, err := c.InvokeNamesrv(ctx, request("x")); err != nil || time.Since(begin) != time.Second {
			t.Errorf("InvokeNamesrv = %v after %v, want the answer of the second after half the time", err, time.Since(begin))
		}
	})
}

func TestNamesrvUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newMemoryNet()
		c := n.newClient(t, remoting.Options{Namesrv: []string{"x:1", "y:1"}})
		_, err := c.InvokeNamesrv(t.Context(), request("x"))
		ue, ok := errors.AsType[*remoting.UnreachableError](err)
		if !ok || len(ue.Addrs) != 2 || !errors.Is(err, errRefused) || !remoting.Retryable(err) {
			t.Fatalf("InvokeNamesrv = %v, want UnreachableError of both", err)
		}
		for _, want := range []string{"x:1", "y:1", "refused"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error %q lacks %q", err, want)
			}
		}
	})
}

// A name server that closed an idle connection is asked again by a new one.
func TestNamesrvConnectionEndedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newMemoryNet()
		asked := 0
		n.Serve(t, "ns:1", handlerFunc(func(c *remoting.Conn, req protocol.Command) {
			if asked++; asked == 1 {
				c.CloseAsync(errors.New("idle for 120 s"))
				return
			}
			echo(c, req)
		}))
		c := n.newClient(t, remoting.Options{})
		if _, err := c.InvokeNamesrv(t.Context(), request("x")); err != nil || asked != 2 {
			t.Errorf("InvokeNamesrv = %v after %d questions, want an answer to the second", err, asked)
		}
	})
}
