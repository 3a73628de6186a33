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
	"eyeq/tui/cli/config"
)

// newTopic is the commands about topics.
func newTopic(e *env) *cobra.Command {
	return family("topic", "Topics: queues, bounds, and who consumes them",
		newTopicList(e), newTopicShow(e), newTopicCreate(e), newTopicDelete(e))
}

// topicRowJSON is one topic of `topic list`.
type topicRowJSON struct {
	Topic       string   `json:"topic"`
	Type        *string  `json:"type"`
	Static      bool     `json:"static"`
	Perm        *string  `json:"perm"`
	Brokers     []string `json:"brokers"`
	QueueCount  int      `json:"queue_count"`
	Stored      *int64   `json:"stored"`
	StoredError string   `json:"stored_error,omitempty"`
	LastStored  timeJSON `json:"last_stored"`
	System      bool     `json:"system"`
	Retry       bool     `json:"retry"`
	Dead        bool     `json:"dead_letters"`
	Problems    []string `json:"problems"`
}

func topicRowOf(r *inspect.TopicRow) topicRowJSON {
	j := topicRowJSON{
		Topic: r.Topic, Type: namedOrNull(r.Type), Static: r.Static, Perm: namedOrNull(r.Perm), Brokers: emptyList(r.Brokers), QueueCount: r.Queues,
		LastStored: timeJSON(r.LastStored), System: r.System, Retry: r.Retry, Dead: r.Dead, Problems: problemsJSON(r.Problems),
	}
	j.Stored, j.StoredError = numberJSON(r.Stored)
	return j
}

// topicListFlags choose and order the topics of a list.
type topicListFlags struct {
	reading
	filter, sort         string
	system, retry, names bool
}

func newTopicList(e *env) *cobra.Command {
	f := &topicListFlags{}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "All topics, with queues, permissions and what is stored (-o table|json)",
		Long: `Lists the topics that the name servers know. STORED is how many messages the brokers keep: the
sum of each queue's end minus its beginning. TYPE is what a 5.x broker says the topic is for.`,
		Example: `  eyeq topic list --filter orders
  eyeq topic list --sort stored -o json`,
		Args: noArgs,
	}
	fl := cmd.Flags()
	fl.StringVar(&f.filter, "filter", "", "only topics with this text in their name, in any case")
	fl.StringVar(&f.sort, "sort", "name", "name, stored, last or queues")
	fl.BoolVar(&f.system, "system", false, "RocketMQ's own topics too")
	fl.BoolVar(&f.retry, "retry", false, "retry and dead-letter topics too")
	fl.BoolVar(&f.names, "names", false, "only the names, which takes one question")
	f.register(fl)
	e.completeFlag(cmd, "sort", topicOrders...)
	cmd.RunE = e.cobraRun(func(ctx context.Context, e *env, _ []string) error {
		switch {
		case !slices.Contains(topicOrders, f.sort):
			return usagef("--sort %q: must be %s", f.sort, config.OrList(topicOrders))
		case f.names && f.sort != "name":
			return usagef("--names asks for nothing but the names: leave out --sort")
		}
		return f.run(ctx, e, cmd, func(ctx context.Context, x *inspection, format string) ([]byte, error) {
			return f.list(ctx, e, x, format)
		})
	})
	return cmd
}

var topicOrders = []string{"name", "stored", "last", "queues"}

func (f *topicListFlags) list(ctx context.Context, e *env, x *inspection, format string) ([]byte, error) {
	list, err := x.Topics(ctx)
	if err != nil {
		return nil, err
	}
	e.warn(list.Problems)
	var names []string
	for _, t := range list.Topics {
		if (f.system || !t.System) && (f.retry || !t.Retry && !t.Dead) && contains(t.Topic, f.filter) {
			names = append(names, t.Topic)
		}
	}
	if f.names {
		return namesOutput(names, "topic", format)
	}
	rows := x.TopicRows(ctx, names)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var problems []inspect.Problem
	for i := range rows {
		problems = append(problems, rows[i].Problems...)
	}
	e.warn(onceEach(problems))
	slices.SortStableFunc(rows, topicOrder(f.sort))
	if format == "json" {
		return marshalEach(rows, topicRowOf)
	}
	table := [][]string{{"TOPIC", "TYPE", "PERM", "QUEUES", "STORED", "LAST STORED", "BROKERS"}}
	for i := range rows {
		r := &rows[i]
		table = append(table, []string{
			r.Topic, cmp.Or(r.TypeText(), "-"), r.Perm, strconv.Itoa(r.Queues), numberText(r.Stored), e.timeText(r.LastStored), listText(r.Brokers, 4),
		})
	}
	return appendTable(nil, "lllrrll", table), nil
}

func topicOrder(by string) func(a, b inspect.TopicRow) int {
	name := func(a, b inspect.TopicRow) int { return cmp.Compare(a.Topic, b.Topic) }
	switch by {
	case "stored":
		return func(a, b inspect.TopicRow) int {
			return cmp.Or(cmp.Compare(unknownFirst(b.Stored), unknownFirst(a.Stored)), name(a, b))
		}
	case "last":
		return func(a, b inspect.TopicRow) int { return cmp.Or(b.LastStored.Compare(a.LastStored), name(a, b)) }
	case "queues":
		return func(a, b inspect.TopicRow) int { return cmp.Or(cmp.Compare(b.Queues, a.Queues), name(a, b)) }
	}
	return name
}

