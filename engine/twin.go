package engine

import (
	"context"
	"slices"
	"time"

	"eyeq/engine/core"
)

// A client id that two processes share (trap T41): brokers keep one member a
// connection, so their list of members names the id twice, and the list of
// connections tells from where. An earlier connection of this process that the
// broker has not missed yet, as after a broker was frozen, names it twice too: brokers
// look for silent connections every 10 s and close those of 120 s
// (ClientHousekeepingService). By our own addresses of the connections to that broker the
// two are told apart; where addresses are changed on the way, they cannot be.

// twinLasts is how long the id must have been seen twice.
const twinLasts = 5 * time.Second

// twins is what is known of others that use this client's id.
type twins struct {
	asking bool
	since  time.Time // zero: not seen
	told   []string
}

// seeTwins looks for our own id in a member list as brokers send it.
func (c *coordinator) seeTwins(ctx context.Context, topics map[string]topicGathered, now time.Time) {
	seen, from := false, ""
	for _, g := range topics {
		n := 0
		for _, m := range g.members {
			if m == c.e.clientID {
				n++
			}
		}
		seen = seen || n > 0
		if n > 1 && !g.earlier {
			from = g.from
		}
	}
	w := &c.twins
	switch {
	case from == "" && seen && !w.since.IsZero():
		if len(w.told) > 0 {
			c.e.events.publish(ClientIDAlone{At{Time: now}, c.e.clientID, now.Sub(w.since).Milliseconds()})
		}
		*w = twins{asking: w.asking}
	case from != "" && w.since.IsZero():
		w.since = now
		c.wake("recheck", twinLasts)
	case from != "" && now.Sub(w.since) < twinLasts: // a pass for another reason, instead of the one asked for
		c.wake("recheck", twinLasts-now.Sub(w.since))
	case from != "" && !w.asking:
		w.asking = true
		e := c.e
		e.start(func() { e.inbox.put(twinsFound{from, e.othersOf(ctx, from)}) })
	}
}

// othersOf asks a broker from where else our client id is used.
func (e *Engine) othersOf(ctx context.Context, addr string) []string {
	_, others, _ := e.connectionsOf(ctx, addr)
	return others
}

// onlyEarlier reports whether a broker that names our client id more than once means
// earlier connections of this process only.
func (e *Engine) onlyEarlier(ctx context.Context, addr string) bool {
	ours, others, err := e.connectionsOf(ctx, addr)
	return err == nil && ours > 1 && len(others) == 0
}

// connectionsOf asks a broker for the connections with our client id: how many have been
// this process's, and the addresses of the others, sorted.
func (e *Engine) connectionsOf(ctx context.Context, addr string) (ours int, others []string, err error) {
	actx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	all, err := e.d.Client.Connections(actx, addr, e.o.Group)
	if err != nil {
		return 0, nil, err
	}
	locals := e.d.Client.LocalAddrs(addr)
	for _, m := range all.ConnectionSet {
		switch {
		case m.ClientID != e.clientID:
		case slices.Contains(locals, m.ClientAddr):
			ours++
		default:
			others = append(others, m.ClientAddr)
		}
	}
	slices.Sort(others)
	return ours, others, nil
}

// unread are the queues that the strategy gives to the second naming of a member and
// nobody reads: in no share of named, but in one of members, which names each once.
func (e *Engine) unread(topic string, queues []MessageQueue, members []string, shares map[string][]MessageQueue) []MessageQueue {
	once, err := core.AllocateAll(e.o.Strategy, e.o.Group, topic, e.clientID, queues, members)
	if err != nil {
		return nil
	}
	in := func(shares map[string][]MessageQueue, mq MessageQueue) bool {
		for _, share := range shares {
			if slices.Contains(share, mq) {
				return true
			}
		}
		return false
	}
	var left []MessageQueue
	for _, mq := range queues {
		if in(once, mq) && !in(shares, mq) {
			left = append(left, mq)
		}
	}
	return left
}

type twinsFound struct {
	from   string
	others []string
}

func (f twinsFound) apply(_ context.Context, c *coordinator) {
	w := &c.twins
	w.asking = false
	if len(f.others) == 0 || w.since.IsZero() || slices.Equal(f.others, w.told) {
		return
	}
	w.told = f.others
	c.e.events.publish(ClientIDShared{At{Time: time.Now()}, c.e.clientID, f.others, f.from})
	c.note("client id " + c.e.clientID + " is used by another process too: give each its own")
}
