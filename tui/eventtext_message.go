package tui

import (
	"strings"

	"eyeq/engine"
)

// offsetsFrom names the first offset of a batch.
func offsetsFrom(first int64, count int) string {
	if count > 1 {
		return "offsets from " + offset(first)
	}
	return "offset " + offset(first)
}

// describeMessage is describe for what became of messages.
func (r *eventRow) describeMessage(e engine.Event) bool {
	switch e := e.(type) {
	case engine.ConsumeDiscarded:
		return r.say("CONSUME", "discarded", warning, true, "%s, offsets %s … %s, %s the listener: the queue was given away",
			plural(e.Count, "message"), offset(e.First), offset(e.Last), e.Phase)
	case engine.ConsumeFailed:
		return r.say("CONSUME", strings.ToLower(e.ReturnType), failure, true, "%s refused (%s) after %s%s",
			offsetsFrom(e.First, e.Count), plural(e.Count, "message"), span(msFloat(e.RTMS)), because(e.Error))
	case engine.SentBack:
		if e.Target == "dlq" {
			return r.say("DLQ", "dead", failure, true, "offset %s to the dead letters · retried %d× · id %s", offset(e.Offset), e.ReconsumeTimes, e.MessageID)
		}
		due := unknown
		if e.DueMS != nil {
			due = span(ms(*e.DueMS))
		}
		return r.say("RETRY", e.Target, warning, true, "offset %s sent back · level %d (%s) · retried %d× · id %s", offset(e.Offset), e.DelayLevel, due, e.ReconsumeTimes, e.MessageID)
	case engine.SendBackFailed:
		return r.say("RETRY", "failed", failure, true, "offset %s could not be sent back%s · id %s", offset(e.Offset), because(e.Error), e.MessageID)
	case engine.RetryLocal:
		return r.say("RETRY", "local", warning, true, "%s (%s), again in %s", offsetsFrom(e.First, e.Count), plural(e.Count, "message"), span(ms(e.DelayMS)))
	case engine.RetrySuspend:
		return r.say("RETRY", "suspend", warning, true, "head, offset %s, waits %s · retried %d×", offset(e.Offset), span(ms(e.DelayMS)), e.ReconsumeTimes)
	case engine.ConsumeBegin:
		return r.say("CONSUME", "begin", info, false, "%s (%s) to the listener", offsetsFrom(e.First, e.Count), plural(e.Count, "message"))
	case engine.ConsumeEnd:
		return r.say("CONSUME", "end", info, false, "%s (%s): %s (%s) after %s, ack index %d", offsetsFrom(e.First, e.Count), plural(e.Count, "message"),
			e.Status, e.ReturnType, span(msFloat(e.RTMS)), e.AckIndex)
	case engine.OrderlyUncommitted:
		return r.say("COMMIT", "stalled", failure, true, "%s from offset %s on are taken and not committed, and the limit by %s (%s) lets no more come: the listener must commit sooner, or the limit be higher",
			plural(e.Count, "message"), offset(e.First), e.Cause, grouped(e.Limit))
	case engine.MessageExpired:
		back := "kept"
		if e.SentBack {
			back = "sent back"
		}
		return r.say("EXPIRED", "", failure, true, "offset %s held for %s, %s · id %s", offset(e.Offset), span(ms(e.AgeMS)), back, e.MessageID)
	case engine.MessageUndecodable:
		return r.say("DECODE", "", failure, true, "the record at offset %s cannot be read%s · the queue waits there: reset it to offset %s to go on without the message",
			offset(e.Offset), because(e.Error), offset(e.Offset+1))
	}
	return false
}
