package inspect

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// Topics gives the names of all topics.
func (in *Inspector) Topics(ctx context.Context) (TopicList, error) {
	s, err := in.sharedSurvey(ctx)
	if err == nil && s.topicsErr != nil {
		err = s.topicsErr
	}
	if err != nil {
		return TopicList{At: in.now()}, err
	}
	list := TopicList{At: s.at}
	for _, topic := range slices.Sorted(maps.Keys(s.topics)) {
		list.Topics = append(list.Topics, s.topicName(topic))
	}
	return list, nil
}

func (s *survey) topicName(topic string) TopicName {
	return TopicName{
		Topic: topic, System: s.isSystemTopic(topic), Retry: isRetry(topic), Dead: strings.HasPrefix(topic, protocol.DLQTopicPrefix),
	}
}

// TopicRows gives the details of topics, in their order.
func (in *Inspector) TopicRows(ctx context.Context, topics []string) []TopicRow {
	rows := make([]TopicRow, len(topics))
	s, err := in.survey(ctx)
	if err != nil {
		for i, topic := range topics {
			rows[i] = TopicRow{TopicName: TopicName{Topic: topic}, At: in.now(), Stored: Unknown(ReasonOf(err)), Problems: []Problem{problem("brokers", "the name servers", err)}}
		}
		return rows
	}
	r := in.round(s)
	types := r.types(len(topics))
	each(len(topics), groupsAtOnce, func(i int) {
		rows[i] = r.topic(ctx, topics[i], types).Row
	})
	return rows
}

// fewTopics is how many topics at most are asked for one by one: of more, brokers are
// asked for all configurations at once.
const fewTopics = 16

// topicTypes finds a topic's configuration at a broker.
type topicTypes func(ctx context.Context, b *broker, topic string) (protocol.TopicConfig, error)

// types gives the best way to ask for the configurations of n topics.
func (r *round) types(n int) topicTypes {
	in := r.in
	if n <= fewTopics {
		return func(ctx context.Context, b *broker, topic string) (protocol.TopicConfig, error) {
			if !b.five() {
				return protocol.TopicConfig{}, nil // it has no attributes, and the route says the rest
			}
			return ask(ctx, in, b.addr, func(ctx context.Context) (protocol.TopicConfig, error) {
				return in.client.TopicConfig(ctx, b.addr, topic)
			})
		}
	}
	var all memo[string, map[string]protocol.TopicConfig]
	return func(ctx context.Context, b *broker, topic string) (protocol.TopicConfig, error) {
		if !b.five() {
			return protocol.TopicConfig{}, nil
		}
		table, err := all.get(ctx, b.addr, func() (map[string]protocol.TopicConfig, error) {
			return askTable(ctx, in, b.addr, func(ctx context.Context) (map[string]protocol.TopicConfig, error) {
				return in.client.TopicConfigs(ctx, b.addr)
			})
		})
		return table[topic], err
	}
}

// Topic gives everything about one topic.
func (in *Inspector) Topic(ctx context.Context, topic string) (TopicDetail, error) {
	s, err := in.survey(ctx)
	if err != nil {
		return TopicDetail{}, err
	}
	r := in.round(s)
	route, err := r.route(ctx, topic)
	if route == nil {
		if isType[*remoting.NoRouteError](err) {
			err = missing("topic", topic)
		}
		return TopicDetail{}, err
	}
	d := r.topic(ctx, topic, r.types(1))
	d.Groups, d.GroupsWhy = r.groupsOf(ctx, topic, route)
	for _, group := range d.Groups {
		if p := s.pause(group); p.Any() {
			if d.Paused == nil {
				d.Paused = map[string]Pause{}
			}
			d.Paused[group] = p
		}
	}
	r.firstStored(ctx, &d)
	return d, nil
}

