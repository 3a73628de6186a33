package words

import (
	"fmt"

	"eyeq/engine"
	"eyeq/engine/core"
)

// subscriptionNotExist is the code by which a broker says that no member of the
// group, as far as it knows, subscribes to the topic.
const subscriptionNotExist = 24

// CauseWord is the flow cause in one word of at most eight cells.
func CauseWord(c engine.FlowCause) string {
	if c == core.FlowOrderlyUnlocked {
		return "unlocked"
	}
	return c.String()
}

// FlowText says what was passed by how much.
func FlowText(c engine.FlowCause, value, limit int64) string {
	switch c {
	case core.FlowCount:
		return fmt.Sprintf("cached %s > limit %s", Grouped(value), Grouped(limit))
	case core.FlowSize:
		return fmt.Sprintf("%s MiB > limit %s MiB", Grouped(value), Grouped(limit))
	case core.FlowSpan:
		return fmt.Sprintf("span %s > limit %s", Grouped(value), Grouped(limit))
	case core.FlowOrderlyUnlocked:
		return "without the broker's lock"
	case core.FlowBroker:
		return "the broker asked to pull less"
	}
	return c.String()
}

// describeFlow is describe for flow control of an own consumer.
func (r *EventRow) describeFlow(e engine.Event) bool {
	switch e := e.(type) {
	case engine.FlowBegin:
		return r.say("FLOW", CauseWord(e.Cause), Warning, true, "%s", FlowText(e.Cause, e.Value, e.Limit))
	case engine.FlowEnd:
		return r.say("FLOW", CauseWord(e.Cause), Info, true, "ended after %s ×%s · highest: %s", Span(ms(e.DurationMS)),
			Grouped(e.Times), FlowText(e.Cause, e.Value, e.Limit))
	}
	return false
}

// describeQueue is describe for queues that are taken and given away, and their locks.
func (r *EventRow) describeQueue(e engine.Event) bool {
	switch e := e.(type) {
	case engine.QueueAdded:
		return r.say("QUEUE", "added", Notice, false, "taken at offset %s (%s)", Offset(e.NextOffset), e.Source)
	case engine.QueueRemovalDelayed:
		return r.say("QUEUE", "busy", Warning, true, "not given away yet: its listener has run for %s more", Span(msFloat(e.WaitedMS)))
	case engine.QueueAddFailed:
		return r.say("QUEUE", "refused", Failure, true, "not taken yet: %s%s", e.Cause, Because(e.Error))
	case engine.QueueDropped:
		routine := e.Cause == "unassigned" || e.Cause == "shutdown" || e.Cause == "unsubscribed"
		sev := Warning
		if routine {
			sev = Notice
		}
		return r.say("QUEUE", "dropped", sev, !routine, "%s · %s cached · committed offset %s", e.Cause, Grouped(e.Cached), Offset(e.CommittedOffset))
	case engine.QueueRemoved:
		text := "given away, offset stored"
		if e.Unlocked {
			text += ", unlocked"
		}
		return r.say("QUEUE", "removed", Info, false, "%s · took %s", text, Span(msFloat(e.DurationMS)))
	case engine.LockGained:
		return r.say("LOCK", "gained", Notice, true, "the broker granted the lock")
	case engine.LockLost:
		return r.say("LOCK", "lost", Failure, true, "%s, after %s", e.Cause, Span(ms(e.AgeMS)))
	case engine.LockExpired:
		return r.say("LOCK", "expired", Failure, true, "not renewed for %s", Span(ms(e.AgeMS)))
	case engine.LockRequestFailed:
		return r.say("LOCK", "no answer", Failure, true, "%s%s", e.Broker, Because(e.Error))
	}
	return false
}

// describeOffset is describe for pulls of a queue and its offsets.
func (r *EventRow) describeOffset(e engine.Event) bool {
	switch e := e.(type) {
	case engine.PullError:
		code := ""
		if e.Code != 0 {
			code = fmt.Sprintf(" (code %d)", e.Code)
		}
		r.Reason = Cause(e.Error) + code
		if e.Code == subscriptionNotExist {
			r.Reason = "the broker has forgotten our subscription" + code + "; another member of the group may not subscribe to this topic"
		}
		return r.say("PULL", "error", Failure, true, "offset %s: %s · again in %s", Offset(e.Offset), r.Reason, Span(ms(e.DelayMS)))
	case engine.PullRecovered:
		return r.say("PULL", "recovered", Notice, true, "after %s in %s", Plural(e.Errors, "error"), Span(ms(e.DurationMS)))
	case engine.PullMoved:
		return r.say("PULL", "moved", Notice, true, "from %s to %s at %s: %s", Role(e.From), Role(e.To), e.Address, e.Cause)
	case engine.PullRegressed:
		return r.say("PULL", "regressed", Warning, true, "asked for offset %s, the broker goes on at %s%s", Offset(e.Previous), Offset(e.Next),
			listed(", first offset ", textIf(e.First != engine.Unknown, Offset(e.First))))
	case engine.PullSuspended:
		return r.say("PULL", "suspended", Info, false, "paused: looked at again every %s", Span(ms(e.DelayMS)))
	case engine.StartAtFirst:
		return r.say("OFFSET", "first", Warning, true, "new group starts at 0, because the queue still holds its first message: %s first", Plural(e.Messages, "older message"))
	case engine.OffsetForgotten:
		return r.say("OFFSET", "forgotten", Info, false, "%s", e.Cause)
	case engine.MessagesExpired:
		return r.say("OFFSET", "expired", Warning, true, "messages expired up to offset %s: %s asked for, %s passed over", Offset(e.To),
			Offset(e.From), Plural(e.To-e.From, "offset"))
	case engine.TagsCorrected:
		return r.say("OFFSET", "filtered", Info, false, "committed offset %s → %s over messages that the filter left out", Offset(e.From), Offset(e.Offset))
	case engine.OffsetIllegal:
		return r.say("OFFSET", "illegal", Warning, true, "asked for offset %s, corrected to %s (broker has %s … %s)%s%s", Offset(e.Requested),
			Offset(e.Corrected), Offset(e.MinOffset), Offset(e.MaxOffset), textIf(e.Anew, "; the queue was made anew"), illegalEffect(e.Effect, e.Messages))
	case engine.OffsetFixed:
		return r.say("OFFSET", "fixed", Info, false, "offset %s is stored and pulled from, after %s", Offset(e.Offset), Span(ms(e.DurationMS)))
	case engine.OffsetPersistFailed:
		return r.say("OFFSET", "unsaved", Failure, true, "commit offset %s did not reach the store%s", Offset(e.Offset), Because(e.Error))
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
	return fmt.Sprintf(": %s %s", Plural(n, "message"), what)
}
