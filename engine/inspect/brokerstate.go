package inspect

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"eyeq/remoting/protocol"
)

// numberOf reads one of a broker's words about itself.
func numberOf(table map[string]string, name string) Number {
	n, err := strconv.ParseInt(table[name], 10, 64)
	if err != nil {
		return Unknown(Reason{ReasonUnsupported, "the broker does not say"})
	}
	return Exact(n)
}

// limitsOfBroker reads the limits among a broker's settings. Two of the disk's are
// settings of 5.x only, and never count for more than their defaults
// (DefaultMessageStore.CleanCommitLogService); a system property of the broker's JVM may
// have changed them, which no broker tells.
func limitsOfBroker(settings map[string]string) BrokerLimits {
	value := func(otherwise int64, names ...string) int64 {
		for _, name := range names {
			if n := numberOf(settings, name); n.Known && n.Value > 0 {
				return n.Value
			}
		}
		return otherwise
	}
	share := func(otherwise int64, name string) float64 { return float64(value(otherwise, name)) / 100 }
	wait := func(otherwise int64, name string) time.Duration {
		return time.Duration(value(otherwise, name)) * time.Millisecond
	}
	return BrokerLimits{
		DiskTidy: share(75, "diskMaxUsedSpaceRatio"), DiskClean: min(share(85, "diskSpaceCleanForciblyRatio"), 0.85), DiskRefuse: min(share(90, "diskSpaceWarningLevelRatio"), 0.90),
		SendWait: wait(200, "waitTimeMillsInSendQueue"), PullWait: wait(5000, "waitTimeMillsInPullQueue"), PageCacheLock: wait(1000, "osPageCacheBusyTimeOutMills"),
		Behind: value(256<<20, "haMaxGapNotInSync", "haSlaveFallbehindMax"),
	}
}

// compareSlaves says of each slave whether it has a master, and how far it is behind it.
func (all *Brokers) compareSlaves() {
	for i := range all.Brokers {
		slave := &all.Brokers[i]
		if slave.ID == 0 {
			continue
		}
		at := slices.IndexFunc(all.Brokers, func(b BrokerRow) bool { return b.ID == 0 && b.Cluster == slave.Cluster && b.Broker == slave.Broker })
		if at < 0 {
			slave.NoMaster = true
			slave.Behind = Unknown(Reason{ReasonUnreachable, "no name server announces its master"})
			continue
		}
		master := &all.Brokers[at]
		has, should := numberOf(slave.Info, "commitLogMaxOffset"), numberOf(master.Info, "commitLogMaxOffset")
		switch {
		case slave.Why.Kind != ReasonNone:
			slave.Behind = Unknown(slave.Why)
		case master.Why.Kind != ReasonNone:
			slave.Behind = Unknown(Reason{master.Why.Kind, "its master: " + master.Why.Text})
		case !has.Known || !should.Known:
			slave.Behind = Unknown(Reason{ReasonUnsupported, "the broker does not say"})
		default:
			slave.Behind = Exact(max(should.Value-has.Value, 0)) // one was asked before the other
			slave.Limits.Behind = master.Limits.Behind
		}
	}
}

// BrokerTrouble is something that keeps a broker from what it is for, in a few words.
type BrokerTrouble struct {
	Severity Severity
	Text     string
}

// Troubles are what a broker that answers has, the worst first; of one that does not
// answer Why says it all.
func (b *BrokerRow) Troubles() []BrokerTrouble {
	var list []BrokerTrouble
	add := func(s Severity, format string, args ...any) {
		list = append(list, BrokerTrouble{s, fmt.Sprintf(format, args...)})
	}
	if !b.Reachable {
		return nil
	}
	switch {
	case b.mayNot(protocol.PermRead) && b.mayNot(protocol.PermWrite):
		add(SeverityCritical, "closed: neither reads nor writes (brokerPermission=%d)", b.Perm.Value)
	case b.mayNot(protocol.PermRead):
		add(SeverityCritical, "pulls forbidden (brokerPermission=%d)", b.Perm.Value)
	case b.mayNot(protocol.PermWrite):
		add(SeverityWarning, "read-only (brokerPermission=%d)", b.Perm.Value)
	}
	switch {
	case b.RefusesForDisk():
		add(SeverityCritical, "disk %.0f%% full: takes no messages", 100*b.Disk)
	case b.CleansDisk():
		add(SeverityWarning, "disk %.0f%% full: deletes messages early", 100*b.Disk)
	}
	if text := b.busy(); text != "" {
		add(SeverityWarning, "%s", text)
	}
	if b.NoMaster {
		add(SeverityWarning, "its master is not registered")
	}
	if b.lags() {
		add(SeverityWarning, "%s behind its master", Bytes(b.Behind.Value))
	}
	if b.ClockOff() {
		add(SeverityWarning, "clock %s", apart(b.Clock))
	}
	slices.SortStableFunc(list, func(x, y BrokerTrouble) int { return x.Severity.rank() - y.Severity.rank() })
	return list
}

// mayNot reports whether a broker is known to forbid something.
func (b *BrokerRow) mayNot(perm int64) bool { return b.Perm.Known && b.Perm.Value&perm == 0 }

// Open reports whether a broker is not known to forbid anything.
func (b *BrokerRow) Open() bool { return !b.mayNot(protocol.PermRead) && !b.mayNot(protocol.PermWrite) }

// RefusesForDisk reports whether a broker's disk is so full that it takes no messages.
func (b *BrokerRow) RefusesForDisk() bool {
	return b.Limits.DiskRefuse > 0 && b.Disk >= b.Limits.DiskRefuse
}

// CleansDisk reports whether it is so full that it deletes what is not over its time.
func (b *BrokerRow) CleansDisk() bool { return b.Limits.DiskClean > 0 && b.Disk >= b.Limits.DiskClean }

// ClockOff reports whether a broker's clock is known to be too far from ours.
func (b *BrokerRow) ClockOff() bool { return b.ClockKnown && b.Clock.Abs() > clocksApart }

func (b *BrokerRow) lags() bool {
	return b.Behind.Known && b.Limits.Behind > 0 && b.Behind.Value > b.Limits.Behind
}

// busy says by what a broker refuses requests for being busy now; "" by nothing.
func (b *BrokerRow) busy() string {
	l := &b.Limits
	switch {
	case l.PageCacheLock > 0 && b.PageCacheLock > l.PageCacheLock:
		return fmt.Sprintf("busy: a write takes %s, sends are refused from %s", Span(b.PageCacheLock), Span(l.PageCacheLock))
	case l.SendWait > 0 && b.SendWait > l.SendWait:
		return fmt.Sprintf("busy: a send waits %s, they are refused from %s", Span(b.SendWait), Span(l.SendWait))
	case l.PullWait > 0 && b.PullWait > l.PullWait:
		return fmt.Sprintf("busy: a pull waits %s, they are refused from %s", Span(b.PullWait), Span(l.PullWait))
	}
	return ""
}
