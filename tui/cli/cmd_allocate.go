package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/tui/cli/config"
)

// allocateFlags are the flags of allocate.
type allocateFlags struct {
	topics   []string
	queues   int
	brokers  []string
	group    string
	members  []string
	join     []string
	leave    []string
	lists    []string
	strategy strategyFlags
	changed  func(name string) bool
}

func newAllocate(e *env) *cobra.Command {
	f := &allocateFlags{}
	cmd := &cobra.Command{
		Use:   "allocate --queues N --members A,B,C",
		Short: "Compute what each allocation strategy gives, and what moves on a join or leave (-o table|json)",
		Long: `Computes which member of a group gets which queue, as the members themselves do, and what
changes hands when members join or leave. Without --strategy the strategies stand side by side.
--queues is the number of queues on each broker, as in a topic's configuration.

With a cluster it looks at what is there: without --queues the queues of -t TOPIC are asked
for, without --members the members of -g GROUP that are online. Nothing is joined or changed.
-o is table or json.

machine-room needs --machine-rooms; the rooms of machine-room-nearby stand before the @ of
brokers' names and client ids. config needs what each member's own configuration lists, as
consume --queues takes it: --list MEMBER=BROKER:ID,BROKER:FROM-TO. It says which queues nobody
reads then, and which are read by several.`,
		Example: `  eyeq allocate --queues 16 --members a,b,c --join d
  eyeq allocate --queues 8 --brokers broker-a,broker-b --members a,b --leave b --strategy consistent-hash -o json
  eyeq allocate --namesrv 127.0.0.1:9876 -g audit -t orders --join one-more`,
		Args: noArgs,
	}
	fl := cmd.Flags()
	fl.StringArrayVarP(&f.topics, "topic", "t", nil, "topics, separated by commas; the shares of all are added up (default TopicTest)")
	fl.IntVar(&f.queues, "queues", 0, "queues on each broker")
	fl.StringArrayVar(&f.brokers, "brokers", nil, "the brokers, separated by commas; NAME:N has N queues (default broker-a)")
	fl.StringVarP(&f.group, "group", "g", "", "the group whose members are asked for")
	fl.StringArrayVar(&f.members, "members", nil, "the client ids, separated by commas")
	fl.StringArrayVar(&f.join, "join", nil, "client ids that join, separated by commas")
	fl.StringArrayVar(&f.leave, "leave", nil, "client ids that leave, separated by commas")
	fl.StringArrayVar(&f.lists, "list", nil, "strategy config: MEMBER=[TOPIC=]BROKER:ID or BROKER:FROM-TO, separated by commas, the queues of one member; repeatable")
	fl.StringVar(&f.strategy.strategy, "strategy", "", "avg, circle, config, machine-room, machine-room-nearby[-INNER] or consistent-hash (default: all)")
	fl.StringArrayVar(&f.strategy.rooms, "machine-rooms", nil, "strategy machine-room: the rooms whose brokers, called ROOM@NAME, are read, separated by commas")
	fl.IntVar(&f.strategy.virtualNodes, "virtual-nodes", core.VirtualNodes, "strategy consistent-hash: virtual nodes a member")
	f.changed = func(name string) bool { return fl.Changed(name) }
	// Of --queues only the name is the same: there it is a number.
	f.strategy.changed = func(name string) bool { return name != "queues" && fl.Changed(name) }
	e.completeFlag(cmd, "strategy", "avg", "circle", "config", "machine-room", "machine-room-nearby", "consistent-hash")
	cmd.RunE = e.cobraRun(func(ctx context.Context, e *env, _ []string) error { return runAllocate(ctx, e, f) })
	return cmd
}

