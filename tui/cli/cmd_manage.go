package cli

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"eyeq/engine/audit"
	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
	"eyeq/tui/cli/config"
)

// manage carries out the creation or deletion of a topic or group: plan, question,
// audit, change, and what was read back.
func (f *changeFlags) manage(ctx context.Context, e *env, r inspect.ManageRequest) error {
	format, err := e.format("table", "json")
	if err != nil {
		return err
	}
	what := strings.Replace(string(r.Action), "e ", "ing ", 1) + " " + r.Name // creating topic …, deleting group …
	x, err := e.inspection()
	if err != nil {
		return err
	}
	defer x.close()
	if !f.dryRun {
		if err := x.target.allowChange(what); err != nil {
			return err
		}
	}
	p, err := x.PlanManage(ctx, r)
	if err != nil {
		return explain(err)
	}
	if f.dryRun {
		if err := e.writeManaged(&p, format, true); err != nil {
			return err
		}
		return explainChange(p.Refused())
	}
	if err := p.Refused(); err != nil {
		return explainChange(err)
	}
	if !f.yes && e.canAsk() {
		e.showPlan(manageText(&p, true))
	}
	c := confirmation{what: what, flags: *f}
	if r.Action == inspect.DeleteTopic || r.Action == inspect.DeleteGroup {
		c.typed = r.Name
	}
	if err := e.confirm(ctx, x.target, c); err != nil {
		return err
	}
	entry := audit.Entry{Command: manageCommand(r.Action), Reason: f.reason, Before: managed(&p, func(row *inspect.ManageRow) *string { return &row.Before }),
		After: managed(&p, func(row *inspect.ManageRow) *string { return &row.After })}
	if r.Action == inspect.CreateTopic || r.Action == inspect.DeleteTopic {
		entry.Topic = r.Name
	} else {
		entry.Group = r.Name
	}
	tried := false
	err = e.recorded(x.target, entry, func() (any, error) {
		var err error
		p, err = x.ApplyManage(ctx, p)
		tried = slices.ContainsFunc(p.Rows, func(row inspect.ManageRow) bool { return row.Tried })
		return managed(&p, func(row *inspect.ManageRow) *string {
			if row.Verified {
				return &row.After
			}
			return nil
		}), err
	})
	if !tried {
		return explainChange(err)
	}
	return errors.Join(e.writeManaged(&p, format, false), err)
}

// manageCommand is an action as on the command line.
func manageCommand(a inspect.ManageAction) string {
	verb, noun, _ := strings.Cut(string(a), " ")
	return noun + " " + verb
}

// managed is a state by broker, for the audit file: nil where it is not known, and in
// a word where nothing is there, since an empty text says neither.
func managed(p *inspect.ManagePlan, of func(*inspect.ManageRow) *string) map[string]*string {
	state := map[string]*string{}
	for i := range p.Rows {
		s := of(&p.Rows[i])
		if s != nil && *s == "" {
			s = new("nothing")
		}
		state[p.Rows[i].Broker] = s
	}
	return state
}

// manageJSON is what such a command prints.
type manageJSON struct {
	Action  string          `json:"action"`
	Name    string          `json:"name"`
	DryRun  bool            `json:"dry_run"`
	Brokers []manageRowJSON `json:"brokers"`
	Topics  []string        `json:"deleted_topics"`
	Notes   []string        `json:"notes"`
	Refused *string         `json:"refused"`
}

type manageRowJSON struct {
	Broker   string  `json:"broker"`
	Address  string  `json:"address"`
	Before   *string `json:"before"`
	After    *string `json:"after"`
	Verified bool    `json:"verified"`
	Error    string  `json:"error,omitempty"`
}

func (e *env) writeManaged(p *inspect.ManagePlan, format string, dryRun bool) error {
	if format != "json" {
		return e.write(manageText(p, dryRun))
	}
	j := manageJSON{
		Action: string(p.Request.Action), Name: p.Request.Name, DryRun: dryRun, Brokers: []manageRowJSON{},
		Topics: emptyList(p.Topics), Notes: emptyList(p.Notes), Refused: namedOrNull(p.Why),
	}
	for _, r := range p.Rows {
		j.Brokers = append(j.Brokers, manageRowJSON{r.Broker, r.Addr, namedOrNull(r.Before), namedOrNull(r.After), r.Verified, r.Error})
	}
	return e.writeJSON(j)
}

