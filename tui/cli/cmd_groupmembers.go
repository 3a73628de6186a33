package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
)

// membersFlags say how much of each member is shown.
type membersFlags struct {
	reading
	stack, properties bool
	client            string
	stacks            map[string]inspect.Stack // by client id, with stack
}

func newGroupMembers(e *env) *cobra.Command {
	f := &membersFlags{}
	cmd := &cobra.Command{
		Use:   "members GROUP",
		Short: "The members of a group and what each holds, asked from the running clients (-o table|json)",
		Long: `Shows who is connected to any broker for a group, and each member's own account of its queues:
what is cached, the span of it, the lock, the last pull. Of a queue that is popped, QUEUE is "all" where
a member pops all of a broker, CACHED how many messages it has popped and not acknowledged. Where members
let the broker allocate, the broker is asked what it gives them. A member that does not answer has the
reason in its place; the others are shown.`,
		Example: `  eyeq group members orders-worker
  eyeq group members orders-worker --client 10.0.0.7@12#34 --stack`,
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.stack, "stack", false, "what the members' threads do, those of the listener first (Java and Go clients tell)")
	fl.BoolVar(&f.properties, "properties", false, "the members' own settings too")
	fl.StringVar(&f.client, "client", "", "only the member with this client id")
	e.groupReader(cmd, &f.reading, func(ctx context.Context, x *inspection, group, format string) ([]byte, error) {
		return f.members(ctx, e, x, group, format)
	})
	return cmd
}

func (f *membersFlags) members(ctx context.Context, e *env, x *inspection, group, format string) ([]byte, error) {
	ask := x.Members
	if f.stack && f.client == "" {
		ask = x.MembersWithStacks
	}
	m, err := ask(ctx, group)
	if err != nil {
		return nil, err
	}
	if len(m.Members) == 0 && len(m.Problems) > 0 {
		if err := unasked("members of "+group, m.Problems); err != nil {
			return nil, err
		}
	}
	e.warn(m.Problems)
	if f.client != "" {
		ids := make([]string, len(m.Members))
		for i := range m.Members {
			ids[i] = m.Members[i].ClientID
		}
		m.Members = slices.DeleteFunc(m.Members, func(one inspect.Member) bool { return one.ClientID != f.client })
		if len(m.Members) == 0 {
			return nil, notAmong(fmt.Sprintf("group %q has no member %q%s", group, f.client, thereIs("it has", ids)), m.Problems)
		}
	}
	if f.stack {
		if err := f.readStacks(ctx, x, &m); err != nil {
			return nil, err
		}
	}
	if format == "json" {
		return marshal(f.json(&m))
	}
	return f.table(e, &m), nil
}

// membersJSON is `group members`.
type membersJSON struct {
	Group        string       `json:"group"`
	ConsumeType  *string      `json:"consume_type"`
	TypeError    string       `json:"consume_type_error,omitempty"`
	MessageModel *string      `json:"message_model"`
	ModelError   string       `json:"message_model_error,omitempty"`
	FromWhere    *string      `json:"from_where"`
	FromError    string       `json:"from_where_error,omitempty"`
	RequestModes []modeJSON   `json:"request_modes"`
	Members      []memberJSON `json:"members"`
	Problems     []string     `json:"problems"`
}

type memberJSON struct {
	ClientID      string             `json:"client_id"`
	Address       string             `json:"address"`
	Addresses     []string           `json:"addresses"`
	Language      string             `json:"language"`
	Version       string             `json:"version"`
	Brokers       []string           `json:"brokers"`
	Missing       []string           `json:"missing_brokers"`
	Started       timeJSON           `json:"started"`
	Subscriptions []subscriptionJSON `json:"subscriptions"`
	Topics        []topicRatesJSON   `json:"topics"`
	TopicsError   string             `json:"topics_error,omitempty"`
	Queues        []memberQueueJSON  `json:"queues"`
	QueuesError   string             `json:"queues_error,omitempty"`
	Assignments   []assignedJSON     `json:"assignments"` // null: it allocates itself, or has not said
	AssignedError string             `json:"assignments_error,omitempty"`
	Properties    map[string]string  `json:"properties,omitempty"`
	*StackJSON
}

