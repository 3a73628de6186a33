package inspect

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"eyeq/engine/core"
	"eyeq/remoting/protocol"
)

// holdings are what the members of a group say to hold, topic by topic.
func holdings(m *Members, l *GroupLag, unlisted map[string][]protocol.MessageQueue, settling bool) []core.Holdings {
	var all []protocol.MessageQueue
	for topic, queues := range unlisted {
		if !slices.ContainsFunc(l.Queues, func(q QueueLag) bool { return q.Topic == topic }) {
			all = append(all, queues...)
		}
	}
	for i := range l.Queues {
		if !slices.ContainsFunc(l.Unreadable, func(u UnreadableQueue) bool { return u.MessageQueue == l.Queues[i].MessageQueue }) {
			all = append(all, l.Queues[i].MessageQueue) // else there is nobody to have it
		}
	}
	topics, of := byTopic(all)
	var list []core.Holdings
	for _, topic := range topics {
		h := core.Holdings{Group: l.Group, Topic: topic, Queues: of[topic], Settling: settling}
		for i := range m.Members {
			h.Holders = append(h.Holders, holder(&m.Members[i], topic))
		}
		list = append(list, h)
	}
	return list
}

// settling reports whether a rebalance may be under way, and why.
func (v *visit) settling() (why string) {
	for i := range v.f.Samples {
		m := &v.f.Samples[i].Members
		if !slices.EqualFunc(m.Members, v.last.Members.Members, func(a, b Member) bool { return a.ClientID == b.ClientID }) {
			return "members came or went while this looked"
		}
		for k := range m.Members {
			a, b := &m.Members[k], &v.last.Members.Members[k]
			if a.Info != nil && b.Info != nil && !maps.EqualFunc(a.Info.MQTable, b.Info.MQTable, sameHold) {
				return "queues changed hands while this looked"
			}
		}
	}
	for i := range v.last.Members.Members {
		if m := &v.last.Members.Members[i]; v.young(m) {
			return m.ClientID + " started less than " + Age(settleTime) + " ago"
		}
	}
	return ""
}

func sameHold(a, b protocol.ProcessQueueInfo) bool { return a.Dropped == b.Dropped }

// topicAllocation is one topic's allocation at the last look, with what was so at
// every look before it.
type topicAllocation struct {
	core.Allocation
	of      core.Holdings
	unowned []protocol.MessageQueue
	shared  []core.SharedQueue
}

func (v *visit) allocations(settling bool) []topicAllocation {
	var list []topicAllocation
	for i := range v.f.Samples {
		s := &v.f.Samples[i]
		for _, h := range holdings(&s.Members, &s.Lag, v.f.Unlisted, settling) {
			a := core.ExplainAllocation(h)
			at := slices.IndexFunc(list, func(t topicAllocation) bool { return t.of.Topic == h.Topic })
			if at < 0 {
				list = append(list, topicAllocation{unowned: a.Unowned, shared: a.Shared})
				at = len(list) - 1
			}
			t := &list[at]
			t.Allocation, t.of = a, h
			t.unowned = slices.DeleteFunc(slices.Clone(t.unowned), func(mq protocol.MessageQueue) bool { return !slices.Contains(a.Unowned, mq) })
			t.shared = slices.DeleteFunc(slices.Clone(t.shared), func(s core.SharedQueue) bool {
				return !slices.ContainsFunc(a.Shared, func(o core.SharedQueue) bool { return s.Queue == o.Queue })
			})
		}
	}
	slices.SortFunc(list, func(a, b topicAllocation) int { return strings.Compare(a.of.Topic, b.of.Topic) })
	return list
}

