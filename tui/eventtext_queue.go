package tui

import (
	"fmt"

	"eyeq/engine"
	"eyeq/engine/core"
)

// subscriptionNotExist is the code by which a broker says that no member of the
// group, as far as it knows, subscribes to the topic.
const subscriptionNotExist = 24

// causeWord is the flow cause in one word of at most eight cells.
func causeWord(c engine.FlowCause) string {
	if c == core.FlowOrderlyUnlocked {
		return "unlocked"
	}
	return c.String()
}

// flowText says what was passed by how much.
func flowText(c engine.FlowCause, value, limit int64) string {
	switch c {
	case core.FlowCount:
		return fmt.Sprintf("cached %s > limit %s", grouped(value), grouped(limit))
	case core.FlowSize:
		return fmt.Sprintf("%s MiB > limit %s MiB", grouped(value), grouped(limit))
	case core.FlowSpan:
		return fmt.Sprintf("span %s > limit %s", grouped(value), grouped(limit))
	case core.FlowOrderlyUnlocked:
		return "without the broker's lock"
	case core.FlowBroker:
		return "the broker asked to pull less"
	}
	return c.String()
}

// describeFlow is describe for flow control of an own consumer.
func (r *eventRow) describeFlow(e engine.Event) bool {
	switch e := e.(type) {
	case engine.FlowBegin:
		return r.say("FLOW", causeWord(e.Cause), warning, true, "%s", flowText(e.Cause, e.Value, e.Limit))
	case engine.FlowEnd:
		return r.say("FLOW", causeWord(e.Cause), info, true, "ended after %s ×%s · highest: %s", span(ms(e.DurationMS)),
			grouped(e.Times), flowText(e.Cause, e.Value, e.Limit))
	}
	return false
}

// describeQueue is describe for queues that are taken and given away, and their locks.
func (r *eventRow) describeQueue(e engine.Event) bool {
	switch e := e.(type) {
	case engine.QueueAdded:
		return r.say("QUEUE", "added", notice, false, "taken at offset %s (%s)", offset(e.NextOffset), e.Source)
	case engine.QueueRemovalDelayed:
		return r.say("QUEUE", "busy", warning, true, "not given away yet: its listener has run for %s more", span(msFloat(e.WaitedMS)))
	case engine.QueueAddFailed:
		return r.say("QUEUE", "refused", failure, true, "not taken yet: %s%s", e.Cause, because(e.Error))
	case engine.QueueDropped:
		routine := e.Cause == "unassigned" || e.Cause == "shutdown" || e.Cause == "unsubscribed"
		sev := warning
		if routine {
			sev = notice
		}
		return r.say("QUEUE", "dropped", sev, !routine, "%s · %s cached · committed offset %s", e.Cause, grouped(e.Cached), offset(e.CommittedOffset))
	case engine.QueueRemoved:
		text := "given away, offset stored"
		if e.Unlocked {
			text += ", unlocked"
		}
		return r.say("QUEUE", "removed", info, false, "%s · took %s", text, span(msFloat(e.DurationMS)))
	case engine.LockGained:
		return r.say("LOCK", "gained", notice, true, "the broker granted the lock")
	case engine.LockLost:
		return r.say("LOCK", "lost", failure, true, "%s, after %s", e.Cause, span(ms(e.AgeMS)))
	case engine.LockExpired:
		return r.say("LOCK", "expired", failure, true, "not renewed for %s", span(ms(e.AgeMS)))
	case engine.LockRequestFailed:
		return r.say("LOCK", "no answer", failure, true, "%s%s", e.Broker, because(e.Error))
	}
	return false
}

// describeOffset is describe for pulls of a queue and its offsets.
func (r *eventRow) describeOffset(e engine.Event) bool {
	switch e := e.(type) {
	case engine.PullError:
		code := ""
		if e.Code != 0 {
			code = fmt.Sprintf(" (code %d)", e.Code)
		}
		r.reason = cause(e.Error) + code
		if e.Code == subscriptionNotExist {
			r.reason = "the broker has forgotten our subscription" + code + "; another member of the group may not subscribe to this topic"
		}
		return r.say("PULL", "error", failure, true, "offset %s: %s · again in %s", offset(e.Offset), r.reason, span(ms(e.DelayMS)))
	case engine.PullRecovered:
		return r.say("PULL", "recovered", notice, true, "after %s in %s", plural(e.Errors, "error"), span(ms(e.DurationMS)))
	case engine.PullMoved:
		return r.say("PULL", "moved", notice, true, "from %s to %s at %s: %s", role(e.From), role(e.To), e.Address, e.Cause)
	case engine.PullRegressed:
		return r.say("PULL", "regressed", warning, true, "asked for offset %s, the broker goes on at %s%s", offset(e.Previous), offset(e.Next),
			listed(", first offset ", textIf(e.First != engine.Unknown, offset(e.First))))
	case engine.PullSuspended:
		return r.say("PULL", "suspended", info, false, "paused: looked at again every %s", span(ms(e.DelayMS)))
	case engine.StartAtFirst:
		return r.say("OFFSET", "first", warning, true, "new group starts at 0, because the queue still holds its first message: %s first", plural(e.Messages, "older message"))
	case engine.OffsetForgotten:
		return r.say("OFFSET", "forgotten", info, false, "%s", e.Cause)
	case engine.MessagesExpired:
		return r.say("OFFSET", "expired", warning, true, "messages expired up to offset %s: %s asked for, %s passed over", offset(e.To),
			offset(e.From), plural(e.To-e.From, "offset"))
	case engine.TagsCorrected:
		return r.say("OFFSET", "filtered", info, false, "committed offset %s → %s over messages that the filter left out", offset(e.From), offset(e.Offset))
	case engine.OffsetIllegal:
		return r.say("OFFSET", "illegal", warning, true, "asked for offset %s, corrected to %s (broker has %s … %s)%s%s", offset(e.Requested),
			offset(e.Corrected), offset(e.MinOffset), offset(e.MaxOffset), textIf(e.Anew, "; the queue was made anew"), illegalEffect(e.Effect, e.Messages))
	case engine.OffsetFixed:
		return r.say("OFFSET", "fixed", info, false, "offset %s is stored and pulled from, after %s", offset(e.Offset), span(ms(e.DurationMS)))
	case engine.OffsetPersistFailed:
		return r.say("OFFSET", "unsaved", failure, true, "commit offset %s did not reach the store%s", offset(e.Offset), because(e.Error))
	}
	return false
}

// textIf is a list of one text, or of none.
func textIf(ok bool, text string) []string {
	if !ok {
		return nil
	}
	return []string{text}
}

// illegalEffect says what going to a corrected offset does.
func illegalEffect(effect string, n int64) string {
	if n == 0 {
		return ""
	}
	what := map[string]string{"replay": "come again", "skip": "are skipped", "gone": "had expired"}[effect]
	if what == "" {
		return ""
	}
	return fmt.Sprintf(": %s %s", plural(n, "message"), what)
}