type subscriptionJSON struct {
	Topic      string `json:"topic"`
	Expression string `json:"expression"`
	Type       string `json:"type"`
}

type topicRatesJSON struct {
	Topic      string  `json:"topic"`
	PullRT     float64 `json:"pull_rt_ms"`
	PullTPS    float64 `json:"pull_tps"`
	ConsumeRT  float64 `json:"consume_rt_ms"`
	OKTPS      float64 `json:"ok_tps"`
	FailedTPS  float64 `json:"failed_tps"`
	FailedHour int64   `json:"failed_last_hour"`
}

type memberQueueJSON struct {
	Topic           string   `json:"topic"`
	Broker          string   `json:"broker"`
	Queue           int32    `json:"queue"`
	Pop             bool     `json:"pop"`
	CommittedOffset *int64   `json:"committed_offset"`
	CommittedError  string   `json:"committed_offset_error,omitempty"`
	CachedMin       *int64   `json:"cached_min_offset"`
	CachedMax       *int64   `json:"cached_max_offset"`
	CachedCount     *int64   `json:"cached_count"`
	CachedMiB       *int64   `json:"cached_mib"`
	Span            *int64   `json:"span"`
	WaitAck         *int64   `json:"wait_ack,omitempty"`
	Locked          bool     `json:"locked"`
	LockedAt        timeJSON `json:"locked_at"`
	Dropped         bool     `json:"dropped"`
	LastPull        timeJSON `json:"last_pull"`
	LastConsume     timeJSON `json:"last_consume"`
}

func (f *membersFlags) json(m *inspect.Members) *membersJSON {
	j := &membersJSON{Group: m.Group, MessageModel: modelJSON(m.Model), RequestModes: modesJSON(m.Modes), Members: make([]memberJSON, len(m.Members)), Problems: problemsJSON(m.Problems)}
	if m.Type != 0 {
		j.ConsumeType = namedOrNull(m.Type.String())
	}
	if m.From != 0 {
		j.FromWhere = namedOrNull(m.From.String())
	}
	online := inspect.Exact(int64(len(m.Members)))
	j.TypeError, j.ModelError, j.FromError = unsaid(j.ConsumeType, online), unsaid(j.MessageModel, online), unsaid(j.FromWhere, online)
	for i := range m.Members {
		j.Members[i] = f.member(&m.Members[i])
	}
	return j
}

func (f *membersFlags) member(m *inspect.Member) memberJSON {
	j := memberJSON{
		ClientID: m.ClientID, Addresses: emptyList(m.Addresses), Language: m.Language, Version: m.Version,
		Brokers: emptyList(m.Brokers), Missing: emptyList(m.Missing),
	}
	if len(m.Addresses) > 0 {
		j.Address = m.Addresses[0]
	}
	if f.stack {
		j.StackJSON = f.stackOf(m.ClientID)
	}
	j.TopicsError = m.RatesWhy().String()
	if m.Info == nil {
		j.QueuesError = m.Why.String()
		return j
	}
	if f.properties {
		j.Properties = m.Info.Properties
	}
	started, _ := strconv.ParseInt(m.Info.Properties["PROP_CONSUMER_START_TIMESTAMP"], 10, 64) // 0: not said
	j.Started = millisJSON(started)
	j.Subscriptions = []subscriptionJSON{}
	for _, s := range sortedSubscriptions(m.Info.SubscriptionSet) {
		j.Subscriptions = append(j.Subscriptions, subscriptionJSON{s.Topic, s.SubString, s.ExpressionType})
	}
	for _, topic := range sortedKeys(m.Info.StatusTable) {
		s := m.Info.StatusTable[topic]
		j.Topics = append(j.Topics, topicRatesJSON{topic, s.PullRT, s.PullTPS, s.ConsumeRT, s.ConsumeOKTPS, s.ConsumeFailedTPS, s.ConsumeFailedMsgs})
	}
	j.Queues = memberQueues(m.Info)
	j.Assignments, j.AssignedError = assignedOf(m), m.AssignedWhy.String()
	return j
}

