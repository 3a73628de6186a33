package inspect

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What brokers of both lines say of these settings, with their defaults but one.
var (
	settings5 = map[string]string{
		"brokerPermission": "4", "diskMaxUsedSpaceRatio": "98", "diskSpaceCleanForciblyRatio": "85", "diskSpaceWarningLevelRatio": "90",
		"haMaxGapNotInSync": "268435456", "osPageCacheBusyTimeOutMills": "1000", "waitTimeMillsInPullQueue": "5000", "waitTimeMillsInSendQueue": "200",
	}
	settings4 = map[string]string{
		"brokerPermission": "2", "diskMaxUsedSpaceRatio": "75", "haSlaveFallbehindMax": "268435456", "osPageCacheBusyTimeOutMills": "1000",
		"waitTimeMillsInPullQueue": "5000", "waitTimeMillsInSendQueue": "200",
	}
)

func TestBrokerLimits(t *testing.T) {
	byDefault := BrokerLimits{DiskTidy: 0.75, DiskClean: 0.85, DiskRefuse: 0.9, SendWait: 200 * time.Millisecond, PullWait: 5 * time.Second, PageCacheLock: time.Second, Behind: 256 << 20}
	for name, tt := range map[string]struct {
		settings map[string]string
		edit     func(l *BrokerLimits)
	}{
		"4.9":                               {settings4, func(*BrokerLimits) {}},
		"5.x":                               {settings5, func(l *BrokerLimits) { l.DiskTidy = 0.98 }},
		"not told":                          {nil, func(*BrokerLimits) {}},
		"smaller than by default":           {map[string]string{"diskSpaceCleanForciblyRatio": "60", "diskSpaceWarningLevelRatio": "70"}, func(l *BrokerLimits) { l.DiskClean, l.DiskRefuse = 0.6, 0.7 }},
		"larger, which brokers do not heed": {map[string]string{"diskSpaceCleanForciblyRatio": "95", "diskSpaceWarningLevelRatio": "99"}, func(*BrokerLimits) {}},
	} {
		want := byDefault
		tt.edit(&want)
		if diff := cmp.Diff(want, limitsOfBroker(tt.settings)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestBrokerTroubles(t *testing.T) {
	for name, tt := range map[string]struct {
		edit func(b *BrokerRow)
		want []string
	}{
		"none":                          {func(*BrokerRow) {}, nil},
		"read-only":                     {func(b *BrokerRow) { b.Perm = numberOf(settings5, "brokerPermission") }, []string{"warning read-only (brokerPermission=4)"}},
		"pulls forbidden":               {func(b *BrokerRow) { b.Perm = numberOf(settings4, "brokerPermission") }, []string{"critical pulls forbidden (brokerPermission=2)"}},
		"closed":                        {func(b *BrokerRow) { b.Perm = Exact(0) }, []string{"critical closed: neither reads nor writes (brokerPermission=0)"}},
		"a permission that is not told": {func(b *BrokerRow) { b.Perm = Unknown(Reason{Kind: ReasonDenied}) }, nil},
		"a disk below its limit":        {func(b *BrokerRow) { b.Disk = 0.849 }, nil},
		"a disk over its limit":         {func(b *BrokerRow) { b.Disk = 0.85 }, []string{"warning disk 85% full: deletes messages early"}},
		"a full disk, and more": {
			func(b *BrokerRow) { b.Disk, b.Perm = 0.9, Exact(4) }, []string{"critical disk 90% full: takes no messages", "warning read-only (brokerPermission=4)"},
		},
		"a page cache that is busy":  {func(b *BrokerRow) { b.PageCacheLock = 1200 * time.Millisecond }, []string{"warning busy: a write takes 1.2s, sends are refused from 1.0s"}},
		"sends that wait":            {func(b *BrokerRow) { b.SendWait = 201 * time.Millisecond }, []string{"warning busy: a send waits 201ms, they are refused from 200ms"}},
		"pulls that wait":            {func(b *BrokerRow) { b.PullWait = 6 * time.Second }, []string{"warning busy: a pull waits 6.0s, they are refused from 5.0s"}},
		"a slave without its master": {func(b *BrokerRow) { b.ID, b.NoMaster = 1, true }, []string{"warning its master is not registered"}},
		"a slave that is behind":     {func(b *BrokerRow) { b.ID, b.Behind = 1, Exact(256<<20+1) }, []string{"warning 256.0 MiB behind its master"}},
		"a clock":                    {func(b *BrokerRow) { b.ClockKnown, b.Clock = true, -40*time.Second }, []string{"warning clock 40s behind ours"}},
		"it cannot be reached":       {func(b *BrokerRow) { b.Reachable, b.Disk = false, 0.99 }, nil},
	} {
		b := BrokerRow{Reachable: true, Disk: 0.4, Limits: limitsOfBroker(nil), Perm: Exact(6)}
		tt.edit(&b)
		var got []string
		for _, trouble := range b.Troubles() {
			got = append(got, string(trouble.Severity)+" "+trouble.Text)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A slave's place is told by what both have of the commit log; without its master it is
// not known.
func TestSlavesAreCompared(t *testing.T) {
	row := func(id int64, end string) BrokerRow {
		return BrokerRow{Cluster: "c", Broker: "broker-a", ID: id, Reachable: true, Limits: limitsOfBroker(map[string]string{"haMaxGapNotInSync": "1000"}), Info: map[string]string{"commitLogMaxOffset": end}}
	}
	other := row(0, "99999")
	other.Cluster = "d" // of the same name
	silent := row(2, "")
	silent.Why = Reason{Kind: ReasonUnreachable}
	all := Brokers{Brokers: []BrokerRow{row(0, "5000"), row(1, "3500"), silent, other}}
	all.compareSlaves()
	if b := all.Brokers[1]; b.Behind != Exact(1500) || b.NoMaster || !b.lags() {
		t.Errorf("behind %+v, no master %v, too far %v", b.Behind, b.NoMaster, b.lags())
	}
	if b := all.Brokers[2]; b.Behind.Known || b.Behind.Why.Kind != ReasonUnreachable {
		t.Errorf("of one that is silent: behind %+v", b.Behind)
	}
	all.Brokers = all.Brokers[1:]
	all.compareSlaves()
	if b := all.Brokers[0]; b.Behind.Known || !b.NoMaster {
		t.Errorf("without its master: behind %+v, no master %v", b.Behind, b.NoMaster)
	}
}
