package engine

import (
	"context"
	"slices"
	"time"
)

// A client id that two processes share (trap T41): brokers keep one member a
// connection, so their list of members names the id twice, and the list of
// connections tells from where. An earlier connection of this process that the
// broker has not missed yet looks the same, so it is told only when it lasts.

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
		if n > 1 {
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
func (e *Engine) othersOf(ctx context.Context, addr string) (others []string) {
	actx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	own, err := e.d.Client.Conn(actx, addr)
	if err != nil {
		return nil
	}
	all, err := e.d.Client.Connections(actx, addr, e.o.Group)
	if err != nil {
		return nil
	}
	for _, m := range all.ConnectionSet {
		if m.ClientID == e.clientID && m.ClientAddr != own.LocalAddr() {
			others = append(others, m.ClientAddr)
		}
	}
	slices.Sort(others)
	return others
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
