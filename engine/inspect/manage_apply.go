package inspect

import (
	"context"
	"errors"
	"slices"

	"eyeq/remoting/protocol"
)

// ApplyManage carries out a plan and reads back what came of it. It plans again first,
// and does nothing when what is there has changed.
func (in *Inspector) ApplyManage(ctx context.Context, p ManagePlan) (ManagePlan, error) {
	again, err := in.PlanManage(ctx, p.Request)
	if err == nil {
		err = again.Refused()
	}
	if err != nil {
		return p, err
	}
	if !slices.Equal(p.Rows, again.Rows) || !slices.Equal(p.Topics, again.Topics) {
		return p, &DriftError{[]string{p.Request.Name + " is not as it was"}}
	}
	each(len(p.Rows), 0, func(i int) {
		row := &p.Rows[i]
		row.Tried = true
		err := in.manageAt(ctx, &p.Request, row.Addr)
		switch {
		case unanswered(err):
			row.Error = "not known whether it was done, or will be: " + ReasonOf(err).String()
			in.reopen(row.Addr)
		case err != nil:
			row.Error = ReasonOf(err).String()
		}
	})
	switch {
	case p.Request.Action == DeleteTopic:
		err = in.client.DeleteTopic(ctx, p.Request.Name) // with the name servers, who must not announce it any more
	case !slices.ContainsFunc(p.Rows, func(r ManageRow) bool { return r.Error != "" }):
		for _, topic := range p.Topics {
			err = errors.Join(err, in.client.DeleteTopic(ctx, topic))
		}
	}
	in.forget()
	return p, errors.Join(in.verifyManaged(ctx, &p), err)
}

// manageAt does at one broker what concerns that broker alone.
func (in *Inspector) manageAt(ctx context.Context, r *ManageRequest, addr string) error {
	_, err := ask(ctx, in, addr, func(ctx context.Context) (struct{}, error) {
		switch r.Action {
		case CreateTopic:
			h := protocol.CreateTopicRequestHeader{
				Topic: r.Name, DefaultTopic: "TBW102", ReadQueueNums: r.ReadQueues, WriteQueueNums: r.WriteQueues, Perm: r.Perm, Order: r.Order,
			}
			if r.Type != "" {
				h.Attributes = "+" + protocol.MessageTypeAttribute + "=" + r.Type
			}
			return struct{}{}, in.client.CreateTopic(ctx, addr, &h)
		case CreateGroup:
			c := protocol.NewGroupConfig(r.Name)
			for _, m := range r.Config {
				if err := c.Set(m.Name, m.Value); err != nil {
					return struct{}{}, err
				}
			}
			return struct{}{}, in.client.UpdateGroupConfig(ctx, addr, c)
		case DeleteGroup:
			return struct{}{}, in.client.DeleteGroup(ctx, addr, r.Name)
		}
		return struct{}{}, nil // of a topic that is deleted everywhere at once
	})
	return err
}

// unread notes that nobody has said what is at a broker now.
func (row *ManageRow) unread(why string) {
	if row.Error == "" {
		row.Error = "it cannot be read back: " + why
	}
}

// verifyManaged reads back what there is now, and tells what did not come true. What was
// verified has no error any more.
func (in *Inspector) verifyManaged(ctx context.Context, p *ManagePlan) error {
	s, err := in.freshSurvey(ctx)
	if err != nil {
		for i := range p.Rows {
			p.Rows[i].unread(ReasonOf(err).String())
		}
		return p.Failed()
	}
	switch p.Request.Action {
	case CreateTopic, DeleteTopic:
		in.round(s).verifyTopic(ctx, p)
	default:
		in.round(s).verifyGroup(ctx, p)
	}
	for i := range p.Rows {
		if p.Rows[i].Verified {
			p.Rows[i].Error = "" // whatever became of the answer
		}
	}
	return p.Failed()
}

// verifyTopic reads back from each broker whether it has the topic.
func (r *round) verifyTopic(ctx context.Context, p *ManagePlan) {
	each(len(p.Rows), 0, func(i int) {
		row := &p.Rows[i]
		stats, err := r.stats(ctx, row.Addr, p.Request.Name)
		if p.Request.Action == CreateTopic {
			row.Verified = err == nil && len(stats) > 0
		} else {
			row.Verified = ReasonOf(err).Kind == ReasonNotFound
		}
		if err != nil && ReasonOf(err).Kind != ReasonNotFound {
			row.unread(ReasonOf(err).String())
		}
	})
}

// verifyGroup looks in what brokers have just told of their groups, and in their
// offsets where that was all they had of it.
func (r *round) verifyGroup(ctx context.Context, p *ManagePlan) {
	known := r.survey.groups[p.Request.Name]
	for i := range p.Rows {
		row := &p.Rows[i]
		there := known != nil && slices.Contains(known.brokers, row.Broker)
		told := slices.Contains(r.survey.asked, row.Broker)
		row.Verified = there == (p.Request.Action == CreateGroup) && told
		if row.Before == offsetsOnly {
			c, err := r.committed(ctx, row.Addr)
			row.Verified, told = row.Verified && err == nil && len(c.all[p.Request.Name]) == 0, told && err == nil
		}
		if !told {
			row.unread(r.survey.silence(row.Broker))
		}
	}
}
