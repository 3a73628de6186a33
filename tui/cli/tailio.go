package cli

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/engine/inspect/message"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// topicQueues chooses among the queues that a topic has to read, or to send to.
type topicQueues struct {
	client *remoting.Client
	route  *remoting.TopicRoute
	write  bool
	limit  time.Duration // of a question why there are none
}

// choose picks the wanted queues; all when none is named.
func (c *topicQueues) choose(ctx context.Context, wanted []queueRef) ([]engine.MessageQueue, error) {
	have, lacks := c.route.Queues, "no readable queue"
	if c.write {
		have, lacks = c.route.PublishQueues, "no queue that can be written"
	}
	topic := c.route.Topic
	if len(have) == 0 {
		text := fmt.Sprintf("topic %s has %s", topic, lacks)
		for _, d := range c.route.Data.QueueDatas {
			if why := c.why(ctx, engine.MessageQueue{Topic: topic, BrokerName: d.BrokerName}); why != "" {
				text += fmt.Sprintf("; at %s: %s", d.BrokerName, why)
			}
		}
		return nil, &notFoundError{What: text}
	}
	if len(wanted) == 0 {
		return have, nil
	}
	var chosen []engine.MessageQueue
	for _, w := range wanted {
		mq := engine.MessageQueue{Topic: topic, BrokerName: w.broker, QueueID: w.id}
		if !slices.Contains(have, mq) {
			if why := c.why(ctx, mq); why != "" {
				return nil, &notFoundError{What: fmt.Sprintf("queue %v of topic %s is %s; what is left: %s", w, topic, why, queueList(have))}
			}
			return nil, &notFoundError{What: fmt.Sprintf("topic %s has no queue %v: it has %s", topic, w, queueList(have))}
		}
		if !slices.Contains(chosen, mq) {
			chosen = append(chosen, mq)
		}
	}
	slices.SortFunc(chosen, protocol.CompareMessageQueues)
	return chosen, nil
}

func (c *topicQueues) why(ctx context.Context, mq engine.MessageQueue) string {
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	return inspect.WhyClosed(ctx, c.client, c.route, mq, c.write)
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

// tailOutput prints messages in the format asked for.
type tailOutput struct {
	format   string
	w        *bufio.Writer
	location *time.Location
	charset  message.Charset
	left     int64 // 0: without limit
	printed  int64
	scratch  scratch
}

// emit implements tailer.emit.
func (o *tailOutput) emit(kept *keptMessage) (more bool, err error) {
	m, b := &kept.Message, o.scratch.buf[:0]
	switch o.format {
	case "json":
		b = o.scratch.append(b, m)
	case "raw":
		body, _ := message.Body(m)
		b = append(append(b, body...), '\n')
	case "hex":
		b = appendMessageHex(b, m, o.location)
	default:
		b = appendMessageText(b, m, o.location, o.charset)
	}
	o.scratch.buf = b
	if _, err := o.w.Write(b); err != nil {
		return false, &outputError{Err: err}
	}
	o.printed++
	if o.left > 0 {
		o.left--
		return o.left > 0, nil
	}
	return true, nil
}

// unread implements tailer.unread: a row of its own in JSON; in the other formats
// the notice on standard error has to do.
func (o *tailOutput) unread(mq engine.MessageQueue, offset int64, reason string) error {
	if o.format != "json" {
		return nil
	}
	line, err := marshal(struct {
		Kind   string `json:"kind"`
		Topic  string `json:"topic"`
		Broker string `json:"broker"`
		Queue  int32  `json:"queue"`
		Offset int64  `json:"offset"`
		Error  string `json:"error"`
	}{"unreadable", mq.Topic, mq.BrokerName, mq.QueueID, offset, reason})
	if err == nil {
		_, err = o.w.Write(line)
	}
	if err != nil {
		return &outputError{Err: err}
	}
	return nil
}

// flush implements tailer.pause.
func (o *tailOutput) flush() error {
	if err := o.w.Flush(); err != nil {
		return &outputError{Err: err}
	}
	return nil
}