func sortedSubscriptions(set []protocol.SubscriptionData) []protocol.SubscriptionData {
	return slices.SortedFunc(slices.Values(set), func(a, b protocol.SubscriptionData) int { return strings.Compare(a.Topic, b.Topic) })
}

func memberQueues(info *protocol.ConsumerRunningInfo) []memberQueueJSON {
	queues := []memberQueueJSON{}
	for _, mq := range slices.SortedFunc(maps.Keys(info.MQTable), protocol.CompareMessageQueues) {
		q := info.MQTable[mq]
		j := memberQueueJSON{
			Topic: mq.Topic, Broker: mq.BrokerName, Queue: mq.QueueID, CommittedOffset: &q.CommitOffset,
			CachedCount: wide(q.CachedMsgCount), CachedMiB: wide(q.CachedMsgSizeInMiB), Span: new(int64),
			Locked: q.Locked, LockedAt: millisJSON(q.LastLockTimestamp), Dropped: q.Dropped,
			LastPull: millisJSON(q.LastPullTimestamp), LastConsume: millisJSON(q.LastConsumeTimestamp),
		}
		if q.CommitOffset < 0 {
			j.CommittedOffset, j.CommittedError = nil, notReadYet
		}
		if q.CachedMsgCount > 0 {
			j.CachedMin, j.CachedMax = &q.CachedMsgMinOffset, &q.CachedMsgMaxOffset
			*j.Span = q.CachedMsgMaxOffset - q.CachedMsgMinOffset
		}
		queues = append(queues, j)
	}
	for _, mq := range slices.SortedFunc(maps.Keys(info.MQPopTable), protocol.CompareMessageQueues) {
		q := info.MQPopTable[mq]
		queues = append(queues, memberQueueJSON{
			Topic: mq.Topic, Broker: mq.BrokerName, Queue: mq.QueueID, CommittedError: popsNone, Pop: true, WaitAck: wide(q.WaitAckCount),
			Dropped: q.Dropped, LastPull: millisJSON(q.LastPopTimestamp),
		})
	}
	return queues
}

// Why a member's queue has no committed offset of its own.
const (
	notReadYet = "the member has not read its offset yet, or its client does not report it"
	popsNone   = "brokers keep the offsets of what is consumed by POP"
)

func wide(n int32) *int64 {
	w := int64(n)
	return &w
}

func (f *membersFlags) table(e *env, m *inspect.Members) []byte {
	if len(m.Members) == 0 {
		return headLine("%s: no member is online", m.Group)
	}
	out := headLine("%s: %s, %s, %s, %s", m.Group, inspect.Plural(len(m.Members), "member"), m.Kind, m.Model, m.From)
	rows := [][]string{{"CLIENT ID", "ADDRESS", "LANGUAGE", "VERSION", "QUEUES", "CACHED", "SPAN", "OK/S", "FAILED/S", "RT MS", "NOTE"}}
	for i := range m.Members {
		rows = append(rows, memberRow(&m.Members[i]))
	}
	out = appendTable(out, "llllrrrrrrl", rows)
	for i := range m.Members {
		if m.Members[i].Info != nil {
			out = append(out, f.details(e, &m.Members[i])...)
		}
	}
	return out
}

