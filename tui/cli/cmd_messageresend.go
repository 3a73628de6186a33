package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"eyeq/engine"
	"eyeq/engine/audit"
	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
)

// messageResendFlags are the flags of message resend.
type messageResendFlags struct {
	changeFlags
	topic string
	all   bool
	again bool
}

func newMessageResend(e *env) *cobra.Command {
	f := &messageResendFlags{}
	cmd := &cobra.Command{
		Use:   "resend [ID…|--all] -t '%DLQ%GROUP'",
		Short: "Send dead letters back to the group that has given them up",
		Long: `Sends a copy of dead letters to the retry topic of their group, %RETRY%GROUP: only this group gets them,
under the topic that they were of, with their attempts counted anew. Body, keys, tags, unique id and the
application's own properties stay. Each copy is read back. The dead letters themselves stay where they are, since
brokers cannot remove them; one of which the retry topic has a later copy was sent back before and is left out,
unless --again is given. So a run that was cut short is simply repeated.

ID is a unique id or an offset id. --all takes what the topic holds now. --dry-run shows what would be sent.`,
		Example: `  eyeq message resend 7F0000010DFC1EB2C6F6000000000001 -t '%DLQ%billing' --dry-run
  eyeq message resend -t '%DLQ%billing' --all --yes --reason 'fixed in 2.4.1'`,
	}
	e.topicFlag(cmd, &f.topic, "the dead-letter topic, %DLQ%GROUP")
	f.register(cmd.Flags())
	cmd.Flags().BoolVar(&f.all, "all", false, "all dead letters of the group")
	cmd.Flags().BoolVar(&f.again, "again", false, "also those of which a copy was sent back before")
	cmd.RunE = e.cobraRun(func(ctx context.Context, e *env, args []string) error {
		group, ok := strings.CutPrefix(f.topic, protocol.DLQTopicPrefix)
		switch {
		case f.topic == "":
			return usagef("which dead letters? -t '%%DLQ%%GROUP'")
		case !ok || group == "":
			return usagef("-t %s: must be the dead-letter topic of a group, '%%DLQ%%GROUP'", f.topic)
		case f.all == (len(args) > 0):
			return usagef("which dead letters? %s", cmd.UseLine())
		}
		return runMessageResend(ctx, e, f, group, args)
	})
	return cmd
}

// resendJSON is what `message resend` did, or would do.
type resendJSON struct {
	Group    string          `json:"group"`
	DryRun   bool            `json:"dry_run"`
	Source   string          `json:"source"`
	Target   string          `json:"target"`
	Note     *string         `json:"note"`
	Messages []resendRowJSON `json:"messages"`
}

type resendRowJSON struct {
	MessageID     string   `json:"message_id"`
	Broker        string   `json:"broker"`
	Queue         int32    `json:"queue"`
	Offset        int64    `json:"offset"`
	OriginalTopic string   `json:"original_topic"`
	Attempts      int32    `json:"attempts"`
	SentBefore    timeJSON `json:"sent_before"`
	SentError     *string  `json:"sent_before_error,omitempty"`
	Skipped       bool     `json:"skipped"` // since a copy was sent before
	Sent          bool     `json:"sent"`
	NewID         *string  `json:"new_offset_message_id"`
	Verified      bool     `json:"verified"`
	Error         *string  `json:"error"`
}

func resendRowOf(r *inspect.ResendRow) resendRowJSON {
	m := &r.Message
	return resendRowJSON{
		MessageID: m.MessageID(), Broker: m.BrokerName(), Queue: m.QueueID(), Offset: m.QueueOffset(), OriginalTopic: r.Original, Attempts: r.Attempts,
		SentBefore: timeJSON(r.SentBefore), SentError: namedOrNull(r.SentBeforeWhy.Text), Skipped: r.Skip, Sent: r.NewID != "", NewID: namedOrNull(r.NewID), Verified: r.Verified, Error: namedOrNull(r.Error),
	}
}