func manageText(p *inspect.ManagePlan, plan bool) []byte {
	rows := [][]string{{"BROKER", "ADDRESS", "BEFORE", "AFTER", ""}}
	for _, r := range p.Rows {
		state := ""
		switch {
		case plan:
		case r.Verified:
			state = "done"
		case r.Error != "":
			state = r.Error
		default:
			state = p.Unverified()
		}
		rows = append(rows, []string{r.Broker, r.Addr, cmp.Or(r.Before, "nothing"), cmp.Or(r.After, "nothing"), state})
	}
	out := headLine("%s %s", p.Request.Action, p.Request.Name)
	out = appendTable(out, "lllll", rows)
	for _, topic := range p.Topics {
		out = append(out, headLine("topic %s is deleted too", topic)...)
	}
	for _, note := range p.Notes {
		out = append(out, headLine("%s", note)...)
	}
	return out
}

func newTopicCreate(e *env) *cobra.Command {
	f := &changeFlags{}
	r := inspect.ManageRequest{Action: inspect.CreateTopic}
	var queues int32
	var perm string
	cmd := &cobra.Command{
		Use:   "create TOPIC",
		Short: "Make a topic that is not there yet (-o table|json)",
		Long: `Makes a topic at every broker of the cluster, or at those that --broker names, and reads back that
it is there. One that is there already is left as it is, with status 4.`,
		Example: `  eyeq topic create orders --queues 16 --yes
  eyeq topic create payments --queues 8 --type FIFO --broker broker-a --dry-run`,
		Args:              oneTopic(0),
		ValidArgsFunction: cobra.NoFileCompletions, // those that are there are no choice
	}
	fl := cmd.Flags()
	fl.Int32Var(&queues, "queues", 8, "read and write queues on each broker")
	fl.Int32Var(&r.ReadQueues, "read-queues", 0, "read queues, where they differ")
	fl.Int32Var(&r.WriteQueues, "write-queues", 0, "write queues, where they differ")
	fl.StringVar(&perm, "perm", "RW", "R, W or RW")
	fl.StringVar(&r.Type, "type", "", "NORMAL, FIFO, DELAY, TRANSACTION or MIXED (5.x)")
	fl.BoolVar(&r.Order, "order", false, "mark it as an ordered topic")
	fl.StringArrayVar(&r.Brokers, "broker", nil, "only this broker; repeatable")
	f.register(fl)
	e.completeFlag(cmd, "type", topicTypes...)
	cmd.RunE = e.cobraRun(func(ctx context.Context, e *env, args []string) error {
		r.Name, r.Type = args[0], strings.ToUpper(r.Type)
		for _, f := range []struct {
			name string
			n    *int32
		}{{"read-queues", &r.ReadQueues}, {"write-queues", &r.WriteQueues}} {
			if !fl.Changed(f.name) {
				f.name, *f.n = "queues", queues
			}
			if *f.n < 1 || *f.n > maxTopicQueues {
				return usagef("--%s %d: must be from 1 to %d", f.name, *f.n, maxTopicQueues)
			}
		}
		if r.Type != "" && !slices.Contains(topicTypes, r.Type) {
			return usagef("--type %q: must be %s", r.Type, config.OrList(topicTypes))
		}
		var ok bool
		if r.Perm, ok = parsePerm(perm); !ok {
			return usagef("--perm %q: must be R, W or RW", perm)
		}
		return f.manage(ctx, e, r)
	})
	return cmd
}

// maxTopicQueues keeps a slip of the pen from making a topic that no client can take.
const maxTopicQueues = 4096

var topicTypes = []string{"NORMAL", "FIFO", "DELAY", "TRANSACTION", "MIXED"}

func parsePerm(s string) (perm int32, ok bool) {
	for _, c := range strings.ToUpper(strings.ReplaceAll(s, "-", "")) {
		switch c {
		case 'R':
			perm |= protocol.PermRead
		case 'W':
			perm |= protocol.PermWrite
		default:
			return 0, false
		}
	}
	return perm, perm != 0
}