// topic gathers a topic's queues and where it lives.
func (r *round) topic(ctx context.Context, topic string, types topicTypes) TopicDetail {
	d := TopicDetail{Row: TopicRow{TopicName: r.survey.topicName(topic), At: r.in.now()}}
	route, err := r.route(ctx, topic)
	if route == nil {
		d.Row.Stored = Unknown(ReasonOf(err))
		d.Row.Problems = append(d.Row.Problems, problem("route of "+topic, "the name servers", err))
		return d
	}
	d.Row.Static = route.Data.Static()
	addrs := map[string]map[int64]string{}
	for _, b := range route.Data.BrokerDatas {
		addrs[b.BrokerName] = b.BrokerAddrs
	}
	parts := make([]topicPart, len(route.Data.QueueDatas))
	each(len(parts), 0, func(i int) { parts[i] = r.topicPart(ctx, topic, &route.Data.QueueDatas[i], types) })
	d.Row.Stored = Exact(0)
	for i, q := range route.Data.QueueDatas {
		p := &parts[i]
		if i == 0 {
			d.Row.Stored = p.stored // of which nothing may be known: then the sum is no bound
		} else {
			d.Row.Stored = d.Row.Stored.Plus(p.stored)
		}
		d.Route = append(d.Route, TopicRouteRow{
			Broker: q.BrokerName, Addrs: addrs[q.BrokerName], Read: q.ReadQueueNums, Write: q.WriteQueueNums, Perm: q.Perm, TopicSysFlag: q.TopicSysFlag,
		})
		d.Row.Brokers = append(d.Row.Brokers, q.BrokerName)
		if q.Perm&protocol.PermRead != 0 {
			d.Row.Queues += int(q.ReadQueueNums)
		}
		if perm := PermText(q.Perm); d.Row.Perm == "" {
			d.Row.Perm = perm
		} else if !slices.Contains(strings.Split(d.Row.Perm, ", "), perm) {
			d.Row.Perm += ", " + perm // brokers differ
		}
		d.Queues = append(d.Queues, p.queues...)
		d.Row.Problems = append(d.Row.Problems, p.problems...)
		if p.kind != "" {
			d.Row.Type, d.Attributes = p.kind, p.attributes
		}
		if p.attributes != nil && d.Attributes == nil {
			d.Attributes = p.attributes
		}
	}
	for i := range d.Queues {
		if t := d.Queues[i].LastStored; t.After(d.Row.LastStored) {
			d.Row.LastStored = t
		}
	}
	slices.SortFunc(d.Queues, func(a, b TopicQueue) int { return protocol.CompareMessageQueues(a.MessageQueue, b.MessageQueue) })
	return d
}

// topicPart is a topic at one broker.
type topicPart struct {
	queues     []TopicQueue
	stored     Number
	kind       string
	attributes map[string]string
	problems   []Problem
}

func (r *round) topicPart(ctx context.Context, topic string, data *protocol.QueueData, types topicTypes) (p topicPart) {
	queue := func(id int32) TopicQueue {
		return TopicQueue{MessageQueue: protocol.MessageQueue{Topic: topic, BrokerName: data.BrokerName, QueueID: id}, Perm: data.Perm,
			Closed: unreadable(id, data.ReadQueueNums, data.WriteQueueNums, data.Perm)}
	}
	b := r.survey.broker(data.BrokerName)
	var stats protocol.TopicStats
	err := error(&remoting.NoBrokerError{BrokerName: data.BrokerName})
	if b != nil {
		stats, err = r.stats(ctx, b.addr, topic)
		config, configErr := types(ctx, b, topic)
		if configErr == nil {
			p.attributes = config.Attributes
			if p.kind = config.Attributes[protocol.MessageTypeAttribute]; p.kind == "" && config.Attributes != nil {
				p.kind = "NORMAL" // what a 5.x broker takes a topic for that does not say
			}
		} else {
			p.problems = append(p.problems, problem("configuration of "+topic, data.BrokerName, configErr))
		}
	}
	if err != nil {
		why := ReasonOf(err)
		p.problems = append(p.problems, problem("bounds of "+topic, data.BrokerName, err))
		p.stored = Unknown(why)
		for id := range max(data.ReadQueueNums, data.WriteQueueNums) {
			q := queue(id)
			q.Min, q.Max = Unknown(why), Unknown(why)
			p.queues = append(p.queues, q)
		}
		return p
	}
	p.stored = Exact(0)
	for mq, s := range stats {
		q := queue(mq.QueueID)
		q.Min, q.Max = Exact(s.MinOffset), Exact(s.MaxOffset)
		if s.LastUpdateTimestamp > 0 && s.MaxOffset > 0 {
			q.LastStored = millis(s.LastUpdateTimestamp)
		}
		p.stored.Value += s.MaxOffset - s.MinOffset
		p.queues = append(p.queues, q)
	}
	return p
}

