package tui

import (
	"fmt"
	"strings"

	"eyeq/engine"
)

// describeGroup is describe for what concerns the consumer and its group as a whole.
func (r *eventRow) describeGroup(e engine.Event) bool {
	switch e := e.(type) {
	case engine.ConsumerState:
		return r.say("STATE", e.To, notice, true, "%s → %s%s", e.From, e.To, because(e.Cause))
	case engine.ConfigRejected:
		return r.say("CONFIG", "refused", failure, true, "%s = %s: %s", e.Property, e.Value, e.Rule)
	case engine.ClientInstance:
		return r.say("CLIENT", "made", info, false, "%s", e.ClientID)
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
