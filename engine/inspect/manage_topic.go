package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// planTopic says what making or deleting a topic would do at each broker of the plan.
func (in *Inspector) planTopic(ctx context.Context, s *survey, p *ManagePlan) error {
	name := p.Request.Name
	if s.isSystemTopic(name) {
		p.refuse("%s is one of RocketMQ's own topics: brokers make and need it", name)
		return nil
	}
	if IsLight(name) {
		p.refuse("%s is a light queue: its first message makes it, and brokers tell of any such name as if it were there", name)
		return nil
	}
	r := in.round(s)
	there, err := r.topicAtBrokers(ctx, name, p.Rows)
	if err != nil {
		return err
	}
	if p.Request.Action == CreateTopic {
		p.newTopic(s)
		return nil
	}
	p.Rows = slices.DeleteFunc(p.Rows, func(row ManageRow) bool { return row.Before == "" })
	if !there && !s.topics[name] {
		return &NotFoundError{"topic", name}
	}
	r.topicLosses(ctx, p)
	return nil
}

// newTopic fills in what brokers would have, and refuses where one has the topic.
func (p *ManagePlan) newTopic(s *survey) {
	for i := range p.Rows {
		row := &p.Rows[i]
		if b := s.broker(row.Broker); p.Request.Type != "" && !b.five() {
			p.refuse("%s is of version %s, whose topics have no type: leave out the type, or create it at 5.x brokers", b.name, b.version)
		}
		row.After = topicWords(p.Request.ReadQueues, p.Request.WriteQueues, p.Request.Perm)
		if row.Before != "" {
			p.refuse("topic %s is there already, at %s with %s", p.Request.Name, row.Broker, row.Before)
		}
	}
}

// topicLosses notes what goes with a topic, and who consumes it.
func (r *round) topicLosses(ctx context.Context, p *ManagePlan) {
	name := p.Request.Name
	detail := r.topic(ctx, name, r.types(1))
	if detail.Row.Stored != Exact(0) {
		p.note("%s stored messages go with it", howMany(detail.Row.Stored))
	}
	if route, err := r.route(ctx, name); err == nil {
		groups, why := r.groupsOf(ctx, name, route)
		if len(groups) > 0 {
			p.note("groups that consume it: %s", strings.Join(groups, ", "))
		}
		if why.Kind != ReasonNone {
			p.note("not all brokers say which groups consume it (%v)", why)
		}
	}
}

// topicAtBrokers looks for a topic at brokers: the name servers may not know yet, or
// still know, what brokers have.
func (r *round) topicAtBrokers(ctx context.Context, topic string, rows []ManageRow) (there bool, err error) {
	route, routeErr := r.route(ctx, topic)
	words := map[string]string{}
	if routeErr == nil {
		for _, q := range route.Data.QueueDatas {
			words[q.BrokerName] = topicWords(q.ReadQueueNums, q.WriteQueueNums, q.Perm)
		}
	}
	failed := make([]error, len(rows))
	each(len(rows), 0, func(i int) {
		stats, err := r.stats(ctx, rows[i].Addr, topic)
		switch {
		case err == nil && words[rows[i].Broker] != "":
			rows[i].Before = words[rows[i].Broker]
		case err == nil:
			rows[i].Before = Plural(len(stats), "queue")
		case ReasonOf(err).Kind != ReasonNotFound:
			failed[i] = fmt.Errorf("whether %s has topic %s is not known, so nothing was changed: %w", rows[i].Broker, topic, err)
		}
	})
	for i := range rows {
		there = there || rows[i].Before != ""
	}
	return there, errors.Join(failed...)
}

// topicWords is a topic's configuration at a broker, in words.
func topicWords(read, write, perm int32) string {
	if read == write {
		return fmt.Sprintf("%s, %s", Plural(int64(read), "queue"), PermText(perm))
	}
	return fmt.Sprintf("%d read and %d write queues, %s", read, write, PermText(perm))
}
