package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// bodySize is how long a message is.
const bodySize = 100

// produce sends messages, numbered from 0 on, to the queues by turns, evenly over
// a time. What is not answered for is sent again, so a queue may hold a message
// more than once, and its numbers never go down but for that.
func produce(ctx context.Context, c *cluster, record *recorder, queues int32, messages int64, over time.Duration) error {
	client, err := remoting.NewClient(remoting.Options{Namesrv: []string{c.namesrv}})
	if err != nil {
		return err
	}
	defer client.Close()
	began := time.Now()
	var wg sync.WaitGroup
	for id := range queues {
		wg.Go(func() {
			for seq := int64(id); seq < messages; seq += int64(queues) {
				due := began.Add(time.Duration(float64(over) * float64(seq) / float64(messages)))
				if !pause(ctx, time.Until(due)) || !sendOne(ctx, client, c.queue(id), record, seq) {
					return
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

const (
	sendLimit = 3 * time.Second
	sendAgain = 200 * time.Millisecond
)

// sendOne sends a message until the broker has it; false when ctx ended first.
func sendOne(ctx context.Context, client *remoting.Client, mq protocol.MessageQueue, record *recorder, seq int64) bool {
	text := fmt.Sprintf("%d ", seq)
	m := remoting.OutMessage{
		Properties: []protocol.Property{{Name: protocol.PropertyKeys, Value: fmt.Sprint(keyPrefix, seq)}, {Name: "WAIT", Value: "true"}},
		Body:       []byte(text + strings.Repeat(".", bodySize-len(text))),
	}
	for {
		sctx, cancel := context.WithTimeout(ctx, sendLimit)
		r, err := client.Send(sctx, "chaos-producer", mq, &m)
		cancel()
		if err == nil {
			record.sent(Sent{At: record.now(), Seq: seq, Queue: r.MessageQueue.QueueID, Offset: r.QueueOffset})
			return true
		}
		if !pause(ctx, sendAgain) {
			return false
		}
	}
}

// commitPeriod is how often the broker is asked what is committed.
const commitPeriod = 500 * time.Millisecond

// watchCommits notes the groups' committed offsets until ctx ends. A broker that
// is away is asked again.
func watchCommits(ctx context.Context, c *cluster, record *recorder, queues int32) {
	for pause(ctx, commitPeriod) {
		for _, g := range groups {
			for id := range queues {
				qctx, cancel := context.WithTimeout(ctx, sendLimit)
				offset, found, err := c.admin.QueryConsumerOffset(qctx, g.group(), c.queue(id))
				cancel()
				if err == nil && found {
					record.committed(Commit{At: record.now(), Group: g, Queue: id, Offset: offset})
				}
			}
		}
	}
}
