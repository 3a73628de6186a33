package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
	"eyeq/tui/cli/config"
)

// lagFlags choose and order the queues of `group lag`.
type lagFlags struct {
	reading
	topics  []string
	sort    string
	waiting bool
	samples []inspect.LagSample // of --watch
}

func newGroupLag(e *env) *cobra.Command {
	f := &lagFlags{}
	cmd := &cobra.Command{
		Use:   "lag GROUP",
		Short: "How far a group is behind, queue by queue (-o table|json)",
		Long: `Shows each queue of a group: its bounds, what is committed, what waits, how old the next message
is and when it will be deleted, and which member holds it. Offsets are those at the brokers: a
member commits every five seconds. Where nothing is committed, or messages have expired before they
were consumed, LAG counts from the queue's first message. A negative LAG is a committed offset
behind the queue's end; it is left out of the sum. Of what members get by POP, LAG is what nobody has
popped yet: brokers do not tell what is popped and not acknowledged, so that number is the members'.

With --watch the rates and the time until all is consumed are computed from what was seen.`,
		Example: `  eyeq group lag orders-worker
  eyeq group lag orders-worker -t orders --sort lag --waiting
  eyeq group lag orders-worker -o json | jq .total_lag`,
	}
	fl := cmd.Flags()
	fl.StringArrayVarP(&f.topics, "topic", "t", nil, "only this topic; repeatable")
	fl.StringVar(&f.sort, "sort", "queue", "queue, lag or age")
	fl.BoolVar(&f.waiting, "waiting", false, "only queues with something to consume, or of which that is not known")
	e.completeFlag(cmd, "sort", lagOrders...)
	f.check = func() error {
		if !slices.Contains(lagOrders, f.sort) {
			return usagef("--sort %q: must be %s", f.sort, config.OrList(lagOrders))
		}
		return nil
	}
	e.groupReader(cmd, &f.reading, func(ctx context.Context, x *inspection, group, format string) ([]byte, error) {
		return f.lag(ctx, e, x, group, format)
	})
	return cmd
}

var lagOrders = []string{"queue", "lag", "age"}

func (f *lagFlags) lag(ctx context.Context, e *env, x *inspection, group, format string) ([]byte, error) {
	l, err := x.LagExact(ctx, group)
	if err != nil {
		return nil, err
	}
	if l.State == inspect.StateUnreachable || l.State == inspect.StateDenied {
		if err := unanswered("group "+group, l.Members.Why); err != nil {
			return nil, err
		}
	}
	e.warn(l.Problems)
	var trend inspect.Trend
	if f.watch > 0 {
		f.samples = inspect.KeepSamples(append(f.samples, inspect.SampleOf(&l)))
		trend = inspect.TrendOf(f.samples)
	}
	var reads []string
	for i := range l.Queues {
		if topic := l.Queues[i].Topic; !slices.Contains(reads, topic) {
			reads = append(reads, topic)
		}
	}
	for _, topic := range f.topics {
		if !slices.Contains(reads, topic) {
			return nil, notAmong(fmt.Sprintf("group %q reads no topic %q%s", group, topic, thereIs("it reads", reads)), l.Problems)
		}
	}
	l.Queues = slices.DeleteFunc(l.Queues, func(q inspect.QueueLag) bool {
		return f.waiting && q.Lag.Known && q.Lag.Value == 0 || len(f.topics) > 0 && !slices.Contains(f.topics, q.Topic)
	})
	f.order(l.Queues)
	if format == "json" {
		j := lagJSONOf(&l)
		if f.watch > 0 {
			j.Trend = trendJSONOf(trend)
		}
		return marshal(j)
	}
	return f.table(e, &l, trend), nil
}

func (f *lagFlags) order(queues []inspect.QueueLag) {
	switch f.sort {
	case "lag":
		slices.SortStableFunc(queues, func(a, b inspect.QueueLag) int { return cmp.Compare(unknownFirst(b.Lag), unknownFirst(a.Lag)) })
	case "age":
		slices.SortStableFunc(queues, func(a, b inspect.QueueLag) int {
			if a.NextStored.IsZero() != b.NextStored.IsZero() {
				return cmp.Compare(unknownAge(a), unknownAge(b))
			}
			return a.NextStored.Compare(b.NextStored)
		})
	}
}

func unknownAge(q inspect.QueueLag) int {
	if q.NextStored.IsZero() {
		return 1
	}
	return 0
}

