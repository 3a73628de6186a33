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
		if took := time.Since(begin); took != time.Second { // two that do not answer have a head start of 0.5 s each
			t.Errorf("the first route took %v, want 1s", took)
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

// One that does not answer has half a second, whatever the deadline.
func TestNamesrvHeadStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newMemoryNet()
		n.Serve(t, "deaf:1", handlerFunc(silent))
		n.Serve(t, "ns:1", handlerFunc(echo))
		c := n.newClient(t, remoting.Options{Namesrv: []string{"deaf:1", "ns:1"}})
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		begin := time.Now()
		if _, err := c.InvokeNamesrv(ctx, request("x")); err != nil || time.Since(begin) != 500*time.Millisecond {
			t.Errorf("InvokeNamesrv = %v after %v, want the answer of the second after 0.5 s", err, time.Since(begin))
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

// A name server that answers but has no routes any more, since the brokers
// register elsewhere, is left for a listed one that has them.
func TestNamesrvWithoutTheRouteIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, a, b := newMemoryNet(), &namesrv{}, &namesrv{}
		n.Serve(t, "a:1", a)
		n.Serve(t, "b:1", b)
		c := n.newClient(t, remoting.Options{Namesrv: []string{"a:1", "hang:1", "b:1"}})
		n.Hang("hang:1")
		a.set("T", routeOf(1, "b"))
		route := func(topic string) (*remoting.TopicRoute, error) {
			r, _, err := c.RefreshRoute(t.Context(), topic)
			return r, err
		}
		if _, err := route("T"); err != nil {
			t.Fatal(err)
		}
		a.remove("T")
		b.set("T", routeOf(2, "b"))
		if r, err := route("T"); err != nil || len(r.Queues) != 2 {
			t.Fatalf("route = %v, %v, want that of the other name server", r, err)
		}
		if _, current := c.Namesrv(); current != "b:1" {
			t.Errorf("current = %q, want b:1", current)
		}
		asked := a.questions()
		if _, err := route("T"); err != nil || a.questions() != asked {
			t.Errorf("a was asked again (%v): want b to be asked first from now on", err)
		}
		// A topic that none knows has no route: no server is unreachable for it.
		if _, err := route("U"); !isNoRoute(err) {
			t.Errorf("route of U = %v, want a NoRouteError", err)
		}
	})
}

func isNoRoute(err error) bool {
	_, ok := errors.AsType[*remoting.NoRouteError](err)
	return ok
}

// A name that has come to mean another server: the connection to the old one
// still works, but the old one has lost the routes.
func TestNamesrvNameIsResolvedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, old, moved := newMemoryNet(), &namesrv{}, &namesrv{}
		old.set("T", routeOf(1, "b"))
		moved.set("T", routeOf(2, "b"))
		n.Serve(t, "ns.example:9876", old)
		c := n.newClient(t, remoting.Options{Namesrv: []string{"ns.example:9876"}})
		if r, err := c.Route(t.Context(), "T"); err != nil || len(r.Queues) != 1 {
			t.Fatal(r, err)
		}
		n.Serve(t, "ns.example:9876", moved)
		if r, _, err := c.RefreshRoute(t.Context(), "T"); err != nil || len(r.Queues) != 1 {
			t.Fatalf("route = %v, %v: the connection was given up although it serves", r, err)
		}
		old.remove("T")
		if r, _, err := c.RefreshRoute(t.Context(), "T"); err != nil || len(r.Queues) != 2 {
			t.Errorf("route = %v, %v, want the one of the server that the name means now", r, err)
		}
		// A topic that is really gone does not cost a dial each time.
		moved.remove("T")
		for range 20 {
			if _, _, err := c.RefreshRoute(t.Context(), "T"); !isNoRoute(err) {
				t.Fatalf("RefreshRoute = %v, want a NoRouteError", err)
			}
		}
		if got := n.Dialled("ns.example:9876"); got != 2 {
			t.Errorf("%d dials, want 2", got)
		}
		time.Sleep(11 * time.Second)
		c.RefreshRoute(t.Context(), "T")
		if got := n.Dialled("ns.example:9876"); got != 3 {
			t.Errorf("%d dials 11 s later, want 3", got)
		}
	})
}
