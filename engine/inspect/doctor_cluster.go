package inspect

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// The bounds of judgeBrokers.
const (
	slowAnswer = time.Second            // for one question
	slowWait   = 500 * time.Millisecond // of a pull for a thread of the broker
	diskFull   = 0.85                   // from there brokers delete what is not yet due
)

// judgeBrokers finds brokers that keep the group from consuming.
func judgeBrokers(v *visit) {
	if v.f.BrokersWhy.Kind != ReasonNone {
		v.unchecked("brokers and name servers", "the name servers", v.f.BrokersWhy)
		return
	}
	for i := range v.f.Brokers.Brokers {
		b := &v.f.Brokers.Brokers[i]
		queues, unknown, lag := v.waitingAt(b.Broker)
		if queues == 0 && len(v.last.Lag.Queues) > 0 {
			continue // nothing of the group is there
		}
		name := b.Broker
		if b.ID != 0 {
			name = fmt.Sprintf("%s (slave %d)", b.Broker, b.ID)
		}
		has := Plural(queues, "queue") + " of the group are there, where "
		switch {
		case unknown == 0:
			has += Plural(lag, "message") + " wait"
		case unknown == queues:
			has += "it is not known how many messages wait"
		default:
			has += "at least " + Plural(lag, "message") + " wait"
		}
		switch {
		case b.Why.Kind != ReasonNone && (b.Reachable || b.Why.Kind == ReasonDenied || b.Why.Kind == ReasonUnsupported):
			v.unchecked("the state of broker "+name, b.Address, b.Why)
		case !b.Reachable:
			severity := SeverityCritical
			if b.ID != 0 {
				severity = SeverityWarning
			}
			v.find(CodeBrokerUnreachable, severity, fmt.Sprintf("broker %s at %s cannot be reached from here", name, b.Address),
				"Is the broker up, and is that address right for clients (brokerIP1)? Where members reach it and we do not, only what is said here is missing: give the address that reaches it as address_map.",
				b.Why.String(), has)
			continue
		case b.RTT >= slowAnswer || b.PullWait >= slowWait || b.SendWait >= slowWait:
			v.find(CodeBrokerSlow, SeverityWarning, fmt.Sprintf("broker %s is slow", name), "Look at its load, disk and garbage collection: "+v.eyeq("broker show %s", b.Broker),
				fmt.Sprintf("an answer takes %s, the oldest pull waits %s for a thread, the oldest send %s", Span(b.RTT), Span(b.PullWait), Span(b.SendWait)), has)
		}
		if b.Disk >= diskFull {
			v.find(CodeBrokerDiskFull, SeverityWarning, fmt.Sprintf("the disk of broker %s is %.0f %% full: it deletes messages before their time", name, 100*b.Disk),
				"Give the broker room. What is not consumed may be lost: "+v.eyeq("group lag %s", v.f.Group), has)
		}
	}
}

// judgeNamesrv finds name servers that are down or tell different things.
func judgeNamesrv(v *visit) {
	for _, n := range v.f.Brokers.Namesrv {
		if !n.Reachable {
			v.find(CodeNamesrvUnreachable, SeverityWarning, "name server "+n.Address+" cannot be reached from here",
				"Clients use the others meanwhile; start it, or take it off the lists of clients and brokers.", n.Why.String())
			continue
		}
		if len(n.Differs) > 0 {
			v.find(CodeNamesrvDiffer, SeverityCritical, fmt.Sprintf("name server %s announces other brokers than the first", n.Address),
				"Clients see different routes, by the name server that they ask. Do all brokers register at all name servers (namesrvAddr)?", capped(slices.Clone(n.Differs))...)
		}
	}
}

// clocksApart is how far clocks may be apart.
const clocksApart = 5 * time.Second

// judgeClocks finds clocks that are apart: of brokers as they tell it, of members as
// far as a pull between two looks binds theirs to ours.
func judgeClocks(v *visit) {
	var lines []string
	for _, b := range v.f.Brokers.Brokers {
		if b.ClockKnown && (b.Clock > clocksApart || b.Clock < -clocksApart) {
			lines = append(lines, fmt.Sprintf("broker %s at %s: %s", b.Broker, b.Address, apart(b.Clock)))
		}
	}
	for i := range v.last.Members.Members {
		m := &v.last.Members.Members[i]
		if low, high, ok := v.memberClock(m); ok {
			switch {
			case low > clocksApart:
				lines = append(lines, fmt.Sprintf("member %s: at least %s", m.ClientID, apart(low)))
			case high < -clocksApart:
				lines = append(lines, fmt.Sprintf("member %s: at least %s", m.ClientID, apart(high)))
			}
		}
	}
	if len(lines) == 0 {
		return
	}
	v.find(CodeClocksApart, SeverityWarning, fmt.Sprintf("%s more than %s off ours", verb(len(lines), "1 clock is", Grouped(int64(len(lines)))+" clocks are"), Age(clocksApart)),
		"Synchronise the hosts' clocks, ours too. Ages of messages, offsets by time, delays and expiry are computed from them.", capped(lines)...)
}

func apart(d time.Duration) string {
	if d < 0 {
		return Span(-d) + " behind ours"
	}
	return Span(d) + " ahead of ours"
}

// memberClock bounds how far a member's clock is ahead of ours. A pull that is in the
// later answer and not in the earlier was made between the two.
func (v *visit) memberClock(m *Member) (low, high time.Duration, ok bool) {
	before := v.before[m.ClientID]
	if !v.two() || m.Info == nil || before == nil || before.Info == nil || before.InfoAt.IsZero() || m.InfoAt.IsZero() {
		return 0, 0, false
	}
	for mq, q := range m.Info.MQTable {
		was, had := before.Info.MQTable[mq]
		if !had || was.LastPullTimestamp == q.LastPullTimestamp || q.LastPullTimestamp <= 0 {
			continue
		}
		at := unixMilli(q.LastPullTimestamp)
		l, h := at.Sub(m.InfoAt), at.Sub(before.InfoAt.Add(-slowAnswer)) // it may have answered somewhat earlier
		if !ok {
			low, high, ok = l, h, true
			continue
		}
		low, high = max(low, l), min(high, h)
	}
	return low, high, ok
}
