package remoting

import (
	"errors"
	"maps"
	"sync"
)

// routeTable keeps the routes asked for so far and the broker addresses in them.
type routeTable struct {
	flying sync.WaitGroup // requests under way; none is added once closed is set

	mu      sync.Mutex // guards what follows
	closed  bool
	routes  map[string]*TopicRoute
	brokers map[string]map[int64]string // by broker name; the inner maps belong to routes and never change
	flights map[string]*routeFlight
}

// routeFlight is one request for a route, shared by all who want it. Its results
// are set before done is closed.
type routeFlight struct {
	done    chan struct{}
	route   *TopicRoute
	changed bool
	err     error
}

func newRouteTable() *routeTable {
	return &routeTable{
		routes:  map[string]*TopicRoute{},
		brokers: map[string]map[int64]string{},
		flights: map[string]*routeFlight{},
	}
}

func (t *routeTable) get(topic string) *TopicRoute {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.routes[topic]
}

// fly returns the request for topic that is under way, or begins one with fetch.
func (t *routeTable) fly(topic string, fetch func() (*TopicRoute, error)) (*routeFlight, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, &closedError{addr: "the name servers", cause: errClientClosed}
	}
	if f := t.flights[topic]; f != nil {
		return f, nil
	}
	f := &routeFlight{done: make(chan struct{})}
	t.flights[topic] = f
	t.flying.Go(func() {
		defer close(f.done)
		route, err := fetch()
		t.land(topic, f, route, err)
	})
	return f, nil
}

// land stores the result of a request. After an error the older route stays, as
// it does in the Java client: its brokers are still worth a try.
func (t *routeTable) land(topic string, f *routeFlight, route *TopicRoute, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.flights, topic)
	old := t.routes[topic]
	if err != nil {
		f.err = err
		if _, gone := errors.AsType[*NoRouteError](err); !gone {
			f.route = old
		}
		return
	}
	f.route, f.changed = route, route.differs(old)
	t.routes[topic] = route
	for _, b := range route.Data.BrokerDatas {
		t.brokers[b.BrokerName] = b.BrokerAddrs
	}
	if f.changed {
		t.dropUnrouted()
	}
}

// dropUnrouted forgets the brokers that no known route names any more. It is
// called with mu held.
func (t *routeTable) dropUnrouted() {
	named := map[string]bool{}
	for _, r := range t.routes {
		for _, b := range r.Data.BrokerDatas {
			named[b.BrokerName] = true
		}
	}
	maps.DeleteFunc(t.brokers, func(name string, _ map[int64]string) bool { return !named[name] })
}

// addrs returns the addresses of a broker name by broker id, not to be changed.
func (t *routeTable) addrs(brokerName string) map[int64]string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.brokers[brokerName]
}

func (t *routeTable) allAddrs() map[string]map[int64]string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.brokers)
}

// close refuses further requests; the caller then waits for flying.
func (t *routeTable) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}
