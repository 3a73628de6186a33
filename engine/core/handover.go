package core

import (
	"slices"
	"time"

	"eyeq/remoting/protocol"
)

// FormerOwners says, for queues that self is given, which other member most
// likely has each of them still: the one that the last allocation gave it to or,
// when self was in none, the one that has it without self. A queue whose former
// owner is not a member any more has none: a member that leaves in order persists
// before it unregisters. allocate gives a member's queues among members.
func FormerOwners(added []protocol.MessageQueue, self string, members []string, last map[string][]protocol.MessageQueue,
	allocate func(member string, members []string) []protocol.MessageQueue) map[protocol.MessageQueue]string {
	if _, before := last[self]; !before {
		others := slices.DeleteFunc(slices.Clone(members), func(m string) bool { return m == self })
		last = map[string][]protocol.MessageQueue{}
		for _, m := range others {
			last[m] = allocate(m, others)
		}
	}
	owners := map[protocol.MessageQueue]string{}
	for m, mqs := range last {
		if m == self || !slices.Contains(members, m) {
			continue
		}
		for _, mq := range mqs {
			owners[mq] = m
		}
	}
	former := map[protocol.MessageQueue]string{}
	for _, mq := range added {
		if m, ok := owners[mq]; ok {
			former[mq] = m
		}
	}
	return former
}

// HandOverStep is what an answer of a queue's former owner means.
type HandOverStep uint8

// The steps.
const (
	// HandOverWait: the former owner has the queue, and gives it back before long.
	HandOverWait HandOverStep = iota + 1
	// HandOverReleased: it had the queue and has given it back.
	HandOverReleased
	// HandOverUnknown: it does not have it, or does not say; it may never have had it.
	HandOverUnknown
	// HandOverExpired: it has kept the queue for too long.
	HandOverExpired
)

// HandOverFailures is how many questions in a row may stay unanswered by a member
// that has said it holds a queue.
const HandOverFailures = 3

// HandOver decides by a former owner's answers when a queue can be read. The zero
// value is ready; one queue has one.
type HandOver struct {
	held   bool
	failed int
}

// Answered takes in an answer. A member that is gone holds nothing.
func (h *HandOver) Answered(holds bool, waited, limit time.Duration) HandOverStep {
	h.failed = 0
	switch {
	case holds && waited >= limit:
		return HandOverExpired
	case holds:
		h.held = true
		return HandOverWait
	case h.held:
		return HandOverReleased
	}
	return HandOverUnknown
}

// Failed takes in that there was no answer.
func (h *HandOver) Failed() HandOverStep {
	if h.failed++; !h.held || h.failed >= HandOverFailures {
		return HandOverUnknown
	}
	return HandOverWait
}
