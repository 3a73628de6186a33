package cli

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"eyeq/engine/inspect"
	"eyeq/tui/cli/config"
)

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
			return usagef("--sort %q: must be %s", f.sort, config.OrList(groupOrders))
		case f.state != "" && !slices.Contains(inspect.States(), f.state):
			return usagef("--state %q: must be %s", f.state, config.OrList(inspect.States()))
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
