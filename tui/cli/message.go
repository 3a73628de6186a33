package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/engine/inspect/message"
	"eyeq/remoting/protocol"
	"eyeq/tui/change"
	"eyeq/tui/draw"
)

// topicFlag adds -t to a command, with the names to complete it by.
func (e *env) topicFlag(cmd *cobra.Command, topic *string, usage string) {
	cmd.Flags().StringVarP(topic, "topic", "t", "", usage)
	_ = cmd.RegisterFlagCompletionFunc("topic", e.completion(false, topicNames)) // fails for a flag that is not there only
}

// explainMessage is explain for what is asked about messages.
func explainMessage(err error) error {
	if e, ok := errors.AsType[*inspect.MessageNotFoundError](err); ok {
		return &notFoundError{What: e.Error()}
	}
	if isType[*inspect.RequestError](err) {
		return &usageError{Err: err}
	}
	return explain(err)
}

// checkID refuses what can only be a unique id without the topic to look for it in.
func checkID(id, topic string) error {
	if _, _, bad := protocol.ParseOffsetMessageID(id); bad != nil && topic == "" {
		return &usageError{Err: bad, Hint: "A unique id is looked for with its topic: -t TOPIC."}
	}
	return nil
}

// byID finds a message by an offset id or, with its topic, by a unique id. The two look
// alike: what names no broker's message is tried as the other.
func (x *inspection) byID(ctx context.Context, topic, id string) (inspect.FindResult, error) {
	_, _, bad := protocol.ParseOffsetMessageID(id)
	if bad == nil {
		r, err := x.Find(ctx, inspect.FindRequest{OffsetID: id})
		if err == nil || topic == "" || !isType[*inspect.MessageNotFoundError](err) {
			return r, explainMessage(err)
		}
	}
	r, err := x.Find(ctx, inspect.FindRequest{Topic: topic, UniqueKey: id})
	if err == nil && len(r.Messages) == 0 {
		err = x.nothing(r, fmt.Sprintf("there is no message %s in %s", id, listText(append([]string{topic}, r.Also...), 4)))
	}
	return r, explainMessage(err)
}

// nothing is why nothing was found: there is nothing, or those who know were not asked.
func (x *inspection) nothing(r inspect.FindResult, what string) error {
	return notAmong(what, r.Problems)
}

// original is the message itself of what an id has found, the newest where a producer
// gave its id twice; else the newest copy.
func original(messages []protocol.MessageExt, topic string) *engine.Message {
	best := &messages[len(messages)-1]
	if topic == "" {
		return best
	}
	for i := range messages {
		if messages[i].Topic() == topic {
			best = &messages[i]
		}
	}
	return best
}

// meant is original, and says so where the id is that of a batch: it tells none of the
// batch's messages from the others.
func (x *inspection) meant(e *env, messages []protocol.MessageExt, topic, id string) *engine.Message {
	first, last := &messages[0], &messages[len(messages)-1]
	if !ofBatch(messages) {
		return original(messages, topic)
	}
	mq := first.MessageQueue()
	e.say("%s is the id of a batch, %v offsets %d to %d: this is its first message; another: eyeq message get -t %s --queue %s:%d --offset %d%s", id,
		mq, first.QueueOffset(), last.QueueOffset(), change.ShellWord(mq.Topic), change.ShellWord(mq.BrokerName), mq.QueueID, last.QueueOffset(), x.target.flags)
	return first
}

// ofBatch reports whether messages are those of one batch, which share its record.
func ofBatch(messages []protocol.MessageExt) bool {
	n := len(messages)
	return n > 1 && messages[0].OffsetMessageID() == messages[n-1].OffsetMessageID()
}

// messageWriter prints messages in a format of -o.
type messageWriter struct {
	env     *env
	x       *inspection
	charset message.Charset // of the bodies in text
	encoder messageEncoder
}

// delay reads a message's delay by the levels of its broker.
func (w *messageWriter) delay(ctx context.Context, m *engine.Message) (inspect.Delay, bool) {
	d, ok := inspect.DelayOf(m, nil, inspect.Reason{})
	if ok && d.Parked && d.Level > 0 {
		levels, err := w.x.Levels(ctx, m.BrokerName())
		d, ok = inspect.DelayOf(m, levels, inspect.ReasonOf(err))
	}
	return d, ok
}

