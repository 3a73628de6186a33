package inspect

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"eyeq/remoting/protocol"
)

// Brokers gives every broker process that the name servers announce, slaves too, and
// the name servers themselves. One that does not answer has the reason in its row.
func (in *Inspector) Brokers(ctx context.Context) (Brokers, error) {
	info, err := in.clusterInfo(ctx)
	if err != nil {
		return Brokers{At: in.now()}, err
	}
	all := Brokers{At: in.now()}
	for name, data := range info.BrokerAddrTable {
		for id, addr := range data.BrokerAddrs {
			all.Brokers = append(all.Brokers, BrokerRow{Cluster: data.Cluster, Broker: cmp.Or(data.BrokerName, name), ID: id, Address: addr, Dialled: in.dialled(addr), Disk: -1})
		}
	}
	slices.SortFunc(all.Brokers, func(a, b BrokerRow) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Broker, b.Broker), cmp.Compare(a.ID, b.ID))
	})
	addrs, current := in.client.Namesrv()
	all.Namesrv = make([]NamesrvRow, len(addrs))
	announced := make([]protocol.ClusterInfo, len(addrs))
	each(len(all.Brokers)+len(addrs), 0, func(i int) {
		if i < len(all.Brokers) {
			in.askBroker(ctx, &all.Brokers[i])
			return
		}
		n := &all.Namesrv[i-len(all.Brokers)]
		n.Address = addrs[i-len(all.Brokers)]
		n.Dialled, n.Current = in.dialled(n.Address), n.Address == current
		announced[i-len(all.Brokers)] = in.askNamesrv(ctx, n)
	})
	compareNamesrv(all.Namesrv, announced)
	all.compareSlaves()
	for i := range all.Brokers {
		if b := &all.Brokers[i]; b.Why.Kind != ReasonNone {
			all.Problems = append(all.Problems, Problem{"runtime info", b.Broker + " at " + b.Address, b.Why})
		}
	}
	for i := range all.Namesrv {
		if n := &all.Namesrv[i]; n.Why.Kind != ReasonNone {
			all.Problems = append(all.Problems, Problem{"cluster info", n.Address, n.Why})
		}
	}
	return all, nil
}

func (in *Inspector) askBroker(ctx context.Context, b *BrokerRow) {
	var sent time.Time
	table, err := ask(ctx, in, b.Address, func(ctx context.Context) (map[string]string, error) {
		sent = in.now()
		return in.client.RuntimeInfo(ctx, b.Address)
	})
	b.Role = "SLAVE"
	if b.ID == 0 {
		b.Role = "MASTER"
	}
	if err != nil {
		b.Why = ReasonOf(err)
		b.Reachable = b.Why.Kind != ReasonUnreachable && b.Why.Kind != ReasonBadAnswer
		return
	}
	answered := in.now()
	b.Reachable, b.RTT = true, answered.Sub(sent)
	b.read(table, answered)
	settings, err := in.BrokerConfig(ctx, b.Address)
	b.Limits = limitsOfBroker(settings)
	b.Perm = numberOf(settings, "brokerPermission")
	if err != nil {
		b.Perm = Unknown(ReasonOf(err))
	}
}

// read takes what a broker says of itself; what it does not say stays unknown.
func (b *BrokerRow) read(table map[string]string, answered time.Time) {
	b.Info = table
	b.Version = table["brokerVersionDesc"]
	if role := table["brokerRole"]; role != "" {
		b.Role = role
	}
	b.InTPS = firstNumber(table["putTps"])
	b.OutTPS = firstNumber(cmp.Or(table["getTransferredTps"], table["getTransferedTps"])) // 4.9 spells it so
	b.Disk = diskUse(table)
	b.PullWait = waitTime(table["pullThreadPoolQueueHeadWaitTimeMills"])
	b.SendWait = waitTime(table["sendThreadPoolQueueHeadWaitTimeMills"])
	b.PageCacheLock = waitTime(table["pageCacheLockTimeMills"])
	b.PutFailed = numberOf(table, "putMessageFailedTimes")
	b.Started = startOf(table)
	if d, ok := clockOf(table, answered); ok {
		b.ClockKnown = true
		if d.Abs() > clockGrain+b.RTT {
			b.Clock = d.Round(time.Second)
		}
	}
}

