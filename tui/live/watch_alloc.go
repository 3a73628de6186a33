package live

import (
	"fmt"

	"eyeq/engine"
	"eyeq/tui/words"
)

// watchAllocDetails is the right part of the allocation's upper edge.
func (v *View) watchAllocDetails(t *engine.TopicSnapshot, nth int) string {
	s, w := v.pic.Scene, v.pic.Scene.Watch
	strategy := w.strategies[nth]
	by := "held · "
	switch {
	case len(t.Members) == 0:
		by = ""
	case IsBroadcast(s):
		by = "broadcasting · "
	case w.pops[nth]:
		by, strategy = "popped, not held · ", "POP"
	case strategy != "":
		by = "held as " + strategy + " gives · "
	}
	topic := ""
	if len(s.Topics) > 1 {
		topic = fmt.Sprintf("topic %d of %d (%s) · ", nth+1, len(s.Topics), v.env.Keys.First("next-topic"))
	}
	if v.w < 86 {
		if topic != "" {
			topic = fmt.Sprintf("%d/%d · ", nth+1, len(s.Topics))
		}
		if strategy != "" {
			strategy += " "
		}
		return fmt.Sprintf("%s%s%dq/%dm · %s", topic, strategy, t.Queues, len(t.Members), words.Ago(t.MembersAt, v.pic.Now))
	}
	return fmt.Sprintf("%s%s%s / %s · told %s", topic, by, words.Plural(t.Queues, "queue"), words.Plural(len(t.Members), "member"), words.Ago(t.MembersAt, v.pic.Now))
}

// memberNote is what stands at the end of a member's line; nth is the topic's place.
func (v *View) memberNote(m *engine.MemberSnapshot, nth int) string {
	w := v.pic.Scene.Watch
	if why := w.silent[m.ClientID]; why != "" {
		return "  " + words.Warning.Sign() + " silent: " + why
	}
	if due, ok := w.due[nth][m.ClientID]; ok && due != len(m.Queues) && !IsBroadcast(v.pic.Scene) {
		return fmt.Sprintf("  due: %d", due)
	}
	return ""
}
