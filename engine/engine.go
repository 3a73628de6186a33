package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"eyeq/engine/core"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// ErrEnded is what controls and subscriptions return when the engine has ended.
var ErrEnded = errors.New("the consumer has ended")

// PanicError is a panic of one of the engine's goroutines or of the listener.
// It ends the engine; Run returns it, so that the program can restore its
// terminal and print the stack before it ends.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Deps are what an engine works with.
type Deps struct {
	// Client is made by the caller with Inbound as its Options.Handler. The engine
	// does not close it.
	Client   *remoting.Client
	Inbound  *Inbound
	Store    OffsetStore
	Listener Listener
	Log      *slog.Logger // nil discards
}

// Engine is one push consumer: one member of one group. New makes it, Run runs
// it, and it cannot be run again.
type Engine struct {
	o        Options
	d        Deps
	log      *slog.Logger
	clientID string
	born     time.Time
	subs     atomic.Pointer[[]protocol.SubscriptionData]

	inbox        *mailbox[command]
	questions    *mailbox[question]
	events       hub
	totals       counters
	pool         *pool
	decompressor protocol.Decompressor
	generations  atomic.Uint64
	shared       atomic.Bool // the group has other members
	misfit       atomic.Bool // an odd verdict was logged
	base         atomic.Pointer[base]
	observed     atomic.Pointer[observed]
	asked        atomic.Int64                    // when Snapshot was last called, a stamp
	lastPersist  atomic.Int64                    // a stamp
	offsetsTold  atomic.Int64                    // when an answer to 221 was told last, a stamp
	beats        chan struct{}                   // a place for each heartbeat under way
	down         atomic.Pointer[map[string]bool] // addresses that do not answer
	notSaved     atomic.Pointer[string]          // why offsets could not be written the last time that happened

	delays delayLevels

	statsMu sync.Mutex             // guards stats
	stats   map[string]*topicStats // by topic; none is ever removed

	reads sync.WaitGroup // of start offsets, begun by queues that have not drained

	turnsMu sync.Mutex // guards turns and starts
	turns   map[string]chan struct{}
	starts  map[string][]*computedStart // by broker name: waiting for its turn

	runMu    sync.Mutex // guards started
	started  bool
	ended    chan struct{}
	cancel   context.CancelCauseFunc // of the engine's own goroutines; set by Run
	panicked atomic.Pointer[PanicError]
	wg       sync.WaitGroup
	// calls are the goroutines that run the listener, hooks included: Run cannot end
	// those that do not return.
	calls sync.WaitGroup
}

// New checks the options (a *ConfigError names the first violation) and makes an
// engine in the state CREATE_JUST. Nothing is sent.
func New(o Options, d Deps) (*Engine, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if d.Listener == nil {
		return nil, &ConfigError{"messageListener", "none", "must be given"}
	}
	if d.Client == nil || d.Store == nil || d.Inbound == nil {
		return nil, errors.New("an engine needs a client, its inbound handler and an offset store")
	}
	now := time.Now()
	if o.ConsumeTimestamp.IsZero() {
		o.ConsumeTimestamp = now.Add(-30 * time.Minute)
	}
	seed := o.Seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	e := &Engine{born: now, o: o, d: d, log: d.Log, inbox: newMailbox[command](), questions: newMailbox[question](), ended: make(chan struct{}), beats: make(chan struct{}, heartbeatsAtOnce), stats: map[string]*topicStats{}, turns: map[string]chan struct{}{}, starts: map[string][]*computedStart{}}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	e.clientID = makeClientID(&o, now, rand.New(rand.NewPCG(seed, 0)))
	e.log = e.log.With("group", o.Group, "client_id", e.clientID)
	var subs []protocol.SubscriptionData
	for _, s := range o.Subscriptions {
		sub, err := newSubscription(s, now)
		if err != nil {
			return nil, err
		}
		subs = append(subs, sub)
	}
	if o.MessageModel == protocol.Clustering {
		retry, err := newSubscription(Subscription{Topic: protocol.RetryTopic(o.Group)}, now)
		if err != nil {
			return nil, err
		}
		subs = append(subs, retry)
	}
	e.subs.Store(&subs)
	for _, s := range subs {
		e.addStats(s.Topic)
	}
	e.pool = newPool(e, o.ConsumeThreadMin)
	e.base.Store(&base{state: CreateJust, topics: nil})
	return e, nil
}

