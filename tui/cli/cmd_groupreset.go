package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"eyeq/engine/audit"
	"eyeq/engine/core"
	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
	"eyeq/tui/change"
	"eyeq/tui/page"
)

// resetFlags are the flags of `group reset`.
type resetFlags struct {
	groupChange
	topics, queues, exclude []string
	to, undo                string
	retry                   bool

	undone *inspect.SavedOffsets // what --undo names
}

func newGroupReset(e *env) *cobra.Command {
	f := &resetFlags{}
	cmd := &cobra.Command{
		Use:   "reset GROUP --to TARGET",
		Short: "Move a group's offsets, with a preview, and see that it took (-o table|json)",
		Long: `Moves the committed offsets of a group: of all its topics but the retry topic, of some topics, or of
some queues. First comes the plan, queue by queue: replay (consumed again), SKIP (never consumed by
this group), GONE (expired already). --dry-run ends there. Then the group's name is asked for, or
--yes given. What is committed is compared with the plan, saved to a file that --undo takes back, and
changed; then it is read back, and members that are connected are watched for half a minute.

TARGET is earliest, latest, a time (RFC 3339, 2006-01-02 15:04[:05] in --tz, -15m, or milliseconds of
the epoch), offset:N, shift:+N or shift:-N, or file:F with offsets that were saved. A time is the first message stored then or
later; beyond the last message it is the queue's end. Offsets are kept within the queue. Of a group that is
further behind than a time, everything before it is skipped: the plan's first line says so.

How depends on who is there. Nobody connected: the offsets are written. Members, on 5.x: the brokers
move them and tell each member at its next pull. Members, on 4.9: the brokers tell the members, who
can be sent to the beginning, the end or a time, all queues of a topic at once; anything else is
refused, and possible when they are stopped.

A queue that cannot be read stops the whole, until it is left out by --exclude.`,
		Example: `  eyeq group reset orders-worker --to shift:-1000 --dry-run
  eyeq group reset orders-worker -t orders --to 2026-11-29T13:30:00+08:00 --reason 'bad batch 7781'
  eyeq group reset orders-worker -t orders --queue broker-a:3 --to offset:4711 --yes -o json
  eyeq group reset orders-worker --undo ~/.local/state/eyeq/offsets/20261129T053000.000Z_prod_orders-worker.json`,
		Args:              oneName("group"),
		ValidArgsFunction: e.completion(true, groupNames),
	}
	fl := cmd.Flags()
	fl.StringArrayVarP(&f.topics, "topic", "t", nil, "only this topic; repeatable")
	fl.StringArrayVar(&f.queues, "queue", nil, "BROKER:ID, only this queue of each topic; repeatable")
	fl.StringArrayVar(&f.exclude, "exclude", nil, "BROKER:ID, leave this queue out; repeatable")
	fl.BoolVar(&f.retry, "retry", false, "the group's retry topic too")
	fl.StringVar(&f.to, "to", "", "TARGET")
	fl.StringVar(&f.undo, "undo", "", "go back to the offsets in this file, which a reset has saved")
	f.register(fl)
	cmd.RunE = e.cobraRun(func(ctx context.Context, e *env, args []string) error { return f.run(ctx, e, args[0]) })
	return cmd
}

func (f *resetFlags) run(ctx context.Context, e *env, group string) error {
	format, err := e.format("table", "json")
	if err != nil {
		return err
	}
	r, to, err := f.request(e, group)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("resetting group %s to %s", group, to)
	x, err := f.begin(e, what)
	if err != nil {
		return err
	}
	defer x.close()
	if s := f.undone; s != nil && s.Cluster != x.target.name {
		return &usageError{Err: fmt.Errorf("--undo %s: it was saved on %s, and this is %s", f.undo, s.Cluster, x.target.name),
			Hint: "Where both are the same cluster, --to file:" + change.ShellWord(f.undo) + " takes it all the same."}
	}
	p, err := x.PlanReset(ctx, r)
	if err != nil {
		return explainChange(err)
	}
	e.warn(p.Problems)
	var res inspect.ResetResult
	return f.carryOut(ctx, e, x.target, format, &plannedChange{
		what: what, group: group, system: p.System, refused: p.Refused(), members: p.Members,
		plan:  answer{resetPlanText(e, &p, to), resetJSONOf(&p, nil)},
		entry: audit.Reset(&p, f.reason),
		apply: func() (after any, failed, err error) {
			if p.Method == inspect.MethodServer || p.Method == inspect.MethodPush {
				e.say("resetting, then watching for up to half a minute whether the members follow; ctrl-c ends the watch")
			}
			res, err = x.ApplyReset(ctx, p)
			return audit.ResetDone(&res), res.Failed(), err
		},
		result: func() answer { return answer{resetResultText(x.target, &res), resetJSONOf(&res.Plan, &res)} },
	})
}

