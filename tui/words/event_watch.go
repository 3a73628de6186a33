package words

import (
	"strings"

	"eyeq/engine"
)

// The events of a group that is watched: differences of two pictures, so each is told
// with the time of the later one. Nobody else publishes them.
type (
	MemberJoined struct {
		engine.At
		ClientID string `json:"client_id"`
	}
	MemberLeft struct {
		engine.At
		ClientID string `json:"client_id"`
		StayedMS int64  `json:"stayed_ms"`
	}
	// MemberSilent: a member that is connected does not tell its state any more.
	MemberSilent struct {
		engine.At
		ClientID string `json:"client_id"`
		Why      string `json:"error"`
	}
	MemberAnswers struct {
		engine.At
		ClientID string `json:"client_id"`
	}
	// QueueMoved: another member holds the queue; "" is nobody.
	QueueMoved struct {
		engine.At
		From     string `json:"from"`
		To       string `json:"to"`
		WithinMS int64  `json:"within_ms"` // between the two pictures
	}
	// FlowSeenEnd ends an engine.FlowBegin that was seen in a picture.
	FlowSeenEnd struct {
		engine.At
		Cause      engine.FlowCause `json:"cause"`
		Most       int64            `json:"value"`
		Limit      int64            `json:"limit"`
		DurationMS int64            `json:"duration_ms"`
	}
	LockSeenLost struct {
		engine.At
		ClientID string `json:"client_id"`
	}
	// commitStands: the committed offset has not moved although messages wait.
	CommitStands struct {
		engine.At
		Offset   int64  `json:"committed_offset"`
		Lag      int64  `json:"lag"`
		ForMS    int64  `json:"for_ms"`
		ClientID string `json:"client_id"`
	}
	CommitMoves struct {
		engine.At
		Offset  int64 `json:"committed_offset"`
		AfterMS int64 `json:"after_ms"`
	}
	// EndFell: a queue ends before where it ended, which only a new one does, or one that a
	// slave answers for that is behind.
	EndFell struct {
		engine.At
		From int64 `json:"max_offset_before"`
		To   int64 `json:"max_offset"`
	}
	// CommitBack: the committed offset was beyond the end of the queue and is within it.
	CommitBack struct {
		engine.At
		From   int64 `json:"committed_offset_before"`
		To     int64 `json:"committed_offset"`
		Passed int64 `json:"messages"` // before it, of a queue that is new
	}
	GroupPaused struct {
		engine.At
		Paused  bool     `json:"paused"`
		Brokers []string `json:"brokers"`
	}
)

// EventName of each event.
func (MemberJoined) EventName() string  { return "member_joined" }
func (MemberLeft) EventName() string    { return "member_left" }
func (MemberSilent) EventName() string  { return "member_silent" }
func (MemberAnswers) EventName() string { return "member_answers" }
func (QueueMoved) EventName() string    { return "queue_moved" }
func (FlowSeenEnd) EventName() string   { return "flow_end" }
func (LockSeenLost) EventName() string  { return "lock_lost" }
func (CommitStands) EventName() string  { return "commit_stands" }
func (CommitMoves) EventName() string   { return "commit_moves" }
func (EndFell) EventName() string       { return "end_fell" }
func (CommitBack) EventName() string    { return "commit_back" }
func (GroupPaused) EventName() string   { return "group_paused" }

// describeWatch is describe for the events of a watched group.
func (r *EventRow) describeWatch(e engine.Event) bool {
	switch e := e.(type) {
	case MemberJoined:
		return r.say("MEMBER", "joined", Notice, true, "%s", e.ClientID)
	case MemberLeft:
		return r.say("MEMBER", "left", Warning, true, "%s, was here for %s", e.ClientID, Age(ms(e.StayedMS)))
	case MemberSilent:
		return r.say("MEMBER", "silent", Warning, true, "%s does not tell its state: %s", e.ClientID, e.Why)
	case MemberAnswers:
		return r.say("MEMBER", "answers", Notice, true, "%s tells its state again", e.ClientID)
	case QueueMoved:
		return r.describeMove(e)
	case FlowSeenEnd:
		return r.say("FLOW", CauseWord(e.Cause), Info, true, "not seen any more, lasted %s, at most %s", Age(ms(e.DurationMS)), Grouped(e.Most))
	case LockSeenLost:
		return r.say("LOCK", "lost", Failure, true, "%s holds the queue without the broker's lock", e.ClientID)
	case CommitStands:
		return r.say("COMMIT", "stands", Failure, true, "still at %s for at least %s, %s waiting · %s", Offset(e.Offset), Age(ms(e.ForMS)), Plural(e.Lag, "message"), holderText(e.ClientID))
	case CommitMoves:
		return r.say("COMMIT", "moves", Notice, true, "goes on, %s now, after %s", Offset(e.Offset), Age(ms(e.AfterMS)))
	case EndFell:
		return r.say("QUEUE", "new", Failure, true, "its end was %s and is %s: the topic was deleted and created again, or a slave answers that is behind", Offset(e.From), Offset(e.To))
	case CommitBack:
		return r.say("COMMIT", "corrected", Failure, true, "from %s, beyond the end, to %s: up to %s of the queue may not have been consumed", Offset(e.From), Offset(e.To), Plural(e.Passed, "message"))
	case GroupPaused:
		if !e.Paused {
			return r.say("GROUP", "resumed", Notice, true, "no broker pauses the group any more")
		}
		return r.say("GROUP", "paused", Warning, true, "its configuration forbids to consume%s", listed(": ", e.Brokers))
	}
	return false
}

func holderText(client string) string {
	if client == "" {
		return "nobody is known to hold it"
	}
	return "held by " + client
}

// describeMove says who gave a queue to whom. A queue without an owner is not
// consumed.
func (r *EventRow) describeMove(e QueueMoved) bool {
	seen := " · within " + Span(ms(e.WithinMS))
	switch {
	case e.To == "":
		return r.say("REBAL", "unowned", Failure, true, "%s gave it up, nobody holds it%s", e.From, seen)
	case e.From == "":
		return r.say("REBAL", "taken", Notice, true, "by %s%s", e.To, seen)
	}
	return r.say("REBAL", "moved", Notice, true, "%s → %s%s", shortClient(e.From), shortClient(e.To), seen)
}

// shortClient is a client id without the tail that a Java client adds to tell its
// instances apart, where that is long.
func shortClient(id string) string {
	const keep = 28
	if len(id) <= keep {
		return id
	}
	if i := strings.LastIndexByte(id, '#'); i > 0 {
		return id[:i]
	}
	return id
}

// watchFoldKey: queues of a broker that go from one member to another are one line,
// and each member is one.
func (r *EventRow) watchFoldKey() FoldKey {
	switch e := r.Event.(type) {
	case QueueMoved:
		return FoldKey{engine.MessageQueue{BrokerName: r.MQ.BrokerName}, r.Topic, r.Kind, e.From + " " + e.To}
	case MemberJoined:
		return FoldKey{kind: r.Kind, cause: r.Cause + " " + e.ClientID}
	case MemberLeft:
		return FoldKey{kind: r.Kind, cause: r.Cause + " " + e.ClientID}
	case MemberSilent:
		return FoldKey{kind: r.Kind, cause: r.Cause + " " + e.ClientID}
	case MemberAnswers:
		return FoldKey{kind: r.Kind, cause: r.Cause + " " + e.ClientID}
	}
	return FoldKey{r.MQ, r.Topic, r.Kind, r.Cause}
}