func newTopicDelete(e *env) *cobra.Command {
	f := &changeFlags{}
	cmd := &cobra.Command{
		Use:   "delete TOPIC",
		Short: "Delete a topic with all of its messages (-o table|json)",
		Long: `Deletes a topic at every broker and at the name servers, with its messages and every group's
offsets in it. It asks for the topic's name. RocketMQ's own topics are refused with status 4.`,
		Example:           `  eyeq topic delete orders-test --dry-run`,
		Args:              oneTopic(0),
		ValidArgsFunction: e.completion(true, topicNames),
	}
	f.register(cmd.Flags())
	cmd.RunE = e.cobraRun(func(ctx context.Context, e *env, args []string) error {
		return f.manage(ctx, e, inspect.ManageRequest{Action: inspect.DeleteTopic, Name: args[0]})
	})
	return cmd
}

func newGroupCreate(e *env) *cobra.Command {
	f := &changeFlags{}
	r := inspect.ManageRequest{Action: inspect.CreateGroup}
	var retries, retryQueues int32
	var broadcast, orderly, paused bool
	cmd := &cobra.Command{
		Use:   "create GROUP",
		Short: "Make a group's configuration where there is none yet (-o table|json)",
		Long: `Makes a group's configuration at every broker of the cluster, or at those that --broker names, and
reads it back. What no flag names is as the broker has it by default. A group that is there already is
left as it is, with status 4.`,
		Example: `  eyeq group create orders-worker --retry-max 5 --yes`,
		Args:    oneName("group"),
	}
	fl := cmd.Flags()
	fl.Int32Var(&retries, "retry-max", 16, "how often a message is tried again before it goes to the dead letters, where its member names no number; Java members do, 16 unless set")
	fl.Int32Var(&retryQueues, "retry-queues", 1, "queues of the retry topic on each broker")
	fl.BoolVar(&broadcast, "broadcast", true, "whether members may broadcast")
	fl.BoolVar(&orderly, "orderly", false, "members consume in order (5.x)")
	fl.BoolVar(&paused, "paused", false, "begin paused")
	fl.StringArrayVar(&r.Brokers, "broker", nil, "only this broker; repeatable")
	f.register(fl)
	cmd.RunE = e.cobraRun(func(ctx context.Context, e *env, args []string) error {
		r.Name = args[0]
		if err := checkTopic(protocol.RetryTopicPrefix + r.Name); err != nil {
			return usagef("group %q: %s", r.Name, groupRule(err))
		}
		if retries < -1 {
			return usagef("--retry-max %d: must be from 0, or -1 for ever", retries)
		}
		if retryQueues < 0 || retryQueues > maxTopicQueues {
			return usagef("--retry-queues %d: must be from 0 to %d", retryQueues, maxTopicQueues)
		}
		set := func(flag, member, value string) {
			if fl.Changed(flag) {
				r.Config = append(r.Config, protocol.ConfigMember{Name: member, Value: value})
			}
		}
		set("retry-max", "retryMaxTimes", strconv.Itoa(int(retries)))
		set("retry-queues", "retryQueueNums", strconv.Itoa(int(retryQueues)))
		set("broadcast", "consumeBroadcastEnable", strconv.FormatBool(broadcast))
		set("orderly", "consumeMessageOrderly", strconv.FormatBool(orderly))
		set("paused", "consumeEnable", strconv.FormatBool(!paused))
		return f.manage(ctx, e, r)
	})
	return cmd
}

// groupRule is the rule that a group's name breaks, without the topic's that it was
// looked at as.
func groupRule(err error) string {
	_, rule, ok := strings.Cut(err.Error(), `": `)
	if !ok {
		return err.Error()
	}
	return rule
}

func newGroupDelete(e *env) *cobra.Command {
	f := &changeFlags{}
	r := inspect.ManageRequest{Action: inspect.DeleteGroup}
	cmd := &cobra.Command{
		Use:   "delete GROUP",
		Short: "Delete a group that is offline, with its offsets (-o table|json)",
		Long: `Deletes a group's configuration and offsets at every broker, and its retry topic. Its dead letters
stay unless --dead-letters is given. It asks for the group's name. A group with members online is
refused with status 4, since they would make it again at once.`,
		Example:           `  eyeq group delete old-worker --dry-run`,
		Args:              oneName("group"),
		ValidArgsFunction: e.completion(true, groupNames),
	}
	cmd.Flags().BoolVar(&r.DeadLetters, "dead-letters", false, "delete its dead-letter topic too")
	f.register(cmd.Flags())
	cmd.RunE = e.cobraRun(func(ctx context.Context, e *env, args []string) error {
		r.Name = args[0]
		return f.manage(ctx, e, r)
	})
	return cmd
}
