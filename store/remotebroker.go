package store

import (
	"context"
	"fmt"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

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

// Save commits each offset at its queue's master and returns when each has been
// answered. Brokers are served beside each other: a dead one delays none of the
// others.
func (s *RemoteBroker) Save(ctx context.Context, offsets map[protocol.MessageQueue]int64) map[protocol.MessageQueue]error {
	return s.client.UpdateConsumerOffsets(ctx, s.group, offsets)
}
