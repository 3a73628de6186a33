package words

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/tui/draw"
)

// Severity of an event, for the sign before it and the e/E keys.
type Severity uint8

const (
	Info Severity = iota
	Notice
	Warning
	Failure
)

// Sign is what stands before an event of this severity: colour is not enough.
func (s Severity) Sign() string { return [...]string{" ", " ", "!", "✗"}[s] }

// EventRow is an event behind the door: its texts are safe to print.
type EventRow struct {
	Seq   uint64
	Event engine.Event // for details only; never printed as it is
	At    time.Time
	MQ    engine.MessageQueue // true name; zero without a queue
	Name  string              // flow_begin
	Kind  string              // FLOW, REBAL, OPER, …: the feed's first word
	Cause string              // the feed's second word; folds with queue and kind
	Topic string
	Queue string // "broker-a/3", or what the event is about instead
	Text  string
	Sev   Severity
	Feed  bool // worth a line in the live feed
	// Reason is why a pull failed, without its queue: the feed folds by it.
	Reason string
}

// EventLine is one event as one line of text, foreign text made safe: for --plain
// and for headless text output. Times are in loc.
func EventLine(e engine.Event, loc *time.Location) string {
	r := Describe(e)
	name := r.Name
	if back, ok := e.(engine.SentBack); ok && back.Target == "dlq" {
		name += " (dead letter)" // the name alone, which scripts know, reads as the opposite
	}
	line := r.At.In(loc).Format("2006-01-02 15:04:05.000Z07:00") + " " + r.Sev.Sign() + " " + name
	if r.Topic != "" {
		line += "  " + r.Topic
	}
	if r.Queue != "" {
		line += "  " + r.Queue
	}
	if r.Text != "" {
		line += "  " + r.Text
	}
	return line
}

// IsFailure reports whether an event tells of something that went wrong.
func IsFailure(e engine.Event) bool { return Describe(e).Sev == Failure }

// Describe lets an event in: what it is, how bad, and one line about it. Each family of
// events has a method that fills the row in and says whether the event is one of it; an
// event of none is shown by its fields.
func Describe(e engine.Event) EventRow {
	r := EventRow{Event: e, At: e.When(), Name: e.EventName()}
	if mq, ok := e.About(); ok {
		r.MQ = mq
		r.Topic, r.Queue = draw.SafeText(mq.Topic), draw.SafeText(mq.Short())
	}
	switch {
	case r.describeFlow(e), r.describeCluster(e), r.describeGroup(e), r.describeQueue(e), r.describeOffset(e),
		r.describeMessage(e), r.describeOperator(e), r.describeWatch(e):
	default:
		r.Kind = "EVENT"
		r.Text = strings.Join(FieldsOf(e), "  ")
	}
	r.Cause, r.Text, r.Queue, r.Topic, r.Reason = draw.SafeText(r.Cause), draw.SafeText(r.Text), draw.SafeText(r.Queue), draw.SafeText(r.Topic), draw.SafeText(r.Reason)
	return r
}

// say fills in what an event is and how bad; true, since it is described then.
func (r *EventRow) say(kind, cause string, sev Severity, feed bool, format string, args ...any) bool {
	r.Kind, r.Cause, r.Sev, r.Feed = kind, cause, sev, feed
	r.Text = strings.TrimSpace(fmt.Sprintf(format, args...))
	return true
}

// ms is a length of time in milliseconds, as events have it.
func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// msFloat is ms of parts of milliseconds.
func msFloat(f float64) time.Duration { return time.Duration(f * float64(time.Millisecond)) }

// Because adds an error or reason where there is one.
func Because(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// worse is sev, or a failure when there is an error text.
func worse(err string, sev Severity) Severity {
	if err != "" {
		return Failure
	}
	return sev
}

// FieldsOf lists an event's own fields as name=value, by their JSON names.
func FieldsOf(e engine.Event) []string {
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