// request reads the flags; to is the target in words.
func (f *resetFlags) request(e *env, group string) (r inspect.ResetRequest, to string, err error) {
	r = inspect.ResetRequest{Group: group, Topics: f.topics, Retry: f.retry}
	for _, topic := range f.topics {
		if err := checkTopic(topic); err != nil {
			return r, "", err
		}
	}
	if r.Queues, err = queueFlags("queue", f.queues); err != nil {
		return r, "", err
	}
	if r.Exclude, err = queueFlags("exclude", f.exclude); err != nil {
		return r, "", err
	}
	file, fromFile := strings.CutPrefix(f.to, "file:")
	switch {
	case f.to != "" && f.undo != "":
		return r, "", usagef("--to and --undo: give one of them")
	case f.to == "" && f.undo == "":
		return r, "", &usageError{Err: fmt.Errorf("where to? --to TARGET"),
			Hint: "TARGET is earliest, latest, a time, -15m, offset:N, shift:±N or file:F; --undo FILE takes a reset back."}
	case f.undo != "":
		file = f.undo
	case !fromFile:
		r.Target, to, err = parseTarget(f.to, e.location, e.now())
		if err != nil {
			return r, "", usagef("--to %v", err)
		}
		return r, to, nil
	}
	if file == "" {
		return r, "", usagef("--to file: needs the path of a file behind it")
	}
	saved, err := inspect.ReadSaved(file)
	if err != nil {
		flag := "--to file:"
		if f.undo != "" {
			flag = "--undo "
		}
		return r, "", usagef("%s%w", flag, err)
	}
	if f.undo != "" && saved.Group != group {
		return r, "", usagef("--undo %s: it has the offsets of group %s, not of %s", file, saved.Group, group)
	}
	if f.undo != "" {
		f.undone = saved
	}
	r.Exact = saved.Exact()
	if none := len(saved.Queues) - len(r.Exact); none > 0 {
		e.say("%s: %s had no offset then; an offset cannot be taken away again: nothing is changed there", file, inspect.Plural(none, "queue"))
	}
	if len(r.Exact) == 0 {
		return r, "", usagef("%s has no offset in it", file)
	}
	return r, fmt.Sprintf("the offsets of %s that were saved at %s", saved.Group, e.bothTimes(saved.Time)), nil
}

// queueFlags reads BROKER:ID, of any topic.
func queueFlags(flag string, values []string) ([]protocol.MessageQueue, error) {
	var list []protocol.MessageQueue
	for _, s := range values {
		q, err := parseQueueRef(s)
		if err != nil {
			return nil, usagef("--%s: %v", flag, err)
		}
		list = append(list, protocol.MessageQueue{BrokerName: q.broker, QueueID: q.id})
	}
	return list, nil
}

// parseTarget reads where a reset goes to, but for files.
func parseTarget(s string, loc *time.Location, now time.Time) (t core.ResetTarget, words string, err error) {
	if n, ok := strings.CutPrefix(s, "shift:"); ok {
		n = strings.ReplaceAll(n, "−", "-") // as a person may type it
		offset, err := strconv.ParseInt(n, 10, 64)
		if signed := strings.HasPrefix(n, "+") || strings.HasPrefix(n, "-"); err != nil || offset == 0 || !signed {
			return t, "", fmt.Errorf("%q: must be shift:+N or shift:-N", s)
		}
		return core.ResetTarget{Kind: core.ResetShift, Offset: offset}, fmt.Sprintf("%+d from where it is", offset), nil
	}
	p, err := parsePosition(s, loc, now)
	if errors.Is(err, page.ErrNoTime) {
		return t, "", fmt.Errorf("%q is no target: earliest, latest, 2026-11-29T14:32:00Z, 2026-11-29 14:32[:05], -15m, epoch milliseconds, offset:N, shift:±N or file:F", s)
	}
	if err != nil {
		return t, "", err
	}
	switch p.kind {
	case posEarliest:
		return core.ResetTarget{Kind: core.ResetEarliest}, "the earliest message", nil
	case posLatest:
		return core.ResetTarget{Kind: core.ResetLatest}, "the end", nil
	case posOffset:
		return core.ResetTarget{Kind: core.ResetOffset, Offset: p.offset}, fmt.Sprintf("offset %d", p.offset), nil
	}
	return core.ResetTarget{Kind: core.ResetTime, Time: p.time}, bothTimes(p.time, loc), nil
}