func runAllocate(ctx context.Context, e *env, f *allocateFlags) error {
	format, err := e.format("table", "json")
	if err != nil {
		return err
	}
	strategies, err := f.strategies()
	if err != nil {
		return err
	}
	w, err := f.world(ctx, e)
	if err != nil {
		return err
	}
	for _, s := range strategies {
		if lists, ok := s.(memberLists); ok {
			if err := lists.check(w); err != nil {
				return err
			}
		}
	}
	var results []allocated
	for _, s := range strategies {
		r, err := w.allocate(s)
		switch {
		case err == nil:
			results = append(results, r)
		case f.changed("strategy"):
			return usagef("--strategy %s: %v", f.strategy.strategy, err)
		case !strings.HasPrefix(s.Name(), config.NearbyPrefix): // left out where the names tell no rooms
			return err
		}
	}
	var out []byte
	switch {
	case format == "json" && f.changed("strategy"):
		out, err = marshal(results[0].row())
	case format == "json":
		out, err = marshalEach(results, (*allocated).row)
	default:
		out = w.appendTable(nil, results)
	}
	if err != nil {
		return err
	}
	return e.write(out)
}

// strategies are the one that was asked for, or all that can be computed.
func (f *allocateFlags) strategies() ([]core.Strategy, error) {
	choice, err := f.strategy.choose(config.DefaultStrategy())
	if err != nil {
		return nil, err
	}
	names := []string{choice.Name}
	if !f.changed("strategy") {
		names = []string{"AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", config.NearbyPrefix + "AVG"}
		if len(choice.Rooms) > 0 {
			names = append(names, "MACHINE_ROOM")
		}
	} else if err := f.strategy.useless(&choice); err != nil {
		return nil, err
	}
	if f.changed("list") && (!f.changed("strategy") || choice.Name != configStrategy) {
		return nil, usagef("--list is for --strategy config")
	}
	var all []core.Strategy
	for _, name := range names {
		choice.Name = name
		switch {
		case name == configStrategy && len(f.lists) == 0:
			return nil, usagef("--strategy %s needs what the members' configurations list: --list MEMBER=BROKER:ID,…", f.strategy.strategy)
		case name == configStrategy:
			lists, err := parseMemberLists(f.lists)
			if err != nil {
				return nil, usagef("--list %v", err)
			}
			all = append(all, lists)
			continue
		case choice.Needs(configStrategy):
			return nil, usagef("--strategy %s: inside of rooms each member has the list in its own configuration, there is nothing to compute; --strategy config takes lists", f.strategy.strategy)
		case choice.Needs("MACHINE_ROOM") && len(choice.Rooms) == 0:
			return nil, usagef("--strategy %s needs the machine rooms to read from: --machine-rooms ROOM,…", f.strategy.strategy)
		}
		s, err := choice.Build(nil)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// world gathers it from the flags, and from the cluster what they leave open.
func (f *allocateFlags) world(ctx context.Context, e *env) (*allocationWorld, error) {
	w := &allocationWorld{group: f.group, topics: []string{"TopicTest"}, queues: map[string][]engine.MessageQueue{}}
	if len(f.topics) > 0 {
		w.topics = config.SplitList(f.topics)
	}
	for i, t := range w.topics {
		if err := checkTopic(t); err != nil {
			return nil, err
		}
		if slices.Contains(w.topics[:i], t) {
			return nil, usagef("-t %s: is named twice", t)
		}
	}
	asksQueues, asksMembers := !f.changed("queues") && !f.changed("brokers"), !f.changed("members")
	switch {
	case asksQueues && len(f.topics) == 0:
		return nil, usagef("which queues? --queues N, or -t TOPIC of a cluster")
	case !asksMembers && f.group != "":
		return nil, usagef("-g %s asks for its members, and --members names some: give one of them", f.group)
	case asksMembers && f.group == "":
		return nil, usagef("which members? --members A,B,C, or -g GROUP of a cluster")
	case asksMembers && len(f.topics) == 0:
		return nil, usagef("-g %s: needs -t TOPIC too, whose brokers know the members", f.group)
	}
	if !asksQueues {
		if err := f.makeQueues(w); err != nil {
			return nil, err
		}
	}
	if !asksMembers {
		w.before = config.SplitList(f.members)
	}
	if asksQueues || asksMembers {
		if err := w.ask(ctx, e, asksQueues, asksMembers); err != nil {
			return nil, err
		}
	}
	return w, f.change(w)
}

// makeQueues makes the queues that the flags describe.
func (f *allocateFlags) makeQueues(w *allocationWorld) error {
	brokers := []string{"broker-a"}
	if f.changed("brokers") {
		brokers = config.SplitList(f.brokers)
	}
	if f.changed("queues") && (f.queues < 1 || f.queues > config.MaxQueueID) {
		return usagef("--queues %d: must be 1 to %d", f.queues, config.MaxQueueID)
	}
	seen := map[string]bool{}
	for _, b := range brokers {
		name, count, own := strings.Cut(b, ":")
		n := f.queues
		if own {
			var err error
			if n, err = strconv.Atoi(count); err != nil || n < 1 || n > config.MaxQueueID {
				return usagef("--brokers %q: must be NAME or NAME:N, N from 1 to %d", b, config.MaxQueueID)
			}
		}
		switch {
		case name == "":
			return usagef("--brokers %q: must be NAME or NAME:N", b)
		case seen[name]:
			return usagef("--brokers %s: is named twice", name)
		case n == 0:
			return usagef("how many queues has %s? --queues N, or --brokers %[1]s:N", name)
		}
		seen[name] = true
		for _, t := range w.topics {
			for id := range n {
				w.queues[t] = append(w.queues[t], engine.MessageQueue{Topic: t, BrokerName: name, QueueID: int32(id)})
			}
		}
	}
	for _, t := range w.topics {
		slices.SortFunc(w.queues[t], protocol.CompareMessageQueues)
	}
	return nil
}

// ask asks the cluster for the queues of the topics, the members of the group, or both.
func (w *allocationWorld) ask(ctx context.Context, e *env, queues, members bool) error {
	client, _, err := e.connect()
	if err != nil {
		return err
	}
	defer client.Close()
	for _, topic := range w.topics {
		route, err := e.topicRoute(ctx, client, topic)
		if err != nil {
			return err
		}
		if queues {
			if len(route.Queues) == 0 {
				return &notFoundError{What: fmt.Sprintf("topic %s has no queue that can be read", topic)}
			}
			w.queues[topic] = route.Queues
		}
	}
	if !members {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, e.flags.timeout)
	defer cancel()
	ids, _, err := client.ConsumerIDs(ctx, w.topics[0], w.group)
	// With this code a broker says that it knows no member.
	ce, refused := errors.AsType[*remoting.CodeError](err)
	_, denied := remoting.AccessDenied(err) // 4.x says that with the same code
	if refused && !denied && ce.Code == protocol.SystemError || err == nil && len(ids) == 0 {
		return &notFoundError{What: fmt.Sprintf("group %s has no members online at a broker of topic %s: say who would be, --members A,B,C", w.group, w.topics[0])}
	}
	w.before = ids
	return err
}

// change lets members join and leave.
func (f *allocateFlags) change(w *allocationWorld) error {
	asked := !f.changed("members") // a broker names a client id twice that two processes have
	for i, m := range w.before {
		switch {
		case m == "":
			return usagef("--members: a client id is empty")
		case !asked && slices.Contains(w.before[:i], m):
			return usagef("--members %s: is named twice, and client ids are unique", m)
		}
	}
	slices.SortFunc(w.before, protocol.CompareUTF16)
	w.after = slices.Clone(w.before)
	for _, m := range config.SplitList(f.leave) {
		i := slices.Index(w.after, m)
		if i < 0 {
			return usagef("--leave %s: is not among the members %s", m, strings.Join(w.before, ", "))
		}
		w.after = slices.Delete(w.after, i, i+1)
	}
	for _, m := range config.SplitList(f.join) {
		if m == "" || slices.Contains(w.after, m) {
			return usagef("--join %q: must be the client id of a new member", m)
		}
		w.after = append(w.after, m)
	}
	slices.SortFunc(w.after, protocol.CompareUTF16)
	w.changed = f.changed("leave") || f.changed("join")
	return nil
}
