package tui

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/tui/draw"
)

// severity of an event, for the sign before it and the e/E keys.
type severity uint8

const (
	info severity = iota
	notice
	warning
	failure
)

// sign is what stands before an event of this severity: colour is not enough.
func (s severity) sign() string { return [...]string{" ", " ", "!", "✗"}[s] }

// eventRow is an event behind the door: its texts are safe to print.
type eventRow struct {
	seq   uint64
	event engine.Event // for details only; never printed as it is
	at    time.Time
	mq    engine.MessageQueue // true name; zero without a queue
	name  string              // flow_begin
	kind  string              // FLOW, REBAL, OPER, …: the feed's first word
	cause string              // the feed's second word; folds with queue and kind
	topic string
	queue string // "broker-a/3", or what the event is about instead
	text  string
	sev   severity
	feed  bool // worth a line in the live feed
	// reason is why a pull failed, without its queue: the feed folds by it.
	reason string
}

// EventLine is one event as one line of text, foreign text made safe: for --plain
// and for headless text output. Times are in loc.
func EventLine(e engine.Event, loc *time.Location) string {
	r := describe(e)
	name := r.name
	if back, ok := e.(engine.SentBack); ok && back.Target == "dlq" {
		name += " (dead letter)" // the name alone, which scripts know, reads as the opposite
	}
	line := r.at.In(loc).Format("2006-01-02 15:04:05.000Z07:00") + " " + r.sev.sign() + " " + name
	if r.topic != "" {
		line += "  " + r.topic
	}
	if r.queue != "" {
		line += "  " + r.queue
	}
	if r.text != "" {
		line += "  " + r.text
	}
	return line
}

// IsFailure reports whether an event tells of something that went wrong.
func IsFailure(e engine.Event) bool { return describe(e).sev == failure }

// describe lets an event in: what it is, how bad, and one line about it. Each family of
// events has a method that fills the row in and says whether the event is one of it; an
// event of none is shown by its fields.
func describe(e engine.Event) eventRow {
	r := eventRow{event: e, at: e.When(), name: e.EventName()}
	if mq, ok := e.About(); ok {
		r.mq = mq
		r.topic, r.queue = draw.SafeText(mq.Topic), draw.SafeText(mq.Short())
	}
	switch {
	case r.describeFlow(e), r.describeCluster(e), r.describeGroup(e), r.describeQueue(e), r.describeOffset(e),
		r.describeMessage(e), r.describeOperator(e), r.describeWatch(e):
	default:
		r.kind = "EVENT"
		r.text = strings.Join(fieldsOf(e), "  ")
	}
	r.cause, r.text, r.queue, r.topic, r.reason = draw.SafeText(r.cause), draw.SafeText(r.text), draw.SafeText(r.queue), draw.SafeText(r.topic), draw.SafeText(r.reason)
	return r
}

// say fills in what an event is and how bad; true, since it is described then.
func (r *eventRow) say(kind, cause string, sev severity, feed bool, format string, args ...any) bool {
	r.kind, r.cause, r.sev, r.feed = kind, cause, sev, feed
	r.text = strings.TrimSpace(fmt.Sprintf(format, args...))
	return true
}

// ms is a length of time in milliseconds, as events have it.
func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// msFloat is ms of parts of milliseconds.
func msFloat(f float64) time.Duration { return time.Duration(f * float64(time.Millisecond)) }

// because adds an error or reason where there is one.
func because(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// worse is sev, or a failure when there is an error text.
func worse(err string, sev severity) severity {
	if err != "" {
		return failure
	}
	return sev
}

// fieldsOf lists an event's own fields as name=value, by their JSON names.
func fieldsOf(e engine.Event) []string {
	v := reflect.Indirect(reflect.ValueOf(e))
	if v.Kind() != reflect.Struct {
		return nil
	}
	var fields []string
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if name == "" || name == "-" || !v.Type().Field(i).IsExported() {
			continue
		}
		fields = append(fields, draw.SafeText(fmt.Sprintf("%s=%v", name, v.Field(i).Interface())))
	}
	return fields
}
