package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// ManageAction is what is done to a topic or a group.
type ManageAction string

// The actions.
const (
	CreateTopic ManageAction = "create topic"
	DeleteTopic ManageAction = "delete topic"
	CreateGroup ManageAction = "create group"
	DeleteGroup ManageAction = "delete group"
)

// ManageRequest asks for a topic or group to be made or deleted.
type ManageRequest struct {
	Action  ManageAction
	Name    string
	Brokers []string // to create at; none: all of the cluster

	// Of a topic.
	ReadQueues, WriteQueues, Perm int32
	Order                         bool
	Type                          string // NORMAL, FIFO, …: 5.x; "" says nothing

	// Of a group: members of its configuration in JSON text, such as retryMaxTimes.
	Config []protocol.ConfigMember
	// DeadLetters has the dead-letter topic go with its group.
	DeadLetters bool
}

// ManageRow is one broker of a plan, and later of its result.
type ManageRow struct {
	Broker, Addr  string
	Before, After string // in words; "" is nothing there
	Tried         bool
	Verified      bool // read back as wanted
	Error         string
}

// ManagePlan is what would be done. It was made by reading only.
type ManagePlan struct {
	Request ManageRequest
	Rows    []ManageRow
	Topics  []string // that are deleted with a group
	Notes   []string // what is lost, who is affected
	Why     string   // why it is not possible, and the way out; "" when it is
}

// Refused is a *NotPossibleError when the plan cannot be carried out.
func (p *ManagePlan) Refused() error {
	if p.Why == "" {
		return nil
	}
	return &NotPossibleError{p.Why}
}

// Failed is what did not come true, nil when all did.
func (p *ManagePlan) Failed() error {
	var failed []error
	for _, r := range p.Rows {
		switch {
		case r.Verified: // even where no answer came
		case r.Error != "":
			failed = append(failed, fmt.Errorf("%s at %s: %s", p.Request.Action, r.Broker, r.Error))
		default:
			failed = append(failed, fmt.Errorf("%s at %s: %s", p.Request.Action, r.Broker, p.Unverified()))
		}
	}
	return errors.Join(failed...)
}

// Unverified says what is wrong at a broker that was not seen to have done it.
func (p *ManagePlan) Unverified() string {
	if p.Request.Action == DeleteTopic || p.Request.Action == DeleteGroup {
		return "it is not seen to be gone"
	}
	return "it does not show there"
}

// PlanManage looks at what is there. Nothing is changed.
func (in *Inspector) PlanManage(ctx context.Context, r ManageRequest) (ManagePlan, error) {
	p := ManagePlan{Request: r}
	s, err := in.freshSurvey(ctx)
	if err != nil {
		return p, err
	}
	chosen, unknown := s.chooseBrokers(r.Brokers)
	if unknown != "" {
		return p, &NotFoundError{"broker", unknown}
	}
	for _, b := range chosen {
		p.Rows = append(p.Rows, ManageRow{Broker: b.name, Addr: b.addr})
		if b.id != remoting.MasterID {
			p.Why = "the master of " + b.name + " is away, and only masters take changes: wait until it is back"
		}
	}
	switch r.Action {
	case CreateTopic, DeleteTopic:
		return p, in.planTopic(ctx, s, &p)
	}
	return p, in.planGroup(ctx, s, &p)
}

func (s *survey) chooseBrokers(names []string) (chosen []broker, unknown string) {
	if len(names) == 0 {
		return s.brokers, ""
	}
	for _, name := range names {
		b := s.broker(name)
		if b == nil {
			return nil, name
		}
		chosen = append(chosen, *b)
	}
	return chosen, ""
}

// refuse keeps the first reason.
func (p *ManagePlan) refuse(format string, args ...any) {
	if p.Why == "" {
		p.Why = fmt.Sprintf(format, args...)
	}
}

func (p *ManagePlan) note(format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
}

func (in *Inspector) planTopic(ctx context.Context, s *survey, p *ManagePlan) error {
	name := p.Request.Name
	if s.isSystemTopic(name) {
		p.refuse("%s is one of RocketMQ's own topics: brokers make and need it", name)
		return nil
	}
	r := in.round(s)
	there, err := r.topicAtBrokers(ctx, name, p.Rows)
	if err != nil {
		return err
	}
	if p.Request.Action == CreateTopic {
		for i := range p.Rows {
			if b := s.broker(p.Rows[i].Broker); p.Request.Type != "" && !b.five() {
				p.refuse("%s is of version %s, whose topics have no type: leave out the type, or create it at 5.x brokers", b.name, b.version)
			}
			p.Rows[i].After = topicWords(p.Request.ReadQueues, p.Request.WriteQueues, p.Request.Perm)
			if p.Rows[i].Before != "" {
				p.refuse("topic %s is there already, at %s with %s", name, p.Rows[i].Broker, p.Rows[i].Before)
			}
		}
		return nil
	}
	p.Rows = slices.DeleteFunc(p.Rows, func(row ManageRow) bool { return row.Before == "" })
	if !there && !s.topics[name] {
		return &NotFoundError{"topic", name}
	}
	detail := r.topic(ctx, name, r.types(ctx, 1))
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
	return nil
}

