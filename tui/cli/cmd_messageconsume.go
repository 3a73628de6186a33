package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"eyeq/engine/audit"
	"eyeq/engine/inspect"
)

// messageConsumeFlags are the flags of message consume.
type messageConsumeFlags struct {
	changeFlags
	topic, group, client string
}

func newMessageConsume(e *env) *cobra.Command {
	f := &messageConsumeFlags{}
	cmd := &cobra.Command{
		Use:   "consume ID -g GROUP [--client CLIENT] [-t TOPIC]",
		Short: "Have one member's listener called with a message, and see what it says (-o table|json)",
		Long: `Has the listener of one member of a group, which runs anywhere, called once with one stored message, and
tells what it made of it: to see whether a dead letter would pass now, or what the listener says of it.

The message is passed on by the broker that stores it, beside the member's queues: no offset moves,
nothing is locked, and a failure is not tried again. What the listener does with a message it does.
A member can take at most 9 to 10 s; if no answer comes, it is not known whether the listener has the message.

ID is an offset id, or with -t a unique id; of a dead letter give -t '%DLQ%GROUP'. A group with one
member needs no --client. The status is 0 when the message was consumed, 1 when the listener refused it.`,
		Example: `  eyeq message consume 7F0000010DFC1EB2C6F6000000000001 -t '%DLQ%billing' -g billing --dry-run
  eyeq message consume 7F00000100002A9F0000000000000E44 -g billing --client 10.0.0.7@1@4711 --yes --reason 'fixed in 2.4.1?'`,
	}
	e.topicFlag(cmd, &f.topic, "the message's topic")
	cmd.Flags().StringVarP(&f.group, "group", "g", "", "the group whose member is to consume it")
	cmd.Flags().StringVar(&f.client, "client", "", "the member's client id, as group members shows it")
	f.register(cmd.Flags())
	cmd.RunE = e.cobraRun(func(ctx context.Context, e *env, args []string) error {
		switch {
		case len(args) != 1 || args[0] == "":
			return usagef("which message? %s", cmd.UseLine())
		case f.group == "":
			return usagef("which group? %s", cmd.UseLine())
		}
		if err := checkID(args[0], f.topic); err != nil {
			return err
		}
		return f.run(ctx, e, args[0])
	})
	return cmd
}

func (f *messageConsumeFlags) run(ctx context.Context, e *env, id string) error {
	format, err := e.format("table", "json")
	if err != nil {
		return err
	}
	x, err := e.inspection()
	if err != nil {
		return err
	}
	defer x.close()
	what := fmt.Sprintf("having a member of %s consume message %s", f.group, id)
	if !f.dryRun {
		if err := x.target.allowChange(what); err != nil {
			return err
		}
	}
	found, err := x.byID(ctx, f.topic, id)
	if err != nil {
		return err
	}
	e.warn(found.Problems)
	p, err := x.PlanDirect(ctx, inspect.DirectRequest{Group: f.group, ClientID: f.client, Message: *x.meant(e, found.Messages, f.topic, id)})
	if err != nil {
		return explain(err)
	}
	if f.dryRun {
		if err := e.writeDirect(&inspect.DirectResult{Plan: p}, format, true); err != nil {
			return err
		}
		return explainChange(p.Refused())
	}
	if err := p.Refused(); err != nil {
		return explainChange(err)
	}
	if !f.yes && e.canAsk() {
		e.showPlan(directText(e, &inspect.DirectResult{Plan: p}, true))
	}
	what = fmt.Sprintf("having %s of %s consume message %s", p.Request.ClientID, f.group, id)
	if err := e.confirm(ctx, x.target, confirmation{what: what, flags: f.changeFlags}); err != nil {
		return err
	}
	var res inspect.DirectResult
	applied := false
	err = e.recorded(x.target, audit.Direct(&p, f.reason), func() (any, error) {
		var err error
		if res, err = x.ApplyDirect(ctx, p); err != nil {
			return nil, err
		}
		applied = true
		return audit.DirectDone(&res), res.Failed()
	})
	if !applied {
		return explainChange(err)
	}
	if werr := e.writeDirect(&res, format, false); werr != nil {
		return werr
	}
	return explainChange(err)
}

// directJSON is `message consume`.
type directJSON struct {
	Group     string   `json:"group"`
	DryRun    bool     `json:"dry_run"`
	ClientID  *string  `json:"client_id"`
	MessageID string   `json:"message_id"`
	Topic     string   `json:"topic"`
	Broker    string   `json:"broker"`
	Queue     int32    `json:"queue"`
	Offset    int64    `json:"offset"`
	Notes     []string `json:"notes"`
	Refused   *string  `json:"refused"`
	Sent      *bool    `json:"sent"` // null: not known
	Consumed  *bool    `json:"consumed"`
	Result    *string  `json:"result"`
	Remark    *string  `json:"remark"`
	SpentMS   *int64   `json:"spent_ms"`
	Error     *string  `json:"error"`
}

func (e *env) writeDirect(r *inspect.DirectResult, format string, dryRun bool) error {
	if format != "json" {
		return e.write(directText(e, r, dryRun))
	}
	q := &r.Plan.Request
	j := directJSON{
		Group: q.Group, DryRun: dryRun, ClientID: namedOrNull(q.ClientID), MessageID: q.Message.MessageID(), Topic: q.Message.Topic(), Broker: q.Message.BrokerName(),
		Queue: q.Message.QueueID(), Offset: q.Message.QueueOffset(), Notes: emptyList(r.Plan.Notes), Refused: namedOrNull(r.Plan.Why), Error: namedOrNull(r.Error),
	}
	if !r.Unknown {
		j.Sent = &r.Sent
	}
	if r.Sent {
		consumed := r.Consumed()
		j.Consumed, j.Result, j.Remark, j.SpentMS = &consumed, &r.Answer.ConsumeResult, namedOrNull(r.Answer.Remark), &r.Answer.SpentTimeMills
	}
	return e.writeJSON(j)
}

func directText(e *env, r *inspect.DirectResult, plan bool) []byte {
	m := &r.Plan.Request.Message
	out := headLine("message %s of %s (%s/%d offset %d), stored %s", m.MessageID(), m.OriginalTopic(), m.BrokerName(), m.QueueID(), m.QueueOffset(), e.timeText(m.Stored()))
	if who := &r.Plan.Member; who.ClientID != "" {
		out = append(out, headLine("member %s (%s %s) of %s", who.ClientID, who.Language, who.Version, r.Plan.Request.Group)...)
	}
	if r.Plan.Why != "" {
		out = append(out, headLine("not possible: %s", r.Plan.Why)...)
	}
	if plan {
		for _, note := range r.Plan.Notes {
			out = append(out, headLine("%s", note)...)
		}
		return out
	}
	if r.Error != "" {
		return append(out, headLine("%s", r.Error)...)
	}
	return append(out, headLine("%s, in %d ms", r.Words(), r.Answer.SpentTimeMills)...)
}
