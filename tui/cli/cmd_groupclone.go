package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"eyeq/engine/audit"
	"eyeq/engine/inspect"
)

// cloneFlags are the flags of `group clone`.
type cloneFlags struct {
	groupChange
	topic string
}

func newGroupClone(e *env) *cobra.Command {
	f := &cloneFlags{}
	cmd := &cobra.Command{
		Use:   "clone SOURCE TARGET -t TOPIC",
		Short: "Copy a group's offsets of a topic to another group (-o table|json)",
		Long: `Writes what SOURCE has committed in each queue of a topic for TARGET, one queue after the other:
each is written, answered and read back before the next, and the first doubt ends it. A queue is then
CONFIRMED, UNKNOWN (it may be written or not), NOT TRIED, or NOTHING where SOURCE has committed nothing.
The offsets that TARGET had are saved first; group reset --undo takes the copy back.

Members of TARGET that are connected would overwrite the copy within seconds: stop them first.`,
		Example: `  eyeq group clone orders-worker orders-worker-v2 -t orders --dry-run`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) < 2:
				return usagef("from which group to which? %s", cmd.UseLine())
			case len(args) > 2:
				return usagef("%q is one argument too many: %s", args[2], cmd.UseLine())
			}
			return nil
		},
		ValidArgsFunction: e.completion(false, groupNames),
	}
	cmd.Flags().StringVarP(&f.topic, "topic", "t", "", "the topic whose offsets are copied")
	f.register(cmd.Flags())
	cmd.RunE = e.cobraRun(func(ctx context.Context, e *env, args []string) error {
		return f.run(ctx, e, inspect.CloneRequest{Source: args[0], Target: args[1], Topic: f.topic})
	})
	return cmd
}

func (f *cloneFlags) run(ctx context.Context, e *env, r inspect.CloneRequest) error {
	format, err := e.format("table", "json")
	switch {
	case err != nil:
		return err
	case r.Topic == "":
		return usagef("which topic? -t TOPIC")
	case r.Source == r.Target:
		return usagef("%s and %s: source and target are the same group", r.Source, r.Target)
	}
	if err := checkTopic(r.Topic); err != nil {
		return err
	}
	what := fmt.Sprintf("copying the offsets of %s in %s to group %s", r.Source, r.Topic, r.Target)
	x, err := f.begin(e, what)
	if err != nil {
		return err
	}
	defer x.close()
	p, err := x.PlanClone(ctx, r)
	if err != nil {
		return explainChange(err)
	}
	if p.Online {
		e.say("members of %s are connected: they will overwrite the copy within seconds; stop them first", r.Target)
	}
	var res inspect.CloneResult
	return f.carryOut(ctx, e, x.target, format, &plannedChange{
		what: what, group: r.Target, system: p.System, refused: p.Refused(),
		plan: answer{clonePlanText(e, &p, what), cloneJSONOf(&p, nil)},
		entry: audit.Entry{Command: "group clone", Group: r.Target, Topic: r.Topic, Reason: f.reason,
			Before: audit.Offsets(p.Rows, func(r *inspect.ResetRow) int64 { return r.Before }),
			After:  audit.Offsets(p.Rows, func(r *inspect.ResetRow) int64 { return r.After })},
		apply: func() (after any, failed, err error) {
			res, err = x.ApplyClone(ctx, p)
			rows := make([]inspect.ResetRow, len(res.Rows))
			for i := range res.Rows {
				rows[i] = res.Rows[i].ResetRow
			}
			return audit.Offsets(rows, func(r *inspect.ResetRow) int64 { return r.ReadBack }), res.Failed(), err
		},
		result: func() answer { return answer{cloneResultText(&res), cloneJSONOf(&res.Plan, &res)} },
	})
}

func clonePlanText(e *env, p *inspect.ClonePlan, what string) []byte {
	out := headLine("%s%s", what, skipsText(p.Rows))
	if p.System {
		out = append(out, headLine("! %s is one of RocketMQ's own groups", p.Target)...)
	}
	if p.Why != "" {
		out = append(out, headLine("not possible: %s", p.Why)...)
	}
	rows := [][]string{{"BROKER", "QUEUE", "MIN", "MAX", "BEFORE", "AFTER", "EFFECT", "FIRST MESSAGE", "NOTE"}}
	for i := range p.Rows {
		r := &p.Rows[i]
		rows = append(rows, []string{
			r.BrokerName, strconv.Itoa(int(r.QueueID)), offsetText(r.Min), offsetText(r.Max), offsetText(r.Before), offsetText(r.After),
			effectText(r), e.timeText(r.FirstStored), r.Why,
		})
	}
	return appendTable(out, "lrrrrrlll", rows)
}

func cloneResultText(res *inspect.CloneResult) []byte {
	rows := [][]string{{"BROKER", "QUEUE", "BEFORE", "AFTER", "READ BACK", "STATE", "NOTE"}}
	for i := range res.Rows {
		r := &res.Rows[i]
		note := r.Error
		if note == "" {
			note = r.Why
		}
		rows = append(rows, []string{
			r.BrokerName, strconv.Itoa(int(r.QueueID)), offsetText(r.Before), offsetText(r.After), offsetText(r.ReadBack), string(r.State), note,
		})
	}
	out := appendTable(nil, "lrrrrll", rows)
	out = append(out, headLine("%d of %d queues confirmed", res.Confirmed, len(res.Rows))...)
	if res.SavedTo != "" {
		out = append(out, headLine("offsets before: %s", res.SavedTo)...)
	}
	return out
}

// cloneJSON is `group clone`.
type cloneJSON struct {
	Source  string           `json:"source"`
	Target  string           `json:"target"`
	Topic   string           `json:"topic"`
	DryRun  bool             `json:"dry_run"`
	Online  bool             `json:"online"`
	System  bool             `json:"system"`
	Why     *string          `json:"not_possible"`
	SavedTo *string          `json:"saved_to"`
	Queues  []cloneQueueJSON `json:"queues"`
}

type cloneQueueJSON struct {
	resetQueueJSON
	State *string `json:"state"`
}

func cloneJSONOf(p *inspect.ClonePlan, res *inspect.CloneResult) *cloneJSON {
	j := &cloneJSON{
		Source: p.Source, Target: p.Target, Topic: p.Topic, DryRun: res == nil, Online: p.Online, System: p.System,
		Why: namedOrNull(p.Why), Queues: []cloneQueueJSON{},
	}
	if res == nil {
		for i := range p.Rows {
			j.Queues = append(j.Queues, cloneQueueJSON{resetQueueJSONOf(&p.Rows[i], false), nil})
		}
		return j
	}
	j.SavedTo = namedOrNull(res.SavedTo)
	for i := range res.Rows {
		state := string(res.Rows[i].State)
		j.Queues = append(j.Queues, cloneQueueJSON{resetQueueJSONOf(&res.Rows[i].ResetRow, true), &state})
	}
	return j
}