// PermText is how RocketMQ's tools write a permission: RW-.
func PermText(perm int32) string {
	text := []byte("---")
	if perm&protocol.PermRead != 0 {
		text[0] = 'R'
	}
	if perm&protocol.PermWrite != 0 {
		text[1] = 'W'
	}
	if perm&1 != 0 {
		text[2] = 'X'
	}
	return string(text)
}

// groupsOf are the groups that consume a topic, as its brokers say.
func (r *round) groupsOf(ctx context.Context, topic string, route *remoting.TopicRoute) ([]string, Reason) {
	var brokers []*broker
	for _, data := range route.Data.BrokerDatas {
		if b := r.survey.broker(data.BrokerName); b != nil {
			brokers = append(brokers, b)
		}
	}
	answers := make([][]string, len(brokers))
	failed := make([]Reason, len(brokers))
	each(len(brokers), 0, func(i int) { answers[i], failed[i] = r.groupsAt(ctx, brokers[i], topic) })
	groups := slices.Concat(answers...)
	slices.Sort(groups)
	return slices.Compact(groups), cmp.Or(failed...)
}

// maxSearched is how many groups at most are asked whether they are the one that a
// broker does not name.
const maxSearched = 512

// groupsAt asks one broker. A 5.3 one names the topic itself in the place of each group
// that is online and has committed nothing: then the groups that it knows are asked for
// their subscription.
func (r *round) groupsAt(ctx context.Context, b *broker, topic string) ([]string, Reason) {
	groups, err := ask(ctx, r.in, b.addr, func(ctx context.Context) ([]string, error) {
		return r.in.client.GroupsOfTopic(ctx, b.addr, topic)
	})
	if err != nil {
		return nil, ReasonOf(err)
	}
	if r.survey.groups[topic] != nil || !slices.Contains(groups, topic) {
		return groups, Reason{}
	}
	groups = slices.DeleteFunc(groups, func(group string) bool { return group == topic })
	var others []string
	for group, known := range r.survey.groups {
		if slices.Contains(known.brokers, b.name) && !slices.Contains(groups, group) && !isSystemGroup(group) {
			others = append(others, group)
		}
	}
	if len(others) > maxSearched {
		return groups, Reason{ReasonIncomplete, b.name + " keeps the name of a group to itself that is online there and has committed nothing"}
	}
	subscribed := make([]bool, len(others))
	each(len(others), 0, func(i int) {
		s, err := ask(ctx, r.in, b.addr, func(ctx context.Context) (*protocol.SubscriptionData, error) {
			return r.in.client.SubscriptionOf(ctx, b.addr, others[i], topic)
		})
		subscribed[i] = err == nil && s != nil
	})
	for i, group := range others {
		if subscribed[i] {
			groups = append(groups, group)
		}
	}
	return groups, Reason{}
}

// firstStored asks when the first message of each queue was stored. The question is
// about a group's progress; which group does not matter.
func (r *round) firstStored(ctx context.Context, d *TopicDetail) {
	byQueue := make([]map[protocol.MessageQueue]int64, len(d.Route))
	each(len(d.Route), 0, func(i int) {
		b := r.survey.broker(d.Route[i].Broker)
		if b == nil {
			return
		}
		spans, err := ask(ctx, r.in, b.addr, func(ctx context.Context) ([]protocol.QueueTimeSpan, error) {
			return r.in.client.QueueTimeSpans(ctx, b.addr, d.Row.Topic, toolsGroup)
		})
		if err != nil {
			return // the zero time says that it is not known
		}
		byQueue[i] = map[protocol.MessageQueue]int64{}
		for _, s := range spans {
			byQueue[i][s.MessageQueue] = s.MinTimestamp
		}
	})
	for i := range d.Queues {
		q := &d.Queues[i]
		for _, times := range byQueue {
			if ms := times[q.MessageQueue]; ms > 0 && q.Max.Known && q.Max.Value > q.Min.Value {
				q.FirstStored = millis(ms)
			}
		}
	}
}