// resender sends dead letters back, a page at a time.
type resender struct {
	env    *env
	x      *inspection
	flags  *messageResendFlags
	out    resendJSON
	failed int
	buries []string   // brokers that make dead letters of copies
	part   audit.Part // notes a page in the audit file
	tally  audit.ResendSum
}

func runMessageResend(ctx context.Context, e *env, f *messageResendFlags, group string, ids []string) error {
	format, err := e.format("table", "json")
	if err != nil {
		return err
	}
	x, err := e.inspection()
	if err != nil {
		return err
	}
	defer x.close()
	what := "sending dead letters of " + group + " back"
	if !f.dryRun {
		if err := x.target.allowChange(what); err != nil {
			return err
		}
	}
	r := &resender{env: e, x: x, flags: f, out: resendJSON{Group: group, DryRun: f.dryRun, Source: f.topic, Target: protocol.RetryTopic(group), Messages: []resendRowJSON{}}}
	pages, n, err := r.pages(ctx, ids)
	if err != nil {
		return err
	}
	if n == 0 {
		return &notFoundError{What: f.topic + " holds no dead letters"}
	}
	if !f.dryRun {
		typed := ""
		if f.all {
			typed = group
		}
		e.say("%s of %s to %s, one copy each", inspect.Plural(n, "dead letter"), f.topic, r.out.Target)
		if err := e.confirm(ctx, x.target, confirmation{what: fmt.Sprintf("sending %s of %s back", inspect.Plural(n, "dead letter"), group), typed: typed, flags: f.changeFlags}); err != nil {
			return err
		}
		change := audit.ResendChange{Group: group, Source: f.topic, Target: r.out.Target, DeadLetters: n, IDs: ids, Reason: f.reason}
		err = e.recordedInParts(x.target, audit.Resend(change), func(part audit.Part) (any, error) {
			r.part = part
			err := r.run(ctx, pages)
			return r.tally, errors.Join(err, r.failure())
		})
	} else {
		err = r.run(ctx, pages)
		if err == nil {
			err = r.failure()
		}
	}
	if n := r.skipped(); n > 0 {
		e.say("%s left out, since a copy was sent back before: --again sends another", inspect.Plural(n, "dead letter"))
	}
	if werr := r.print(format); werr != nil {
		return werr
	}
	return explainMessage(err)
}

// deadPage gives some dead letters and what comes after them; nil is the end.
type deadPage func(ctx context.Context) (messages []engine.Message, next deadPage, err error)

// pages are the dead letters that were asked for, and how many they are. What is added
// to the topic later is not among them.
func (r *resender) pages(ctx context.Context, ids []string) (first deadPage, n int64, err error) {
	if !r.flags.all {
		var messages []engine.Message
		for _, id := range ids {
			found, err := r.x.byID(ctx, r.flags.topic, id)
			if err != nil {
				return nil, 0, err
			}
			r.env.warn(found.Problems)
			m := original(found.Messages, r.flags.topic)
			if !slices.ContainsFunc(messages, func(have engine.Message) bool { return have.OffsetMessageID() == m.OffsetMessageID() }) {
				messages = append(messages, *m)
			}
		}
		return func(context.Context) ([]engine.Message, deadPage, error) { return messages, nil, nil }, int64(len(messages)), nil
	}
	topic, err := r.x.Topic(ctx, r.flags.topic)
	if err != nil {
		return nil, 0, explain(err)
	}
	for i := len(topic.Queues) - 1; i >= 0; i-- {
		q := &topic.Queues[i]
		if !q.Min.Known || !q.Max.Known {
			what := fmt.Sprintf("%v: %v; nothing was sent", q.MessageQueue, q.Max.Why)
			if q.Max.Why.Kind == inspect.ReasonUnreachable {
				return nil, 0, &silentError{what}
			}
			return nil, 0, errors.New(what)
		}
		n += q.Max.Value - q.Min.Value
		first = r.queuePage(q.MessageQueue, q.Min.Value, q.Max.Value, first)
	}
	return first, n, nil
}

// resendPage is how many dead letters are read, sent and noted at a time.
const resendPage = audit.ResendPart