// ClientID is what this member is called in its group.
func (e *Engine) ClientID() string { return e.clientID }

func (e *Engine) addStats(topic string) {
	e.statsMu.Lock()
	defer e.statsMu.Unlock()
	if e.stats[topic] == nil {
		e.stats[topic] = &topicStats{}
	}
}

func (e *Engine) statsOf(topic string) *topicStats {
	e.statsMu.Lock()
	defer e.statsMu.Unlock()
	return e.stats[topic]
}

func (e *Engine) eachStats(f func(topic string, s *topicStats)) {
	e.statsMu.Lock()
	all := maps.Clone(e.stats)
	e.statsMu.Unlock()
	for topic, s := range all {
		f(topic, s)
	}
}

// start runs f on a goroutine that Run waits for. A panic in it ends the engine.
func (e *Engine) start(f func()) { e.guard(&e.wg, f) }

// guard is start for a group of the caller's own.
func (e *Engine) guard(wg *sync.WaitGroup, f func()) {
	wg.Go(func() {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			p := &PanicError{v, debug.Stack()}
			e.panicked.CompareAndSwap(nil, p)
			select {
			case <-e.ended:
				panic(v) // of a listener that Run did not wait for: nobody is left to be told
			default:
				e.cancel(p)
			}
		}()
		f()
	})
}

// Run joins the group and consumes until ctx ends, then leaves in order: stop
// handing out, wait for running listeners up to AwaitTermination, interrupt them
// and wait a moment more, persist synchronously, unlock, unregister. leaveCtx
// bounds the leaving; when it ends first, what is left undone is returned. Run
// returns nil after an orderly leave, a *StillRunningError (in the chain) when a
// listener did not return although it was interrupted, a *PanicError after a panic,
// a *FilterRefusedError when a broker does not take an expression, a *DeniedError
// when access control lets no broker take this member at the start, a *TakenError
// when its client serves another engine, and an error naming the state when it is
// called a second time.
func (e *Engine) Run(ctx, leaveCtx context.Context) error {
	if err := e.begin(); err != nil {
		return err
	}
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	e.cancel = cancel
	listeners, stopListeners := context.WithCancel(own)
	defer stopListeners()

	c := e.newCoordinator()
	for i := range e.pool.workers {
		w := &e.pool.workers[i]
		e.guard(&e.calls, func() { w.run(listeners) })
	}
	e.start(func() { e.persister(own) })
	e.start(func() { e.observer(own) })
	e.start(func() { e.answerer(own) })

	e.events.publish(ClientInstance{At{Time: time.Now()}, e.clientID, false})
	c.setState(Running, "")
	c.begin(own)
	c.loop(own, ctx)
	var err error
	if own.Err() == nil {
		bound, release := boundBy(own, leaveCtx)
		// A listener that outlives its wait is interrupted.
		timer := time.AfterFunc(e.o.AwaitTermination, stopListeners)
		err = c.leave(bound, func() bool {
			early := timer.Stop()
			stopListeners()
			return early
		})
		timer.Stop()
		release()
	}
	why := ""
	if cause := context.Cause(own); cause != nil {
		err, why = cause, cause.Error()
	}
	c.setState(ShutdownAlready, why)
	c.publish()
	cancel(nil)
	e.wg.Wait()
	e.awaitCalls()
	e.d.Inbound.engine.Store(nil)
	close(e.ended)
	e.events.end()
	if p := e.panicked.Load(); p != nil {
		return p
	}
	return err
}

// interruptGrace is how long a listener has to return once it was interrupted.
const interruptGrace = time.Second

