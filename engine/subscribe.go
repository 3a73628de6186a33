package engine

import (
	"context"
	"sync"
	"sync/atomic"
)

// hub hands every event to every subscription. Publishing never blocks.
type hub struct {
	calls atomic.Int32 // subscriptions that want listener calls too

	mu    sync.Mutex // guards subs and ended
	subs  []*EventSubscription
	ended bool
}

// publish appends e to each ring, or counts a drop.
func (h *hub) publish(e Event) {
	h.mu.Lock()
	subs := h.subs // replaced, never changed in place
	h.mu.Unlock()
	for _, s := range subs {
		s.put(e)
	}
}

// publishCall is publish for an event a listener call: only for those who asked
// for that, and made only when there are some.
func (h *hub) publishCall(make func() Event) {
	if h.calls.Load() == 0 {
		return
	}
	h.mu.Lock()
	subs := h.subs
	h.mu.Unlock()
	e := make()
	for _, s := range subs {
		if s.calls {
			s.put(e)
		}
	}
}

func (h *hub) subscribe(buffer int, calls bool) *EventSubscription {
	s := &EventSubscription{hub: h, limit: max(buffer, 1), wake: make(chan struct{}, 1), calls: calls}
	if calls {
		h.calls.Add(1)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s.ended = h.ended
	h.subs = append(append([]*EventSubscription(nil), h.subs...), s)
	return s
}

func (h *hub) remove(s *EventSubscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var rest []*EventSubscription
	for _, x := range h.subs {
		if x != s {
			rest = append(rest, x)
		} else if s.calls {
			h.calls.Add(-1)
		}
	}
	h.subs = rest
}

// end lets each subscription return ErrEnded once its ring is read.
func (h *hub) end() {
	h.mu.Lock()
	h.ended = true
	subs := h.subs
	h.mu.Unlock()
	for _, s := range subs {
		s.finish()
	}
}

// EventSubscription is a bounded ring of events: see Engine.Subscribe.
type EventSubscription struct {
	hub   *hub
	limit int
	calls bool          // listener calls too
	wake  chan struct{} // capacity 1: something to read, or ended

	mu      sync.Mutex // guards what follows
	ring    []Event    // grows to limit
	head, n int
	dropped int64
	ended   bool
}

const eventsAtOnce = 512

func (s *EventSubscription) put(e Event) {
	s.mu.Lock()
	switch {
	case s.n == s.limit:
		// The newest is dropped: what is read stays in order and the count says how
		// much is missing after it.
		s.dropped++
		s.mu.Unlock()
		return
	case s.n == len(s.ring):
		grown := make([]Event, min(max(2*len(s.ring), 64), s.limit))
		for i := range s.n {
			grown[i] = s.ring[(s.head+i)%len(s.ring)]
		}
		s.ring, s.head = grown, 0
	}
	s.ring[(s.head+s.n)%len(s.ring)] = e
	s.n++
	s.mu.Unlock()
	s.signal()
}

func (s *EventSubscription) finish() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.signal()
}

func (s *EventSubscription) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Next waits for events and returns those that have piled up, at most 512, with
// the number dropped since the last call because the ring was full. It returns
// ctx's error, or ErrEnded after the last event of an engine that has ended.
// One goroutine may call it at a time.
func (s *EventSubscription) Next(ctx context.Context) (events []Event, dropped int64, err error) {
	for {
		events, dropped, ended := s.take()
		if len(events) > 0 || dropped > 0 {
			return events, dropped, nil
		}
		if ended {
			return nil, 0, ErrEnded
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		}
	}
}

func (s *EventSubscription) take() (events []Event, dropped int64, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(s.n, eventsAtOnce)
	for i := range n {
		at := (s.head + i) % len(s.ring)
		events = append(events, s.ring[at])
		s.ring[at] = nil
	}
	if n > 0 {
		s.head = (s.head + n) % len(s.ring)
		s.n -= n
	}
	dropped, s.dropped = s.dropped, 0
	return events, dropped, s.ended
}

// Close ends the subscription.
func (s *EventSubscription) Close() { s.hub.remove(s) }
