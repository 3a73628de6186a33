package engine

import "sync"

// mailbox is an unbounded queue into one goroutine, for the few commands and
// notices that owners send each other: putting never waits, so two owners that
// write to one another cannot block each other.
type mailbox[T any] struct {
	wake chan struct{} // capacity 1: there is something

	mu    sync.Mutex // guards items
	items []T
}

func newMailbox[T any]() *mailbox[T] { return &mailbox[T]{wake: make(chan struct{}, 1)} }

func (m *mailbox[T]) put(item T) {
	m.mu.Lock()
	m.items = append(m.items, item)
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// all takes everything out.
func (m *mailbox[T]) all() []T {
	m.mu.Lock()
	defer m.mu.Unlock()
	items := m.items
	m.items = nil
	return items
}
