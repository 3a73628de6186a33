package cli

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"eyeq/engine"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// chooseQueues picks the wanted queues of a topic; all when none is named.
func chooseQueues(topic string, have []engine.MessageQueue, wanted []queueRef) ([]engine.MessageQueue, error) {
	if len(have) == 0 {
		return nil, &notFoundError{fmt.Sprintf("topic %s has no readable queue", topic)}
	}
	if len(wanted) == 0 {
		return have, nil
	}
	var chosen []engine.MessageQueue
	for _, w := range wanted {
		mq := engine.MessageQueue{Topic: topic, BrokerName: w.broker, QueueID: w.id}
		if !slices.Contains(have, mq) {
			return nil, &notFoundError{fmt.Sprintf("topic %s has no queue %v: it has %s", topic, w, queueList(have))}
		}
		if !slices.Contains(chosen, mq) {
			chosen = append(chosen, mq)
		}
	}
	slices.SortFunc(chosen, protocol.CompareMessageQueues)
	return chosen, nil
}

// queueList names sorted queues of one topic briefly: broker-a:0-7, broker-b:0-3.
func queueList(queues []engine.MessageQueue) string {
	var parts []string
	for i := 0; i < len(queues); {
		j := i
		for j+1 < len(queues) && queues[j+1].BrokerName == queues[i].BrokerName && queues[j+1].QueueID == queues[j].QueueID+1 {
			j++
		}
		part := fmt.Sprintf("%s:%d", queues[i].BrokerName, queues[i].QueueID)
		if j > i {
			part = fmt.Sprintf("%s-%d", part, queues[j].QueueID)
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ", ")
}

// clientReader reads queues through a client.
type clientReader struct {
	client  *remoting.Client
	timeout time.Duration

	mu        sync.Mutex                    // guards suggested
	suggested map[engine.MessageQueue]int64 // broker ids to pull from
}

func (r *clientReader) bounds(ctx context.Context, mq engine.MessageQueue) (lo, hi int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	if lo, err = r.client.MinOffset(ctx, mq); err != nil {
		return 0, 0, err
	}
	hi, err = r.client.MaxOffset(ctx, mq)
	return lo, hi, err
}

func (r *clientReader) at(ctx context.Context, mq engine.MessageQueue, t time.Time) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	return r.client.SearchOffset(ctx, mq, t)
}

func (r *clientReader) pull(ctx context.Context, mq engine.MessageQueue, offset int64, expression string, hold time.Duration) (remoting.PullResult, error) {
	h := &protocol.PullMessageRequestHeader{
		ConsumerGroup: tailGroup, Topic: mq.Topic, QueueID: mq.QueueID, QueueOffset: offset, MaxMsgNums: tailBatch,
		SysFlag: protocol.PullSubscription, Subscription: expression, ExpressionType: protocol.ExpressionTAG, BrokerName: mq.BrokerName,
	}
	if hold > 0 {
		h.SysFlag |= protocol.PullSuspend
		h.SuspendTimeout = hold
	}
	r.mu.Lock()
	id := r.suggested[mq]
	r.mu.Unlock()
	addr, _, ok := r.client.PullAddr(mq.BrokerName, id)
	if !ok {
		if _, _, err := r.client.RefreshRoute(ctx, mq.Topic); err != nil {
			return remoting.PullResult{}, err
		}
		return remoting.PullResult{}, &remoting.NoBrokerError{BrokerName: mq.BrokerName}
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout+hold) // brokers look at held pulls every few seconds only
	defer cancel()
	res, err := r.client.Pull(ctx, addr, h)
	if err == nil {
		r.mu.Lock()
		r.suggested[mq] = res.SuggestWhichBrokerID
		r.mu.Unlock()
	}
	return res, err
}

// tailOutput prints messages in the format asked for.
type tailOutput struct {
	format   string
	w        *bufio.Writer
	location *time.Location
	left     int64 // 0: without limit
	scratch  scratch
}

// emit implements tailer.emit.
func (o *tailOutput) emit(m *engine.Message) (more bool, err error) {
	b := o.scratch.buf[:0]
	switch o.format {
	case "json":
		b = o.scratch.append(b, m)
	case "raw":
		body, err := m.Body()
		if err != nil {
			body = m.StoredBody()
		}
		b = append(append(b, body...), '\n')
	case "hex":
		b = appendMessageHex(b, m, o.location)
	default:
		b = appendMessageText(b, m, o.location)
	}
	o.scratch.buf = b
	if _, err := o.w.Write(b); err != nil {
		return false, &outputError{err}
	}
	if o.left > 0 {
		o.left--
		return o.left > 0, nil
	}
	return true, nil
}

// flush implements tailer.pause.
func (o *tailOutput) flush() error {
	if err := o.w.Flush(); err != nil {
		return &outputError{err}
	}
	return nil
}