// startOf is when a broker started, by its own clock; zero where it does not say.
func startOf(table map[string]string) time.Time {
	ms, err := strconv.ParseInt(table["bootTimestamp"], 10, 64)
	if err != nil || ms <= 0 {
		return time.Time{}
	}
	return millis(ms)
}

// clockOf is a broker's clock minus ours when it answered; it tells whole seconds, so
// what it says was true some time within one.
func clockOf(table map[string]string, answered time.Time) (d time.Duration, ok bool) {
	started := startOf(table)
	up, ok := runtimeText(table["runtime"])
	if !ok || started.IsZero() {
		return 0, false
	}
	return started.Add(up + 500*time.Millisecond).Sub(answered), true
}

// clockGrain is how exactly a broker tells its time, and then some for its own work.
const clockGrain = time.Second

// firstNumber is the first of several numbers: the rate over the last ten seconds.
func firstNumber(s string) float64 {
	first, _, _ := strings.Cut(strings.TrimSpace(s), " ")
	n, _ := strconv.ParseFloat(first, 64) // a broker that does not say has none
	return n
}

// diskUse is the fullest of the disks that hold the commit log; negative: unknown.
func diskUse(table map[string]string) float64 {
	use := -1.0
	for name, value := range table {
		if name != "commitLogDiskRatio" && !strings.HasPrefix(name, "commitLogDiskRatio_") {
			continue
		}
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			use = max(use, n)
		}
	}
	return use
}

func waitTime(s string) time.Duration {
	ms, _ := strconv.ParseInt(s, 10, 64) // a broker that does not say has none
	return time.Duration(max(ms, 0)) * time.Millisecond
}

// runtimeText reads "[ 0 days, 1 hours, 2 minutes, 3 seconds ]".
func runtimeText(s string) (time.Duration, bool) {
	var days, hours, minutes, seconds int64
	_, err := fmt.Sscanf(s, "[ %d days, %d hours, %d minutes, %d seconds ]", &days, &hours, &minutes, &seconds)
	return time.Duration(((days*24+hours)*60+minutes)*60+seconds) * time.Second, err == nil
}

func (in *Inspector) askNamesrv(ctx context.Context, n *NamesrvRow) protocol.ClusterInfo {
	var sent time.Time
	info, err := askKeyless(ctx, in, n.Address, func(ctx context.Context) (protocol.ClusterInfo, error) {
		sent = in.now()
		return in.client.ClusterInfoFrom(ctx, n.Address)
	})
	if err != nil {
		n.Why = ReasonOf(err)
		return protocol.ClusterInfo{}
	}
	n.Reachable, n.RTT = true, in.now().Sub(sent)
	return info
}

// compareNamesrv finds the brokers that name servers announce otherwise than the
// first that answers.
func compareNamesrv(rows []NamesrvRow, announced []protocol.ClusterInfo) {
	first := slices.IndexFunc(rows, func(n NamesrvRow) bool { return n.Reachable })
	if first < 0 {
		return
	}
	for i := range rows {
		if i == first || !rows[i].Reachable {
			continue
		}
		names := slices.Concat(slices.Collect(maps.Keys(announced[first].BrokerAddrTable)), slices.Collect(maps.Keys(announced[i].BrokerAddrTable)))
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			if !maps.Equal(announced[first].BrokerAddrTable[name].BrokerAddrs, announced[i].BrokerAddrTable[name].BrokerAddrs) {
				rows[i].Differs = append(rows[i].Differs, name)
			}
		}
	}
}
