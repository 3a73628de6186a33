package inspect

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// resendGroup is whom copies are sent as; it is registered nowhere.
const resendGroup = "eyeq-resend"

// notCopied are properties that belong to a message's way so far and not to the
// message. RETRY_TOPIC and ORIGIN_MESSAGE_ID stay: members deliver a copy in their
// retry topic under the topic that these name.
var notCopied = map[string]bool{
	protocol.PropertyWait: true, protocol.PropertyDelay: true, protocol.PropertyRealTopic: true, protocol.PropertyRealQueueID: true,
	protocol.PropertyReconsumeTime: true, protocol.PropertyMaxReconsumeTimes: true, protocol.PropertyCluster: true,
	protocol.PropertyMsgRegion: true, protocol.PropertyTraceOn: true, protocol.PropertyConsumeStartTime: true,
	protocol.PropertyTranMsg: true, "PGROUP": true, "MIN_OFFSET": true, "MAX_OFFSET": true,
	"POP_CK": true, "POP_CK_OFFSET": true, "1ST_POP_TIME": true, "DLQ_ORIGIN_TOPIC": true, "DLQ_ORIGIN_MESSAGE_ID": true,
	"INNER_NUM": true, "INNER_BASE": true, "INNER_MULTI_DISPATCH": true, "INNER_MULTI_QUEUE_OFFSET": true, "__CRC32#": true,
}

// copiedProperties are those that a copy of a dead letter keeps, each once.
func copiedProperties(m *protocol.MessageExt) (kept []protocol.Property) {
	at := map[string]int{}
	for name, value := range m.Properties {
		if notCopied[name] || strings.HasPrefix(name, "TIMER_") {
			continue
		}
		if i, again := at[name]; again { // the last one counts
			kept[i].Value = value
			continue
		}
		at[name] = len(kept)
		kept = append(kept, protocol.Property{Name: name, Value: value})
	}
	return kept
}

// PlanResend says what sending dead letters of a group back would do: a copy of each
// goes to the group's retry topic, so that no other group gets it, with its attempts
// counted anew. The dead letters stay where they are: brokers cannot remove them.
func (in *Inspector) PlanResend(ctx context.Context, group string, messages []protocol.MessageExt) (ResendPlan, error) {
	p := ResendPlan{Group: group, Source: protocol.DLQTopic(group), Target: protocol.RetryTopic(group)}
	s, err := in.survey(ctx)
	if err != nil {
		return p, err
	}
	r := in.round(s)
	route, err := in.client.Route(ctx, p.Target)
	switch {
	case isType[*remoting.NoRouteError](err):
		p.Why = fmt.Sprintf("group %s has no retry topic: start one member of it, which makes the topic", group)
	case route == nil:
		return p, err
	case len(route.PublishQueues) == 0:
		p.Why = fmt.Sprintf("no queue of %s can be written now: no master is there, or its permission forbids it", p.Target)
	}
	members := in.merge(group, in.look(ctx, s, group, false))
	if len(members.Members) == 0 && len(members.Problems) == 0 {
		p.Note = "nobody of the group is online: the copies wait in " + p.Target
	}
	p.Rows = make([]ResendRow, len(messages))
	each(len(messages), groupsAtOnce, func(i int) { p.Rows[i] = r.resendRow(ctx, &p, &messages[i]) })
	return p, ctx.Err()
}

// resendRow is the plan's row of a dead letter: what keeps it from being sent, and
// whether the retry topic has a copy that was stored later.
func (r *round) resendRow(ctx context.Context, p *ResendPlan, m *protocol.MessageExt) ResendRow {
	row := ResendRow{Message: *m, ID: m.UniqueID(), Queue: m.MessageQueue(), Offset: m.QueueOffset(), Original: m.OriginalTopic(), Attempts: m.ReconsumeTimes()}
	switch {
	case m.Topic() != p.Source:
		row.Error = fmt.Sprintf("it lies in %s, not in %s", m.Topic(), p.Source)
	case row.Original == m.Topic():
		row.Error = "it does not say which topic it was of (no RETRY_TOPIC)"
	}
	if row.ID == "" {
		row.SentBeforeWhy = Reason{ReasonUnsupported, "it has no unique id to look for copies by"}
		return row
	}
	found, _, problems := r.query(ctx, r.everywhere(p.Target), remoting.MessageQuery{Key: row.ID, Unique: true})
	for i := range found {
		if at := found[i].Stored(); compareStored(found[i], *m) > 0 && at.After(row.SentBefore) {
			row.SentBefore = at
		}
	}
	if row.SentBefore.IsZero() && len(problems) > 0 {
		row.SentBeforeWhy = Reason{problems[0].Why.Kind, problems[0].String()}
	}
	return row
}

// AllSentBefore reports whether a copy of each dead letter was sent back before: who asks
// for just these wants another copy.
func (p *ResendPlan) AllSentBefore() bool {
	return !slices.ContainsFunc(p.Rows, func(r ResendRow) bool { return r.SentBefore.IsZero() })
}