// judgeAllocation compares who holds which queue with who should.
func judgeAllocation(v *visit) {
	if !v.clustering() || len(v.members) == 0 {
		return
	}
	if !v.shares() {
		v.unchecked("who owns which queue", "the members", Reason{ReasonUnsupported, fmt.Sprintf("a %s group does not share queues out as push consumers do", v.last.Members.Kind)})
		return
	}
	why := v.settling()
	list := v.allocations(why != "")
	for i := range list {
		t := &list[i]
		if t.Settling && why == "" {
			why = "queues of " + t.of.Topic + " are being given away"
		}
		for _, h := range t.of.Holders {
			if h.Silent && len(t.Unsure) > 0 {
				v.unchecked(fmt.Sprintf("the owner of %s of %s", runs(t.Unsure), t.of.Topic), h.ClientID, v.members[h.ClientID].Why)
			}
		}
	}
	if why != "" {
		v.find(CodeRebalanceUnderWay, SeverityInfo, "settling: a rebalance may be under way, so owners are not judged",
			"Look again in half a minute: "+v.eyeq("group doctor %s", v.f.Group), why)
		return
	}
	v.judgeStrategies()
	for i := range list {
		t := &list[i]
		if v.unread(t) {
			continue
		}
		v.judgeUnowned(t)
		v.judgeShared(t)
		v.judgeDiffer(t)
	}
}

// unread tells of a topic that the group has offsets on and that no member reads.
func (v *visit) unread(t *topicAllocation) bool {
	for _, h := range t.of.Holders {
		if h.Silent || !h.Elsewhere {
			return false
		}
	}
	if lag := v.lagOf(t.of.Queues); lag > 0 && !isRetry(t.of.Topic) {
		v.find(CodeTopicNotSubscribed, SeverityInfo, fmt.Sprintf("no member subscribes to %s, and its %s count as lag", t.of.Topic, Plural(lag, "message")),
			"If the group no longer reads the topic, move its offsets to the end: "+v.eyeq("group reset %s -t %s --to latest", v.f.Group, t.of.Topic)+
				" (stop the members first where they are on 4.9).",
			"the group has committed offsets there from before")
	}
	return true
}

func (v *visit) judgeStrategies() {
	by := map[string][]string{}
	for _, m := range v.last.Members.Members {
		if m.Info != nil {
			s := core.StrategyOf(m.Info.Properties["allocateMessageQueueStrategy"])
			if strings.HasPrefix(s, "MACHINE_ROOM_NEARBY") {
				s = "MACHINE_ROOM_NEARBY" // Java does not say what is inside
			}
			if s != "" {
				by[s] = append(by[s], m.ClientID)
			}
		}
	}
	if len(by) < 2 {
		return
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(by)) {
		lines = append(lines, fmt.Sprintf("%s: %s", name, joined(by[name])))
	}
	v.find(CodeStrategiesDiffer, SeverityCritical, "members share queues out by different strategies",
		"Give all members the same allocateMessageQueueStrategy: otherwise queues have two owners or none.", capped(lines)...)
}

// lagOf sums what waits in queues, as far as it is known.
func (v *visit) lagOf(queues []protocol.MessageQueue) (lag int64) {
	for _, mq := range queues {
		if q := v.rows[mq]; q != nil && q.Lag.Known {
			lag += max(q.Lag.Value, 0)
		}
	}
	return lag
}