func memberRow(m *inspect.Member) []string {
	row := []string{m.ClientID, strings.Join(m.Addresses, ", "), m.Language, m.Version}
	var notes []string
	if len(m.Addresses) > 1 {
		notes = append(notes, fmt.Sprintf("1 client id, %d connections", len(m.Addresses)))
	}
	if len(m.Missing) > 0 {
		notes = append(notes, "not known to "+strings.Join(m.Missing, ", "))
	}
	if m.Info == nil {
		queues := textUnknown
		if n := len(m.Held); n > 0 {
			queues = strconv.Itoa(n)
			notes = append(notes, "reads at least these queues")
		}
		return append(row, queues, textUnknown, textUnknown, textUnknown, textUnknown, textUnknown, strings.Join(append(notes, m.Why.String()), "; "))
	}
	var cached, span int64
	for _, q := range m.Info.MQTable {
		cached += int64(q.CachedMsgCount)
		if q.CachedMsgCount > 0 {
			span = max(span, q.CachedMsgMaxOffset-q.CachedMsgMinOffset)
		}
	}
	unacked := 0
	for _, q := range m.Info.MQPopTable {
		unacked += int(q.WaitAckCount)
	}
	if len(m.Info.MQPopTable) > 0 {
		notes = append(notes, fmt.Sprintf("%d popped, not acknowledged", unacked))
	}
	row = append(row, strconv.Itoa(len(m.Info.MQTable)+len(m.Info.MQPopTable)), strconv.FormatInt(cached, 10), strconv.FormatInt(span, 10))
	if why := m.RatesWhy(); why.Kind != inspect.ReasonNone {
		return append(row, textUnknown, textUnknown, textUnknown, strings.Join(append(notes, why.String()), "; "))
	}
	var ok, failed, rt float64
	for _, s := range m.Info.StatusTable {
		ok, failed, rt = ok+s.ConsumeOKTPS, failed+s.ConsumeFailedTPS, max(rt, s.ConsumeRT)
	}
	number := func(n float64) string { return strconv.FormatFloat(n, 'f', 1, 64) }
	return append(row, number(ok), number(failed), number(rt), strings.Join(notes, "; "))
}

// lockedText is "yes" for a queue's lock that counts: members that do not consume in
// order need none, whatever they say of it.
func lockedText(info *protocol.ConsumerRunningInfo, locked bool) string {
	if !locked || info.Properties["PROP_CONSUMEORDERLY"] == "false" {
		return ""
	}
	return "yes"
}

// details are one member's queues, and what else was asked for.
func (f *membersFlags) details(e *env, m *inspect.Member) []byte {
	out := append([]byte("\n"), headLine("%s", m.ClientID)...)
	for _, s := range sortedSubscriptions(m.Info.SubscriptionSet) {
		out = append(out, headLine("  subscribes to %s: %s %s", s.Topic, s.ExpressionType, s.SubString)...)
	}
	out = append(out, assignmentLines(m)...)
	now := e.now()
	rows := [][]string{{"  TOPIC", "BROKER", "QUEUE", "COMMITTED", "CACHED", "FROM", "TO", "SPAN", "MIB", "LOCKED", "LAST PULL", "LAST CONSUMED"}}
	number := func(n *int64) string {
		if n == nil {
			return ""
		}
		return strconv.FormatInt(*n, 10)
	}
	for _, q := range memberQueues(m.Info) {
		topic := "  " + q.Topic
		if q.Dropped {
			topic += " (given away)"
		}
		cached := q.CachedCount
		if q.Pop {
			topic, cached = topic+" (by POP)", q.WaitAck
		}
		rows = append(rows, []string{
			topic, q.Broker, queueText(q.Queue), number(q.CommittedOffset), number(cached), number(q.CachedMin), number(q.CachedMax),
			number(q.Span), number(q.CachedMiB), lockedText(m.Info, q.Locked), agoText(q.LastPull, now), agoText(q.LastConsume, now),
		})
	}
	out = appendTable(out, "llrrrrrrrlrr", rows)
	if f.properties {
		for _, name := range sortedKeys(m.Info.Properties) {
			out = append(out, headLine("  %s = %s", name, m.Info.Properties[name])...)
		}
	}
	if f.stack {
		out = append(out, f.stackText(m.ClientID)...)
	}
	return out
}
