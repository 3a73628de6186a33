package cli

import (
	"bufio"
	"fmt"
	"slices"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect"
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

// tailOutput prints messages in the format asked for.
type tailOutput struct {
	format   string
	w        *bufio.Writer
	location *time.Location
	charset  inspect.Charset
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
		body, _ := inspect.Body(m)
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
