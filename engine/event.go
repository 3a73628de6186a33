package engine

import "time"

// Event is something that happened, told once. Its name is the `event` field of
// the JSON output and its fields, in snake_case by their json tags, that
// object's own fields: changing either breaks scripts (docs/conformance/events.md 6).
type Event interface {
	EventName() string
	// When is the time it happened.
	When() time.Time
	// About is the queue it is about; ok is false for one about the group.
	About() (mq MessageQueue, ok bool)
}

// At is the part that all events share; an Event embeds it.
type At struct {
	Time time.Time    `json:"-"`
	MQ   MessageQueue `json:"-"` // zero when it is not about a queue
}

// When is the time the event happened.
func (a At) When() time.Time { return a.Time }

// About is the queue the event is about.
func (a At) About() (MessageQueue, bool) { return a.MQ, a.MQ.Topic != "" }

// The events. Durations are in milliseconds under names ending in _ms.
type (
	// ConsumerState is a step of the service state (CREATE_JUST, RUNNING, …).
	ConsumerState struct {
		At
		From  string `json:"from"`
		To    string `json:"to"`
		Cause string `json:"cause,omitempty"`
	}
	// ConfigRejected: a setting was refused, and nothing was sent for it.
	ConfigRejected struct {
		At
		Property string `json:"property"`
		Value    string `json:"value"`
		Rule     string `json:"rule"`
	}
	// ClientInstance: the member has its client. An engine never shares one.
	ClientInstance struct {
		At
		ClientID string `json:"client_id"`
		Reused   bool   `json:"reused"`
	}
	// RouteChanged: queues or brokers of a topic are not what they were.
	RouteChanged struct {
		At
		Topic      string   `json:"topic"`
		Brokers    []string `json:"brokers"`
		ReadQueues int      `json:"read_queues"`
		OldQueues  int      `json:"old_queues"`
	}
	// RouteMissing: no name server knows the topic; it is waited for.
	RouteMissing struct {
		At
		Topic string `json:"topic"`
	}
	// NamesrvUnreachable begins when no name server answers and ends with Recovered.
	NamesrvUnreachable struct {
		At
		Addrs []string `json:"addrs"`
		Error string   `json:"error"`
	}
	// NamesrvRecovered ends NamesrvUnreachable.
	NamesrvRecovered struct {
		At
		Addr       string `json:"addr"`
		DurationMS int64  `json:"duration_ms"`
	}
	// BrokerOffline: the connection to a broker was lost or cannot be made.
	BrokerOffline struct {
		At
		Broker  string `json:"broker"`
		Address string `json:"address"`
		Error   string `json:"error"`
	}
	// BrokerOnline ends BrokerOffline; the first contact is told too.
	BrokerOnline struct {
		At
		Broker     string `json:"broker"`
		Address    string `json:"address"`
		DurationMS int64  `json:"duration_ms"` // how long it was offline; 0 at first contact
	}
	// HeartbeatSent is one answered or failed heartbeat.
	HeartbeatSent struct {
		At
		Address string  `json:"address"`
		RTTMS   float64 `json:"rtt_ms"`
		Error   string  `json:"error,omitempty"`
	}
	// HeartbeatSkipped: a round of heartbeats was asked for and not sent; cause busy
	// means that it follows the one under way.
	HeartbeatSkipped struct {
		At
		Cause string `json:"cause"` // busy, no_broker
	}
	// ClockStepped: the host's wall clock was set; nothing of the engine goes by it.
	ClockStepped struct {
		At
		ByMS int64 `json:"by_ms"` // forwards; negative: backwards
	}
	// MembersChanged: a broker said that the group's members changed (code 40).
	MembersChanged struct {
		At
		Address string `json:"address"`
	}
	// RebalanceBegin opens one pass over all topics.
	RebalanceBegin struct {
		At
		Seq     int64  `json:"seq"`
		Trigger string `json:"trigger"` // start, periodic, members, recheck, retry, resume, route, subscribe
	}
	// RebalanceEnd closes the pass.
	RebalanceEnd struct {
		At
		Seq        int64    `json:"seq"`
		Trigger    string   `json:"trigger"`
		Topics     []string `json:"topics"`
		Kept       int      `json:"kept"`
		Added      int      `json:"added"`
		Dropped    int      `json:"dropped"`
		Balanced   bool     `json:"balanced"`
		DurationMS float64  `json:"duration_ms"`
	}
	// RebalanceTopic is one topic's new allocation, told when it changed.
	RebalanceTopic struct {
		At
		Topic    string   `json:"topic"`
		Strategy string   `json:"strategy"`
		Queues   int      `json:"queues"`
		Members  []string `json:"members"`
		Joined   []string `json:"joined,omitempty"`
		Left     []string `json:"left,omitempty"`
		Mine     []string `json:"mine"` // broker/id
		// SelfIndex is this client's place among the sorted members; MembersFrom the
		// broker that named them (brokers may disagree for a moment, trap T39).
		SelfIndex   int    `json:"self_index"`
		MembersFrom string `json:"members_from,omitempty"`
	}
	// AssignmentChanged: queues of a topic were gained or lost. The topic's
	// subscription has a new version, and the thresholds a queue may be others.
	AssignmentChanged struct {
		At
		Topic           string   `json:"topic"`
		Queues          []string `json:"queues"` // broker/id
		SubVersion      int64    `json:"sub_version"`
		LimitCount      int64    `json:"limit_count"`
		OldLimitCount   int64    `json:"old_limit_count"`
		LimitSizeMiB    int64    `json:"limit_size_mib"`
		OldLimitSizeMiB int64    `json:"old_limit_size_mib"`
	}
	// ClientIDShared: more than one connection uses this client's id, so the members
	// divide the queues wrongly and some are consumed twice or by nobody (trap T41).
	ClientIDShared struct {
		At
		ClientID  string   `json:"client_id"`
		Addresses []string `json:"addresses"` // of the others
		Broker    string   `json:"broker"`    // address of the one that says so
	}
	// ClientIDAlone ends ClientIDShared.
	ClientIDAlone struct {
		At
		ClientID   string `json:"client_id"`
		DurationMS int64  `json:"duration_ms"`
	}
	// RebalanceSkipped: a topic kept what it had, and why.
	RebalanceSkipped struct {
		At
		Topic string `json:"topic"`
		Cause string `json:"cause"` // no route, no members, self missing, members returning, strategy error
		Error string `json:"error,omitempty"`
	}
	// QueueAdded: the engine now owns the queue.
	QueueAdded struct {
		At
		NextOffset int64  `json:"next_offset"`
		Source     string `json:"source"` // store, max, min, timestamp, memory
	}
	// StartAtFirst: a queue that still holds its first message is started there although
	// the last offset is asked for: a 4.x broker answers offset 0 to a group without one,
	// and where access control denies the bounds of a 5.x one Java starts there too.
	StartAtFirst struct {
		At
		Messages int64 `json:"messages"` // that come first
	}
	// QueueAddFailed: a queue could not be taken yet; it is tried again.
	QueueAddFailed struct {
		At
		Cause string `json:"cause"` // lock, offset query, held (its old owner keeps it)
		Error string `json:"error,omitempty"`
	}
	// QueueDropped: the engine stops consuming the queue.
	QueueDropped struct {
		At
		Cause           string `json:"cause"` // unassigned, pull_expired, unsubscribed, shutdown
		Cached          int64  `json:"cached"`
		CommittedOffset int64  `json:"committed_offset"`
	}
	// QueueRemoved: the queue is given away, its offset durable.
	QueueRemoved struct {
		At
		Unlocked   bool    `json:"unlocked"`
		DurationMS float64 `json:"duration_ms"`
	}
	// QueueRemovalDelayed: an orderly queue cannot be given away yet, since a listener
	// runs; told once, when the reference would have tried once in vain.
	QueueRemovalDelayed struct {
		At
		TryUnlockTimes int     `json:"try_unlock_times"`
		Cause          string  `json:"cause"` // busy
		WaitedMS       float64 `json:"waited_ms"`
	}
	// OffsetForgotten: this client keeps no offset of the queue any more.
	OffsetForgotten struct {
		At
		Cause string `json:"cause"` // removed
	}
	// LockGained: the broker granted the queue's lock.
	LockGained struct{ At }
	// LockRenewed: a broker renewed the locks of its queues; one event a broker, since
	// there is one every 20 s.
	LockRenewed struct {
		At
		Broker string `json:"broker"`
		Queues int    `json:"queues"`
		AgeMS  int64  `json:"age_ms"` // of the oldest before
	}
	// LockLost: the broker gave the lock to somebody else.
	LockLost struct {
		At
		Cause string `json:"cause"` // refused
		AgeMS int64  `json:"age_ms"`
	}
	// LockExpired: the lock was not renewed for 30 s and counts as lost here.
	LockExpired struct {
		At
		AgeMS int64 `json:"age_ms"`
	}
	// UnlockSent: locks were given back to a broker.
	UnlockSent struct {
		At
		Broker string   `json:"broker"`
		Queues []string `json:"queues"` // topic broker/id
		Oneway bool     `json:"oneway"` // never: an answer is waited for
	}
	// LockRequestFailed: the broker did not answer; flags stay until they expire.
	LockRequestFailed struct {
		At
		Broker string `json:"broker"`
		Queues int    `json:"queues"`
		Error  string `json:"error"`
	}
	// PullError: a pull ended with an error and is tried again.
	PullError struct {
		At
		Offset  int64  `json:"offset"`
		Code    int32  `json:"code,omitempty"`
		Error   string `json:"error"`
		DelayMS int64  `json:"delay_ms"`
	}
	// PullRecovered ends a run of PullErrors.
	PullRecovered struct {
		At
		Errors     int64 `json:"errors"`
		DurationMS int64 `json:"duration_ms"`
	}
	// PullMoved: a queue is pulled from another broker id than before.
	PullMoved struct {
		At
		From    int64  `json:"from_id"`
		To      int64  `json:"to_id"`
		Address string `json:"address"`
		Cause   string `json:"cause"` // suggested, instead (of one that does not serve), back
	}
	// PullRegressed: a broker answered with offsets below the one it was asked for.
	PullRegressed struct {
		At
		Previous int64 `json:"previous"`     // what was asked for
		Next     int64 `json:"next"`         // where the answer goes on
		First    int64 `json:"first_offset"` // of its messages; -1 without any
	}
	// PullSuspended: a pause stops the pulls of a queue; told once a pause.
	PullSuspended struct {
		At
		DelayMS int64 `json:"delay_ms"`
	}
	// MessagesExpired: the broker has deleted messages that were to be read.
	MessagesExpired struct {
		At
		From int64 `json:"from"`
		To   int64 `json:"to"` // the offset of the first that is there
	}
	// TagsCorrected: the committed offset moved over messages that no filter let
	// pass; told at most once a second.
	TagsCorrected struct {
		At
		From   int64 `json:"from"`
		Offset int64 `json:"offset"`
	}
	// FlowBegin: a limit stops the pulling of a queue.
	FlowBegin struct {
		At
		Cause FlowCause `json:"cause"`
		Limit int64     `json:"limit"`
		Value int64     `json:"value"`
	}
	// FlowEnd: the cause was not hit for 1 s.
	FlowEnd struct {
		At
		Cause      FlowCause `json:"cause"`
		Limit      int64     `json:"limit"`
		Value      int64     `json:"value"` // the highest seen
		Times      int64     `json:"times"`
		DurationMS int64     `json:"duration_ms"`
	}
	// OffsetIllegal: the broker corrected the offset pulled at.
	OffsetIllegal struct {
		At
		Requested int64 `json:"requested"`
		Corrected int64 `json:"corrected"`
		MinOffset int64 `json:"min_offset"`
		MaxOffset int64 `json:"max_offset"`
		// Effect and Messages: how many messages come again (replay), are never
		// delivered (skip) or had expired (gone) by going there from what was committed.
		Effect   string `json:"effect"`
		Messages int64  `json:"messages"`
		// Anew: the queue was made anew (its topic was deleted and created again), so that
		// nothing of what it holds was consumed.
		Anew bool `json:"anew,omitempty"`
	}
	// OffsetFixed: the corrected offset is stored and pulled from.
	OffsetFixed struct {
		At
		Offset     int64 `json:"offset"`
		DurationMS int64 `json:"duration_ms"` // since OffsetIllegal
	}
	// ConsumeBegin: the listener is called (SubscribeCalls only).
	ConsumeBegin struct {
		At
		Count int   `json:"count"`
		First int64 `json:"first_offset"`
		Last  int64 `json:"last_offset"`
	}
	// ConsumeEnd: it has returned (SubscribeCalls only).
	ConsumeEnd struct {
		At
		Count      int     `json:"count"`
		First      int64   `json:"first_offset"`
		Last       int64   `json:"last_offset"`
		Status     string  `json:"status"`
		ReturnType string  `json:"return_type"`
		RTMS       float64 `json:"rt_ms"`
		AckIndex   int     `json:"ack_index"`
	}
	// ConsumeDiscarded: messages were processed when the queue was no longer ours, so
	// they are neither acknowledged nor sent back and come again. Those that were cached
	// and not handed out are counted by QueueDropped.
	ConsumeDiscarded struct {
		At
		Phase string `json:"phase"` // after (the listener)
		Count int    `json:"count"`
		First int64  `json:"first_offset"`
		Last  int64  `json:"last_offset"`
	}
	// ConsumeFailed: a listener refused a batch.
	ConsumeFailed struct {
		At
		Count      int     `json:"count"`
		First      int64   `json:"first_offset"`
		ReturnType string  `json:"return_type"` // FAILED, EXCEPTION, TIME_OUT, RETURNNULL
		Error      string  `json:"error,omitempty"`
		RTMS       float64 `json:"rt_ms"`
	}
	// SentBack: a failed message will be delivered again by the broker, or is a dead
	// letter. DelayLevel is the level in force, the broker's choice too; DueMS what it
	// stands for at the message's broker; nil: not known, since DueError.
	SentBack struct {
		At
		Offset         int64  `json:"offset"`
		MessageID      string `json:"message_id"`
		DelayLevel     int32  `json:"delay_level"`
		DueMS          *int64 `json:"due_ms"`
		DueError       string `json:"due_error,omitempty"`
		ReconsumeTimes int32  `json:"reconsume_times"` // of the message when it comes again
		Target         string `json:"target"`          // retry, dlq, fallback
	}
	// SendBackFailed: it stays here and is tried again locally.
	SendBackFailed struct {
		At
		Offset    int64  `json:"offset"`
		MessageID string `json:"message_id"`
		Error     string `json:"error"`
	}
	// RetryLocal: messages are handed to the listener again after a delay.
	RetryLocal struct {
		At
		Count   int   `json:"count"`
		First   int64 `json:"first_offset"`
		DelayMS int64 `json:"delay_ms"`
	}
	// RetrySuspend: an orderly queue waits before it tries its head again.
	RetrySuspend struct {
		At
		Offset         int64 `json:"offset"`
		DelayMS        int64 `json:"delay_ms"`
		ReconsumeTimes int32 `json:"reconsume_times"`
	}
	// OrderlyUncommitted: all that a limit lets an orderly queue cache is taken and not
	// committed. Nothing more comes to the listener, which commits by itself, so the
	// queue stands still until the limit is raised (trap T27).
	OrderlyUncommitted struct {
		At
		Count int64     `json:"count"`
		Cause FlowCause `json:"cause"` // count or size
		Limit int64     `json:"limit"`
		First int64     `json:"first_offset"`
	}
	// MessageExpired: cleaning sent a message back that its listener held too long.
	MessageExpired struct {
		At
		Offset    int64  `json:"offset"`
		MessageID string `json:"message_id"`
		AgeMS     int64  `json:"age_ms"`
		SentBack  bool   `json:"sent_back"`
	}
	// MessageUndecodable: the record at Offset breaks the format. The queue is consumed
	// up to it and waits there; an operator's reset to Offset+1 goes on without it.
	MessageUndecodable struct {
		At
		Offset int64  `json:"offset"`
		Error  string `json:"error"`
	}
	// OffsetPersistFailed: a commit did not reach the store; it is tried again.
	OffsetPersistFailed struct {
		At
		Offset int64  `json:"offset"`
		Error  string `json:"error"`
	}
	// Pause: an operator stopped a queue (or, without one, the consumer).
	Pause struct {
		At
		By            string `json:"by"`
		Reason        string `json:"reason,omitempty"`
		ResumeAfterMS int64  `json:"resume_after_ms,omitempty"`
	}
	// Resume ends a Pause.
	Resume struct {
		At
		By         string `json:"by"`
		DurationMS int64  `json:"duration_ms"`
	}
	// ResetBegin opens the reset of one queue.
	ResetBegin struct {
		At
		By   string `json:"by"` // who did it, as a pause says it; broker: one that moved the offset
		From int64  `json:"from"`
		To   int64  `json:"to"`
	}
	// ResetEnd closes it.
	ResetEnd struct {
		At
		By       string `json:"by"`
		From     int64  `json:"from"`
		To       int64  `json:"to"`
		Verified bool   `json:"verified"`
		Error    string `json:"error,omitempty"`
	}
	// AdminRequest: somebody asked this member through a broker (221, 307, 309).
	AdminRequest struct {
		At
		Code    int32  `json:"code"`
		Address string `json:"address"`
		Result  string `json:"result"`
	}
	// ConsumedDirectly: an admin tool had this member consume one message, beside its
	// normal delivery (309).
	ConsumedDirectly struct {
		At
		Address   string  `json:"address"`
		Offset    int64   `json:"offset"`
		MessageID string  `json:"message_id"`
		Result    string  `json:"result"` // CR_SUCCESS, CR_LATER, CR_COMMIT, CR_ROLLBACK, CR_THROW_EXCEPTION, CR_RETURN_NULL
		Error     string  `json:"error,omitempty"`
		RTMS      float64 `json:"rt_ms"`
	}
	// ShutdownStep is one step of the orderly leave.
	ShutdownStep struct {
		At
		Number     int     `json:"number"` // from 1
		Step       string  `json:"step"`   // stop_workers, persist, unlock, unregister
		DurationMS float64 `json:"duration_ms"`
		Error      string  `json:"error,omitempty"`
	}
)

