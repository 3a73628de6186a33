package main

import (
	"fmt"
	"time"
)

// Break is a delivery that broke the order of its queue.
type Break struct {
	Delivery Delivery      `json:"delivery"`
	Higher   int64         `json:"higher"` // the offset that came, or was committed, before it
	At       time.Duration `json:"at"`     // when
	What     string        `json:"what"`
}

func (b Break) String() string {
	return fmt.Sprintf("queue %d, offset %d to %s at %.3f s: %s %d at %.3f s", b.Delivery.Queue, b.Delivery.Offset,
		b.Delivery.Member, b.Delivery.At.Seconds(), b.What, b.Higher, b.At.Seconds())
}

// orderBreaks finds, queue by queue, messages that came for the first time after
// a later one, and repeats of what the group had committed as done. A repeat of
// what was not committed yet is a step back to the committed offset, which a new
// owner has to make, and counts among the duplicates only.
func orderBreaks(l *Ledger, g Group, ds []Delivery, happenings []Happening) (breaks []Break) {
	for q := range l.Queues {
		var first Delivery // the highest delivered for the first time
		first.Offset = -1
		seen := map[int64]bool{}
		c := committed{g: g, q: q, rest: l.Commits}
		for _, d := range ds {
			if d.Topic != "" || d.Queue != q {
				continue
			}
			again := seen[d.Offset]
			seen[d.Offset] = true
			switch {
			case again:
				if at, ok := c.beyond(d, happenings); ok {
					breaks = append(breaks, Break{d, at.Offset, at.At, "it came again, although the group had committed"})
				}
			case d.Offset > first.Offset:
				first = d
			case first.Member == d.Member || d.At-first.At > skew:
				breaks = append(breaks, Break{d, first.Offset, first.At, "after"})
			}
		}
	}
	return breaks
}

// committed goes along the commits of a queue beside its deliveries.
type committed struct {
	g    Group
	q    int32
	rest []Commit
	last Commit
}

// beyond gives what was known to be committed before a delivery, if that is beyond
// it. What a broker said before it was killed does not count: it has forgotten.
func (c *committed) beyond(d Delivery, happenings []Happening) (Commit, bool) {
	for len(c.rest) > 0 && c.rest[0].At+skew < d.At {
		if c.rest[0].Group == c.g && c.rest[0].Queue == c.q {
			c.last = c.rest[0]
		}
		c.rest = c.rest[1:]
	}
	for _, h := range happenings {
		if h.Event.Kind == BrokerKill && c.last.At < h.Ended && h.Began < d.At {
			return Commit{}, false
		}
	}
	return c.last, c.last.Offset > d.Offset
}