// queuePage reads a queue from one offset up to before another, then goes on with next.
func (r *resender) queuePage(mq engine.MessageQueue, from, to int64, next deadPage) deadPage {
	if from >= to {
		return next
	}
	return func(ctx context.Context) ([]engine.Message, deadPage, error) {
		got, err := r.x.Read(ctx, mq, from, int(min(resendPage, to-from)))
		if err != nil {
			return nil, nil, err
		}
		if got.Unread != nil {
			r.failed++
			r.env.say("%v: a record from offset %d on cannot be read: %v; going on behind it", mq, from, got.Unread)
		}
		messages := slices.DeleteFunc(got.Messages, func(m protocol.MessageExt) bool { return m.QueueOffset() >= to })
		return messages, r.queuePage(mq, max(got.Next, from+1), to, next), nil
	}
}

// run plans each page and, unless it is a dry run, sends it.
func (r *resender) run(ctx context.Context, page deadPage) error {
	for page != nil {
		messages, next, err := page(ctx)
		if err != nil {
			return err
		}
		plan, err := r.x.PlanResend(ctx, r.out.Group, messages)
		if err != nil {
			return err
		}
		if plan.Why != "" {
			return r.refusal(plan.Why)
		}
		r.out.Note = namedOrNull(plan.Note)
		plan.LeaveOut(r.flags.again)
		plan.Buries = r.buries
		if !r.flags.dryRun {
			plan, err = audit.NoteResend(r.part, plan, func(p inspect.ResendPlan) (inspect.ResendPlan, error) { return r.x.ApplyResend(ctx, p) })
			r.tally.Add(plan.Rows)
			r.buries = plan.Buries
		}
		for i := range plan.Rows {
			if plan.Rows[i].Error != "" {
				r.failed++
			}
			r.out.Messages = append(r.out.Messages, resendRowOf(&plan.Rows[i]))
		}
		if err != nil {
			return err
		}
		page = next
	}
	return nil
}

// refusal is why nothing more is sent: refused when nothing was before.
func (r *resender) refusal(why string) error {
	if len(r.out.Messages) == 0 {
		return &refusedError{why}
	}
	return errors.New(why)
}

// skipped is how many were left out.
func (r *resender) skipped() (n int64) {
	for i := range r.out.Messages {
		if r.out.Messages[i].Skipped {
			n++
		}
	}
	return n
}

// failure says how many were not sent back.
func (r *resender) failure() error {
	if r.failed == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d dead letters could not be sent back, see above", r.failed, len(r.out.Messages))
}

func (r *resender) print(format string) error {
	if format == "json" {
		return r.env.writeJSON(r.out)
	}
	rows := [][]string{{"MESSAGE ID", "PLACE", "OF TOPIC", "ATTEMPTS", "RESULT"}}
	for i := range r.out.Messages {
		m := &r.out.Messages[i]
		rows = append(rows, []string{m.MessageID, fmt.Sprintf("%s/%d offset %d", m.Broker, m.Queue, m.Offset), m.OriginalTopic, fmt.Sprint(m.Attempts), m.result(r.env, r.flags.dryRun)})
	}
	if r.out.Note != nil {
		r.env.say("%s", *r.out.Note)
	}
	return r.env.write(appendTable(nil, "lllrl", rows))
}

// result is a row's last cell.
func (m *resendRowJSON) result(e *env, dryRun bool) string {
	var text string
	switch {
	case m.Error != nil:
		text = *m.Error
	case m.Skipped && dryRun:
		text = "would be left out"
	case m.Skipped:
		text = "left out"
	case dryRun:
		text = "would be sent back"
	case m.Verified:
		text = "sent back as " + *m.NewID
	default:
		text = "not tried"
	}
	if at := e.timeText(time.Time(m.SentBefore)); at != "" {
		text += "; a copy was sent before, at " + at
	} else if m.SentError != nil {
		text += "; whether a copy was sent before is not known: " + *m.SentError
	}
	return text
}