// EventName of each event.
func (ConsumerState) EventName() string       { return "consumer_state" }
func (ConfigRejected) EventName() string      { return "config_rejected" }
func (ClientInstance) EventName() string      { return "client_instance" }
func (RouteChanged) EventName() string        { return "route_changed" }
func (RouteMissing) EventName() string        { return "route_missing" }
func (NamesrvUnreachable) EventName() string  { return "namesrv_unreachable" }
func (NamesrvRecovered) EventName() string    { return "namesrv_recovered" }
func (BrokerOffline) EventName() string       { return "broker_offline" }
func (BrokerOnline) EventName() string        { return "broker_online" }
func (HeartbeatSent) EventName() string       { return "heartbeat_sent" }
func (HeartbeatSkipped) EventName() string    { return "heartbeat_skipped" }
func (AssignmentChanged) EventName() string   { return "assignment_changed" }
func (ClientIDShared) EventName() string      { return "client_id_shared" }
func (ClientIDAlone) EventName() string       { return "client_id_alone" }
func (StartAtFirst) EventName() string        { return "start_at_first" }
func (QueueRemovalDelayed) EventName() string { return "queue_removal_delayed" }
func (OffsetForgotten) EventName() string     { return "offset_forgotten" }
func (LockRenewed) EventName() string         { return "lock_renewed" }
func (LockExpired) EventName() string         { return "lock_expired" }
func (UnlockSent) EventName() string          { return "unlock_sent" }
func (OffsetFixed) EventName() string         { return "offset_fixed" }
func (ClockStepped) EventName() string        { return "clock_stepped" }
func (MembersChanged) EventName() string      { return "members_changed" }
func (RebalanceBegin) EventName() string      { return "rebalance_begin" }
func (RebalanceEnd) EventName() string        { return "rebalance_end" }
func (RebalanceTopic) EventName() string      { return "rebalance_topic" }
func (RebalanceSkipped) EventName() string    { return "rebalance_skipped" }
func (QueueAdded) EventName() string          { return "queue_added" }
func (QueueAddFailed) EventName() string      { return "queue_add_failed" }
func (QueueDropped) EventName() string        { return "queue_dropped" }
func (QueueRemoved) EventName() string        { return "queue_removed" }
func (LockGained) EventName() string          { return "lock_gained" }
func (LockLost) EventName() string            { return "lock_lost" }
func (LockRequestFailed) EventName() string   { return "lock_request_failed" }
func (PullError) EventName() string           { return "pull_error" }
func (PullRecovered) EventName() string       { return "pull_recovered" }
func (PullMoved) EventName() string           { return "pull_moved" }
func (PullRegressed) EventName() string       { return "pull_regressed" }
func (PullSuspended) EventName() string       { return "pull_suspended" }
func (MessagesExpired) EventName() string     { return "messages_expired" }
func (TagsCorrected) EventName() string       { return "tags_corrected" }
func (FlowBegin) EventName() string           { return "flow_begin" }
func (FlowEnd) EventName() string             { return "flow_end" }
func (OffsetIllegal) EventName() string       { return "offset_illegal" }
func (ConsumeBegin) EventName() string        { return "consume_begin" }
func (ConsumeEnd) EventName() string          { return "consume_end" }
func (OrderlyUncommitted) EventName() string  { return "orderly_uncommitted" }
func (ConsumeDiscarded) EventName() string    { return "consume_discarded" }
func (ConsumeFailed) EventName() string       { return "consume_failed" }
func (SentBack) EventName() string            { return "sendback_ok" }
func (SendBackFailed) EventName() string      { return "sendback_failed" }
func (RetryLocal) EventName() string          { return "retry_local" }
func (RetrySuspend) EventName() string        { return "retry_suspend" }
func (MessageExpired) EventName() string      { return "message_expired" }
func (MessageUndecodable) EventName() string  { return "message_undecodable" }
func (OffsetPersistFailed) EventName() string { return "offset_persist_failed" }
func (Pause) EventName() string               { return "pause" }
func (Resume) EventName() string              { return "resume" }
func (ResetBegin) EventName() string          { return "reset_begin" }
func (ResetEnd) EventName() string            { return "reset_end" }
func (AdminRequest) EventName() string        { return "admin_request" }
func (ConsumedDirectly) EventName() string    { return "consumed_directly" }
func (ShutdownStep) EventName() string        { return "shutdown_step" }
