package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// maxInFlight is how many synchronous commits one broker gets at a time: enough
// to hide its latency, few enough not to crowd out its pulls.
const maxInFlight = 32

// RemoteBroker keeps a group's offsets at the masters of its queues (Java:
// RemoteBrokerOffsetStore). Any goroutine may use it.
type RemoteBroker struct {
	client *remoting.Client
	group  string
}

// NewRemoteBroker makes the store of a group; it sends nothing.
func NewRemoteBroker(client *remoting.Client, group string) *RemoteBroker {
	return &RemoteBroker{client: client, group: group}
}

// Load asks the queue's master. Only its answer "not found" (code 22) is no
// offset; any other failure is an error, since taking it for none would send the
// group to the end of the queue (trap T02).
func (s *RemoteBroker) Load(ctx context.Context, mq protocol.MessageQueue) (offset int64, found bool, err error) {
	offset, found, err = s.client.QueryConsumerOffset(ctx, s.group, mq)
	if err != nil || !found {
		return 0, false, err
	}
	if offset < 0 {
		return 0, false, fmt.Errorf("committed offset of %s at %v: broker answered %d", s.group, mq, offset)
	}
	return offset, true, nil
}

// Save commits each offset at its queue's master. With wait it returns when each
// has been answered; without, when each is on its way, and a request that is lost
// then is not noticed. Brokers are served beside each other: a dead one delays
// none of the others.
func (s *RemoteBroker) Save(ctx context.Context, offsets map[protocol.MessageQueue]int64, wait bool) map[protocol.MessageQueue]error {
	commit, width := s.client.UpdateConsumerOffsetOneway, 1
	if wait {
		commit, width = s.client.UpdateConsumerOffset, maxInFlight
	}
	queues := slices.SortedFunc(maps.Keys(offsets), protocol.CompareMessageQueues)
	errs := make([]error, len(queues)) // each worker writes its own elements
	byBroker := map[string][]int{}
	for i, mq := range queues {
		byBroker[mq.BrokerName] = append(byBroker[mq.BrokerName], i)
	}
	var workers crew
	for _, mine := range byBroker {
		var next atomic.Int64
		for range min(width, len(mine)) {
			workers.start(func() {
				for k := next.Add(1) - 1; k < int64(len(mine)); k = next.Add(1) - 1 {
					mq := queues[mine[k]]
					errs[mine[k]] = commit(ctx, s.group, mq, offsets[mq])
				}
			})
		}
	}
	workers.wait()
	var failed map[protocol.MessageQueue]error
	for i, err := range errs {
		if err != nil {
			if failed == nil {
				failed = map[protocol.MessageQueue]error{}
			}
			failed[queues[i]] = err
		}
	}
	return failed
}

// crew is a set of goroutines that one caller waits for. A panic in one becomes
// the caller's, whose goroutine knows how to restore the terminal.
type crew struct {
	wg       sync.WaitGroup
	panicked atomic.Pointer[any]
}

func (c *crew) start(f func()) {
	c.wg.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				c.panicked.CompareAndSwap(nil, &v)
			}
		}()
		f()
	})
}

func (c *crew) wait() {
	c.wg.Wait()
	if v := c.panicked.Load(); v != nil {
		panic(*v)
	}
}
