package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
)

// takings follows what a member has taken of its topics and could not read, so that a
// run without a message can say whether there was none. The retry topic does not count:
// it appears and is denied apart from the topics that were asked for. It knows too when
// the member is still at taking its share, which is no idleness. One goroutine gives it the
// events, another may ask for the latter.
type takings struct {
	mu      sync.Mutex                     // guards what follows
	ever    bool                           // some queue was taken
	queues  map[engine.MessageQueue]string // why one is not taken or read now; "" is well
	missing map[string]string              // topics without queues for anybody, and why
	skipped map[string]string              // topics that could not be divided, and why
	idle    map[string]string              // topics that leave nothing for this member, and why
	locks   string                         // why a broker granted none the last time

	divided   bool            // the queues were, once
	given     map[string]bool // queues of every topic that are to be taken, by topic and short name
	settled   map[string]bool // of those: taken, not taken for a reason, or gone again
	lastGiven time.Time
	taken     bool // some queue was, since busy was asked last
}

func newTakings() *takings {
	return &takings{
		queues: map[engine.MessageQueue]string{}, missing: map[string]string{}, skipped: map[string]string{}, idle: map[string]string{},
		given: map[string]bool{}, settled: map[string]bool{},
	}
}

// takingLimit bounds how long queues that are being taken count as work. Each of the
// questions for it ends by itself, with a failure that is told.
const takingLimit = 10 * time.Second

// busy reports whether the member has not its share of the queues yet, is at taking it, or
// has taken a queue since busy was asked last.
func (t *takings) busy(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	taken := t.taken
	t.taken = false
	if taken || !t.divided {
		return true
	}
	for mq := range t.given {
		if !t.settled[mq] {
			return now.Sub(t.lastGiven) <= takingLimit
		}
	}
	return false
}

// settle notes that it is known what becomes of a queue.
func (t *takings) settle(mq engine.MessageQueue) { t.settled[mq.Topic+" "+mq.Short()] = true }

// see takes in what the engine told.
func (t *takings) see(events []engine.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, ev := range events {
		switch ev := ev.(type) {
		case engine.RebalanceEnd:
			t.divided = true
		case engine.AssignmentChanged:
			for _, short := range ev.Queues {
				t.given[ev.Topic+" "+short] = true
			}
			t.lastGiven = time.Now()
		case engine.RouteMissing:
			t.missing[ev.Topic] = "no name server knows the topic"
		case engine.RouteChanged:
			delete(t.missing, ev.Topic)
		case engine.RebalanceSkipped:
			t.skipped[ev.Topic] = strings.TrimSuffix(ev.Cause+": "+ev.Error, ": ")
		case engine.RebalanceTopic:
			delete(t.skipped, ev.Topic)
			delete(t.idle, ev.Topic)
			if len(ev.Mine) == 0 {
				t.idle[ev.Topic] = fmt.Sprintf("%s share %s, and none is left for this one", inspect.Plural(len(ev.Members), "member"), inspect.Plural(ev.Queues, "queue"))
			}
		case engine.LockRequestFailed:
			t.locks = fmt.Sprintf("%s grants no locks: %s", ev.Broker, ev.Error)
		case engine.QueueAdded:
			t.settle(ev.MQ)
			t.taken = true
			if t.set(ev.MQ, "") {
				t.ever = true
			}
		case engine.QueueAddFailed:
			t.settle(ev.MQ)
			t.set(ev.MQ, ev.Error)
		case engine.PullError:
			t.set(ev.MQ, ev.Error)
		case engine.PullRecovered:
			t.set(ev.MQ, "")
		case engine.QueueDropped:
			t.settle(ev.MQ)
			if ev.Cause != core.DropShutdown.String() {
				delete(t.queues, ev.MQ)
			}
		}
	}
}

// set notes how a queue is; it reports whether the queue counts.
func (t *takings) set(mq engine.MessageQueue, why string) bool {
	if strings.HasPrefix(mq.Topic, protocol.RetryTopicPrefix) {
		return false
	}
	t.queues[mq] = why
	return true
}

// unreadError says of a run without a message that nobody knows whether there was one.
type unreadError struct{ Why string }

func (e *unreadError) Error() string { return e.Why }

// verdict is why a run without a message says nothing about whether there was one; nil
// when it does: each queue of this member was read. s is of when the run ended.
func (t *takings) verdict(subscriptions []engine.Subscription, s *engine.Snapshot) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ever {
		return t.unread(s)
	}
	var why []string
	missing := 0
	for _, sub := range subscriptions {
		topic := sub.Topic
		reason, n := t.refused(topic)
		switch {
		case n > 0:
			reason = fmt.Sprintf("%s: %s", inspect.Plural(n, "queue"), reason)
		case t.missing[topic] != "":
			reason = t.missing[topic]
			missing++
		default:
			reason = cmp.Or(t.skipped[topic], t.idle[topic], t.locks, "it was not divided before the run ended")
		}
		why = append(why, topic+": "+reason)
	}
	text := "no queue was taken: " + strings.Join(why, "; ")
	if missing == len(subscriptions) {
		return &notFoundError{What: text, kind: "topic", name: subscriptions[0].Topic}
	}
	return &unreadError{text}
}

// refused is why queues of a topic are not well, and how many are.
func (t *takings) refused(topic string) (why string, n int) {
	for _, mq := range slices.SortedFunc(maps.Keys(t.queues), protocol.CompareMessageQueues) {
		if reason := t.queues[mq]; mq.Topic == topic && reason != "" {
			why = cmp.Or(why, reason)
			n++
		}
	}
	return why, n
}

// unread is what of the queues that were taken could not be read in the end.
func (t *takings) unread(s *engine.Snapshot) error {
	answers, silent := map[string]bool{}, map[string]string{} // by broker name
	for _, b := range s.Brokers {
		answers[b.Name] = answers[b.Name] || b.Connected
		silent[b.Name] = cmp.Or(silent[b.Name], b.Error)
	}
	why, n := "", 0
	for _, mq := range slices.SortedFunc(maps.Keys(t.queues), protocol.CompareMessageQueues) {
		reason := t.queues[mq]
		if reason == "" && !answers[mq.BrokerName] {
			reason = silent[mq.BrokerName]
		}
		if reason != "" {
			why = cmp.Or(why, reason)
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return &unreadError{fmt.Sprintf("no message came, and whether there is one is not known: %d of %s could not be read: %s", n, inspect.Plural(len(t.queues), "queue"), why)}
}
