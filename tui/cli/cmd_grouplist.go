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
)

// groupRowJSON is one group of `group list`.
type groupRowJSON struct {
	Group        string     `json:"group"`
	Kind         *string    `json:"kind"`
	KindError    string     `json:"kind_error,omitempty"`
	MessageModel *string    `json:"message_model"`
	ModelError   string     `json:"message_model_error,omitempty"`
	ConsumeType  *string    `json:"consume_type"`
	TypeError    string     `json:"consume_type_error,omitempty"`
	RequestModes []modeJSON `json:"request_modes"`
	Orderly      bool       `json:"orderly"`
	State        string     `json:"state"`
	Members      *int64     `json:"members"`
	MembersError string     `json:"members_error,omitempty"`
	waitingJSON
	UnknownQueues int      `json:"unknown_queues"`
	Paused        bool     `json:"paused"`
	PausedBrokers []string `json:"paused_brokers"`
	PausedTopics  []string `json:"paused_topics"`
	ConsumeTPS    float64  `json:"consume_tps"`
	Versions      []string `json:"versions"`
	Topics        []string `json:"topics"`
	System        bool     `json:"system"`
	Problems      []string `json:"problems"`
}

// waitingJSON is what waits for a group, as several commands print it.
type waitingJSON struct {
	TotalLag      *int64 `json:"total_lag"`
	TotalLagError string `json:"total_lag_error,omitempty"`
	RetryLag      *int64 `json:"retry_lag"`
	RetryLagError string `json:"retry_lag_error,omitempty"`
	DeadLetters   *int64 `json:"dead_letters"`
	DeadError     string `json:"dead_letters_error,omitempty"`
}

func waitingOf(lag, retry, dead inspect.Number) (j waitingJSON) {
	j.TotalLag, j.TotalLagError = numberJSON(lag)
	j.RetryLag, j.RetryLagError = numberJSON(retry)
	j.DeadLetters, j.DeadError = numberJSON(dead)
	return j
}

func groupRowOf(r *inspect.GroupRow) groupRowJSON {
	j := groupRowJSON{
		Group: r.Group, Orderly: r.Orderly, State: r.State, UnknownQueues: r.UnknownQueues, Paused: len(r.Paused.Brokers) > 0,
		PausedBrokers: emptyList(r.Paused.Brokers), PausedTopics: sortedKeys(r.Paused.Topics), ConsumeTPS: r.ConsumeTPS,
		Versions: emptyList(r.Versions), Topics: emptyList(r.Topics), System: r.System, Problems: problemsJSON(r.Problems),
		MessageModel: modelJSON(r.Model), RequestModes: modesJSON(r.Modes), waitingJSON: waitingOf(r.Lag, r.RetryLag, r.DeadLetters),
	}
	if r.Type != 0 {
		j.ConsumeType = namedOrNull(r.Type.String())
	}
	if r.Kind != inspect.KindUnknown {
		j.Kind = namedOrNull(string(r.Kind))
	}
	j.Members, j.MembersError = numberJSON(r.Members)
	j.KindError, j.ModelError, j.TypeError = unsaid(j.Kind, r.Members), unsaid(j.MessageModel, r.Members), unsaid(j.ConsumeType, r.Members)
	return j
}

// unsaid is why something that only members tell is not known; "" where it is.
func unsaid(told *string, members inspect.Number) string {
	switch {
	case told != nil:
		return ""
	case !members.Known:
		return members.Why.String()
	case members.Value == 0:
		return "no member is online, and only members say it"
	}
	return "no member says it"
}

func modelJSON(m protocol.MessageModel) *string {
	if m == 0 {
		return nil
	}
	return namedOrNull(m.String())
}

// listFlags choose and order the groups of a list.
type listFlags struct {
	reading
	filter, state, sort string
	minLag              int64
	system, names       bool
}

func newGroupList(e *env) *cobra.Command {
	f := &listFlags{}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "All groups that any broker knows, with members, lag and state (-o table|json)",
		Long: `Lists the groups that brokers know by a configuration, by committed offsets or by a retry topic,
whether members are online or not. LAG is what waits in the topics that the group reads; what waits
in its retry topics and what lies in its dead-letter topic stand apart. "≥" is a lower bound: parts
of the sum are not known.

STATE is online, offline, paused, partly paused, broadcasting (the offsets are with the members),
behind a proxy, denied, unreachable or unknown. KIND is push, pull or pop; by POP with the share that
the brokers were told: members pop the queues of so many other members too.`,
		Example: `  eyeq group list
  eyeq group list --sort lag --min-lag 1000
  eyeq group list --state offline -o json | jq -r '.[].group'`,
		Args: noArgs,
	}
	fl := cmd.Flags()
	fl.StringVar(&f.filter, "filter", "", "only groups with this text in their name, in any case")
	fl.StringVar(&f.state, "state", "", "only groups in this state")
	fl.Int64Var(&f.minLag, "min-lag", 0, "only groups with so much lag, or of which it is not known")
	fl.StringVar(&f.sort, "sort", "name", "name, lag, retry, dead, members or state")
	fl.BoolVar(&f.system, "system", false, "RocketMQ's own groups too")
	fl.BoolVar(&f.names, "names", false, "only the names, which takes one question a broker")
	f.register(fl)
	e.completeFlag(cmd, "sort", groupOrders...)
	e.completeFlag(cmd, "state", inspect.States()...)
	cmd.RunE = e.cobraRun(func(ctx context.Context, e *env, _ []string) error {
		switch {
		case !slices.Contains(groupOrders, f.sort):
			return usagef("--sort %q: must be %s", f.sort, orList(groupOrders))
		case f.state != "" && !slices.Contains(inspect.States(), f.state):
			return usagef("--state %q: must be %s", f.state, orList(inspect.States()))
		case f.minLag < 0:
			return usagef("--min-lag %d: must not be negative", f.minLag)
		case f.names && (f.state != "" || f.minLag != 0 || f.sort != "name"):
			return usagef("--names asks for nothing but the names: leave out --state, --min-lag and --sort")
		}
		return f.run(ctx, e, cmd, func(ctx context.Context, x *inspection, format string) ([]byte, error) {
			return f.list(ctx, e, x, format)
		})
	})
	return cmd
}