// LeaveOut decides which dead letters are skipped when the plan is carried out: those of
// which a copy was sent back before, so that a run that was cut short can be repeated;
// none when they are to be sent again. Where it is not known, a copy is sent. The rows of
// p are new ones.
func (p *ResendPlan) LeaveOut(again bool) {
	p.Rows = slices.Clone(p.Rows)
	for i := range p.Rows {
		p.Rows[i].Skip = !again && !p.Rows[i].SentBefore.IsZero()
	}
}

// ApplyResend sends the copies of a plan, each to the broker of its dead letter where
// that has the retry topic, and reads each one back. A row that cannot be sent has the
// reason and does not spare the others; one with Skip or an Error is not tried. The rows
// of the result are new ones, also when an error cuts it short.
func (in *Inspector) ApplyResend(ctx context.Context, p ResendPlan) (ResendPlan, error) {
	if p.Why != "" {
		return p, &NotPossibleError{p.Why}
	}
	route, _, err := in.client.RefreshRoute(ctx, p.Target)
	if route == nil {
		return p, err
	}
	if len(route.PublishQueues) == 0 {
		return p, &NotPossibleError{fmt.Sprintf("no queue of %s can be written now", p.Target)}
	}
	rows := slices.Clone(p.Rows)
	p.Rows = rows
	for i := range rows {
		if rows[i].Error != "" || rows[i].Skip {
			continue
		}
		if ctx.Err() != nil {
			return p, ctx.Err() // the rows tell how far it came
		}
		mq := resendQueue(route, &rows[i].Message)
		if slices.Contains(p.Buries, mq.BrokerName) { // it would make one more dead letter of each
			rows[i].Error = "not tried: " + mq.BrokerName + " put the one before into the dead letters again"
			continue
		}
		in.resend(ctx, mq, &p, &rows[i])
		if rows[i].Error == buried {
			p.Buries = append(slices.Clip(p.Buries), mq.BrokerName)
		}
	}
	return p, nil
}

// buried is what became of a copy where the group may not retry at all (4.x).
const buried = "the broker put it into the dead letters again: the group's retryMaxTimes lets it try no more"

// resendQueue is where a copy goes: to the dead letter's broker, if that has the retry topic.
func resendQueue(route *remoting.TopicRoute, m *protocol.MessageExt) protocol.MessageQueue {
	for _, q := range route.PublishQueues {
		if q.BrokerName == m.BrokerName() {
			return q
		}
	}
	return route.PublishQueues[0]
}

// resend sends one copy to a queue and reads it back.
func (in *Inspector) resend(ctx context.Context, mq protocol.MessageQueue, p *ResendPlan, row *ResendRow) {
	m := &row.Message
	addr, err := in.client.MasterOf(ctx, mq)
	if err != nil {
		row.Error = err.Error()
		return
	}
	row.Tried = true
	sent, err := ask(ctx, in, addr, func(ctx context.Context) (remoting.SendResult, error) {
		return in.client.Send(ctx, resendGroup, mq, &remoting.OutMessage{
			Flag: m.Flag(), SysFlag: m.SysFlag() & (protocol.SysFlagCompressed | protocol.SysFlagCompressionMask),
			Properties: copiedProperties(m), Body: m.StoredBody(),
		})
	})
	if unanswered(err) {
		row.Unknown, row.Error = true, "not known whether it was sent, look in the retry topic before it is sent again: "+err.Error()
		return
	}
	if err != nil {
		row.Tried = !isType[*notAskedError](err) && !isType[*queuedError](err)
		row.Error = "not sent: " + err.Error()
		return
	}
	row.NewID = sent.OffsetMessageID
	if row.Error = in.checkCopy(ctx, addr, mq, p, row); row.Error == "" {
		row.Verified = true
	}
}

// checkCopy reads a copy back and says what is wrong with it.
func (in *Inspector) checkCopy(ctx context.Context, addr string, mq protocol.MessageQueue, p *ResendPlan, row *ResendRow) string {
	_, offset, err := protocol.ParseOffsetMessageID(row.NewID)
	if err != nil {
		return "the broker's answer does not say where the copy is: " + err.Error()
	}
	type view struct {
		m     protocol.MessageExt
		found bool
	}
	v, err := ask(ctx, in, addr, func(ctx context.Context) (view, error) {
		m, found, err := in.client.ViewMessage(ctx, addr, mq.BrokerName, p.Target, offset)
		return view{m, found}, err
	})
	switch {
	case err != nil:
		return "sent, but it could not be read back: " + err.Error()
	case !v.found:
		return "sent, but it is not there"
	case v.m.Topic() == p.Source:
		return buried
	case v.m.Topic() != p.Target || !bytes.Equal(v.m.StoredBody(), row.Message.StoredBody()):
		return fmt.Sprintf("sent, but what was read back is something else, in %s", v.m.Topic())
	}
	return ""
}
