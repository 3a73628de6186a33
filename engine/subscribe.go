package engine

import "context"

// Subscription of events: see Engine.Subscribe.
type EventSubscription struct{}

// Next waits for events and returns those that have piled up, at most 512, with
// the number dropped since the last call because the ring was full. It returns
// ctx's error, or ErrEnded after the last event of an engine that has ended.
// One goroutine may call it at a time.
func (s *EventSubscription) Next(ctx context.Context) (events []Event, dropped int64, err error) {
	panic("todo")
}

// Close ends the subscription.
func (s *EventSubscription) Close() { panic("todo") }