var groupOrders = []string{"name", "lag", "retry", "dead", "members", "state"}

func (f *listFlags) list(ctx context.Context, e *env, x *inspection, format string) ([]byte, error) {
	list, err := x.Groups(ctx)
	if err != nil {
		return nil, err
	}
	if len(list.Groups) == 0 && len(list.Problems) > 0 {
		if err := unasked("groups", list.Problems); err != nil {
			return nil, err
		}
	}
	e.warn(list.Problems)
	var names []string
	for _, g := range list.Groups {
		if (f.system || !g.System) && contains(g.Group, f.filter) {
			names = append(names, g.Group)
		}
	}
	if f.names {
		return namesOutput(names, "group", format)
	}
	rows := slices.DeleteFunc(x.GroupRows(ctx, names), func(r inspect.GroupRow) bool {
		return f.state != "" && r.State != f.state || f.minLag > 0 && r.Lag.Known && r.Lag.Value < f.minLag
	})
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	slices.SortStableFunc(rows, groupOrder(f.sort))
	if format == "json" {
		return marshalEach(rows, groupRowOf)
	}
	return groupTable(rows), nil
}

// contains reports whether a name has a text in it, in any case.
func contains(name, text string) bool {
	return strings.Contains(strings.ToLower(name), strings.ToLower(text))
}

// groupOrder puts the largest numbers first, before them those that are not known:
// they may be larger.
func groupOrder(by string) func(a, b inspect.GroupRow) int {
	number := func(of func(r *inspect.GroupRow) inspect.Number) func(a, b inspect.GroupRow) int {
		return func(a, b inspect.GroupRow) int {
			return cmp.Or(cmp.Compare(unknownFirst(of(&b)), unknownFirst(of(&a))), cmp.Compare(a.Group, b.Group))
		}
	}
	switch by {
	case "lag":
		return number(func(r *inspect.GroupRow) inspect.Number { return r.Lag })
	case "retry":
		return number(func(r *inspect.GroupRow) inspect.Number { return r.RetryLag })
	case "dead":
		return number(func(r *inspect.GroupRow) inspect.Number { return r.DeadLetters })
	case "members":
		return number(func(r *inspect.GroupRow) inspect.Number { return r.Members })
	case "state":
		return func(a, b inspect.GroupRow) int {
			return cmp.Or(cmp.Compare(a.State, b.State), cmp.Compare(a.Group, b.Group))
		}
	}
	return func(a, b inspect.GroupRow) int { return cmp.Compare(a.Group, b.Group) }
}

func groupTable(rows []inspect.GroupRow) []byte {
	table := [][]string{{"GROUP", "STATE", "KIND", "MEMBERS", "LAG", "RETRY", "DEAD", "TPS", "VERSIONS", "TOPICS"}}
	for i := range rows {
		r := &rows[i]
		table = append(table, []string{
			r.Group, r.State, kindText(r), numberText(r.Members), lagText(r.Lag, r.UnknownQueues), numberText(r.RetryLag),
			numberText(r.DeadLetters), strconv.FormatFloat(r.ConsumeTPS, 'f', 1, 64), listText(r.Versions, 2), listText(r.Topics, 2),
		})
	}
	return appendTable(nil, "lllrrrrrll", table)
}

// lagText says how many queues are missing from a sum.
func lagText(n inspect.Number, unknown int) string {
	if n.Known && unknown > 0 {
		return fmt.Sprintf("%d + %s unknown", n.Value, inspect.Plural(unknown, "queue"))
	}
	return numberText(n)
}

func kindText(r *inspect.GroupRow) string {
	kind := string(r.Kind)
	if r.Kind == inspect.KindUnknown {
		kind = textUnknown
	}
	if share := inspect.PopShare(r.Modes); r.Kind == inspect.KindPop && share != "" {
		kind += " " + share
	}
	if r.Orderly {
		kind += " orderly"
	}
	return kind
}

// namesOutput is a list of names alone.
func namesOutput(names []string, key, format string) ([]byte, error) {
	if format != "json" {
		var rows [][]string
		for _, name := range names {
			rows = append(rows, []string{name})
		}
		return appendTable(nil, "l", rows), nil
	}
	return marshalEach(names, func(name *string) map[string]string { return map[string]string{key: *name} })
}

// completeFlag completes a flag by a list of words.
func (e *env) completeFlag(cmd *cobra.Command, flag string, words ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // there is no such flag
	}
}