func newTopicShow(e *env) *cobra.Command {
	r := &reading{}
	cmd := &cobra.Command{
		Use:   "show TOPIC",
		Short: "A topic's queues and bounds, where it lives, and the groups that consume it (-o table|json)",
		Long: `Shows each queue of a topic with its bounds and when its first and last messages were stored, the
brokers with their queue counts and permissions, its attributes, and the groups that consume it:
those that are online on it or have committed offsets there.`,
		Example: `  eyeq topic show orders
  eyeq topic show '%DLQ%orders-worker' -o json`,
		Args:              oneTopic(0),
		ValidArgsFunction: e.completion(true, topicNames),
	}
	r.register(cmd.Flags())
	cmd.RunE = e.cobraRun(func(ctx context.Context, e *env, args []string) error {
		return r.run(ctx, e, cmd, func(ctx context.Context, x *inspection, format string) ([]byte, error) {
			d, err := x.Topic(ctx, args[0])
			if err != nil {
				return nil, err
			}
			e.warn(d.Row.Problems)
			if format == "json" {
				return marshal(topicDetailOf(&d))
			}
			return topicDetailTable(e, &d), nil
		})
	})
	return cmd
}

// topicDetailJSON is `topic show`.
type topicDetailJSON struct {
	topicRowJSON
	Queues      []topicQueueJSON  `json:"queues"`
	Groups      []string          `json:"groups"`
	GroupsError string            `json:"groups_error,omitempty"`
	Attributes  map[string]string `json:"attributes"`
	Route       []topicRouteJSON  `json:"route"`
}

type topicQueueJSON struct {
	Broker      string   `json:"broker"`
	Queue       int32    `json:"queue"`
	MinOffset   *int64   `json:"min_offset"`
	MinError    string   `json:"min_offset_error,omitempty"`
	MaxOffset   *int64   `json:"max_offset"`
	MaxError    string   `json:"max_offset_error,omitempty"`
	FirstStored timeJSON `json:"first_stored"`
	LastStored  timeJSON `json:"last_stored"`
	Closed      string   `json:"closed,omitempty"` // why nobody can read it
}

type topicRouteJSON struct {
	Broker       string           `json:"broker"`
	Addresses    map[int64]string `json:"addresses"` // by broker id
	ReadQueues   int32            `json:"read_queues"`
	WriteQueues  int32            `json:"write_queues"`
	Perm         string           `json:"perm"`
	TopicSysFlag int32            `json:"topic_sys_flag"`
}

func topicDetailOf(d *inspect.TopicDetail) *topicDetailJSON {
	j := &topicDetailJSON{
		topicRowJSON: topicRowOf(&d.Row), Queues: []topicQueueJSON{}, Route: []topicRouteJSON{},
		Groups: emptyList(d.Groups), GroupsError: d.GroupsWhy.String(), Attributes: d.Attributes,
	}
	for i := range d.Queues {
		q := &d.Queues[i]
		one := topicQueueJSON{Broker: q.BrokerName, Queue: q.QueueID, FirstStored: timeJSON(q.FirstStored), LastStored: timeJSON(q.LastStored), Closed: q.Closed}
		one.MinOffset, one.MinError = numberJSON(q.Min)
		one.MaxOffset, one.MaxError = numberJSON(q.Max)
		j.Queues = append(j.Queues, one)
	}
	for _, r := range d.Route {
		j.Route = append(j.Route, topicRouteJSON{r.Broker, r.Addrs, r.Read, r.Write, inspect.PermText(r.Perm), r.TopicSysFlag})
	}
	return j
}

func topicDetailTable(e *env, d *inspect.TopicDetail) []byte {
	head := [][]string{
		{"topic", d.Row.Topic}, {"type", cmp.Or(d.Row.TypeText(), "-")}, {"perm", d.Row.Perm}, {"stored", numberText(d.Row.Stored)},
		{"groups", cmp.Or(strings.Join(d.Groups, ", "), "none")},
	}
	if whose := d.Row.Whose(); whose != "" {
		head = slices.Insert(head, 1, []string{"is", whose})
	}
	if d.GroupsWhy.Kind != inspect.ReasonNone {
		head = append(head, []string{"", "not all brokers have told their groups: " + d.GroupsWhy.String()})
	}
	for _, name := range sortedKeys(d.Attributes) {
		head = append(head, []string{name, d.Attributes[name]})
	}
	for _, r := range d.Route {
		head = append(head, []string{"broker " + r.Broker, fmt.Sprintf("%d read and %d write queues, %s", r.Read, r.Write, permWords(r.Perm))})
	}
	out := append(appendTable(nil, "ll", head), '\n')
	rows := [][]string{{"BROKER", "QUEUE", "MIN", "MAX", "STORED", "FIRST STORED", "LAST STORED", ""}}
	for i := range d.Queues {
		q := &d.Queues[i]
		stored := inspect.Unknown(q.Max.Why)
		if q.Max.Known && q.Min.Known {
			stored = inspect.Exact(q.Max.Value - q.Min.Value)
		}
		rows = append(rows, []string{
			q.BrokerName, strconv.Itoa(int(q.QueueID)), numberText(q.Min), numberText(q.Max), numberText(stored), e.timeText(q.FirstStored), e.timeText(q.LastStored), q.Closed,
		})
	}
	return appendTable(out, "lrrrrlll", rows)
}

// permWords says what a permission keeps from happening.
func permWords(perm int32) string {
	text := inspect.PermText(perm)
	switch {
	case text[0] != 'R' && text[1] != 'W':
		return text + ", neither readable nor writable"
	case text[0] != 'R':
		return text + ", not readable"
	case text[1] != 'W':
		return text + ", not writable"
	}
	return text
}
