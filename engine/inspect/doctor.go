package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"eyeq/remoting/protocol"
)

// Facts are what a doctor judges a group by. Judge reads nothing else.
type Facts struct {
	Group string
	// TargetFlags are the flags by which a command finds the cluster, each with a blank
	// before it.
	TargetFlags string
	// Samples are the group's inside at moments a few seconds apart, in order. Rules
	// about what moves need two.
	Samples   []Live
	Detail    GroupDetail
	DetailWhy Reason // there is no Detail, because
	Brokers   Brokers
	// BrokersWhy is why there are no Brokers.
	BrokersWhy Reason
	// BrokersLater are the brokers after the last look, as far as they were asked again.
	BrokersLater Brokers
	// Unlisted are the queues of topics that members subscribe to and that are missing
	// from Lag: brokers list what the last heartbeat of the group named.
	Unlisted map[string][]protocol.MessageQueue
	// Heads are the messages at which queues stand still, as far as they were read.
	Heads map[protocol.MessageQueue]HeadMessage
	// DeadStored is when the last dead letter of the group was stored; zero: unknown,
	// or there is none.
	DeadStored time.Time
	// Matching tells, for a group that reads some tags, what was found where its
	// backlog begins; the zero value: nobody looked.
	Matching TagSample
	// Missing is what was asked for Unlisted and DeadStored, and not answered.
	Missing []Problem
}

// HeadMessage is the message at which a queue stands still.
type HeadMessage struct {
	Offset   int64
	ID       string // the unique id, else the offset id
	Keys     string
	Stored   time.Time
	Attempts int32
	Why      Reason // it could not be read, because
}

// TagSample counts messages at the beginning of a backlog.
type TagSample struct {
	Looked, Match int
}

// The codes of findings: they are what scripts rely on, and docs/doctor.md lists them.
const (
	CodeSubscriptionsDiffer = "subscriptions_differ"
	CodeConsumeModeDiffers  = "consume_mode_differs"
	CodeClientIDShared      = "client_id_shared"
	CodeMembersIdle         = "members_idle"
	CodeMemberSilent        = "member_silent"
	CodeMemberUnknown       = "member_unknown_to_broker"
	CodeVersionsDiffer      = "versions_differ"
	CodeSettingsDiffer      = "settings_differ"
	CodeBehindProxy         = "behind_proxy"
	CodeBroadcasting        = "broadcasting"

	CodeQueueUnowned       = "queue_unowned"
	CodeQueueTwoOwners     = "queue_two_owners"
	CodeAllocationDiffers  = "allocation_differs"
	CodeStrategiesDiffer   = "strategies_differ"
	CodeTopicNotSubscribed = "topic_not_subscribed"
	CodeRebalanceUnderWay  = "rebalance_under_way"
	CodeQueueNotReleased   = "queue_not_released"
	CodeLockNotRenewed     = "lock_not_renewed"
	CodeQueueStuck         = "queue_stuck"
	CodeMessageBlocks      = "message_blocks"
	CodeCommitNotSaved     = "commit_not_saved"
	CodePullTooOld         = "pull_too_old"
	CodeThrottledByCount   = "throttled_by_count"
	CodeThrottledBySize    = "throttled_by_size"
	CodeThrottledBySpan    = "throttled_by_span"
	CodeConsumerSlow       = "consumer_slow"
	CodeConsumptionFailing = "consumption_failing"
	CodeRetryStorm         = "retry_storm"
	CodeDeadLettersGrowing = "dead_letters_growing"

	CodeBacklogExpired  = "backlog_expired"
	CodeBacklogExpiring = "backlog_expiring"
	CodeCommitAhead     = "commit_ahead"
	CodeOfflineWithLag  = "offline_with_lag"
	CodeTagsLeaveOut    = "tags_leave_out"

	CodeGroupPaused       = "group_paused"
	CodeTopicPaused       = "topic_paused"
	CodeConfigDiffers     = "config_differs"
	CodeBrokerUnreachable = "broker_unreachable"
	CodeBrokerSlow        = "broker_slow"
	CodeBrokerDiskFull    = "broker_disk_full"
	CodeBrokerStoreFails  = "broker_store_fails"

	CodeBrokerReadForbidden  = "broker_read_forbidden"
	CodeBrokerWriteForbidden = "broker_write_forbidden"
	CodeMasterAway           = "master_away"
	CodeSlaveBehind          = "slave_behind"
	CodeQueuesUnreadable     = "queues_unreadable"

	CodeClocksApart        = "clocks_apart"
	CodeNamesrvUnreachable = "namesrv_unreachable"
	CodeNamesrvDiffer      = "namesrv_differ"
)

// rules are all a doctor knows, the causes before what follows from them.
var rules = []func(v *visit){
	judgePaused, judgeProxy, judgeOffline, judgeBroadcasting,
	judgeBrokers, judgeUnreadable, judgeNamesrv, judgeClocks,
	judgeClientIDs, judgeSubscriptions, judgeModes, judgeSilence, judgeUnknownMembers,
	judgeAllocation, judgeIdle, judgeReleases, judgeLocks,
	judgeStuck, judgePulls, judgeThrottling, judgeRates, judgeRetries,
	judgeExpiry, judgeAhead, judgeTags,
	judgeConfig, judgeVersions, judgeSettings,
	judgeAnswers,
}

