package engine

import (
	"context"
	"sync"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// observed is what brokers say of the subscribed topics' queues, ours and
// others'.
type observed struct {
	queues map[MessageQueue]observedQueue
}

type observedQueue struct {
	min, max  int64
	committed int64
	consumed  time.Time // store time of the last committed message
	at        time.Time
	from      int64 // the broker id that said it
}

// The observer asks only while somebody looks: a headless consumer costs the
// brokers nothing for it.
const (
	observeEvery  = 2 * time.Second
	observeLimit  = 3 * time.Second
	lookedAtLimit = 5 * time.Second
)

// observer keeps the brokers' view of all queues fresh while Snapshot is called.
func (e *Engine) observer(ctx context.Context) {
	tick := time.NewTicker(observeEvery)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			if e.watched(now) {
				e.observe(ctx)
			}
		case <-ctx.Done():
			return
		}
	}
}

// observe asks each master, or where there is none a slave, for each topic's offsets, side by side. A broker that
// does not answer costs only its own queues' freshness.
func (e *Engine) observe(ctx context.Context) {
	b := e.base.Load()
	octx, cancel := context.WithTimeout(ctx, observeLimit)
	defer cancel()
	var wg sync.WaitGroup
	var mu sync.Mutex // guards next
	next := map[MessageQueue]observedQueue{}
	if old := e.observed.Load(); old != nil {
		for mq, o := range old.queues {
			next[mq] = o
		}
	}
	for _, t := range b.topics {
		for _, broker := range t.Brokers {
			addr, id, ok := e.pullFrom(MessageQueue{BrokerName: broker}, remoting.MasterID, "")
			if !ok {
				continue
			}
			e.guard(&wg, func() {
				stats, err := e.d.Client.TopicStats(octx, addr, t.Topic)
				if err != nil {
					return
				}
				commits, cerr := e.d.Client.ConsumeStats(octx, addr, e.o.Group, t.Topic)
				now := time.Now()
				mu.Lock()
				defer mu.Unlock()
				for mq, s := range stats {
					o := observedQueue{min: s.MinOffset, max: s.MaxOffset, committed: Unknown, at: now, from: id}
					if w, ok := commits.OffsetTable[mq]; ok && cerr == nil && e.o.MessageModel == protocol.Clustering {
						o.committed = w.ConsumerOffset
						if w.LastTimestamp > 0 {
							o.consumed = time.UnixMilli(w.LastTimestamp)
						}
					}
					next[mq] = o
				}
			})
		}
	}
	wg.Wait()
	e.observed.Store(&observed{next})
}
