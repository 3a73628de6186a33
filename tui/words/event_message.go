package words

import (
	"strings"

	"eyeq/engine"
)

// offsetsFrom names the first offset of a batch.
func offsetsFrom(first int64, count int) string {
	if count > 1 {
		return "offsets from " + Offset(first)
	}
	return "offset " + Offset(first)
}

// describeMessage is describe for what became of messages.
func (r *EventRow) describeMessage(e engine.Event) bool {
	switch e := e.(type) {
	case engine.ConsumeDiscarded:
		return r.say("CONSUME", "discarded", Warning, true, "%s, offsets %s … %s, %s the listener: the queue was given away",
			Plural(e.Count, "message"), Offset(e.First), Offset(e.Last), e.Phase)
	case engine.ConsumeFailed:
		return r.say("CONSUME", strings.ToLower(e.ReturnType), Failure, true, "%s refused (%s) after %s%s",
			offsetsFrom(e.First, e.Count), Plural(e.Count, "message"), Span(msFloat(e.RTMS)), Because(e.Error))
	case engine.SentBack:
		if e.Target == "dlq" {
			return r.say("DLQ", "dead", Failure, true, "offset %s to the dead letters · retried %d× · id %s", Offset(e.Offset), e.ReconsumeTimes, e.MessageID)
		}
		due := Unknown
		if e.DueMS != nil {
			due = Span(ms(*e.DueMS))
		}
		return r.say("RETRY", e.Target, Warning, true, "offset %s sent back · level %d (%s) · retried %d× · id %s", Offset(e.Offset), e.DelayLevel, due, e.ReconsumeTimes, e.MessageID)
	case engine.SendBackFailed:
		return r.say("RETRY", "failed", Failure, true, "offset %s could not be sent back%s · id %s", Offset(e.Offset), Because(e.Error), e.MessageID)
	case engine.RetryLocal:
		return r.say("RETRY", "local", Warning, true, "%s (%s), again in %s", offsetsFrom(e.First, e.Count), Plural(e.Count, "message"), Span(ms(e.DelayMS)))
	case engine.RetrySuspend:
		return r.say("RETRY", "suspend", Warning, true, "head, offset %s, waits %s · retried %d×", Offset(e.Offset), Span(ms(e.DelayMS)), e.ReconsumeTimes)
	case engine.ConsumeBegin:
		return r.say("CONSUME", "begin", Info, false, "%s (%s) to the listener", offsetsFrom(e.First, e.Count), Plural(e.Count, "message"))
	case engine.ConsumeEnd:
		return r.say("CONSUME", "end", Info, false, "%s (%s): %s (%s) after %s, ack index %d", offsetsFrom(e.First, e.Count), Plural(e.Count, "message"),
			e.Status, e.ReturnType, Span(msFloat(e.RTMS)), e.AckIndex)
	case engine.OrderlyUncommitted:
		return r.say("COMMIT", "stalled", Failure, true, "%s from offset %s on are taken and not committed, and the limit by %s (%s) lets no more come: the listener must commit sooner, or the limit be higher",
			Plural(e.Count, "message"), Offset(e.First), e.Cause, Grouped(e.Limit))
	case engine.MessageExpired:
		back := "kept"
		if e.SentBack {
			back = "sent back"
		}
		return r.say("EXPIRED", "", Failure, true, "offset %s held for %s, %s · id %s", Offset(e.Offset), Span(ms(e.AgeMS)), back, e.MessageID)
	case engine.MessageUndecodable:
		return r.say("DECODE", "", Failure, true, "the record at offset %s cannot be read%s · the queue waits there: reset it to offset %s to go on without the message",
			Offset(e.Offset), Because(e.Error), Offset(e.Offset+1))
	}
	return false
}