// object gives a message as JSON, without an end of line.
func (w *messageWriter) object(ctx context.Context, m *engine.Message) []byte {
	b := w.encoder.append(nil, m)
	b = b[:len(b)-len("}\n")]
	if d, ok := w.delay(ctx, m); ok {
		b = append(b, `,"due":`...)
		b = appendJSONTime(b, d.Due)
		if d.Why.Kind != inspect.ReasonNone {
			b = append(b, `,"due_error":`...)
			b = appendJSONString(b, d.Why.String())
		}
		if d.Parked {
			b = append(b, `,"due_topic":`...)
			b = appendJSONString(b, d.Topic)
		}
	}
	return append(b, '}')
}

// one gives one message.
func (w *messageWriter) one(ctx context.Context, m *engine.Message, format string) []byte {
	switch format {
	case "json":
		return append(w.object(ctx, m), '\n')
	case "raw":
		body, _ := message.Body(m)
		return body
	case "hex":
		return appendMessageHex(nil, m, w.env.location)
	}
	return w.detail(ctx, m)
}

// many gives a list of messages.
func (w *messageWriter) many(ctx context.Context, messages []engine.Message, format string) []byte {
	var b []byte
	if format == "json" {
		b = append(b, '[')
	}
	for i := range messages {
		m := &messages[i]
		switch format {
		case "json":
			if i > 0 {
				b = append(b, ",\n"...)
			}
			b = append(b, w.object(ctx, m)...)
		case "raw":
			b = append(append(b, w.one(ctx, m, format)...), '\n')
		case "hex":
			b = append(b, w.one(ctx, m, format)...)
		default:
			b = appendMessageText(b, m, w.env.location, w.charset)
		}
	}
	if format == "json" {
		b = append(b, "]\n"...)
	}
	return b
}

// detail lays a message out for reading. Foreign text is made safe, line by line.
func (w *messageWriter) detail(ctx context.Context, m *engine.Message) []byte {
	var b []byte
	line := func(name, format string, args ...any) {
		b = fmt.Appendf(b, "%-18s %s\n", name, draw.SafeText(fmt.Sprintf(format, args...)))
	}
	line("place", "%v offset %d, commit log offset %d", m.MessageQueue(), m.QueueOffset(), m.CommitLogOffset())
	if o := m.OriginalTopic(); o != m.Topic() {
		line("of topic", "%s", o)
	}
	line("message id", "%s", m.MessageID())
	line("offset message id", "%s", m.OffsetMessageID())
	line("stored", "%s by %v", w.env.timeText(m.Stored()), m.StoreHost())
	line("born", "%s at %v", w.env.timeText(m.Born()), m.BornHost())
	if d, ok := w.delay(ctx, m); ok {
		switch {
		case d.Due.IsZero():
			line("due", "unknown: %v", d.Why)
		case d.Parked:
			line("due", "%s, in %s", w.env.timeText(d.Due), d.Topic)
		default:
			line("was due", "%s", w.env.timeText(d.Due))
		}
	}
	line("tags", "%s", cmp.Or(m.Tags(), "–"))
	line("keys", "%s", cmp.Or(strings.Join(m.Keys(), " "), "–"))
	line("attempts", "%d", m.ReconsumeTimes())
	line("flags", "%d, system %#x", m.Flag(), int32(m.SysFlag()))
	shown := 0
	for name, value := range m.Properties {
		if shown++; shown > maxPropertiesShown {
			continue
		}
		line("property", "%s = %s", name, value)
	}
	if left := shown - maxPropertiesShown; left > 0 {
		line("", "… and %d more properties: -o json has them all", left)
	}
	d := message.Decode(m, message.DecoderAuto, w.charset)
	line("body", "%s, %d bytes", d.Reader(), d.Size)
	if d.Failed != "" {
		line("", "%s", d.Failed)
	}
	for text := range strings.Lines(d.Text) {
		b = append(append(b, draw.SafeText(strings.TrimRight(text, "\r\n"))...), '\n')
	}
	if d.Cut {
		line("…", "the rest is left out: -o raw and -o json give all of it")
	}
	return b
}

// maxPropertiesShown bounds the lines of a message's detail.
const maxPropertiesShown = 100
