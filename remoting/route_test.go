package remoting_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"

	"github.com/google/go-cmp/cmp"
)

// withRoutes runs body in a bubble with a client of a scripted name server.
func withRoutes(t *testing.T, body func(t *testing.T, n *memoryNet, ns *namesrv, c *remoting.Client)) {
	synctest.Test(t, func(t *testing.T) {
		n, ns := newMemoryNet(), &namesrv{}
		n.Serve(t, "ns:1", ns)
		body(t, n, ns, n.newClient(t, remoting.Options{}))
	})
}

func TestRouteCacheAges(t *testing.T) {
	withRoutes(t, func(t *testing.T, _ *memoryNet, ns *namesrv, c *remoting.Client) {
		ns.set("T", routeOf(2, "b"))
		for _, step := range []struct {
			sleep time.Duration
			asked int
		}{{0, 1}, {0, 1}, {remoting.RouteMaxAge, 1}, {time.Millisecond, 2}, {0, 2}} {
			time.Sleep(step.sleep)
			r, err := c.Route(t.Context(), "T")
			if err != nil || len(r.Queues) != 2 || r.Topic != "T" {
				t.Fatalf("Route = %+v, %v", r, err)
			}
			if age := time.Since(r.Fetched); age > remoting.RouteMaxAge {
				t.Errorf("the route is %v old", age)
			}
			if got := ns.questions(); got != step.asked {
				t.Errorf("%d questions after another %v, want %d", got, step.sleep, step.asked)
			}
		}
		if v, _ := ns.last.ExtFields.Get("acceptStandardJsonOnly"); v != "true" {
			t.Errorf("ext fields %v do not ask for strict JSON", ns.last.ExtFields)
		}
	})
}

func TestRefreshRouteTellsChanges(t *testing.T) {
	withRoutes(t, func(t *testing.T, _ *memoryNet, ns *namesrv, c *remoting.Client) {
		moved := routeOf(2, "a", "b")
		moved.BrokerDatas[1].BrokerAddrs = map[int64]string{0: "elsewhere:1"}
		swapped := routeOf(2, "b", "a")
		readOnly := routeOf(2, "a", "b")
		readOnly.QueueDatas[0].Perm = protocol.PermRead
		for _, step := range []struct {
			name    string
			data    protocol.TopicRouteData
			changed bool
		}{
			{"first", routeOf(2, "a", "b"), true},
			{"same", routeOf(2, "a", "b"), false},
			{"other order", swapped, false},
			{"more queues", routeOf(3, "a", "b"), true},
			{"one broker less", routeOf(3, "b"), true},
			{"back", routeOf(2, "a", "b"), true},
			{"other address", moved, true},
			{"other permission", readOnly, true},
		} {
			ns.set("T", step.data)
			_, changed, err := c.RefreshRoute(t.Context(), "T")
			if err != nil || changed != step.changed {
				t.Errorf("%s: changed = %v, %v; want %v", step.name, changed, err, step.changed)
			}
		}
	})
}

func TestRouteOfUnknownTopic(t *testing.T) {
	withRoutes(t, func(t *testing.T, _ *memoryNet, ns *namesrv, c *remoting.Client) {
		check := func() {
			t.Helper()
			r, err := c.Route(t.Context(), "T")
			if ne, ok := errors.AsType[*remoting.NoRouteError](err); !ok || ne.Topic != "T" || r != nil {
				t.Errorf("Route = %v, %v, want a NoRouteError", r, err)
			}
		}
		check()
		ns.set("T", routeOf(1, "b"))
		if _, err := c.Route(t.Context(), "T"); err != nil {
			t.Fatal(err)
		}
		// Deleted: no route, but the brokers are still worth a try.
		ns.remove("T")
		time.Sleep(time.Minute)
		check()
		if addr, ok := c.BrokerAddr("b", remoting.MasterID); !ok || addr != "b:1" {
			t.Errorf("BrokerAddr = %q %v after the topic was deleted", addr, ok)
		}
	})
}

func TestRouteWithoutNamesrvReturnsOlder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, ns := newMemoryNet(), &namesrv{}
		stop := n.Serve(t, "ns:1", ns)
		c := n.newClient(t, remoting.Options{})
		ns.set("T", routeOf(1, "b"))
		known, err := c.Route(t.Context(), "T")
		if err != nil {
			t.Fatal(err)
		}
		stop()
		time.Sleep(time.Minute)
		r, err := c.Route(t.Context(), "T")
		if _, ok := errors.AsType[*remoting.UnreachableError](err); !ok || r != known {
			t.Errorf("Route = %v, %v, want the older route and UnreachableError", r, err)
		}
		if r, err := c.Route(t.Context(), "other"); err == nil || r != nil {
			t.Errorf("Route(other) = %v, %v, want an error only", r, err)
		}
	})
}

func TestConcurrentRefreshesShareOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, ns := newMemoryNet(), &namesrv{}
		ns.set("T", routeOf(1, "b"))
		ns.set("U", routeOf(1, "b"))
		slow := handlerFunc(func(c *remoting.Conn, req protocol.Command) {
			time.AfterFunc(2*time.Second, func() { ns.HandleRequest(c, req) })
		})
		n.Serve(t, "ns:1", slow)
		c := n.newClient(t, remoting.Options{})
		left, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, _, err := c.RefreshRoute(left, "T"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the one that left got %v", err)
			}
		})
		synctest.Wait() // the request is under way, begun by one that will leave
		for range 5 {
			wg.Go(func() {
				if _, changed, err := c.RefreshRoute(t.Context(), "T"); err != nil || !changed {
					t.Errorf("RefreshRoute(T) = %v, %v", changed, err)
				}
			})
			wg.Go(func() {
				if _, err := c.Route(t.Context(), "U"); err != nil {
					t.Errorf("Route(U) = %v", err)
				}
			})
		}
		wg.Wait()
		if got := ns.questions(); got != 2 {
			t.Errorf("%d questions, want one a topic", got)
		}
	})
}

