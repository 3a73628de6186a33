package cli

import (
	"context"
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"eyeq/engine/inspect"
)

// messageTrackFlags are the flags of message track.
type messageTrackFlags struct {
	topic      string
	trace      bool
	traceTopic string
}

func newMessageTrack(e *env) *cobra.Command {
	f := &messageTrackFlags{}
	cmd := &cobra.Command{
		Use:   "track ID -t TOPIC",
		Short: "See what each group did with a message, as far as that can be told",
		Long: `Tells for each group that consumes the topic what it did with the message. All of it is inferred:
from the last copy of the message among the group's retries and dead letters (by its unique id), then
from the committed offset (beyond the message it says that it was passed, not that it was processed),
then from what the members say they hold. Tags are those that members subscribe to now; a filter by SQL
is not evaluated.

States:
  consumed                 the committed offset passed it, or its last retry
  consumed, not committed  a member has finished it; its commit waits for a message before it that is not
                           finished. A restart of the member delivers it again
  fetched                  a member has it, in its cache or its listener
  not consumed yet         it waits and nobody has fetched it; offline: and no member is online
  to be retried            a listener has refused it, and a copy waits; dead letter: and it was given up
  filtered, broadcasting, pull, unknown
                           a commit cannot tell: the tags leave it out, each member has its own offset, the
                           group pulls as it likes, or those who know do not say (with the reason)

BEHIND is how many messages the commit has to pass until it is beyond this one.

--trace shows what clients have traced of the message instead, where tracing is on: in RMQ_SYS_TRACE_TOPIC
and the topics that brokers are set to (msgTraceTopicName), or in the one that --trace-topic names.`,
		Example: `  eyeq message track 7F0000010DFC1EB2C6F6000000000001 -t orders
  eyeq message track 7F0000010DFC1EB2C6F6000000000001 -t orders --trace`,
		Args: oneName("message"),
	}
	e.topicFlag(cmd, &f.topic, "the message's topic")
	cmd.Flags().BoolVar(&f.trace, "trace", false, "what clients have traced instead")
	cmd.Flags().StringVar(&f.traceTopic, "trace-topic", "", "TOPIC into which the clients trace; implies --trace")
	_ = cmd.RegisterFlagCompletionFunc("trace-topic", e.completion(false, topicNames)) // fails for a flag that is not there only
	cmd.RunE = e.cobraRun(func(ctx context.Context, e *env, args []string) error { return runMessageTrack(ctx, e, f, args[0]) })
	return cmd
}

// trackJSON is one group of `message track`.
type trackJSON struct {
	Group      string  `json:"group"`
	State      string  `json:"state"`
	Inferred   bool    `json:"inferred"`
	Behind     int64   `json:"behind"`
	Passed     *bool   `json:"passed"` // the committed offset is beyond it; null: nothing is committed
	Detail     *string `json:"detail"`
	StateError string  `json:"state_error,omitempty"`
}

func runMessageTrack(ctx context.Context, e *env, f *messageTrackFlags, id string) error {
	format, err := e.format("table", "json")
	if err != nil {
		return err
	}
	f.trace = f.trace || f.traceTopic != ""
	if !f.trace {
		if err := checkID(id, f.topic); err != nil {
			return err
		}
	}
	x, err := e.inspection()
	if err != nil {
		return err
	}
	defer x.close()
	var out []byte
	if f.trace {
		out, err = x.traceOutput(ctx, e, id, f.traceTopic, format)
	} else {
		out, err = x.trackOutput(ctx, e, f.topic, id, format)
	}
	if err != nil {
		return err
	}
	return e.write(out)
}

func (x *inspection) trackOutput(ctx context.Context, e *env, topic, id, format string) ([]byte, error) {
	r, err := x.byID(ctx, topic, id)
	if err != nil {
		return nil, err
	}
	e.warn(r.Problems)
	m := x.meant(e, r.Messages, topic, id)
	tracks, err := x.Tracks(ctx, m)
	if unsure, ok := errors.AsType[*inspect.UnsureError](err); ok && len(tracks) > 0 {
		e.warn(unsure.Problems)
	} else if err != nil {
		return nil, explainMessage(err)
	}
	if len(tracks) == 0 {
		e.say("no group consumes %s, as far as its brokers say", m.Topic())
	}
	rows := make([]trackJSON, 0, len(tracks))
	for _, t := range tracks {
		row := trackJSON{Group: t.Group, State: string(t.State), Inferred: t.Inferred, Behind: t.Behind, Detail: namedOrNull(t.Detail)}
		if t.Committed {
			row.Passed = new(t.Passed)
		}
		if t.Why.Kind != inspect.ReasonNone {
			row.StateError = t.Why.String()
		}
		rows = append(rows, row)
	}
	if format == "json" {
		return marshal(rows)
	}
	table := [][]string{{"GROUP", "STATE (INFERRED)", "BEHIND", "DETAIL"}}
	for _, row := range rows {
		detail := row.StateError
		if row.Detail != nil {
			detail = *row.Detail
			if row.StateError != "" {
				detail += "; " + row.StateError
			}
		}
		table = append(table, []string{row.Group, row.State, strconv.FormatInt(row.Behind, 10), detail})
	}
	return appendTable(nil, "llrl", table), nil
}

// traceJSON is one record of `message track --trace`.
type traceJSON struct {
	Kind    string   `json:"kind"`
	Time    timeJSON `json:"time"`
	Group   string   `json:"group"`
	Client  string   `json:"client"`
	CostMS  int64    `json:"cost_ms"`
	Success bool     `json:"success"`
	Attempt *int     `json:"attempt"`
	Detail  string   `json:"detail"`
}

func (x *inspection) traceOutput(ctx context.Context, e *env, id, topic, format string) ([]byte, error) {
	t, err := x.Trace(ctx, id, topic)
	if isType[*inspect.TracingOffError](err) {
		return nil, &notFoundError{What: err.Error() + "; --trace-topic names another topic that clients trace into"}
	}
	if err != nil {
		return nil, explain(err)
	}
	if len(t.Rows) == 0 {
		nothing := "nothing is traced of " + id + " in " + listText(t.Topics, 4)
		if err := unasked(nothing+", as far as is known", t.Problems); err != nil {
			return nil, err
		}
		if topic == "" {
			nothing += "; where clients trace into a topic of their own, --trace-topic names it"
		}
		e.say("%s", nothing)
	}
	e.warn(t.Problems)
	rows := make([]traceJSON, 0, len(t.Rows))
	table := [][]string{{"TIME", "WHAT", "GROUP", "CLIENT", "MS", "OK", "ATTEMPT", "DETAIL"}}
	for _, t := range t.Rows {
		row := traceJSON{Kind: t.Kind, Time: timeJSON(t.At), Group: t.Group, Client: t.Client, CostMS: t.Cost.Milliseconds(), Success: t.Success, Detail: t.Detail}
		attempt, ok := "", "no"
		if t.Attempt > 0 {
			row.Attempt, attempt = new(t.Attempt), strconv.Itoa(t.Attempt)
		}
		if t.Success {
			ok = "yes"
		}
		rows = append(rows, row)
		table = append(table, []string{e.timeText(t.At), t.Kind, t.Group, t.Client, strconv.FormatInt(row.CostMS, 10), ok, attempt, t.Detail})
	}
	if format == "json" {
		return marshal(rows)
	}
	return appendTable(nil, "llllrlrl", table), nil
}
