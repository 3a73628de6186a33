package inspect

import (
	"strings"
	"testing"
	"time"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// What became of a message that the commit has not passed is told by who holds its queue:
// one behind a blocked head is finished, one in the cache is not, one that nobody has
// fetched waits. The first figures are those of a Java member of 5.3.3.
func TestTrackOfAMessageNotCommitted(t *testing.T) {
	const id = "192.0.2.1@1"
	blocked := protocol.ProcessQueueInfo{CommitOffset: 5, CachedMsgMinOffset: 5, CachedMsgMaxOffset: 5, CachedMsgCount: 1}
	gaps := protocol.ProcessQueueInfo{CommitOffset: 5, CachedMsgMinOffset: 5, CachedMsgMaxOffset: 2004, CachedMsgCount: 3}
	whole := protocol.ProcessQueueInfo{CommitOffset: 5, CachedMsgMinOffset: 5, CachedMsgMaxOffset: 104, CachedMsgCount: 100}
	ordered := protocol.ProcessQueueInfo{CommitOffset: 5, TransactionMsgMinOffset: 5, TransactionMsgMaxOffset: 5, TransactionMsgCount: 1, CachedMsgMinOffset: 6, CachedMsgMaxOffset: 104, CachedMsgCount: 90}
	idle := protocol.ProcessQueueInfo{CommitOffset: 9}
	none := Unknown(Reason{ReasonUnsupported, "the broker does not say"})
	tests := map[string]struct {
		at        int64
		held      *protocol.ProcessQueueInfo
		silent    bool
		pulled    Number
		committed int64
		state     TrackState
		detail    string
	}{
		"the blocked head":              {5, &blocked, false, Exact(2006), 5, TrackFetched, "the oldest message that " + id + " has not finished"},
		"behind it":                     {2005, &blocked, false, Exact(2006), 5, TrackFinished, id + " has finished it, its commit waits for the message at offset 5"},
		"not pulled":                    {2006, &blocked, false, Exact(2006), 5, TrackNotYet, "2,001 messages wait before it"},
		"nobody says what is pulled":    {2005, &blocked, false, none, 5, TrackUnknown, "2,000 messages wait before it"},
		"before the head":               {7, &idle, false, none, 5, TrackFinished, id + " has finished it, its commit follows"},
		"all is finished":               {11, &idle, false, Exact(12), 5, TrackFinished, id + " has finished it, its commit follows"},
		"among few that are open":       {900, &gaps, false, Exact(2005), 5, TrackFetched, "of 2,000 messages from offset 5 on that " + id + " has, 3 are not finished: it may be one of these"},
		"the newest":                    {2004, &gaps, false, Exact(2005), 5, TrackFetched, id + " has it and has not finished it"},
		"in a cache without gaps":       {80, &whole, false, Exact(105), 5, TrackFetched, id + " has it and has not finished it"},
		"in order":                      {80, &ordered, false, Exact(105), 5, TrackFetched, id + " has it and has not finished it"},
		"in order, in the listener":     {5, &ordered, false, Exact(105), 5, TrackFetched, "the oldest message that " + id + " has not finished"},
		"in order, not pulled":          {105, &ordered, false, none, 5, TrackNotYet, "100 messages wait before it"},
		"nobody holds the queue":        {5, nil, false, Exact(105), 5, TrackNotYet, "it is the next one; no member holds its queue"},
		"who may hold it is silent":     {6, nil, true, Exact(105), 5, TrackUnknown, "1 message waits before it"},
		"committed":                     {4, &blocked, false, none, 5, TrackConsumed, "the committed offset passed it"},
		"two that are open, the middle": {900, &protocol.ProcessQueueInfo{CachedMsgMinOffset: 5, CachedMsgMaxOffset: 2004, CachedMsgCount: 2}, false, none, 5, TrackFinished, id + " has finished it, its commit waits for the message at offset 5"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m := sandboxtest.MessageOf(t, protocol.Record{Topic: "t", QueueOffset: tt.at, Stored: time.UnixMilli(1795966590000)})
			member := Member{ClientID: id, Language: "JAVA", Info: &protocol.ConsumerRunningInfo{MQTable: map[protocol.MessageQueue]protocol.ProcessQueueInfo{}}}
			if tt.held != nil {
				member.Info.MQTable[m.MessageQueue()] = *tt.held
			}
			if tt.silent {
				member.Info, member.Why = nil, Reason{Kind: ReasonUnreachable}
			}
			f := trackFacts{message: m, group: "g", committed: tt.committed, found: true, pulled: tt.pulled,
				members: Members{Kind: KindPush, Model: protocol.Clustering, Members: []Member{member}}}
			got := f.track()
			if got.State != tt.state || got.Detail != tt.detail || (got.State == TrackUnknown) != (got.Why.Kind != ReasonNone) {
				t.Errorf("track = %q, %q, %v; want %q, %q", got.State, got.Detail, got.Why, tt.state, tt.detail)
			}
		})
	}
}