func TestBrokerAddresses(t *testing.T) {
	withRoutes(t, func(t *testing.T, _ *memoryNet, ns *namesrv, c *remoting.Client) {
		ns.set("T", protocol.TopicRouteData{BrokerDatas: []protocol.BrokerData{
			{BrokerName: "a", BrokerAddrs: map[int64]string{0: "a:1", 1: "a:2"}},
			{BrokerName: "b", BrokerAddrs: map[int64]string{0: "b:1"}},
		}})
		ns.set("U", protocol.TopicRouteData{BrokerDatas: []protocol.BrokerData{
			{BrokerName: "a", BrokerAddrs: map[int64]string{0: "a:3"}}, // restarted elsewhere
		}})
		refresh := func(topic string) {
			t.Helper()
			if _, _, err := c.RefreshRoute(t.Context(), topic); err != nil {
				t.Fatal(err)
			}
		}
		check := func(want map[string]map[int64]string) {
			t.Helper()
			if diff := cmp.Diff(want, c.Brokers()); diff != "" {
				t.Errorf("Brokers (-want +got):\n%s", diff)
			}
		}
		check(map[string]map[int64]string{})
		refresh("T")
		check(map[string]map[int64]string{"a": {0: "a:1", 1: "a:2"}, "b": {0: "b:1"}})
		refresh("U") // the newest route of a broker counts, whole
		check(map[string]map[int64]string{"a": {0: "a:3"}, "b": {0: "b:1"}})
		ns.set("T", protocol.TopicRouteData{})
		refresh("T") // no known route names b any more
		check(map[string]map[int64]string{"a": {0: "a:3"}})

		c.Brokers()["a"][0] = "changed by the caller"
		if addr, ok := c.BrokerAddr("a", 0); !ok || addr != "a:3" {
			t.Errorf("BrokerAddr(a, 0) = %q %v", addr, ok)
		}
		if addr, ok := c.BrokerAddr("a", 1); ok {
			t.Errorf("BrokerAddr(a, 1) = %q, want none", addr)
		}
		if addr, id, ok := c.PullAddr("a", 1); addr != "a:3" || id != 0 || !ok {
			t.Errorf("PullAddr(a, 1) = %q %d %v, want the master", addr, id, ok)
		}
	})
}

// A route is kept while somebody asks for it, and its brokers while some known route
// names them; what nobody asks for is forgotten when another route comes.
func TestUnaskedRoutesAreForgotten(t *testing.T) {
	withRoutes(t, func(t *testing.T, _ *memoryNet, ns *namesrv, c *remoting.Client) {
		ns.set("seen", routeOf(1, "a", "b"))
		ns.set("own", routeOf(1, "b"))
		ns.set("new", routeOf(1, "c"))
		ask := func(topic string) {
			t.Helper()
			if _, err := c.Route(t.Context(), topic); err != nil {
				t.Fatal(err)
			}
		}
		check := func(when string, want ...string) {
			t.Helper()
			got := slices.Sorted(maps.Keys(c.Brokers()))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("brokers %s (-want +got):\n%s", when, diff)
			}
		}
		ask("seen")
		for began := time.Now(); time.Since(began) < remoting.RouteKept; time.Sleep(remoting.RouteMaxAge + time.Second) {
			ask("own") // as a member does
			check("while it is not long ago that they were seen", "a", "b")
		}
		ask("own")
		check("of the topic that is asked for", "b")
		time.Sleep(remoting.RouteKept + time.Second)
		check("while nothing new has come", "b")
		ask("new")
		check("of the new topic", "c")
	})
}

func TestMasterOf(t *testing.T) {
	withRoutes(t, func(t *testing.T, _ *memoryNet, ns *namesrv, c *remoting.Client) {
		ns.set("T", routeOf(1, "b"))
		mq := protocol.MessageQueue{Topic: "T", BrokerName: "b"}
		for range 2 {
			if addr, err := c.MasterOf(t.Context(), mq); err != nil || addr != "b:1" {
				t.Errorf("MasterOf = %q, %v, want b:1", addr, err)
			}
		}
		if got := ns.questions(); got != 1 {
			t.Errorf("%d questions, want 1: the second time it is known", got)
		}
		mq.BrokerName = "elsewhere"
		if _, err := c.MasterOf(t.Context(), mq); !isNoBroker(err, "elsewhere") {
			t.Errorf("MasterOf = %v, want a NoBrokerError", err)
		}
		mq.Topic = "unknown"
		_, err := c.MasterOf(t.Context(), mq)
		if _, ok := errors.AsType[*remoting.NoRouteError](err); !ok {
			t.Errorf("MasterOf = %v, want a NoRouteError", err)
		}
	})
}

func isNoBroker(err error, name string) bool {
	e, ok := errors.AsType[*remoting.NoBrokerError](err)
	return ok && e.BrokerName == name
}
