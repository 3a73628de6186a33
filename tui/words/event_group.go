package words

import (
	"fmt"
	"strings"

	"eyeq/engine"
)

// describeGroup is describe for what concerns the consumer and its group as a whole.
func (r *EventRow) describeGroup(e engine.Event) bool {
	switch e := e.(type) {
	case engine.ConsumerState:
		return r.say("STATE", e.To, Notice, true, "%s → %s%s", e.From, e.To, Because(e.Cause))
	case engine.ConfigRejected:
		return r.say("CONFIG", "refused", Failure, true, "%s = %s: %s", e.Property, e.Value, e.Rule)
	case engine.ClientInstance:
		return r.say("CLIENT", "made", Info, false, "%s", e.ClientID)
	case engine.AssignmentChanged:
		r.Topic = e.Topic
		return r.say("REBAL", "changed", Info, false, "%s: holds %s · subscription version %d", e.Topic, Plural(len(e.Queues), "queue"), e.SubVersion)
	case engine.ClientIDShared:
		return r.say("MEMBERS", "twin", Failure, true, "client id %s is used from %s too (%s says): queues are read twice or by nobody; give each its own",
			e.ClientID, strings.Join(e.Addresses, ", "), e.Broker)
	case engine.ClientIDAlone:
		return r.say("MEMBERS", "alone", Notice, true, "client id %s is used once again, after %s", e.ClientID, Span(ms(e.DurationMS)))
	case engine.UnlockSent:
		return r.say("LOCK", "returned", Info, false, "%s of %s", Plural(len(e.Queues), "lock"), e.Broker)
	case engine.LockRenewed:
		return r.say("LOCK", "renewed", Info, false, "%s of %s", Plural(e.Queues, "lock"), e.Broker)
	case engine.ClockStepped:
		way := "forwards"
		if e.ByMS < 0 {
			way = "backwards"
		}
		return r.say("CLOCK", "set", Warning, true, "the host's clock was set %s by %s", way, Span(ms(max(e.ByMS, -e.ByMS))))
	case engine.MembersChanged:
		return r.say("MEMBERS", "changed", Info, false, "told by %s", e.Address)
	case engine.RebalanceBegin:
		return r.say("REBAL", fmt.Sprintf("#%d", e.Seq), Info, false, "begins, because: %s", e.Trigger)
	case engine.RebalanceEnd:
		changed := e.Added+e.Dropped > 0 || !e.Balanced
		sev := Info
		if changed {
			sev = Notice
		}
		if !e.Balanced {
			sev = Warning
		}
		text := fmt.Sprintf("kept %d · gained %d · dropped %d · %s · took %s", e.Kept, e.Added, e.Dropped, e.Trigger, Span(msFloat(e.DurationMS)))
		if !e.Balanced {
			text += " · not balanced yet"
		}
		return r.say("REBAL", fmt.Sprintf("#%d", e.Seq), sev, changed, "%s", text)
	case engine.RebalanceTopic:
		r.Topic = e.Topic
		return r.say("REBAL", "topic", Notice, true, "%s: %s / %s by %s%s%s · mine %s", e.Topic, Plural(e.Queues, "queue"),
			Plural(len(e.Members), "member"), e.Strategy, listed(" · joined ", e.Joined), listed(" · left ", e.Left), OrNone(strings.Join(e.Mine, " ")))
	case engine.RebalanceSkipped:
		r.Topic = e.Topic
		sev := Warning
		if e.Cause == "paused" {
			sev = Notice
		}
		return r.say("REBAL", "skipped", worse(e.Error, sev), true, "%s keeps what it has: %s%s", e.Topic, e.Cause, Because(e.Error))
	case engine.AdminRequest:
		return r.say("ADMIN", fmt.Sprintf("%d", e.Code), Info, true, "asked by %s: %s", e.Address, e.Result)
	case engine.ConsumedDirectly:
		sev := Notice
		if e.Result != "CR_SUCCESS" && e.Result != "CR_COMMIT" {
			sev = Warning
		}
		return r.say("ADMIN", "direct", sev, true, "%s at %d consumed once more for %s: %s%s", e.MessageID, e.Offset, e.Address, e.Result, Because(e.Error))
	case engine.ShutdownStep:
		return r.say("LEAVE", e.Step, worse(e.Error, Notice), true, "%s took %s%s", e.Step, Span(msFloat(e.DurationMS)), Because(e.Error))
	}
	return false
}

func listed(before string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return before + strings.Join(names, ", ")
}

// OrNone is a name, or the word for none.
func OrNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