// lagJSON is `group lag`.
type lagJSON struct {
	Group        string  `json:"group"`
	State        string  `json:"state"`
	MessageModel *string `json:"message_model"`
	ModelError   string  `json:"message_model_error,omitempty"`
	Members      *int64  `json:"members"`
	MembersError string  `json:"members_error,omitempty"`
	Paused       bool    `json:"paused"`
	waitingJSON
	Ahead         int64            `json:"ahead"`
	UnknownQueues int              `json:"unknown_queues"`
	UnknownTopics []string         `json:"unknown_topics"`
	Filtered      bool             `json:"filtered"`
	ConsumeTPS    float64          `json:"consume_tps"`
	Pop           *popLagJSON      `json:"pop,omitempty"`
	Trend         *trendJSON       `json:"trend,omitempty"`
	Queues        []queueLagJSON   `json:"queues"`
	Unreadable    []unreadableJSON `json:"unreadable,omitempty"`
	Problems      []string         `json:"problems"`
}

// unreadableJSON is a queue that nobody can read; what lies there is in no lag.
type unreadableJSON struct {
	Topic     string `json:"topic"`
	Broker    string `json:"broker"`
	Queue     int32  `json:"queue"`
	MinOffset *int64 `json:"min_offset"`
	MinError  string `json:"min_offset_error,omitempty"`
	MaxOffset *int64 `json:"max_offset"`
	MaxError  string `json:"max_offset_error,omitempty"`
	Closed    string `json:"closed"`
}

type queueLagJSON struct {
	Topic           string   `json:"topic"`
	Broker          string   `json:"broker"`
	Queue           int32    `json:"queue"`
	Retry           bool     `json:"retry"`
	Pop             bool     `json:"pop"`
	MinOffset       *int64   `json:"min_offset"`
	MinError        string   `json:"min_offset_error,omitempty"`
	MaxOffset       *int64   `json:"max_offset"`
	MaxError        string   `json:"max_offset_error,omitempty"`
	CommittedOffset *int64   `json:"committed_offset"`
	CommittedError  string   `json:"committed_offset_error,omitempty"`
	Lag             *int64   `json:"lag"`
	LagError        string   `json:"lag_error,omitempty"`
	PulledOffset    *int64   `json:"pulled_offset"`
	PulledError     string   `json:"pulled_offset_error,omitempty"`
	Inflight        *int64   `json:"inflight"`
	InflightError   string   `json:"inflight_error,omitempty"`
	Expired         int64    `json:"expired"`
	ClientID        *string  `json:"client_id"`
	ClientIDError   string   `json:"client_id_error,omitempty"`
	Owners          []string `json:"owners"`
	LastConsumed    timeJSON `json:"last_consumed"`
	NextStored      timeJSON `json:"next_stored"`
	NextError       string   `json:"next_stored_error,omitempty"`
	ExpiresAt       timeJSON `json:"expires_at"`
}

type trendJSON struct {
	Word         string   `json:"word"`
	ConsumeRate  *float64 `json:"consume_rate"`
	ProduceRate  *float64 `json:"produce_rate"`
	CatchUpMilli *int64   `json:"catch_up_ms"`
}

func lagJSONOf(l *inspect.GroupLag) *lagJSON {
	j := &lagJSON{
		Group: l.Group, State: l.State, MessageModel: modelJSON(l.Model), Paused: len(l.Pause.Brokers) > 0, Ahead: l.Ahead,
		UnknownQueues: l.UnknownQueues, UnknownTopics: emptyList(l.UnknownTopics), Filtered: l.Filtered, ConsumeTPS: l.ConsumeTPS,
		Queues: make([]queueLagJSON, len(l.Queues)), Problems: problemsJSON(l.Problems), Pop: popLagJSONOf(l.Pop),
		waitingJSON: waitingOf(l.Lag, l.RetryLag, l.DeadLetters),
	}
	j.Members, j.MembersError = numberJSON(l.Members)
	j.ModelError = unsaid(j.MessageModel, l.Members)
	for i := range l.Unreadable {
		u := &l.Unreadable[i]
		one := unreadableJSON{Topic: u.Topic, Broker: u.BrokerName, Queue: u.QueueID, Closed: u.Why()}
		one.MinOffset, one.MinError = numberJSON(u.Min)
		one.MaxOffset, one.MaxError = numberJSON(u.Max)
		j.Unreadable = append(j.Unreadable, one)
	}
	for i := range l.Queues {
		q := &l.Queues[i]
		o := &j.Queues[i]
		*o = queueLagJSON{
			Topic: q.Topic, Broker: q.BrokerName, Queue: q.QueueID, Retry: q.Retry, Pop: q.Pop, Expired: q.Expired, Owners: emptyList(q.Owners),
			LastConsumed: timeJSON(q.LastConsumed), NextStored: timeJSON(q.NextStored), NextError: q.NextWhy.String(), ExpiresAt: timeJSON(q.ExpiresAt),
		}
		o.MinOffset, o.MinError = numberJSON(q.Min)
		o.MaxOffset, o.MaxError = numberJSON(q.Max)
		o.CommittedOffset, o.CommittedError = numberJSON(q.Committed)
		o.Lag, o.LagError = numberJSON(q.Lag)
		o.PulledOffset, o.PulledError = numberJSON(q.Pulled)
		o.Inflight, o.InflightError = numberJSON(q.Inflight)
		o.ClientID, o.ClientIDError = ownerJSON(q)
	}
	return j
}

