package cli

import (
	"context"

	"github.com/spf13/cobra"

	"eyeq/engine/audit"
	"eyeq/engine/inspect"
)

// pauseFlags are the flags of `group pause` and `group resume`.
type pauseFlags struct {
	groupChange
	topic string
}

func newGroupPause(e *env) *cobra.Command {
	return newPauseCommand(e, false, &cobra.Command{
		Use:   "pause GROUP",
		Short: "Keep a whole group from consuming, and prove that it stopped (-o table|json)",
		Long: `Sets consumeEnable to false in the group's configuration at every broker and leaves every other
member of the configuration as it is, which is read again and compared. Members stay connected, finish
what they have cached, and are refused each pull until the group is resumed; messages wait, and none is
lost as long as they are kept. With -t only one topic is paused, which takes 5.x brokers.

Afterwards members are watched until it is seen that nothing is pulled any more, for half a minute at
most. A broker that cannot be reached is not paused: the command says so and ends with status 1.`,
		Example: `  eyeq group pause orders-worker --reason 'bad batch 7781'
  eyeq group pause orders-worker -t orders --dry-run`,
	})
}

func newGroupResume(e *env) *cobra.Command {
	return newPauseCommand(e, true, &cobra.Command{
		Use:   "resume GROUP",
		Short: "Let a paused group consume again, and prove that it does (-o table|json)",
		Long: `Sets consumeEnable to true in the group's configuration at every broker and leaves every other
member of the configuration as it is. With -t a topic that was paused by itself is resumed, which takes
5.x brokers. Afterwards members are watched until it is seen that they pull again, for half a minute at most.`,
		Example: `  eyeq group resume orders-worker`,
	})
}

func newPauseCommand(e *env, resume bool, cmd *cobra.Command) *cobra.Command {
	f := &pauseFlags{}
	cmd.Args, cmd.ValidArgsFunction = oneName("group"), e.completion(true, groupNames)
	cmd.Flags().StringVarP(&f.topic, "topic", "t", "", "only this topic of the group (5.x)")
	f.register(cmd.Flags())
	cmd.RunE = e.cobraRun(func(ctx context.Context, e *env, args []string) error {
		return f.run(ctx, e, inspect.PauseRequest{Group: args[0], Topic: f.topic, Resume: resume})
	})
	return cmd
}

func (f *pauseFlags) run(ctx context.Context, e *env, r inspect.PauseRequest) error {
	format, err := e.format("table", "json")
	if err != nil {
		return err
	}
	if r.Topic != "" {
		if err := checkTopic(r.Topic); err != nil {
			return err
		}
	}
	what := "pausing group " + r.Group
	if r.Resume {
		what = "resuming group " + r.Group
	}
	if r.Topic != "" {
		what += " in topic " + r.Topic
	}
	x, err := f.begin(e, what)
	if err != nil {
		return err
	}
	defer x.close()
	p, err := x.PlanPause(ctx, r)
	if err != nil {
		return explainChange(err)
	}
	var res inspect.PauseResult
	return f.carryOut(ctx, e, x.target, format, &plannedChange{
		what: what, group: r.Group, system: p.System, refused: p.Refused(),
		plan:  answer{pausePlanText(&p, what), pauseJSONOf(&p, nil)},
		entry: audit.Pause(&p, f.reason),
		apply: func() (after any, failed, err error) {
			if len(p.Members) > 0 {
				e.say("%s, then watching the members for up to half a minute; ctrl-c ends the watch", what)
			}
			res, err = x.ApplyPause(ctx, p)
			return audit.PauseDone(&res), res.Failed(), err
		},
		result: func() answer { return answer{pauseResultText(&res), pauseJSONOf(&res.Plan, &res)} },
	})
}

// pauseWord is the state of a group at a broker.
func pauseWord(paused bool) string {
	if paused {
		return "paused"
	}
	return "consuming"
}

func pausePlanText(p *inspect.PausePlan, what string) []byte {
	out := headLine("%s", what)
	if p.System {
		out = append(out, headLine("! %s is one of RocketMQ's own groups", p.Request.Group)...)
	}
	if p.Why != "" {
		out = append(out, headLine("not possible: %s", p.Why)...)
	}
	rows := [][]string{{"BROKER", "ADDRESS", "NOW", "THEN", "NOTE"}}
	for i := range p.Brokers {
		r := &p.Brokers[i]
		now, then := pauseWord(r.Before), pauseWord(r.After)
		if r.Error != "" {
			now, then = textUnknown, "–"
		}
		rows = append(rows, []string{r.Broker, r.Addr, now, then, r.Error})
	}
	out = appendTable(out, "lllll", rows)
	if len(p.Members) == 0 {
		return append(out, "no member is connected\n"...)
	}
	return append(out, membersText(p.Members)...)
}

func pauseResultText(res *inspect.PauseResult) []byte {
	rows := [][]string{{"BROKER", "ADDRESS", "BEFORE", "NOW", "NOTE"}}
	for i := range res.Rows {
		r := &res.Rows[i]
		before, now := pauseWord(r.Before), textUnknown
		switch {
		case r.Missing:
			before = "–"
		case r.Verified:
			now = pauseWord(r.After)
		}
		rows = append(rows, []string{r.Broker, r.Addr, before, now, r.Error})
	}
	return append(appendTable(nil, "lllll", rows), headLine("%s", res.Proof)...)
}

// pauseJSON is `group pause` and `group resume`.
type pauseJSON struct {
	Group   string             `json:"group"`
	Topic   *string            `json:"topic"`
	Action  string             `json:"action"`
	DryRun  bool               `json:"dry_run"`
	Why     *string            `json:"not_possible"`
	System  bool               `json:"system"`
	Brokers []pauseBrokerJSON  `json:"brokers"`
	Members []memberEffectJSON `json:"members"`
	Proved  *bool              `json:"proved"`
	Proof   *string            `json:"proof"`
}

type pauseBrokerJSON struct {
	Broker   string   `json:"broker"`
	Address  string   `json:"address"`
	Before   *bool    `json:"paused_before"`
	After    *bool    `json:"paused_after"`
	Verified *bool    `json:"verified"`
	Changed  []string `json:"changed_otherwise"`
	Error    string   `json:"error,omitempty"`
}

func pauseJSONOf(p *inspect.PausePlan, res *inspect.PauseResult) *pauseJSON {
	j := &pauseJSON{
		Group: p.Request.Group, Topic: namedOrNull(p.Request.Topic), Action: "pause", DryRun: res == nil, Why: namedOrNull(p.Why),
		System: p.System, Members: memberEffectsJSON(p.Members), Brokers: []pauseBrokerJSON{},
	}
	if p.Request.Resume {
		j.Action = "resume"
	}
	rows := p.Brokers
	if res != nil {
		rows, j.Proved, j.Proof = res.Rows, &res.Proved, namedOrNull(res.Proof)
	}
	for i := range rows {
		r := &rows[i]
		b := pauseBrokerJSON{Broker: r.Broker, Address: r.Addr, Changed: emptyList(r.Changed), Error: r.Error}
		if res != nil && !r.Missing {
			b.Verified = &r.Verified
		}
		if r.Error == "" || res != nil && !r.Missing {
			b.Before, b.After = &r.Before, &r.After
		}
		j.Brokers = append(j.Brokers, b)
	}
	return j
}
