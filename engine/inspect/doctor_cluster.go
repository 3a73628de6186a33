package inspect

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"eyeq/remoting/protocol"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// The bounds of judgeBrokers.
const (
	slowAnswer = time.Second            // for one question
	slowWait   = 500 * time.Millisecond // of a pull for a thread of the broker
)

// judgeBrokers finds brokers that keep the group from consuming.
func judgeBrokers(v *visit) {
	if v.f.BrokersWhy.Kind != ReasonNone {
		v.unchecked("brokers and name servers", "the name servers", v.f.BrokersWhy)
		return
	}
	for i := range v.f.Brokers.Brokers {
		b := &v.f.Brokers.Brokers[i]
		has, some := v.hasAt(b.Broker)
		if !some {
			continue // nothing of the group is there
		}
		name := b.Broker
		if b.ID != 0 {
			name = fmt.Sprintf("%s (slave %d)", b.Broker, b.ID)
		}
		v.judgeMaster(b, has)
		switch {
		case b.Why.Kind != ReasonNone && (b.Reachable || b.Why.Kind == ReasonDenied || b.Why.Kind == ReasonUnsupported):
			v.unchecked("the state of broker "+name, b.Address, b.Why)
			continue
		case !b.Reachable:
			severity := SeverityCritical
			if b.ID != 0 {
				severity = SeverityWarning
			}
			v.find(CodeBrokerUnreachable, severity, fmt.Sprintf("broker %s at %s cannot be reached from here", name, b.Address),
				"Is the broker up, and is that address right for clients (brokerIP1)? Where members reach it and we do not, only what is said here is missing: give the address that reaches it as address_map.",
				b.Why.String(), has)
			continue
		}
		if failedBy(b.Perm.Why) {
			v.unchecked("the permission and limits of broker "+name, b.Address, b.Perm.Why)
		}
		v.judgePermission(b, name, has)
		v.judgeDisk(b, name, has)
		v.judgeBusy(b, name, has)
		if b.lags() {
			v.find(CodeSlaveBehind, SeverityWarning, fmt.Sprintf("broker %s is %s behind its master", name, Bytes(b.Behind.Value)),
				"What it has not got is lost to readers while the master is away. Look at the network between the two, and at the slave's disk: "+v.eyeq("broker show %s:%d", b.Broker, b.ID),
				fmt.Sprintf("from %s on its master does not count on it", Bytes(b.Limits.Behind)), has)
		}
	}
}

// hasAt says what of the group is at a broker, if anything, or if nothing is known of it
// anywhere.
func (v *visit) hasAt(broker string) (text string, some bool) {
	queues, unknown, lag := v.waitingAt(broker)
	unreadable := 0
	for i := range v.last.Lag.Unreadable {
		if u := &v.last.Lag.Unreadable[i]; u.BrokerName == broker && v.rows[u.MessageQueue] == nil {
			unreadable++
		}
	}
	switch {
	case queues+unreadable == 0 && len(v.last.Lag.Queues)+len(v.last.Lag.Unreadable) > 0:
		return "", false
	case unknown == 0:
		text = "where " + Plural(lag, "message") + " wait"
	case unknown == queues:
		text = "where it is not known how many messages wait"
	default:
		text = "where at least " + Plural(lag, "message") + " wait"
	}
	text = Plural(queues, "queue") + " of the group are there, " + text
	if unreadable > 0 {
		text += fmt.Sprintf("; %s more cannot be read", Grouped(int64(unreadable)))
	}
	return text, true
}

// judgeMaster finds a broker name of which only slaves are left; the first tells it.
func (v *visit) judgeMaster(b *BrokerRow, has string) {
	if !b.NoMaster || slices.ContainsFunc(v.f.Brokers.Brokers, func(o BrokerRow) bool {
		return o.Cluster == b.Cluster && o.Broker == b.Broker && o.ID < b.ID
	}) {
		return
	}
	severity, lines := SeverityWarning, []string{has, "nothing can be sent to it, failed messages cannot be sent back to it, and its queues are read from the slave"}
	if v.orderly() {
		severity = SeverityCritical
		lines = append(lines, "the group is orderly: its queues there get no lock, and are not consumed")
	}
	v.find(CodeMasterAway, severity, fmt.Sprintf("broker %s has no master: only its slave %d at %s is registered", b.Broker, b.ID, b.Address),
		"Start the master, or look why it does not register at the name servers: "+v.eyeq("broker list"), lines...)
}

// judgePermission finds what a broker's own permission keeps its clients from.
func (v *visit) judgePermission(b *BrokerRow, name, has string) {
	next := fmt.Sprintf("If it was not meant so, or is no more: mqadmin updateBrokerConfig -b %s -k brokerPermission -v 6", b.Address)
	setting := fmt.Sprintf("brokerPermission is %d (%s), 6 is both", b.Perm.Value, PermText(int32(b.Perm.Value)))
	switch {
	case b.ID != 0: // members that read from a slave are told to go on by its master
	case b.mayNot(protocol.PermRead):
		v.find(CodeBrokerReadForbidden, SeverityCritical, fmt.Sprintf("broker %s forbids to pull: nothing of it is consumed", name), next, setting, has,
			"name servers announce its queues as not readable: members that have others give them up, and the pulls of the rest are refused")
	case b.mayNot(protocol.PermWrite):
		v.find(CodeBrokerWriteForbidden, SeverityWarning, fmt.Sprintf("broker %s is set to read-only: it takes no messages", name), next, setting, has,
			"what waits there is consumed; messages that fail are not taken back, and their members must send them to another broker")
	}
}

