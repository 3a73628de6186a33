package tui

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
)

// severity of an event, for the sign before it and the e/E keys.
type severity uint8

const (
	info severity = iota
	notice
	warning
	failure
)

// sign is what stands before an event of this severity: colour is not enough.
func (s severity) sign() string { return [...]string{" ", " ", "!", "✗"}[s] }

// eventRow is an event behind the door: its texts are safe to print.
type eventRow struct {
	seq   uint64
	event engine.Event // for details only; never printed as it is
	at    time.Time
	mq    engine.MessageQueue // true name; zero without a queue
	name  string              // flow_begin
	kind  string              // FLOW, REBAL, OPER, …: the feed's first word
	cause string              // the feed's second word; folds with queue and kind
	topic string
	queue string // "broker-a/3", or what the event is about instead
	text  string
	sev   severity
	feed  bool // worth a line in the live feed
	// reason is why a pull failed, without its queue: the feed folds by it.
	reason string
}

// EventLine is one event as one line of text, foreign text made safe: for --plain
// and for headless text output. Times are in loc.
func EventLine(e engine.Event, loc *time.Location) string {
	r := describe(e)
	name := r.name
	if back, ok := e.(engine.SentBack); ok && back.Target == "dlq" {
		name += " (dead letter)" // the name alone, which scripts know, reads as the opposite
	}
	line := r.at.In(loc).Format("2006-01-02 15:04:05.000") + " " + r.sev.sign() + " " + name
	if r.topic != "" {
		line += "  " + r.topic
	}
	if r.queue != "" {
		line += "  " + r.queue
	}
	if r.text != "" {
		line += "  " + r.text
	}
	return line
}

// IsFailure reports whether an event tells of something that went wrong.
func IsFailure(e engine.Event) bool { return describe(e).sev == failure }

// describe lets an event in: what it is, how bad, and one line about it.
func describe(e engine.Event) eventRow {
	r := eventRow{event: e, at: e.When(), name: e.EventName()}
	if mq, ok := e.About(); ok {
		r.mq = mq
		r.topic, r.queue = SafeText(mq.Topic), SafeText(mq.Short())
	}
	if !r.describeFlow(e) && !r.describeGroup(e) && !r.describeQueue(e) && !r.describeMessage(e) && !r.describeOperator(e) && !r.describeWatch(e) {
		r.kind = "EVENT"
		r.text = strings.Join(fieldsOf(e), "  ")
	}
	r.cause, r.text, r.queue, r.topic, r.reason = SafeText(r.cause), SafeText(r.text), SafeText(r.queue), SafeText(r.topic), SafeText(r.reason)
	return r
}

func (r *eventRow) say(kind, cause string, sev severity, feed bool, format string, args ...any) bool {
	r.kind, r.cause, r.sev, r.feed = kind, cause, sev, feed
	r.text = strings.TrimSpace(fmt.Sprintf(format, args...))
	return true
}

// brokerAt names a broker with its address, where that is known.
func brokerAt(name, address string) string { return strings.TrimSpace(name + " " + address) }

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

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

func msFloat(f float64) time.Duration { return time.Duration(f * float64(time.Millisecond)) }

