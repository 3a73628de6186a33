package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// loadBatch is how many messages go in one request.
const loadBatch = 64

// load fills the topic with n messages of size bytes that begin with their
// sequence numbers, spread evenly over its queues, which are filled side by side.
func load(ctx context.Context, s settings, n int64, size int) error {
	if size < 8 {
		return fmt.Errorf("--size %d: the sequence number takes 8 bytes", size)
	}
	client, err := remoting.NewClient(remoting.Options{Namesrv: []string{s.namesrv}})
	if err != nil {
		return err
	}
	defer client.Close()
	route, err := client.Route(ctx, s.topic)
	if err != nil {
		return err
	}
	queues := int64(len(route.PublishQueues))
	if queues == 0 {
		return fmt.Errorf("topic %s has no queue to write to", s.topic)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wg sync.WaitGroup
	for q, mq := range route.PublishQueues {
		wg.Go(func() {
			for seq := int64(q); seq < n; {
				var items []protocol.BatchItem
				for ; seq < n && len(items) < loadBatch; seq += queues {
					items = append(items, protocol.BatchItem{Body: binary.BigEndian.AppendUint64(make([]byte, 0, size), uint64(seq))[:size]})
				}
				if _, err := client.SendBatch(ctx, "benchmember", mq, items); err != nil {
					stop(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}