// ownerJSON is the one member that holds a queue, or why there is not one.
func ownerJSON(q *inspect.QueueLag) (*string, string) {
	switch {
	case len(q.Owners) == 1:
		return &q.Owners[0], q.OwnersWhy.String()
	case q.Pop && len(q.Owners) > 1:
		return nil, fmt.Sprintf("popped by %d members", len(q.Owners))
	case len(q.Owners) > 1:
		return nil, fmt.Sprintf("%d owners", len(q.Owners))
	case q.OwnersWhy.Kind != inspect.ReasonNone:
		return nil, q.OwnersWhy.String()
	}
	return nil, "unowned"
}

func trendJSONOf(t inspect.Trend) *trendJSON {
	j := &trendJSON{Word: t.Word}
	if t.Known {
		j.ConsumeRate, j.ProduceRate = &t.Consumed, &t.Produced
	}
	if t.CatchUp > 0 {
		ms := t.CatchUp.Milliseconds()
		j.CatchUpMilli = &ms
	}
	return j
}

func (f *lagFlags) table(e *env, l *inspect.GroupLag, trend inspect.Trend) []byte {
	out := headLine("%s: %s", l.Group, strings.Join(lagSummary(l), ", "))
	if f.watch > 0 {
		out = append(out, headLine("%s", trend)...)
	}
	if l.Filtered {
		out = append(out, "members read some tags only: LAG counts the others' messages too\n"...)
	}
	for _, text := range l.UnreadableTexts() {
		out = append(out, headLine("%s", text)...)
	}
	if l.Pop != nil {
		out = append(out, headLine("%s", popLagText(l.Pop))...)
	}
	now := e.now()
	rows := [][]string{{"TOPIC", "BROKER", "QUEUE", "MIN", "COMMITTED", "MAX", "LAG", "INFLIGHT", "NEXT AGE", "EXPIRES IN", "CONSUMED UP TO", "CLIENT ID"}}
	for i := range l.Queues {
		q := &l.Queues[i]
		lag := numberText(q.Lag)
		if q.Expired > 0 {
			lag += fmt.Sprintf(" (+%d expired)", q.Expired)
		}
		expires := ""
		if !q.ExpiresAt.IsZero() {
			expires = inspect.Span(q.ExpiresAt.Sub(now))
		}
		rows = append(rows, []string{
			q.Topic, q.BrokerName, strconv.Itoa(int(q.QueueID)), numberText(q.Min), numberText(q.Committed), numberText(q.Max), lag,
			numberText(q.Inflight), ageText(q.NextStored, now), expires, e.timeText(q.LastConsumed), ownerText(q, l.Model),
		})
	}
	return appendTable(out, "llrrrrrrrrll", rows)
}

// lagSummary is a group's lag in words.
func lagSummary(l *inspect.GroupLag) []string {
	parts := []string{l.State, "lag " + lagText(l.Lag, l.UnknownQueues)}
	if l.Ahead > 0 {
		parts = append(parts, fmt.Sprintf("ahead by %d (topic created anew?)", l.Ahead))
	}
	parts = append(parts, "retry "+numberText(l.RetryLag), "dead letters "+numberText(l.DeadLetters))
	members := numberText(l.Members) + " members"
	if l.Members == inspect.Exact(1) {
		members = "1 member"
	}
	return append(parts, members, fmt.Sprintf("%.1f/s", l.ConsumeTPS))
}

func ownerText(q *inspect.QueueLag, model protocol.MessageModel) string {
	switch {
	case model == protocol.Broadcasting && len(q.Owners) > 0:
		return "each of " + strconv.Itoa(len(q.Owners))
	case q.Pop && len(q.Owners) > 1:
		return "popped by " + strings.Join(q.Owners, ", ")
	case len(q.Owners) > 1:
		return "TWO OWNERS: " + strings.Join(q.Owners, ", ")
	case len(q.Owners) == 1:
		return q.Owners[0]
	case q.OwnersWhy.Kind == inspect.ReasonOffline:
		return ""
	case q.OwnersWhy.Kind != inspect.ReasonNone:
		return textUnknown + " " + q.OwnersWhy.String()
	}
	return "unowned"
}