// because adds an error or reason where there is one.
func because(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// worse is sev, or a failure when there is an error text.
func worse(err string, sev severity) severity {
	if err != "" {
		return failure
	}
	return sev
}

func (r *eventRow) describeGroup(e engine.Event) bool {
	switch e := e.(type) {
	case engine.ConsumerState:
		return r.say("STATE", e.To, notice, true, "%s → %s%s", e.From, e.To, because(e.Cause))
	case engine.ConfigRejected:
		return r.say("CONFIG", "refused", failure, true, "%s = %s: %s", e.Property, e.Value, e.Rule)
	case engine.ClientInstance:
		return r.say("CLIENT", "made", info, false, "%s", e.ClientID)
	case engine.RouteChanged:
		r.topic = e.Topic
		return r.say("ROUTE", "changed", notice, true, "%s: %d → %s on %s", e.Topic, e.OldQueues, plural(e.ReadQueues, "queue"), strings.Join(e.Brokers, ", "))
	case engine.RouteMissing:
		r.topic = e.Topic
		return r.say("ROUTE", "missing", failure, true, "%s: no name server knows the topic; it is waited for", e.Topic)
	case engine.NamesrvUnreachable:
		return r.say("NAMESRV", "down", failure, true, "no name server answers (%s)%s", strings.Join(e.Addrs, ", "), because(e.Error))
	case engine.NamesrvRecovered:
		return r.say("NAMESRV", "up", notice, true, "%s answers again after %s", e.Addr, span(ms(e.DurationMS)))
	case engine.BrokerOffline:
		r.queue = e.Broker
		return r.say("BROKER", "offline", failure, true, "%s%s", brokerAt(e.Broker, e.Address), because(cause(e.Error)))
	case engine.BrokerOnline:
		r.queue = e.Broker
		if e.DurationMS == 0 {
			return r.say("BROKER", "online", notice, true, "%s", brokerAt(e.Broker, e.Address))
		}
		return r.say("BROKER", "online", notice, true, "%s after %s", brokerAt(e.Broker, e.Address), span(ms(e.DurationMS)))
	case engine.HeartbeatSent:
		if e.Error != "" {
			return r.say("BEAT", "failed", failure, true, "%s: %s", e.Address, cause(e.Error))
		}
		return r.say("BEAT", "sent", info, false, "%s answered in %s", e.Address, span(msFloat(e.RTTMS)))
	case engine.HeartbeatSkipped:
		return r.say("BEAT", "skipped", info, false, "%s", map[string]string{"busy": "one is under way, another follows", "no_broker": "no broker is known yet"}[e.Cause])
	case engine.AssignmentChanged:
		r.topic = e.Topic
		return r.say("REBAL", "changed", info, false, "%s: holds %s · subscription version %d", e.Topic, plural(len(e.Queues), "queue"), e.SubVersion)
	case engine.ClientIDShared:
		return r.say("MEMBERS", "twin", failure, true, "client id %s is used from %s too (%s says): queues are read twice or by nobody; give each its own",
			e.ClientID, strings.Join(e.Addresses, ", "), e.Broker)
	case engine.ClientIDAlone:
		return r.say("MEMBERS", "alone", notice, true, "client id %s is used once again, after %s", e.ClientID, span(ms(e.DurationMS)))
	case engine.UnlockSent:
		return r.say("LOCK", "returned", info, false, "%s of %s", plural(len(e.Queues), "lock"), e.Broker)
	case engine.LockRenewed:
		return r.say("LOCK", "renewed", info, false, "%s of %s", plural(e.Queues, "lock"), e.Broker)
	case engine.ClockStepped:
		way := "forwards"
		if e.ByMS < 0 {
			way = "backwards"
		}
		return r.say("CLOCK", "set", warning, true, "the host's clock was set %s by %s", way, span(ms(max(e.ByMS, -e.ByMS))))
	case engine.MembersChanged:
		return r.say("MEMBERS", "changed", info, false, "told by %s", e.Address)
	case engine.RebalanceBegin:
		return r.say("REBAL", fmt.Sprintf("#%d", e.Seq), info, false, "begins, because: %s", e.Trigger)
	case engine.RebalanceEnd:
		changed := e.Added+e.Dropped > 0 || !e.Balanced
		sev := info
		if changed {
			sev = notice
		}
		if !e.Balanced {
			sev = warning
		}
		text := fmt.Sprintf("kept %d · gained %d · dropped %d · %s · took %s", e.Kept, e.Added, e.Dropped, e.Trigger, span(msFloat(e.DurationMS)))
		if !e.Balanced {
			text += " · not balanced yet"
		}
		return r.say("REBAL", fmt.Sprintf("#%d", e.Seq), sev, changed, "%s", text)
	case engine.RebalanceTopic:
		r.topic = e.Topic
		return r.say("REBAL", "topic", notice, true, "%s: %s / %s by %s%s%s · mine %s", e.Topic, plural(e.Queues, "queue"),
			plural(len(e.Members), "member"), e.Strategy, listed(" · joined ", e.Joined), listed(" · left ", e.Left), orNone(strings.Join(e.Mine, " ")))
	case engine.RebalanceSkipped:
		r.topic = e.Topic
		sev := warning
		if e.Cause == "paused" {
			sev = notice
		}
		return r.say("REBAL", "skipped", worse(e.Error, sev), true, "%s keeps what it has: %s%s", e.Topic, e.Cause, because(e.Error))
	case engine.AdminRequest:
		return r.say("ADMIN", fmt.Sprintf("%d", e.Code), info, true, "asked by %s: %s", e.Address, e.Result)
	case engine.ConsumedDirectly:
		sev := notice
		if e.Result != "CR_SUCCESS" && e.Result != "CR_COMMIT" {
			sev = warning
		}
		return r.say("ADMIN", "direct", sev, true, "%s at %d consumed once more for %s: %s%s", e.MessageID, e.Offset, e.Address, e.Result, because(e.Error))
	case engine.ShutdownStep:
		return r.say("LEAVE", e.Step, worse(e.Error, notice), true, "%s took %s%s", e.Step, span(msFloat(e.DurationMS)), because(e.Error))
	}
	return false
}

func listed(before string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return before + strings.Join(names, ", ")
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// subscriptionNotExist is the code by which a broker says that no member of the
// group, as far as it knows, subscribes to the topic.
const subscriptionNotExist = 24

func (r *eventRow) describeQueue(e engine.Event) bool {
	switch e := e.(type) {
	case engine.QueueAdded:
		return r.say("QUEUE", "added", notice, false, "taken at offset %s (%s)", offset(e.NextOffset), e.Source)
	case engine.StartAtFirst:
		return r.say("OFFSET", "first", warning, true, "new group starts at 0, because the queue still holds its first message: %s first", plural(int(e.Messages), "older message"))
	case engine.QueueRemovalDelayed:
		return r.say("QUEUE", "busy", warning, true, "not given away yet: its listener has run for %s more", span(msFloat(e.WaitedMS)))
	case engine.OffsetForgotten:
		return r.say("OFFSET", "forgotten", info, false, "%s", e.Cause)
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
		return r.say("PULL", "recovered", notice, true, "after %s in %s", plural(int(e.Errors), "error"), span(ms(e.DurationMS)))
	case engine.PullMoved:
		return r.say("PULL", "moved", notice, true, "from %s to %s at %s: %s", role(e.From), role(e.To), e.Address, e.Cause)
	case engine.PullRegressed:
		return r.say("PULL", "regressed", warning, true, "asked for offset %s, the broker goes on at %s%s", offset(e.Previous), offset(e.Next),
			listed(", first offset ", textIf(e.First != engine.Unknown, offset(e.First))))
	case engine.PullSuspended:
		return r.say("PULL", "suspended", info, false, "paused: looked at again every %s", span(ms(e.DelayMS)))
	case engine.MessagesExpired:
		return r.say("OFFSET", "expired", warning, true, "messages expired up to offset %s: %s asked for, %s passed over", offset(e.To),
			offset(e.From), plural(int(e.To-e.From), "offset"))
	case engine.TagsCorrected:
		return r.say("OFFSET", "filtered", info, false, "committed offset %s → %s over messages that the filter left out", offset(e.From), offset(e.Offset))
	case engine.OffsetIllegal:
		return r.say("OFFSET", "illegal", warning, true, "asked for offset %s, corrected to %s (broker has %s … %s)%s", offset(e.Requested),
			offset(e.Corrected), offset(e.MinOffset), offset(e.MaxOffset), illegalEffect(e.Effect, e.Messages))
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
	return fmt.Sprintf(": %s %s", plural(int(n), "message"), what)
}

// offsetsFrom names the first offset of a batch.
func offsetsFrom(first int64, count int) string {
	if count > 1 {
		return "offsets from " + offset(first)
	}
	return "offset " + offset(first)
}

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
		return r.say("RETRY", e.Target, warning, true, "offset %s sent back · level %d (%s) · retried %d× · id %s", offset(e.Offset), e.DelayLevel, span(ms(e.DueMS)), e.ReconsumeTimes, e.MessageID)
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
			plural(int(e.Count), "message"), offset(e.First), e.Cause, grouped(e.Limit))
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

func (r *eventRow) describeOperator(e engine.Event) bool {
	whole := "the whole consumer"
	if r.queue != "" {
		whole = ""
	}
	switch e := e.(type) {
	case engine.Pause:
		resume := ""
		if e.ResumeAfterMS > 0 {
			resume = " · resumes in " + span(ms(e.ResumeAfterMS))
		}
		return r.say("OPER", "pause", notice, true, "%s by %s%s%s", whole, e.By, quoted(e.Reason), resume)
	case engine.Resume:
		return r.say("OPER", "resume", notice, true, "%s by %s after %s", whole, e.By, span(ms(e.DurationMS)))
	case engine.HoldSettled:
		what := map[string]string{"ack": "acknowledged", "refuse": "refused", "dead_letter": "to the dead letters"}[e.Verdict]
		failed, sev := "", notice
		if e.Failed > 0 {
			failed, sev = fmt.Sprintf(", %d FAILED", e.Failed), failure
		}
		return r.say("OPER", strings.ReplaceAll(e.Verdict, "_letter", ""), sev, true, "%s %s by %s, offsets %s … %s%s", plural(e.Count, "held message"), what, e.By,
			offset(e.First), offset(e.Last), failed)
	case engine.ResetBegin:
		return r.say("OPER", "reset", notice, true, "begins: offset %s → %s by %s", offset(e.From), offset(e.To), e.By)
	case engine.ResetEnd:
		done, sev := "read back and verified", notice
		if !e.Verified {
			done, sev = "NOT VERIFIED", failure
		}
		return r.say("OPER", "reset", worse(e.Error, sev), true, "offset %s → %s by %s, %s%s", offset(e.From), offset(e.To), e.By, done, because(e.Error))
	}
	return false
}

func quoted(reason string) string {
	if reason == "" {
		return ""
	}
	return " “" + reason + "”"
}

// fieldsOf lists an event's own fields as name=value, by their JSON names.
func fieldsOf(e engine.Event) []string {
	v := reflect.Indirect(reflect.ValueOf(e))
	if v.Kind() != reflect.Struct {
		return nil
	}
	var fields []string
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if name == "" || name == "-" || !v.Type().Field(i).IsExported() {
			continue
		}
		fields = append(fields, SafeText(fmt.Sprintf("%s=%v", name, v.Field(i).Interface())))
	}
	return fields
}