func (v *visit) judgeUnowned(t *topicAllocation) {
	if len(t.unowned) == 0 {
		return
	}
	lag := v.lagOf(t.unowned)
	severity, waits := SeverityWarning, "where "+Plural(lag, "message")+" wait"
	switch {
	case v.rows[t.unowned[0]] == nil:
		severity, waits = SeverityCritical, "and the brokers do not say how many messages wait there"
	case lag > 0:
		severity = SeverityCritical
	}
	lines := []string{fmt.Sprintf("unowned: %s, %s", runs(t.unowned), waits), v.seen()}
	next := "Restart the member that should have " + verb(len(t.unowned), "it", "them") + ", or all of them if none is named. Who holds what: " + v.eyeq("group members %s", v.f.Group)
	why := ""
	for _, h := range t.of.Holders {
		share := intersect(t.Expected[h.ClientID], t.unowned)
		switch {
		case len(share) == 0:
		case h.Elsewhere:
			why = "elsewhere"
			lines = append(lines, fmt.Sprintf("%s is the share of %s, which does not subscribe to the topic", runs(share), h.ClientID))
		default:
			lines = append(lines, fmt.Sprintf("%s should be held by %s (%s)", runs(share), h.ClientID, t.strategy()))
		}
		if h.Times > 1 && why == "" {
			why = "twins"
			lines = append(lines, fmt.Sprintf("%s is connected %d times: brokers name it as often, each process takes the first share, and nobody the others", h.ClientID, h.Times))
		}
	}
	if t.Strategy == "MACHINE_ROOM" || t.Strategy == "CONFIG" {
		lines = append(lines, "members share out by "+t.Strategy+": the queues are in no member's rooms or list")
		next = "Give one member the rooms or queues that are left out, in its strategy's settings."
	}
	switch {
	case why == "twins":
		next = "Give each process a client id of its own."
	case why != "":
		next = "Give all members of the group the same subscriptions."
	case v.orderly():
		lines = append(lines, "the group is orderly: a queue needs the broker's lock, which a member that died keeps for up to 60 s")
		next = "Look again in a minute (" + v.eyeq("group doctor %s", v.f.Group) + "). If it stays, restart the member that should have " + verb(len(t.unowned), "it", "them") + "."
	}
	v.find(CodeQueueUnowned, severity, fmt.Sprintf("%s of %s %s no owner", named(t.unowned), t.of.Topic, verb(len(t.unowned), "has", "have")), next, capped(lines)...)
}

// seen says by how many looks something was found.
func (v *visit) seen() string {
	if !v.two() {
		return "seen once"
	}
	return fmt.Sprintf("so at %d looks within %s", len(v.f.Samples), Span(v.moved))
}

func (t *topicAllocation) strategy() string {
	if t.Strategy != "" {
		return "by " + t.Strategy
	}
	return "by " + t.Guess + ", which comes closest"
}

func intersect(a, b []protocol.MessageQueue) []protocol.MessageQueue {
	var both []protocol.MessageQueue
	for _, mq := range a {
		if slices.Contains(b, mq) {
			both = append(both, mq)
		}
	}
	return both
}

// orderly reports whether any member takes the brokers' locks.
func (v *visit) orderly() bool {
	return v.last.Orderly || len(v.membersBy("PROP_CONSUMEORDERLY")["true"]) > 0
}

func (v *visit) judgeShared(t *topicAllocation) {
	if len(t.shared) == 0 {
		return
	}
	var queues []protocol.MessageQueue
	var lines []string
	for _, s := range t.shared {
		queues = append(queues, s.Queue)
		lines = append(lines, fmt.Sprintf("%s: %s", s.Queue.Short(), strings.Join(s.By, " and ")))
	}
	lines = append(capped(lines), v.seen())
	v.find(CodeQueueTwoOwners, SeverityCritical, fmt.Sprintf("%s of %s %s two owners: messages are consumed twice", named(queues), t.of.Topic, verb(len(queues), "has", "have")),
		"Restart the member that should not have "+verb(len(queues), "it", "them")+". Members that see different member lists or use different strategies come to this: "+
			v.eyeq("group members %s", v.f.Group), lines...)
}

