package inspect

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"eyeq/engine/inspect/message"
	"eyeq/remoting"
)

// traceTopic is where producers and consumers that trace write to, unless they or their
// brokers were told another.
const traceTopic = "RMQ_SYS_TRACE_TOPIC"

// TracingOffError says that none of the topics in which traces are looked for is there.
type TracingOffError struct{ Topics []string }

func (e *TracingOffError) Error() string {
	return "tracing is not on: there is no topic " + strings.Join(e.Topics, " or ") +
		" (brokers make it with traceTopicEnable=true, clients write to it when their tracing is switched on)"
}

// TraceResult is what clients have traced of a message.
type TraceResult struct {
	Rows     []TraceRow // in the order of time
	Topics   []string   // that were searched
	Problems []Problem
}

// Trace gives what clients have traced of a message, by its id or a key of it, in a topic;
// "" is the one that they take by default and those that brokers name (msgTraceTopicName).
// A named topic that is not there is a *NotFoundError, none at all a *TracingOffError.
func (in *Inspector) Trace(ctx context.Context, idOrKey, topic string) (TraceResult, error) {
	s, err := in.survey(ctx)
	if err != nil {
		return TraceResult{}, err
	}
	r := in.round(s)
	wanted := []string{topic}
	if topic == "" {
		wanted = r.traceTopics(ctx)
	}
	var t TraceResult
	for _, name := range wanted {
		if s.topics[name] {
			t.Topics = append(t.Topics, name)
		}
	}
	switch {
	case len(t.Topics) > 0:
	case s.topicsErr != nil:
		return t, s.topicsErr
	case topic != "":
		return t, missing("topic", topic)
	default:
		return t, &TracingOffError{wanted}
	}
	found, _, problems := r.query(ctx, r.everywhere(t.Topics...), remoting.MessageQuery{Key: idOrKey})
	t.Problems = problems
	for i := range found {
		body, _ := message.Body(&found[i])
		t.Rows = append(t.Rows, parseTrace(string(body), idOrKey, found[i].BornHost().Addr().String())...)
	}
	joinTrace(t.Rows)
	slices.SortStableFunc(t.Rows, func(a, b TraceRow) int { return a.At.Compare(b.At) })
	return t, nil
}

// traceTopics are where traces are looked for when nobody says: the clients' own default,
// and what brokers are set to. One that does not tell its settings adds none.
func (r *round) traceTopics(ctx context.Context) []string {
	names := make([]string, len(r.survey.brokers))
	each(len(names), 0, func(i int) {
		settings, err := r.in.BrokerConfig(ctx, r.survey.brokers[i].addr)
		if err == nil {
			names[i] = settings["msgTraceTopicName"]
		}
	})
	topics := []string{traceTopic}
	for _, name := range names {
		if name != "" {
			topics = addOnce(topics, name)
		}
	}
	return topics
}

// What separates the records of a trace and their fields.
const (
	traceRecord = "\x02"
	traceField  = "\x01"
)

// parseTrace takes a trace's records of one message apart. A record tells the time at
// which its step began or, of SubAfter, at which it ended; one of other messages is
// left out.
func parseTrace(body, idOrKey, client string) (rows []TraceRow) {
	for record := range strings.SplitSeq(body, traceRecord) {
		f := traceFields(strings.Split(record, traceField))
		row := TraceRow{Kind: f.at(0), Client: client}
		switch row.Kind {
		case "Pub":
			if !f.names(idOrKey, 5, 7) {
				continue
			}
			row.At, row.Group, row.Cost = f.time(1), f.at(3), f.millis(10)
			row.Success = f.at(len(f)-1) == "true"
			if len(f) > 13 {
				row.Success = f.at(13) == "true"
			}
			row.Detail = "sent to " + f.at(4) + ", stored by " + f.at(8)
		case "SubBefore":
			if !f.names(idOrKey, 5, 7) {
				continue
			}
			row.At, row.Group, row.Success = f.time(1), f.at(3), true
			row.Attempt, row.request = f.number(6)+1, f.at(4)
			row.Detail = "given to the listener"
		case "SubAfter":
			if !f.names(idOrKey, 2, 5) {
				continue
			}
			row.Cost, row.Success = f.millis(3), f.at(4) == "true"
			row.At, row.Group, row.request = f.time(7), f.at(8), f.at(1)
			row.Detail = "the listener returned"
		case "EndTransaction":
			if !f.names(idOrKey, 5, 7) {
				continue
			}
			row.At, row.Group, row.Success = f.time(1), f.at(3), true
			row.Detail = strings.Join(f[min(len(f), 9):], " ")
		default:
			continue
		}
		rows = append(rows, row)
	}
	return rows
}

// joinTrace gives the ends of consumptions what only their beginnings say: which
// attempt it was and, of older clients, when and for whom.
func joinTrace(rows []TraceRow) {
	begun := map[string]*TraceRow{}
	for i := range rows {
		if rows[i].Kind == "SubBefore" {
			begun[rows[i].request] = &rows[i]
		}
	}
	for i := range rows {
		r := &rows[i]
		b := begun[r.request]
		if r.Kind != "SubAfter" || b == nil {
			continue
		}
		r.Attempt = b.Attempt
		if r.Group == "" {
			r.Group = b.Group
		}
		if r.At.IsZero() {
			r.At = b.At.Add(r.Cost)
		}
	}
}

// traceFields are the fields of a record; one that is not there is "".
type traceFields []string

func (f traceFields) at(i int) string {
	if i < 0 || i >= len(f) {
		return ""
	}
	return f[i]
}

// names reports whether the id field is the id, or the key field holds the key.
func (f traceFields) names(idOrKey string, id, keys int) bool {
	return f.at(id) == idOrKey || slices.Contains(strings.Fields(f.at(keys)), idOrKey)
}

func (f traceFields) number(i int) int {
	n, _ := strconv.ParseInt(f.at(i), 10, 32) // 0: it does not say
	return int(n)
}

func (f traceFields) time(i int) time.Time {
	ms, err := strconv.ParseInt(f.at(i), 10, 64)
	if err != nil || ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

func (f traceFields) millis(i int) time.Duration {
	ms, _ := strconv.ParseInt(f.at(i), 10, 32)
	return time.Duration(ms) * time.Millisecond
}
