package cli

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"eyeq/engine"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
)

// demo is a running scenario.
type demo struct {
	env   *env
	s     scenario
	sb    *sandbox.Sandbox
	crew  crew
	shown []*member // the first is on the screen at first

	mu  sync.Mutex // guards err
	err error
}

// newDemo starts the sandbox and makes the members that are shown.
func (e *env) newDemo(ctx context.Context, s scenario) (*demo, error) {
	// The sandbox outlives ctx: members leave in order after its end.
	sb, err := sandbox.Start(context.WithoutCancel(ctx), sandbox.Options{Brokers: s.brokers, Topics: s.topics, MaxBytes: 64 << 20})
	if err != nil {
		return nil, fmt.Errorf("start the sandbox: %w", err)
	}
	d := &demo{env: e, s: s, sb: sb}
	d.crew.cancel = e.crew.cancel
	for _, m := range s.members {
		if !m.shown {
			continue
		}
		member, err := d.join(m)
		if err != nil {
			d.close()
			return nil, err
		}
		d.shown = append(d.shown, member)
	}
	return d, nil
}

// close ends the sandbox and the connections, after run has returned.
func (d *demo) close() {
	for _, m := range d.shown {
		m.client.Close()
	}
	d.sb.Close()
}

// join makes a member with connections of its own.
func (d *demo) join(m demoMember) (*member, error) {
	inbound := engine.NewInbound()
	client, err := d.connect(inbound)
	if err != nil {
		return nil, fmt.Errorf("connect %s to the sandbox: %w", m.clientID, err)
	}
	o := m.o
	o.ClientID = m.clientID
	made, err := newMember(client, inbound, o, demoListener{orderly: o.Orderly}, "", d.env)
	if err != nil {
		client.Close()
		return nil, fmt.Errorf("member %s of the demo: %w", m.clientID, err)
	}
	return made, nil
}

// connect makes a client of the sandbox.
func (d *demo) connect(handler remoting.Handler) (*remoting.Client, error) {
	return remoting.NewClient(remoting.Options{Namesrv: []string{d.sb.NamesrvAddr()}, Dial: d.sb.Dial, Handler: handler, Log: d.env.log()})
}

// run plays the scenario until ctx ends and all members have left.
func (d *demo) run(ctx context.Context) error {
	ids := remoting.NewUniqueIDs()
	for i := range d.s.loads {
		d.crew.start(func() { d.produce(ctx, &d.s.loads[i], ids) })
	}
	for _, m := range d.shown {
		d.crew.start(func() { d.failed(m.run(ctx)) })
	}
	d.crew.start(func() { d.takeTurns(ctx) })
	d.crew.wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// failed notes the first error of a member. A listener that had no time to return before
// its member left, on a busy machine, is none: its messages come again to nobody, since
// the cluster ends with the demo.
func (d *demo) failed(err error) {
	if isType[*engine.StillRunningError](err) {
		d.env.log().Info("demo", "err", err)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err == nil {
		d.err = err
	}
}

// takeTurns lets members join and leave as the scenario says.
func (d *demo) takeTurns(ctx context.Context) {
	running := map[string]context.CancelFunc{}
	for began := time.Now(); ; began = began.Add(d.s.period) {
		for _, t := range d.s.turns {
			if !sleepUntil(ctx, began.Add(t.at)) {
				return // their context has ended too
			}
			if t.join {
				running[t.clientID] = d.visit(ctx, t.clientID)
			} else if leave := running[t.clientID]; leave != nil {
				leave()
			}
		}
		if !sleepUntil(ctx, began.Add(d.s.period)) {
			return
		}
		for _, leave := range running {
			leave()
		}
	}
}

// visit runs a member until ctx ends or leave is called.
func (d *demo) visit(ctx context.Context, clientID string) (leave context.CancelFunc) {
	ctx, leave = context.WithCancel(ctx)
	for _, m := range d.s.members {
		if m.clientID != clientID {
			continue
		}
		d.crew.start(func() {
			made, err := d.join(m)
			if err != nil {
				d.failed(err)
				return
			}
			defer made.client.Close()
			d.failed(made.run(ctx))
		})
	}
	return leave
}

// produce puts the messages of one load.
func (d *demo) produce(ctx context.Context, l *load, ids *remoting.UniqueIDs) {
	n := 0
	put := func(count int) {
		batch := make([]sandbox.Message, count)
		for i := range batch {
			batch[i] = l.message(n, ids.Next())
			if l.queue < 0 { // the sandbox's turns are those of one broker
				batch[i].Broker = d.s.brokers[n/len(l.tags)%len(d.s.brokers)]
			}
			n++
		}
		if count > 0 {
			d.sb.Put(batch...)
		}
	}
	put(l.first)
	tick := time.NewTicker(l.every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			put(l.count)
		case <-ctx.Done():
			return
		}
	}
}

// message makes the n-th message of a load.
func (l *load) message(n int, id string) sandbox.Message {
	tag := l.tags[n%len(l.tags)]
	m := sandbox.Message{
		Topic: l.topic, Broker: l.broker, QueueID: l.queue,
		Body: fmt.Appendf(nil, `{"id":%d,"state":%q,"amount":%d.%02d,"cur":"CNY"}`, n, tag, 10+n*37%900, n*13%100),
		Properties: []protocol.Property{
			{Name: protocol.PropertyKeys, Value: fmt.Sprintf("%s-%d", l.topic, n)},
			{Name: protocol.PropertyUniqKey, Value: id},
			{Name: protocol.PropertyTags, Value: tag},
		},
	}
	if l.cost > 0 {
		m.Properties = append(m.Properties, protocol.Property{Name: propertyCost, Value: l.cost.String()})
	}
	if l.refuse > 0 {
		m.Properties = append(m.Properties, protocol.Property{Name: propertyRefuse, Value: strconv.Itoa(l.refuse)})
	}
	return m
}

// demoListener does to a message what its properties say.
type demoListener struct{ orderly bool }

// Consume implements engine.Listener.
func (l demoListener) Consume(ctx context.Context, messages []engine.Message, cc *engine.ConsumeContext) (engine.Status, error) {
	for i := range messages {
		m := &messages[i]
		if text, ok := m.Property(propertyCost); ok {
			if cost, err := time.ParseDuration(text); err == nil && !sleepUntil(ctx, time.Now().Add(cost)) {
				return engine.Abandon, nil
			}
		}
		text, _ := m.Property(propertyRefuse)
		if times, err := strconv.Atoi(text); err == nil && int(m.ReconsumeTimes()) < times {
			cc.DelayLevelWhenNextConsume = 1 // one second, not ten: the demo is short
			if l.orderly {
				return engine.SuspendCurrentQueueAMoment, nil
			}
			return engine.ReconsumeLater, nil
		}
	}
	return engine.ConsumeSuccess, nil
}

// sleepUntil waits for a time; false: ctx has ended first.
func sleepUntil(ctx context.Context, t time.Time) bool {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