// judgeDiffer tells of members that hold otherwise than the strategy says. Where each
// queue has one owner all the same nothing is lost, and the strategy may be one of
// their own.
func (v *visit) judgeDiffer(t *topicAllocation) {
	if len(t.Differ) == 0 || len(t.unowned) > 0 || len(t.shared) > 0 || len(t.Unowned) > 0 || len(t.Shared) > 0 {
		return // told already, or passing
	}
	severity := SeverityInfo
	for _, h := range t.of.Holders {
		if h.Strategy == t.Guess {
			severity = SeverityWarning // they say themselves that it is this one
		}
	}
	var lines []string
	for _, d := range t.Differ {
		line := d.ClientID + ":"
		if len(d.Extra) > 0 {
			line += " holds " + runs(d.Extra) + " of others"
		}
		if len(d.Missing) > 0 {
			if len(d.Extra) > 0 {
				line += ","
			}
			line += " lacks " + runs(d.Missing)
		}
		lines = append(lines, line)
	}
	v.find(CodeAllocationDiffers, severity, fmt.Sprintf("no strategy of RocketMQ explains who holds which queue of %s", t.of.Topic),
		"Fine with a strategy of your own. Otherwise members see different lists of members or queues: look again in half a minute, then restart those that differ.",
		append(capped(lines), "compared with "+t.Guess+", which comes closest; each queue has one owner", v.seen())...)
}

// judgeIdle finds members for which there are no queues.
func judgeIdle(v *visit) {
	if !v.shares() || v.f.DetailWhy.Kind != ReasonNone && len(v.last.Lag.Queues) == 0 {
		return
	}
	most, topic, n := 0, "", map[string]int{}
	for i := range v.last.Lag.Queues {
		if q := &v.last.Lag.Queues[i]; !q.Retry && !v.closed[q.MessageQueue] {
			n[q.Topic]++
		}
	}
	for _, t := range slices.Sorted(maps.Keys(n)) {
		if n[t] > most {
			most, topic = n[t], t
		}
	}
	idle := len(v.last.Members.Members) - most
	if most == 0 || idle <= 0 {
		return
	}
	var without []string
	for _, m := range v.last.Members.Members {
		if m.Info != nil && !slices.ContainsFunc(slices.Collect(maps.Keys(m.Info.MQTable)), func(mq protocol.MessageQueue) bool { return !isRetry(mq.Topic) }) {
			without = append(without, m.ClientID)
		}
	}
	lines := []string{fmt.Sprintf("%s has %s, the most of the group's topics; the group has %s", topic, Plural(most, "queue"), Plural(len(v.last.Members.Members), "member"))}
	if len(without) > 0 {
		lines = append(lines, "without a queue: "+joined(without))
	}
	v.find(CodeMembersIdle, SeverityWarning, fmt.Sprintf("more members than queues: %d of %d %s nothing to do", idle, len(v.last.Members.Members), verb(idle, "has", "have")),
		fmt.Sprintf("Stop the members that are too many, or give the topic more queues (mqadmin updateTopic -r %d -w %d); orderly topics only while nobody sends.",
			len(v.last.Members.Members), len(v.last.Members.Members)), lines...)
}

// judgeReleases finds queues that a member should give away and does not.
func judgeReleases(v *visit) {
	var lines []string
	for _, m := range v.last.Members.Members {
		before := v.before[m.ClientID]
		if m.Info == nil || before == nil || before.Info == nil {
			continue
		}
		for _, mq := range slices.SortedFunc(maps.Keys(m.Info.MQTable), protocol.CompareMessageQueues) {
			q := m.Info.MQTable[mq]
			if was, ok := before.Info.MQTable[mq]; q.Dropped && ok && was.Dropped && q.TryUnlockTimes > 1 {
				lines = append(lines, fmt.Sprintf("%v at %s: tried %d times, %s in work there", mq, m.ClientID, q.TryUnlockTimes, Plural(int64(q.TransactionMsgCount), "message")))
			}
		}
	}
	if len(lines) == 0 {
		return
	}
	v.find(CodeQueueNotReleased, SeverityCritical, fmt.Sprintf("%s to be given away, and the listener does not end", verb(len(lines), "1 queue waits", Grouped(int64(len(lines)))+" queues wait")),
		"An orderly queue changes hands when its listener returns. Find out what it waits for ("+v.eyeq("group members %s --stack", v.f.Group)+"), or restart that member.", capped(lines)...)
}
