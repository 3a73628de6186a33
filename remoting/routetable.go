package remoting

import (
	"errors"
	"sync"
	"time"
)

// RouteKept is how long a route is kept that nobody asks for. A member asks for its
// topics' routes each RouteMaxAge, so it never loses one of its own; who looks at
// thousands of topics in turn does not keep them, nor brokers that only they name.
const RouteKept = 20 * RouteMaxAge

// routeTable keeps the routes asked for lately and the broker addresses in them.
type routeTable struct {
	flying sync.WaitGroup // requests under way; none is added once closed is set

	mu      sync.Mutex // guards what follows
	closed  bool
	routes  map[string]*keptRoute
	brokers map[string]*routedBroker // by broker name
	flights map[string]*routeFlight
	swept   time.Time // when routes were looked through last
}

// keptRoute is a route and when somebody asked for it last.
type keptRoute struct {
	*TopicRoute
	asked time.Time
}

// routedBroker is a broker that known routes name.
type routedBroker struct {
	addrs  map[int64]string // by broker id; it belongs to a route and never changes
	routes int              // that name it, one that names it twice counts twice
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
		routes:  map[string]*keptRoute{},
		brokers: map[string]*routedBroker{},
		flights: map[string]*routeFlight{},
		swept:   time.Now(),
	}
}

func (t *routeTable) get(topic string) *TopicRoute {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known(topic)
}

// known is the route of a topic that somebody asks for, nil when there is none. It
// is called with mu held.
func (t *routeTable) known(topic string) *TopicRoute {
	r := t.routes[topic]
	if r == nil {
		return nil
	}
	r.asked = time.Now()
	return r.TopicRoute
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
	old := t.known(topic)
	if err != nil {
		f.err = err
		if _, gone := errors.AsType[*NoRouteError](err); !gone {
			f.route = old
		}
		return
	}
	f.route, f.changed = route, route.differs(old)
	t.routes[topic] = &keptRoute{route, route.Fetched}
	for _, b := range route.Data.BrokerDatas { // before the old route lets go of the same ones
		named := t.brokers[b.BrokerName]
		if named == nil {
			named = &routedBroker{}
			t.brokers[b.BrokerName] = named
		}
		named.addrs = b.BrokerAddrs
		named.routes++
	}
	t.release(old)
	if now := route.Fetched; now.Sub(t.swept) > RouteMaxAge {
		t.swept = now
		t.evict(now)
	}
}

// release forgets the brokers that only a route named that is known no more; it may
// be nil. It is called with mu held.
func (t *routeTable) release(r *TopicRoute) {
	if r == nil {
		return
	}
	for _, b := range r.Data.BrokerDatas {
		named := t.brokers[b.BrokerName]
		if named.routes--; named.routes == 0 {
			delete(t.brokers, b.BrokerName)
		}
	}
}

// evict forgets the routes that nobody asked for within RouteKept. It is called with
// mu held, once each RouteMaxAge at most: it looks at every route.
func (t *routeTable) evict(now time.Time) {
	for topic, r := range t.routes {
		if now.Sub(r.asked) > RouteKept && t.flights[topic] == nil {
			delete(t.routes, topic)
			t.release(r.TopicRoute)
		}
	}
}

// addrs returns the addresses of a broker name by broker id, not to be changed.
func (t *routeTable) addrs(brokerName string) map[int64]string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if b := t.brokers[brokerName]; b != nil {
		return b.addrs
	}
	return nil
}

func (t *routeTable) allAddrs() map[string]map[int64]string {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make(map[string]map[int64]string, len(t.brokers))
	for name, b := range t.brokers {
		all[name] = b.addrs
	}
	return all
}

// close refuses further requests; the caller then waits for flying.
func (t *routeTable) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}