// The last copy of a message decides: a retry that was passed is consumed, a dead letter
// was refused, whatever the commit of the topic says; one sent back counts again.
func TestTrackOfCopies(t *testing.T) {
	copyOf := func(topic string, attempt int32) protocol.MessageExt {
		return *sandboxtest.MessageOf(t, protocol.Record{Topic: topic, ReconsumeTimes: attempt, CommitLogOffset: int64(attempt), Stored: time.UnixMilli(1795966590000 + int64(attempt))})
	}
	retry := func(attempt int32) protocol.MessageExt { return copyOf("%RETRY%g", attempt) }
	due := time.UnixMilli(1795966600000)
	tests := map[string]struct {
		copies  groupCopies
		retried bool
		state   TrackState
		detail  string
	}{
		"waits in the retry topic": {groupCopies{messages: []protocol.MessageExt{retry(1), retry(2)}}, false, TrackRetry, "in the retry topic, attempt 2"},
		"its retry was passed":     {groupCopies{messages: []protocol.MessageExt{retry(1)}}, true, TrackConsumed, "its copy in the retry topic, attempt 1, was passed by the committed offset"},
		"dead":                     {groupCopies{messages: []protocol.MessageExt{retry(1), copyOf("%DLQ%g", 2)}}, true, TrackDead, "in the dead letters"},
		"sent back":                {groupCopies{messages: []protocol.MessageExt{copyOf("%DLQ%g", 2), retry(3)}}, false, TrackRetry, "in the retry topic, attempt 3; sent back from the dead letters"},
		"not due": {groupCopies{messages: []protocol.MessageExt{copyOf(scheduleTopic, 1)}, delays: map[int64]Delay{1: {Due: due}}}, false, TrackRetry,
			"attempt 1 is due at " + due.UTC().Format("2006-01-02T15:04:05Z")},
		"nobody knows when": {groupCopies{messages: []protocol.MessageExt{copyOf(scheduleTopic, 1)}, delays: map[int64]Delay{1: {Why: Reason{ReasonDenied, "no"}}}}, false, TrackRetry,
			"attempt 1 waits, when it is due is not known: denied: no"},
		"not searched": {groupCopies{unsearched: []string{"%DLQ%g could not be searched: unreachable"}}, false, TrackConsumed,
			"the committed offset passed it; %DLQ%g could not be searched: unreachable"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := trackFacts{message: sandboxtest.MessageOf(t, protocol.Record{Topic: "t"}), group: "g", committed: 1, found: true, copies: tt.copies, retried: tt.retried,
				members: Members{Kind: KindPush, Model: protocol.Clustering, Members: []Member{{ClientID: "c"}}}}
			if got := f.track(); got.State != tt.state || got.Detail != tt.detail {
				t.Errorf("track = %q, %q; want %q, %q", got.State, got.Detail, tt.state, tt.detail)
			}
		})
	}
}

// By POP the commit says what was handed out. Whether that was acknowledged members say.
func TestTrackOfAPoppedMessage(t *testing.T) {
	m := sandboxtest.MessageOf(t, protocol.Record{Topic: "t", QueueOffset: 3})
	all := m.MessageQueue()
	all.QueueID = -1
	for unacked, want := range map[int32]TrackState{0: TrackConsumed, 2: TrackFetched, -1: TrackUnknown} {
		member := Member{ClientID: "c", Info: &protocol.ConsumerRunningInfo{MQPopTable: map[protocol.MessageQueue]protocol.PopProcessQueueInfo{all: {WaitAckCount: unacked}}}}
		if unacked < 0 {
			member.Info = nil
		}
		f := trackFacts{message: m, group: "g", committed: 4, found: true, pop: true, members: Members{Kind: KindPop, Type: protocol.ConsumePop, Members: []Member{member}}}
		if got := f.track(); got.State != want || strings.Contains(got.Detail, "POP") != (want != TrackConsumed) {
			t.Errorf("%d not acknowledged: %+v, want %s", unacked, got, want)
		}
	}
}
