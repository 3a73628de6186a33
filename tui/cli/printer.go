package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
	"eyeq/tui/draw"
	"eyeq/tui/words"
)

// printer turns messages, events and the summary of a run into lines.
type printer struct {
	env    *env
	group  string
	format string // json, text or none
	out    *lineWriter
	named  bool // text lines of events name the group, which nobody asked for by name
}

// message adds a message's line to s.
func (p *printer) message(s *scratch, m *engine.Message) {
	if p.format == "text" {
		s.buf = appendMessageText(s.buf, m, p.env.location, "")
		return
	}
	s.buf = s.append(s.buf, m)
}

func (p *printer) event(dst []byte, ev engine.Event) []byte {
	if p.format == "text" {
		dst = append(dst, words.EventLine(ev, p.env.location)...)
		if p.named {
			dst = append(append(dst, "  group "...), draw.SafeText(p.group)...)
		}
		return append(dst, '\n')
	}
	return appendEvent(dst, ev, p.group)
}

func (p *printer) summary(s summary) {
	if p.format == "text" {
		p.out.add([]byte(s.String() + "\n"))
		return
	}
	line, err := marshal(s)
	if err != nil {
		panic(err) // a struct of numbers and texts
	}
	p.out.add(line)
}

// watch prints the events until the engine has ended, or tells on standard error
// those that an operator must know. It stops the run when it cannot print. also gets
// all of them too.
func (p *printer) watch(ctx context.Context, sub *engine.EventSubscription, print bool, stop func(error), also func([]engine.Event)) {
	if print {
		p.watchAll(ctx, sub, stop, also)
		return
	}
	var missing notices
	for ended := false; !ended; {
		events, _, err := sub.Next(ctx)
		also(events)
		for _, ev := range events {
			if text := missing.of(ev, p.env.location); text != "" {
				p.env.say("%s", text)
			}
		}
		ended = err != nil
	}
}

// watchAll prints every event until the engine has ended; also, when it is not
// nil, gets them too.
func (p *printer) watchAll(ctx context.Context, sub *engine.EventSubscription, stop func(error), also func([]engine.Event)) {
	var buf []byte
	for ended := false; !ended; {
		events, dropped, err := sub.Next(ctx)
		ended = err != nil
		buf = buf[:0]
		if dropped > 0 {
			buf = p.dropped(buf, dropped)
		}
		for _, ev := range events {
			buf = p.event(buf, ev)
		}
		if also != nil {
			also(events)
		}
		if len(buf) == 0 {
			continue
		}
		f := p.out.add(buf)
		if <-f.done; f.err != nil {
			stop(&outputError{Err: f.err})
		}
	}
}

// dropped says that events are missing at this place.
func (p *printer) dropped(dst []byte, n int64) []byte {
	if p.format == "text" {
		return fmt.Appendf(dst, "%s missing here: they came faster than they could be printed\n", inspect.Plurals(int64(n), "event is", "events are"))
	}
	dst = append(dst, `{"kind":"event","time":`...)
	dst = appendJSONTime(dst, p.env.now())
	dst = append(dst, `,"event":"events_dropped","group":`...)
	dst = appendJSONString(dst, p.group)
	dst = appendIntField(dst, `,"dropped":`, n)
	return append(dst, "}\n"...)
}

// notices picks the events that a headless run tells on standard error.
type notices struct {
	missing map[string]bool                // topics that were told to be waited for
	added   map[engine.MessageQueue]string // why a queue could not be taken, as told last
	refused map[refusal]bool               // pulls that brokers refuse, as told
	locks   map[string]string              // why a broker grants no locks, as told last
}

// refusal is what a broker answers to the pulls of a topic; its queues have it at once.
type refusal struct {
	topic, broker string
	code          int32
}

// of gives the sentence for an event, "" for one that is not told.
func (n *notices) of(ev engine.Event, loc *time.Location) string {
	switch ev := ev.(type) {
	case engine.RouteMissing:
		if n.missing == nil {
			n.missing = map[string]bool{}
		}
		if !strings.HasPrefix(ev.Topic, protocol.RetryTopicPrefix) { // that one comes with the first heartbeat
			n.missing[ev.Topic] = true // told by awaitTopics
		}
		return ""
	case engine.RouteChanged:
		if n.missing[ev.Topic] {
			delete(n.missing, ev.Topic)
			return fmt.Sprintf("topic %s is there now, with %s", draw.SafeText(ev.Topic), inspect.Plural(ev.ReadQueues, "queue"))
		}
		return ""
	case engine.BrokerOnline:
		if ev.DurationMS == 0 {
			return "" // the first contact
		}
		return words.EventLine(ev, loc)
	case engine.QueueAddFailed:
		if ev.Cause == "lock" || n.added[ev.MQ] == ev.Error {
			return ""
		}
		if n.added == nil {
			n.added = map[engine.MessageQueue]string{}
		}
		n.added[ev.MQ] = ev.Error // told once, although it is tried each second
		return words.EventLine(ev, loc)
	case engine.LockRequestFailed:
		if n.locks[ev.Broker] == ev.Error {
			return ""
		}
		if n.locks == nil {
			n.locks = map[string]string{}
		}
		n.locks[ev.Broker] = ev.Error // asked for each second
		return words.EventLine(ev, loc)
	case engine.LockGained:
		delete(n.locks, ev.MQ.BrokerName)
		return ""
	case engine.RebalanceSkipped: // told once a cause; the others pass by themselves
		if ev.Cause != "no members" && ev.Cause != "strategy error" || strings.HasPrefix(ev.Topic, protocol.RetryTopicPrefix) {
			return ""
		}
		return words.EventLine(ev, loc)
	case engine.PullError:
		r := refusal{ev.MQ.Topic, ev.MQ.BrokerName, ev.Code}
		if ev.Code == 0 || n.refused[r] { // without an answer the broker is told as offline
			return ""
		}
		if n.refused == nil {
			n.refused = map[refusal]bool{}
		}
		n.refused[r] = true
		return words.EventLine(ev, loc)
	case engine.PullRecovered:
		told := false
		for r := range n.refused {
			if r.topic == ev.MQ.Topic && r.broker == ev.MQ.BrokerName {
				delete(n.refused, r)
				told = true
			}
		}
		if !told {
			return ""
		}
		return words.EventLine(ev, loc)
	case engine.NamesrvUnreachable, engine.NamesrvRecovered, engine.BrokerOffline, engine.OffsetIllegal, engine.MessagesExpired, engine.PullRegressed,
		engine.OffsetPersistFailed, engine.SendBackFailed, engine.MessageUndecodable,
		engine.ClientIDShared, engine.ClientIDAlone, engine.StartAtFirst:
		return words.EventLine(ev, loc)
	case engine.ShutdownStep:
		if ev.Error != "" {
			return words.EventLine(ev, loc)
		}
	}
	return ""
}