func (v *visit) judgeDisk(b *BrokerRow, name, has string) {
	limits := fmt.Sprintf("from %.0f %% on it deletes what is over its time at any hour, from %.0f %% what is not, and from %.0f %% it takes no messages",
		100*b.Limits.DiskTidy, 100*b.Limits.DiskClean, 100*b.Limits.DiskRefuse)
	next := "Give the broker room. What is not consumed may be lost: " + v.eyeq("group lag %s", v.f.Group)
	switch {
	case b.RefusesForDisk():
		v.find(CodeBrokerDiskFull, SeverityCritical, fmt.Sprintf("the disk of broker %s is %.0f %% full: it takes no messages, and deletes some before their time", name, 100*b.Disk), next, has, limits)
	case b.CleansDisk():
		v.find(CodeBrokerDiskFull, SeverityWarning, fmt.Sprintf("the disk of broker %s is %.0f %% full: it deletes messages before their time", name, 100*b.Disk), next, has, limits)
	}
}

// judgeBusy finds a broker that is slow, or refuses for being busy, both times that it
// was asked: one slow answer may be ours, or a pause of its JVM.
func (v *visit) judgeBusy(b *BrokerRow, name, has string) {
	at := slices.IndexFunc(v.f.BrokersLater.Brokers, func(o BrokerRow) bool { return o.Address == b.Address && o.Why.Kind == ReasonNone })
	if at < 0 {
		return
	}
	later := &v.f.BrokersLater.Brokers[at]
	if b.slow() && later.slow() {
		lines := []string{fmt.Sprintf("an answer takes %s, the oldest pull waits %s for a thread, the oldest send %s; so twice within %s",
			Span(min(b.RTT, later.RTT)), Span(later.PullWait), Span(later.SendWait), Span(v.f.BrokersLater.At.Sub(v.f.Brokers.At))), has}
		if text := later.busy(); text != "" {
			lines = append(lines, text)
		}
		v.find(CodeBrokerSlow, SeverityWarning, fmt.Sprintf("broker %s is slow", name), "Look at its load, disk and garbage collection: "+v.eyeq("broker show %s", b.Broker), lines...)
	}
	if more := later.PutFailed.Value - b.PutFailed.Value; later.PutFailed.Known && b.PutFailed.Known && more > 0 {
		// DefaultMessageStore counts a message that is too large, too (putMessageFailedTimes).
		v.find(CodeBrokerStoreFails, SeverityWarning, fmt.Sprintf("broker %s did not store %s", name, Plural(more, "message")),
			"A message that is too large counts, too; else its log (store.log) has the reason: "+v.eyeq("broker show %s", b.Broker),
			fmt.Sprintf("%s could not be stored within %s, %s since its start", Plural(more, "message"), Span(v.f.BrokersLater.At.Sub(v.f.Brokers.At)), Grouped(later.PutFailed.Value)), has)
	}
}

func (b *BrokerRow) slow() bool {
	return b.RTT >= slowAnswer || b.PullWait >= slowWait || b.SendWait >= slowWait || b.busy() != ""
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
			var lines []string
			for _, broker := range n.Differs {
				lines = append(lines, broker+" is at other addresses there, or only at one of the two")
			}
			v.find(CodeNamesrvDiffer, SeverityCritical, fmt.Sprintf("name server %s announces brokers otherwise than the first", n.Address),
				"Clients see different routes, by the name server that they ask. Do all brokers register at all name servers (namesrvAddr)?", capped(lines)...)
		}
	}
}

// clocksApart is how far clocks may be apart.
const clocksApart = 5 * time.Second

// judgeClocks finds clocks that are apart: of brokers as they tell it, of members as
// far as the times that they tell bind theirs to ours.
func judgeClocks(v *visit) {
	var lines []string
	for _, b := range v.f.Brokers.Brokers {
		if b.ClockOff() {
			lines = append(lines, fmt.Sprintf("broker %s at %s: %s", b.Broker, b.Address, apart(b.Clock)))
		}
	}
	for i := range v.last.Members.Members {
		m := &v.last.Members.Members[i]
		switch low, high := v.memberClock(m); {
		case low > clocksApart:
			lines = append(lines, fmt.Sprintf("member %s: at least %s", m.ClientID, apart(low)))
		case high < -clocksApart:
			lines = append(lines, fmt.Sprintf("member %s: at least %s", m.ClientID, apart(high)))
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

// memberClock bounds how far a member's clock is ahead of ours: it is not behind any time
// that the member tells, and a pull that is in the later answer and not in the earlier was
// made between the two.
func (v *visit) memberClock(m *Member) (low, high time.Duration) {
	low, high = math.MinInt64, math.MaxInt64
	told, before := v.ages[m.ClientID], v.before[m.ClientID]
	if m.Info == nil || m.InfoAt.IsZero() || told.IsZero() {
		return low, high
	}
	low = told.Sub(m.InfoAt)
	if !v.two() || before == nil || before.Info == nil || before.InfoAt.IsZero() {
		return low, high
	}
	for mq, q := range m.Info.MQTable {
		if was, had := before.Info.MQTable[mq]; had && was.LastPullTimestamp != q.LastPullTimestamp && q.LastPullTimestamp > 0 {
			high = min(high, unixMilli(q.LastPullTimestamp).Sub(before.InfoAt.Add(-slowAnswer))) // it may have answered somewhat earlier
		}
	}
	return low, high
}