// howMany is a count in a sentence.
func howMany(n Number) string {
	if !n.Known {
		return "an unknown number of"
	}
	return numberText(n)
}

func topicWords(read, write, perm int32) string {
	if read == write {
		return fmt.Sprintf("%s, %s", Plural(int64(read), "queue"), PermText(perm))
	}
	return fmt.Sprintf("%d read and %d write queues, %s", read, write, PermText(perm))
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

func (in *Inspector) planGroup(ctx context.Context, s *survey, p *ManagePlan) error {
	name := p.Request.Name
	if isSystemGroup(name) {
		p.refuse("%s is one of RocketMQ's own groups: brokers make and need it", name)
		return nil
	}
	if len(s.problems) > 0 {
		p.refuse("not all brokers have told their groups (%v): nothing can be said for sure", s.problems[0])
	}
	known := s.groups[name]
	for i := range p.Rows {
		row := &p.Rows[i]
		if known != nil && slices.Contains(known.brokers, row.Broker) {
			row.Before = "configured"
		}
	}
	if p.Request.Action == CreateGroup {
		for i := range p.Rows {
			row := &p.Rows[i]
			row.After = "configured"
			if row.Before != "" {
				p.refuse("group %s is there already, at %s", name, row.Broker)
			}
		}
		return nil
	}
	v := in.round(s).view(ctx, name)
	if !s.knows(name) && len(v.members.Members) == 0 && len(v.queues) == 0 && len(v.errs) == 0 {
		return in.planOffsets(ctx, s, p)
	}
	if n := len(v.members.Members); n > 0 {
		p.refuse("group %s has %s online, which would make it again at once: stop them first", name, Plural(n, "member"))
	}
	if len(v.errs) > 0 {
		p.refuse("it is not known whether members are online (%v)", v.errs[0])
	}
	v.countPops()
	l := v.lag(ctx)
	if l.Lag != Exact(0) {
		p.note("its offsets go with it: %s messages wait for it", howMany(l.Lag))
	} else {
		p.note("its offsets go with it")
	}
	if topic := protocol.RetryTopic(name); s.topics[topic] {
		p.Topics = append(p.Topics, topic)
		if l.RetryLag != Exact(0) {
			p.note("%s messages that wait to be tried again are lost", howMany(l.RetryLag))
		}
	}
	if topic := protocol.DLQTopic(name); s.topics[topic] {
		if p.Request.DeadLetters {
			p.Topics = append(p.Topics, topic)
			p.note("%s dead letters are lost", howMany(l.DeadLetters))
		} else {
			p.note("its dead-letter topic stays, with %s messages", howMany(l.DeadLetters))
		}
	}
	return nil
}

// offsetsOnly is what a broker has of a group without a configuration: offsets in
// topics that are gone.
const offsetsOnly = "offsets only"

// planOffsets plans to delete what brokers have kept of a group that is gone.
func (in *Inspector) planOffsets(ctx context.Context, s *survey, p *ManagePlan) error {
	name, round := p.Request.Name, in.round(s)
	plain, broadcast := false, false
	for i := range p.Rows {
		row := &p.Rows[i]
		c, err := round.committed(ctx, row.Addr)
		if err != nil {
			p.refuse("%s does not say what offsets it keeps (%v)", row.Broker, ReasonOf(err))
			return nil
		}
		if len(c.all[name]) > 0 {
			row.Before, plain = offsetsOnly, true
		}
		broadcast = broadcast || len(c.all[name+broadcastMark]) > 0
	}
	switch {
	case plain:
		p.note("it has no configuration and no topic any more: its offsets are deleted")
	case broadcast:
		p.refuse("all that is left of group %s is how far broadcasting members were: the broker has no request that takes it away, and it does no harm", name)
	default:
		return missing("group", name, s.problems...)
	}
	return nil
}

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

// verifyManaged reads back.
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
		each(len(p.Rows), 0, func(i int) {
			row := &p.Rows[i]
			stats, err := in.round(s).stats(ctx, row.Addr, p.Request.Name)
			if p.Request.Action == CreateTopic {
				row.Verified = err == nil && len(stats) > 0
			} else {
				row.Verified = ReasonOf(err).Kind == ReasonNotFound
			}
			if err != nil && ReasonOf(err).Kind != ReasonNotFound {
				row.unread(ReasonOf(err).String())
			}
		})
	default:
		known := s.groups[p.Request.Name]
		for i := range p.Rows {
			row := &p.Rows[i]
			there := known != nil && slices.Contains(known.brokers, row.Broker)
			told := slices.Contains(s.asked, row.Broker)
			row.Verified = there == (p.Request.Action == CreateGroup) && told
			if row.Before == offsetsOnly {
				c, err := in.round(s).committed(ctx, row.Addr)
				row.Verified, told = row.Verified && err == nil && len(c.all[p.Request.Name]) == 0, told && err == nil
			}
			if !told {
				row.unread(s.silence(row.Broker))
			}
		}
	}
	for i := range p.Rows {
		if p.Rows[i].Verified {
			p.Rows[i].Error = "" // whatever became of the answer
		}
	}
	return p.Failed()
}
