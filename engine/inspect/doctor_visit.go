package inspect

import (
	"context"
	"slices"
	"strings"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// DoctorOptions say how long a doctor looks.
type DoctorOptions struct {
	Samples  int           // how often; 0 is 2
	Interval time.Duration // between two looks; 0 is 6 s, which is longer than members take to commit
	// Longer, where it is set, has the doctor look on, for up to a minute, while queues
	// stand still and it cannot be told yet whether their listeners are only slow. It is
	// called once, with how many they are.
	Longer func(queues int)
}

const (
	doctorSamples  = 2
	doctorInterval = 6 * time.Second
)

// Doctor looks at a group twice, a few seconds apart, and says what is wrong with it.
func (in *Inspector) Doctor(ctx context.Context, group string) (Report, error) {
	return in.DoctorWith(ctx, group, DoctorOptions{})
}

// DoctorWith is Doctor that looks as often as it is told.
func (in *Inspector) DoctorWith(ctx context.Context, group string, o DoctorOptions) (Report, error) {
	f, err := in.Facts(ctx, group, o)
	if err != nil {
		return Report{Group: group, At: in.now()}, err
	}
	return Judge(f), nil
}

// Facts gathers what Judge needs. Only when the group is not there, or nothing can be
// asked, there is an error: what else is missing is missing from the facts.
func (in *Inspector) Facts(ctx context.Context, group string, o DoctorOptions) (Facts, error) {
	if o.Samples <= 0 {
		o.Samples = doctorSamples
	}
	if o.Interval <= 0 {
		o.Interval = doctorInterval
	}
	f := Facts{Group: group, TargetFlags: in.flags}
	first, err := in.Live(ctx, group)
	if err != nil {
		return f, err
	}
	f.Samples = []Live{first}
	next := time.NewTimer(o.Interval)
	defer next.Stop()
	each(2, 0, func(i int) { // while the time passes
		var err error
		if i == 0 {
			f.Detail, err = in.Group(ctx, group)
			f.DetailWhy = ReasonOf(err)
		} else {
			f.Brokers, err = in.Brokers(ctx)
			f.BrokersWhy = ReasonOf(err)
		}
	})
	for again := true; len(f.Samples) < o.Samples || again && missed(f.Samples) || o.looksOn(&f); {
		again = len(f.Samples) < o.Samples // one look more, and no other
		select {
		case <-next.C:
		case <-ctx.Done():
			return f, ctx.Err()
		}
		next.Reset(o.Interval)
		look, err := in.Live(ctx, group)
		if ctx.Err() != nil {
			return f, ctx.Err()
		}
		if err != nil {
			return f, err
		}
		f.Samples = append(f.Samples, look)
	}
	if f.BrokersWhy.Kind == ReasonNone {
		f.BrokersLater, _ = in.Brokers(ctx) // without them nothing is said of what needs two looks
	}
	in.readUnlisted(ctx, &f)
	in.readHeads(ctx, &f)
	in.readDead(ctx, &f)
	in.readTags(ctx, &f)
	return f, ctx.Err()
}

// looksOn reports whether a longer look is wanted that would tell more.
func (o *DoctorOptions) looksOn(f *Facts) bool {
	n := len(f.Samples)
	if o.Longer == nil || f.Samples[n-1].At.Sub(f.Samples[0].At) >= stuckAfter {
		return false
	}
	queues := undecided(*f)
	if queues > 0 {
		o.Longer(queues)
		o.Longer = func(int) {} // once
	}
	return queues > 0
}

// missed reports whether a member that had answered did not at the last look: it may
// have been busy for a moment, and is asked once more.
func missed(samples []Live) bool {
	if len(samples) < 2 {
		return false
	}
	before := byClientID(samples[len(samples)-2].Members)
	for _, m := range samples[len(samples)-1].Members.Members {
		if was := before[m.ClientID]; m.Info == nil && m.Why.Kind == ReasonUnreachable && was != nil && was.Info != nil {
			return true
		}
	}
	return false
}

// readUnlisted finds the queues of topics that members read and brokers do not list.
func (in *Inspector) readUnlisted(ctx context.Context, f *Facts) {
	last := &f.Samples[len(f.Samples)-1]
	s, err := in.survey(ctx)
	if err != nil {
		f.Missing = append(f.Missing, problem("topics that members read", "the name servers", err))
		return
	}
	r := in.round(s)
	f.Unlisted = map[string][]protocol.MessageQueue{}
	for _, m := range last.Members.Members {
		if m.Info == nil {
			continue
		}
		for _, sub := range m.Info.SubscriptionSet {
			if _, known := f.Unlisted[sub.Topic]; known || isRetry(sub.Topic) || slices.ContainsFunc(last.Lag.Queues, func(q QueueLag) bool { return q.Topic == sub.Topic }) {
				continue
			}
			route, err := r.route(ctx, sub.Topic)
			switch {
			case err == nil:
				f.Unlisted[sub.Topic] = route.Queues
			case !isType[*remoting.NoRouteError](err):
				f.Missing = append(f.Missing, problem("route of "+sub.Topic, "the name servers", err))
			}
		}
	}
}

// readHeads reads the messages at which queues stand still.
func (in *Inspector) readHeads(ctx context.Context, f *Facts) {
	at := suspects(*f)
	queues := sortedQueues(at)
	heads := make([]HeadMessage, len(queues))
	each(len(queues), 0, func(i int) {
		heads[i] = in.readHead(ctx, queues[i], at[queues[i]])
	})
	f.Heads = make(map[protocol.MessageQueue]HeadMessage, len(queues))
	for i, mq := range queues {
		f.Heads[mq] = heads[i]
	}
}

func (in *Inspector) readHead(ctx context.Context, mq protocol.MessageQueue, offset int64) HeadMessage {
	h := HeadMessage{Offset: offset}
	messages, err := in.peek(ctx, mq, offset, 1)
	switch {
	case err != nil:
		h.Why = ReasonOf(err)
	case len(messages) == 0 || messages[0].QueueOffset() != offset:
		h.Why = Reason{ReasonNotFound, "the message is gone"}
	default:
		m := &messages[0]
		h.ID, _ = m.Property(protocol.PropertyUniqKey)
		if h.ID == "" {
			h.ID = string(m.AppendOffsetMessageID(nil))
		}
		h.ID = strings.Clone(h.ID)
		keys, _ := m.Property(protocol.PropertyKeys)
		h.Keys, h.Stored, h.Attempts = strings.Clone(keys), m.Stored(), m.ReconsumeTimes()
	}
	return h
}

// peek reads messages where they lie, as no group does.
func (in *Inspector) peek(ctx context.Context, mq protocol.MessageQueue, offset int64, n int) ([]protocol.MessageExt, error) {
	s, err := in.survey(ctx)
	if err != nil {
		return nil, err
	}
	addr, err := s.addrOf(mq.BrokerName)
	if err != nil {
		return nil, err
	}
	p, err := in.page(ctx, addr, mq, offset, n)
	if err == nil && len(p.messages) == 0 {
		err = p.unread
	}
	return p.messages, err
}

// readDead finds when the last dead letter came.
func (in *Inspector) readDead(ctx context.Context, f *Facts) {
	if dead := f.Samples[len(f.Samples)-1].Lag.DeadLetters; !dead.Known || dead.Value == 0 {
		return
	}
	row := in.TopicRows(ctx, []string{protocol.DLQTopic(f.Group)})[0]
	f.DeadStored = row.LastStored
	if row.LastStored.IsZero() {
		f.Missing = append(f.Missing, row.Problems...)
	}
}

// The backlog of a group with a filter is looked into at few places only.
const (
	tagQueues   = 4
	tagMessages = 32
)

// readTags counts how many messages at the beginning of a filtered group's backlog
// are for it. An SQL filter is the broker's to evaluate.
func (in *Inspector) readTags(ctx context.Context, f *Facts) {
	last := &f.Samples[len(f.Samples)-1]
	if !last.Lag.Filtered || f.DetailWhy.Kind != ReasonNone {
		return
	}
	tags := map[string][]string{}
	for _, row := range f.Detail.Subscriptions.Rows {
		if row.Type == protocol.ExpressionTAG && row.Broker != "" && row.Broker != "*" {
			for tag := range strings.SplitSeq(row.Broker, "||") {
				tags[row.Topic] = append(tags[row.Topic], strings.TrimSpace(tag))
			}
		}
	}
	var queues []QueueLag
	for _, q := range last.Lag.Queues {
		if tags[q.Topic] != nil && !q.Retry && q.waits() {
			queues = append(queues, q)
		}
	}
	slices.SortStableFunc(queues, func(a, b QueueLag) int { return int(min(max(b.Lag.Value-a.Lag.Value, -1), 1)) })
	queues = queues[:min(len(queues), tagQueues)]
	found := make([]TagSample, len(queues))
	each(len(queues), 0, func(i int) {
		messages, err := in.peek(ctx, queues[i].MessageQueue, queues[i].next(), tagMessages)
		if err != nil {
			return // what was not looked at is not counted
		}
		found[i].Looked = len(messages)
		for k := range messages {
			if slices.Contains(tags[queues[i].Topic], messages[k].Tags()) {
				found[i].Match++
			}
		}
	})
	for _, s := range found {
		f.Matching.Looked += s.Looked
		f.Matching.Match += s.Match
	}
}
