package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// DirectRequest has a member's listener called once with a stored message.
type DirectRequest struct {
	Group string
	// ClientID is the member; "" is the only one that there is.
	ClientID string
	Message  protocol.MessageExt
}

// DirectPlan is what that would do. It was made by reading only.
type DirectPlan struct {
	Request DirectRequest
	Member  Member // who gets it
	Notes   []string
	Why     string // why it is not possible, and the way out; "" when it is

	addr string // of the broker that stores it
}

// DirectResult is what came of it.
type DirectResult struct {
	Plan    DirectPlan
	Sent    bool
	Unknown bool // nobody has said whether the listener was called
	Answer  protocol.ConsumeMessageDirectlyResult
	Error   string // why there is no answer
}

// directTime is how long the answer may take: the broker waits 10 s for the member.
const directTime = 12 * time.Second

// PlanDirect says who would get a message. The broker that stores it passes it on, so
// the member must be connected there.
func (in *Inspector) PlanDirect(ctx context.Context, r DirectRequest) (DirectPlan, error) {
	p := DirectPlan{Request: r}
	s, err := in.freshSurvey(ctx)
	if err != nil {
		return p, err
	}
	looked := in.look(ctx, s, r.Group, false)
	m := in.merge(r.Group, looked)
	if len(m.Members) == 0 && !s.knows(r.Group) {
		if err := in.round(s).absent(ctx, r.Group, m.Problems); err != nil {
			return p, err
		}
	}
	if p.addr, err = s.addrOf(r.Message.BrokerName()); err != nil {
		return p, err
	}
	p.choose(&m)
	if p.Why != "" {
		return p, ctx.Err()
	}
	p.Notes = append(p.Notes, "its listener is called once more, beside queues and offsets: no offset moves, and a failure is not tried again")
	topic := r.Message.OriginalTopic()
	if !slices.ContainsFunc(looked, func(a said) bool { _, ok := a.connections.SubscriptionTable[topic]; return ok }) {
		p.Notes = append(p.Notes, fmt.Sprintf("the group does not subscribe to %s: the listener may not know what to do with it", topic))
	}
	return p, ctx.Err()
}

// choose finds the member.
func (p *DirectPlan) choose(m *Members) {
	var ids []string
	for i := range m.Members {
		ids = append(ids, m.Members[i].ClientID)
	}
	at := slices.Index(ids, p.Request.ClientID)
	if p.Request.ClientID == "" && len(ids) == 1 {
		at = 0
	}
	stored := p.Request.Message.BrokerName()
	switch {
	case len(ids) == 0 && len(m.Problems) > 0:
		p.Why = fmt.Sprintf("it is not known whether group %s has a member (%v)", p.Request.Group, m.Problems[0])
	case len(ids) == 0:
		p.Why = fmt.Sprintf("group %s has no member online: there is nobody to consume it", p.Request.Group)
	case at < 0 && p.Request.ClientID == "":
		p.Why = fmt.Sprintf("group %s has %d members: name one, of %s", p.Request.Group, len(ids), strings.Join(ids[:min(len(ids), maxDrifts)], ", "))
	case at < 0:
		p.Why = fmt.Sprintf("group %s has no member %s online", p.Request.Group, p.Request.ClientID)
	case m.Members[at].Why.Kind == ReasonProxy:
		p.Why = ids[at] + " is " + m.Members[at].Why.String()
	case !slices.Contains(m.Members[at].Brokers, stored):
		p.Why = fmt.Sprintf("%s is not connected to %s, which stores the message and would pass it on", ids[at], stored)
	case m.Type == protocol.ConsumeActively:
		p.Why = "members of a pull group have no listener: they take messages by themselves"
	default:
		p.Member, p.Request.ClientID = m.Members[at], ids[at]
	}
}

// Refused says why a plan cannot be carried out; nil when it can.
func (p *DirectPlan) Refused() error {
	if p.Why == "" {
		return nil
	}
	return &NotPossibleError{p.Why}
}

// ApplyDirect has the message consumed, and says what the listener made of it.
func (in *Inspector) ApplyDirect(ctx context.Context, p DirectPlan) (DirectResult, error) {
	res := DirectResult{Plan: p}
	if err := p.Refused(); err != nil {
		return res, err
	}
	m := &p.Request.Message
	d := in.door(p.addr)
	var err error
	res.Answer, err = askAt(ctx, in, d, d.relayed, directTime, func(ctx context.Context) (protocol.ConsumeMessageDirectlyResult, error) {
		return in.client.ConsumeDirectly(ctx, p.addr, &protocol.ConsumeMessageDirectlyRequestHeader{
			ConsumerGroup: p.Request.Group, ClientID: p.Request.ClientID, MsgID: string(m.AppendOffsetMessageID(nil)), BrokerName: m.BrokerName(),
		})
	})
	ce, answered := errors.AsType[*remoting.CodeError](err)
	switch {
	case err == nil:
		res.Sent = true
	case unanswered(err), answered && ce.Code == protocol.ConsumeMsgTimeout:
		res.Unknown, res.Error = true, "not known whether its listener has the message, or will have: "+ReasonOf(err).String()
	default:
		res.Error = "not consumed: " + ReasonOf(err).String()
	}
	return res, nil
}

// Failed is what the listener has against the message, or why it did not get it; nil
// when it was consumed.
func (r *DirectResult) Failed() error {
	if r.Error != "" {
		return fmt.Errorf("%s: %s", r.Plan.Request.ClientID, r.Error)
	}
	if r.Consumed() {
		return nil
	}
	return fmt.Errorf("%s was given the message: %s", r.Plan.Request.ClientID, r.Words())
}

// Consumed reports whether the listener took the message.
func (r *DirectResult) Consumed() bool {
	return r.Answer.ConsumeResult == "CR_SUCCESS" || r.Answer.ConsumeResult == "CR_COMMIT"
}

// Words are what the listener made of the message.
func (r *DirectResult) Words() string {
	words := map[string]string{
		"CR_SUCCESS": "consumed", "CR_COMMIT": "consumed (commit)", "CR_LATER": "its listener wants it later, which is not tried", "CR_ROLLBACK": "its listener rolls it back",
		"CR_THROW_EXCEPTION": "its listener failed", "CR_RETURN_NULL": "its listener answers nothing, which is a failure",
	}[r.Answer.ConsumeResult]
	if words == "" {
		words = "it answers " + r.Answer.ConsumeResult
	}
	if r.Answer.Remark != "" {
		words += ": " + r.Answer.Remark
	}
	return words
}
