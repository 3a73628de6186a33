package tui

import (
	"strings"

	"eyeq/engine"
)

// The events of a group that is watched: differences of two pictures, so each is told
// with the time of the later one. Nobody else publishes them.
type (
	memberJoined struct {
		engine.At
		ClientID string `json:"client_id"`
	}
	memberLeft struct {
		engine.At
		ClientID string `json:"client_id"`
		StayedMS int64  `json:"stayed_ms"`
	}
	// memberSilent: a member that is connected does not tell its state any more.
	memberSilent struct {
		engine.At
		ClientID string `json:"client_id"`
		Why      string `json:"error"`
	}
	memberAnswers struct {
		engine.At
		ClientID string `json:"client_id"`
	}
	// queueMoved: another member holds the queue; "" is nobody.
	queueMoved struct {
		engine.At
		From     string `json:"from"`
		To       string `json:"to"`
		WithinMS int64  `json:"within_ms"` // between the two pictures
	}
	// flowSeenEnd ends an engine.FlowBegin that was seen in a picture.
	flowSeenEnd struct {
		engine.At
		Cause      engine.FlowCause `json:"cause"`
		Most       int64            `json:"value"`
		Limit      int64            `json:"limit"`
		DurationMS int64            `json:"duration_ms"`
	}
	lockSeenLost struct {
		engine.At
		ClientID string `json:"client_id"`
	}
	// commitStands: the committed offset has not moved although messages wait.
	commitStands struct {
		engine.At
		Offset   int64  `json:"committed_offset"`
		Lag      int64  `json:"lag"`
		ForMS    int64  `json:"for_ms"`
		ClientID string `json:"client_id"`
	}
	commitMoves struct {
		engine.At
		Offset  int64 `json:"committed_offset"`
		AfterMS int64 `json:"after_ms"`
	}
	// endFell: a queue ends before where it ended, which only a new one does, or one that a
	// slave answers for that is behind.
	endFell struct {
		engine.At
		From int64 `json:"max_offset_before"`
		To   int64 `json:"max_offset"`
	}
	// commitBack: the committed offset was beyond the end of the queue and is within it.
	commitBack struct {
		engine.At
		From   int64 `json:"committed_offset_before"`
		To     int64 `json:"committed_offset"`
		Passed int64 `json:"messages"` // before it, of a queue that is new
	}
	groupPaused struct {
		engine.At
		Paused  bool     `json:"paused"`
		Brokers []string `json:"brokers"`
	}
)

// EventName of each event.
func (memberJoined) EventName() string  { return "member_joined" }
func (memberLeft) EventName() string    { return "member_left" }
func (memberSilent) EventName() string  { return "member_silent" }
func (memberAnswers) EventName() string { return "member_answers" }
func (queueMoved) EventName() string    { return "queue_moved" }
func (flowSeenEnd) EventName() string   { return "flow_end" }
func (lockSeenLost) EventName() string  { return "lock_lost" }
func (commitStands) EventName() string  { return "commit_stands" }
func (commitMoves) EventName() string   { return "commit_moves" }
func (endFell) EventName() string       { return "end_fell" }
func (commitBack) EventName() string    { return "commit_back" }
func (groupPaused) EventName() string   { return "group_paused" }

// describeWatch is describe for the events of a watched group.
func (r *eventRow) describeWatch(e engine.Event) bool {
	switch e := e.(type) {
	case memberJoined:
		return r.say("MEMBER", "joined", notice, true, "%s", e.ClientID)
	case memberLeft:
		return r.say("MEMBER", "left", warning, true, "%s, was here for %s", e.ClientID, age(ms(e.StayedMS)))
	case memberSilent:
		return r.say("MEMBER", "silent", warning, true, "%s does not tell its state: %s", e.ClientID, e.Why)
	case memberAnswers:
		return r.say("MEMBER", "answers", notice, true, "%s tells its state again", e.ClientID)
	case queueMoved:
		return r.describeMove(e)
	case flowSeenEnd:
		return r.say("FLOW", causeWord(e.Cause), info, true, "not seen any more, lasted %s, at most %s", age(ms(e.DurationMS)), grouped(e.Most))
	case lockSeenLost:
		return r.say("LOCK", "lost", failure, true, "%s holds the queue without the broker's lock", e.ClientID)
	case commitStands:
		return r.say("COMMIT", "stands", failure, true, "still at %s for at least %s, %s waiting · %s", offset(e.Offset), age(ms(e.ForMS)), plural(e.Lag, "message"), holderText(e.ClientID))
	case commitMoves:
		return r.say("COMMIT", "moves", notice, true, "goes on, %s now, after %s", offset(e.Offset), age(ms(e.AfterMS)))
	case endFell:
		return r.say("QUEUE", "new", failure, true, "its end was %s and is %s: the topic was deleted and created again, or a slave answers that is behind", offset(e.From), offset(e.To))
	case commitBack:
		return r.say("COMMIT", "corrected", failure, true, "from %s, beyond the end, to %s: up to %s of the queue may not have been consumed", offset(e.From), offset(e.To), plural(e.Passed, "message"))
	case groupPaused:
		if !e.Paused {
			return r.say("GROUP", "resumed", notice, true, "no broker pauses the group any more")
		}
		return r.say("GROUP", "paused", warning, true, "its configuration forbids to consume%s", listed(": ", e.Brokers))
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
func (r *eventRow) describeMove(e queueMoved) bool {
	seen := " · within " + span(ms(e.WithinMS))
	switch {
	case e.To == "":
		return r.say("REBAL", "unowned", failure, true, "%s gave it up, nobody holds it%s", e.From, seen)
	case e.From == "":
		return r.say("REBAL", "taken", notice, true, "by %s%s", e.To, seen)
	}
	return r.say("REBAL", "moved", notice, true, "%s → %s%s", shortClient(e.From), shortClient(e.To), seen)
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
func (r *eventRow) watchFoldKey() foldKey {
	switch e := r.event.(type) {
	case queueMoved:
		return foldKey{engine.MessageQueue{BrokerName: r.mq.BrokerName}, r.topic, r.kind, e.From + " " + e.To}
	case memberJoined:
		return foldKey{kind: r.kind, cause: r.cause + " " + e.ClientID}
	case memberLeft:
		return foldKey{kind: r.kind, cause: r.cause + " " + e.ClientID}
	case memberSilent:
		return foldKey{kind: r.kind, cause: r.cause + " " + e.ClientID}
	case memberAnswers:
		return foldKey{kind: r.kind, cause: r.cause + " " + e.ClientID}
	}
	return foldKey{r.mq, r.topic, r.kind, r.cause}
}