// Judge finds what is wrong with a group. It is pure: the same facts give the same
// report. What could not be learned is in Unchecked; it is never a finding.
func Judge(f Facts) Report {
	v, ok := visitOf(&f)
	if ok {
		v.report.At = v.last.At
		for _, rule := range rules {
			rule(v)
		}
	}
	slices.SortStableFunc(v.report.Findings, func(a, b Finding) int { return a.Severity.rank() - b.Severity.rank() })
	return v.report
}

func (s Severity) rank() int {
	return slices.Index([]Severity{SeverityCritical, SeverityWarning, SeverityInfo}, s)
}

// visit is a report in the making.
type visit struct {
	f           *Facts
	first, last *Live
	moved       time.Duration // between the two
	report      Report

	members             map[string]*Member                  // of last, by client id
	before              map[string]*Member                  // of first
	queues              map[protocol.MessageQueue]*QueueLag // of first
	rows                map[protocol.MessageQueue]*QueueLag // of last
	holders, heldBefore map[protocol.MessageQueue]hold      // of last and of first
	ages                map[string]time.Time                // by client id: the latest time that it tells of, by its own clock
	closed              map[protocol.MessageQueue]bool      // nobody can read them
	paused              bool                                // the whole group: nothing moves by intent
}

// visitOf begins one; false: nobody has looked.
func visitOf(f *Facts) (*visit, bool) {
	v := &visit{f: f, report: Report{Group: f.Group}}
	n := len(f.Samples)
	if n == 0 {
		return v, false
	}
	v.first, v.last = &f.Samples[0], &f.Samples[n-1]
	v.moved = v.last.At.Sub(v.first.At)
	v.index()
	return v, true
}

func (v *visit) index() {
	v.members, v.before = byClientID(v.last.Members), byClientID(v.first.Members)
	v.queues, v.rows = byQueue(v.first.Lag.Queues), byQueue(v.last.Lag.Queues)
	v.heldBefore, v.holders = soleHolders(v.first.Members), soleHolders(v.last.Members)
	v.ages = make(map[string]time.Time, len(v.members))
	for id, m := range v.members {
		if m.Info != nil {
			v.ages[id] = latestTold(m.Info)
		}
	}
	v.closed = make(map[protocol.MessageQueue]bool, len(v.last.Lag.Unreadable))
	for i := range v.last.Lag.Unreadable {
		v.closed[v.last.Lag.Unreadable[i].MessageQueue] = true
	}
	v.paused = v.last.Lag.Pause.All()
}

func byClientID(m Members) map[string]*Member {
	by := make(map[string]*Member, len(m.Members))
	for i := range m.Members {
		by[m.Members[i].ClientID] = &m.Members[i]
	}
	return by
}

// latestTold is the latest time in a running info: the member's own clock was not
// before it when it answered. Ages of a member's times are counted from here, so
// that a clock which is not ours makes no finding.
func latestTold(info *protocol.ConsumerRunningInfo) time.Time {
	var latest int64
	for _, q := range info.MQTable {
		latest = max(latest, q.LastPullTimestamp, q.LastConsumeTimestamp, q.LastLockTimestamp)
	}
	return unixMilli(latest)
}

func unixMilli(ms int64) time.Time {
	if ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// two reports whether there are two samples with time between them.
func (v *visit) two() bool { return v.first != v.last && v.moved > 0 }

// clustering reports whether the members share the queues.
func (v *visit) clustering() bool {
	return cmp.Or(v.last.Members.Model, v.last.Lag.Model) != protocol.Broadcasting
}

// shares reports whether members divide the queues among themselves, as a push
// consumer does: by POP the broker gives messages to whoever asks, and a pull
// consumer may name its queues.
func (v *visit) shares() bool {
	if !v.clustering() || v.last.Members.Kind == KindPop || v.last.Members.Kind == KindPull {
		return false
	}
	for _, m := range v.members {
		if m.Info != nil && len(m.Info.MQPopTable) > 0 {
			return false
		}
	}
	return len(v.members) > 0
}

func (v *visit) find(code string, severity Severity, summary, next string, evidence ...string) {
	v.report.Findings = append(v.report.Findings, Finding{Code: code, Severity: severity, Summary: summary, Evidence: evidence, Next: next})
}

func (v *visit) unchecked(what, where string, why Reason) {
	p := Problem{what, where, why}
	if !slices.Contains(v.report.Unchecked, p) {
		v.report.Unchecked = append(v.report.Unchecked, p)
	}
}

func byQueue(queues []QueueLag) map[protocol.MessageQueue]*QueueLag {
	by := make(map[protocol.MessageQueue]*QueueLag, len(queues))
	for i := range queues {
		by[queues[i].MessageQueue] = &queues[i]
	}
	return by
}

// soleHolders finds who holds which queue. Where several members do, the hold is empty.
func soleHolders(m Members) map[protocol.MessageQueue]hold {
	sole := map[protocol.MessageQueue]hold{}
	for mq, held := range m.holders() {
		sole[mq] = hold{}
		if len(held) == 1 {
			sole[mq] = held[0]
		}
	}
	return sole
}

// settingOf reads a number among the settings that a member tells of.
func settingOf(m *Member, name string, otherwise int64) int64 {
	if m.Info == nil {
		return otherwise
	}
	var n int64
	if _, err := fmt.Sscan(m.Info.Properties[name], &n); err != nil {
		return otherwise
	}
	return n
}
