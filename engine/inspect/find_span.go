package inspect

import (
	"context"
	"fmt"
	"math"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// bySpan reads the topic's queues side by side, in the order of time.
func (f *finder) bySpan(ctx context.Context) error {
	route, err := f.round.route(ctx, f.request.Topic)
	if isType[*remoting.NoRouteError](err) {
		return missing("topic", f.request.Topic)
	}
	if err != nil {
		return err
	}
	if why := route.StaticWhy(); why != "" {
		f.problems = append(f.problems, Problem{"messages of " + f.request.Topic, "the brokers", Reason{ReasonUnsupported, why + ": look by key or id"}})
		return nil
	}
	for _, q := range route.Data.QueueDatas {
		if q.Perm&protocol.PermRead == 0 {
			f.problems = append(f.problems, Problem{"messages of " + f.request.Topic, q.BrokerName,
				Reason{ReasonDenied, "it can only be written there (permission " + PermText(q.Perm) + "): make it readable to see what it holds"}})
		}
	}
	spans := make([]*span, len(route.Queues))
	each(len(spans), 0, func(i int) { spans[i] = f.open(ctx, route.Queues[i]) })
	err = f.merge(ctx, spans)
	for _, s := range spans {
		f.problems = append(f.problems, s.problems...)
	}
	return err
}

// merge takes the oldest message of all queues, again and again, until there is none or
// enough are found.
func (f *finder) merge(ctx context.Context, spans []*span) error {
	for {
		var first *span
		for _, s := range spans {
			if f.fill(ctx, s); len(s.page.messages) > 0 && (first == nil || compareStored(s.page.messages[0], first.page.messages[0]) < 0) {
				first = s
			}
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case first == nil:
			return nil
		case len(f.found) == f.request.Max:
			f.truncated = true
			return nil
		}
		f.found = append(f.found, first.page.messages[0])
		first.page.messages = first.page.messages[1:]
	}
}

// span is one queue of a bySpan.
type span struct {
	mq   protocol.MessageQueue
	addr string
	page page  // what is read and not yet taken
	end  int64 // read up to before it
	done bool
	// problems are why it cannot be read, or not all of it.
	problems []Problem
}

// open finds where a queue's part of the span begins.
func (f *finder) open(ctx context.Context, mq protocol.MessageQueue) *span {
	s := &span{mq: mq, done: true}
	addr, err := f.round.survey.addrOf(mq.BrokerName)
	if err != nil {
		s.failed(err)
		return s
	}
	lo, hi, err := f.round.in.bounds(ctx, addr, mq)
	if err == nil && !f.request.From.IsZero() {
		lo, err = f.round.in.offsetAt(ctx, addr, &ResetRow{MessageQueue: mq, Min: lo, Max: hi}, f.request.From)
	}
	if err != nil {
		s.failed(err)
		return s
	}
	s.addr, s.page.next, s.end, s.done = addr, lo, hi, lo >= hi
	f.fill(ctx, s)
	return s
}

// failed notes why it cannot be read.
func (s *span) failed(err error) {
	s.problems = append(s.problems, problem("messages of "+s.mq.String(), s.mq.BrokerName, err))
}

// fill reads a queue on when nothing of it is left.
func (f *finder) fill(ctx context.Context, s *span) {
	for len(s.page.messages) == 0 && !s.done {
		at := s.page.next
		p, err := f.round.in.page(ctx, s.addr, s.mq, at, pageSize)
		if err != nil {
			s.done = true
			s.failed(err)
			return
		}
		if p.unread != nil {
			s.failed(fmt.Errorf("a record cannot be read: %w", p.unread))
		}
		s.page = p
		if p.next <= at { // a broker that does not go on
			s.page.next = math.MaxInt64
		}
		kept := p.messages[:0]
		for _, m := range p.messages {
			if m.QueueOffset() >= s.end || !f.request.To.IsZero() && m.Stored().After(f.request.To) {
				s.done = true
				break
			}
			if f.request.holds(&m) {
				kept = append(kept, m)
			}
		}
		s.page.messages = kept
		s.done = s.done || s.page.next >= s.end
	}
}