// awaitCalls waits for the interrupted listeners to return, but not for ever: a
// listener that looks at nothing would hold the program. Its goroutine is left
// behind, and what it still does counts for nothing.
func (e *Engine) awaitCalls() {
	returned := make(chan struct{})
	go func() { e.calls.Wait(); close(returned) }()
	limit := time.NewTimer(interruptGrace)
	defer limit.Stop()
	select {
	case <-returned:
	case <-limit.C:
	}
}

// TakenError refuses to run an engine on a client whose requests from the brokers
// go to another one. The engine stays in the state CREATE_JUST.
type TakenError struct{ Group, By string }

func (e *TakenError) Error() string {
	return fmt.Sprintf("the consumer of group %s cannot start: its client serves group %s already; give each a client of its own", e.Group, e.By)
}

// begin claims the client's inbound requests and the one run that an engine has.
func (e *Engine) begin() error {
	e.runMu.Lock()
	defer e.runMu.Unlock()
	if e.started {
		return fmt.Errorf("the consumer of group %s was started before (state %v)", e.o.Group, e.base.Load().state)
	}
	if !e.d.Inbound.engine.CompareAndSwap(nil, e) {
		taken := &TakenError{Group: e.o.Group}
		if other := e.d.Inbound.engine.Load(); other != nil {
			taken.By = other.o.Group
		}
		return taken
	}
	e.started = true
	return nil
}

// boundBy is a context that ends with either of two.
func boundBy(a, b context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(a)
	stop := context.AfterFunc(b, func() { cancel(context.Cause(b)) })
	return ctx, func() { stop(); cancel(nil) }
}

func (e *Engine) newCoordinator() *coordinator {
	c := &coordinator{
		e: e, state: CreateJust, queues: map[MessageQueue]*queue{}, pauses: map[MessageQueue]*PauseState{},
		brokers: map[string]*brokerState{}, locking: map[string]bool{}, progress: map[MessageQueue]int64{}, away: map[string]*givingAway{},
		mute: map[string]int{}, told: map[string]uint64{}, subSeq: 1,
	}
	for _, s := range e.subscriptions() {
		c.topics = append(c.topics, &topicState{sub: s, subSeq: c.subSeq, retry: s.Topic == protocol.RetryTopic(e.o.Group)})
	}
	for _, t := range c.topics {
		c.setLimits(t.sub.Topic)
	}
	return c
}

// begin takes the steps after RUNNING (docs/conformance/client.md 2.3): routes, a heartbeat
// to every broker, and at once a rebalance.
func (c *coordinator) begin(ctx context.Context) {
	now := time.Now()
	c.nextHeartbeat = now.Add(c.e.o.HeartbeatInterval)
	c.nextRebalance = now.Add(c.e.o.RebalanceInterval)
	c.nextRenewal = now.Add(core.LockFirst)
	c.nextRoutes = now.Add(remoting.RouteMaxAge)
	c.sampler.begin(now)
	c.publish()
	e := c.e
	c.rebalancing = true // none before the heartbeat
	topics := make([]string, len(c.topics))
	for i, t := range c.topics {
		topics[i] = t.sub.Topic
	}
	e.start(func() {
		for _, t := range topics {
			rctx, cancel := context.WithTimeout(ctx, callTimeout)
			_, _ = e.d.Client.Route(rctx, t) // a failure shows in the first pass
			cancel()
		}
		if err := e.checkFilters(ctx); err != nil {
			e.cancel(err)
			return
		}
		e.inbox.put(routesKnown{})
	})
}

// routesKnown comes when the start has asked for all routes.
type routesKnown struct{}

func (routesKnown) apply(ctx context.Context, c *coordinator) { c.heartbeat(ctx, firstPass{}) }

// firstPass comes when the first heartbeats are answered.
type firstPass struct{}

func (firstPass) apply(_ context.Context, c *coordinator) {
	if err := c.deniedByAll(); err != nil {
		c.e.cancel(&DeniedError{c.e.o.Group, err})
		return
	}
	c.rebalancing = false
	c.wake("start", 0)
}
