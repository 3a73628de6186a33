package inspect

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"eyeq/remoting/protocol"
)

// settleTime is how long after a member's start its group may still be sharing out
// queues: a rebalance is due every 20 s, and a lock or an old owner takes some more.
const settleTime = 30 * time.Second

// young reports whether a member has started so lately that the others may not have
// made room for it yet. Both times are of its own clock.
func (v *visit) young(m *Member) bool {
	if m.Info == nil {
		return false
	}
	ms, err := strconv.ParseInt(m.Info.Properties["PROP_CONSUMER_START_TIMESTAMP"], 10, 64)
	if err != nil {
		return false
	}
	at := v.ages[m.ClientID]
	if at.IsZero() { // it has no queue: only our clock is left
		at = m.InfoAt
	}
	up := at.Sub(time.UnixMilli(ms))
	return up < settleTime && up > -settleTime // else it is its clock that is off
}

// judgeClientIDs finds ids that two processes use: both compute the same share.
func judgeClientIDs(v *visit) {
	for _, m := range v.last.Members.Members {
		before := v.before[m.ClientID]
		if len(m.Addresses) < 2 || v.two() && (before == nil || len(before.Addresses) < 2) {
			continue
		}
		processes, take := "two processes", "both take the first share, whose messages are consumed twice, and nobody takes the second"
		if n := len(m.Addresses); n > 2 {
			processes, take = fmt.Sprintf("%d processes", n), "all take the first share, whose messages are consumed as often, and nobody takes the others"
		}
		v.find(CodeClientIDShared, SeverityCritical,
			fmt.Sprintf("1 client id, %d connections: %s call themselves %s", len(m.Addresses), processes, m.ClientID),
			"Give each process a client id of its own (instanceName, or clientIP where containers share an address) and restart one of them. "+
				"If one is an old connection that was cut, the broker forgets it within two minutes: look again then.",
			append([]string{
				"connected from " + strings.Join(m.Addresses, " and "),
				"brokers name the id once for each: " + take,
			}, v.sharedQueues(m.ClientID)...)...)
	}
}

func (v *visit) sharedQueues(clientID string) []string {
	m := v.members[clientID]
	if m.Info == nil || len(m.Info.MQTable) == 0 {
		return nil
	}
	var lines []string
	topics, of := byTopic(slices.Collect(maps.Keys(m.Info.MQTable)))
	for _, topic := range topics {
		lines = append(lines, fmt.Sprintf("the one that answers holds %s of %s", runs(of[topic]), topic))
	}
	return capped(lines)
}

// judgeSubscriptions compares what members subscribe to. Brokers keep one
// subscription a group and topic, the last one's, and share all queues among all.
func judgeSubscriptions(v *visit) {
	if v.f.DetailWhy.Kind != ReasonNone {
		v.unchecked("subscriptions of the members", "the brokers", v.f.DetailWhy)
		return
	}
	s := &v.f.Detail.Subscriptions
	said := len(s.Members) - len(s.Unknown)
	if len(s.Unknown) > 0 && len(s.Members) > 1 {
		for _, id := range slices.Sorted(maps.Keys(s.Unknown)) {
			v.unchecked("subscriptions", id, s.Unknown[id])
		}
	}
	if said < 2 {
		return
	}
	var differ []SubscriptionRow
	for _, row := range s.Rows {
		if !row.Same && !isRetry(row.Topic) {
			differ = append(differ, row)
		}
	}
	if len(differ) == 0 {
		return
	}
	var topics []string
	for _, row := range differ {
		topics = append(topics, row.Topic)
	}
	evidence := subscriptionMatrix(s, differ)
	for _, row := range differ {
		if row.Broker == "" {
			evidence = append(evidence, fmt.Sprintf("the brokers have forgotten the subscription to %s for another member's: pulls are refused (code 24) until it is named again", row.Topic))
		} else {
			evidence = append(evidence, fmt.Sprintf("the brokers filter %s by %q for all of them", row.Topic, row.Broker))
		}
	}
	v.find(CodeSubscriptionsDiffer, SeverityCritical,
		fmt.Sprintf("members subscribe differently to %s", joined(topics)),
		"Give all members of the group the same topics and expressions, or use a group for each. Until then messages are skipped or left unread. "+
			"Who is who: "+v.eyeq("group members %s", v.f.Group),
		evidence...)
}

// subscriptionMatrix lays the differing rows side by side: a column for members that
// subscribe to the same, called A, B, …
func subscriptionMatrix(s *SubscriptionMatrix, rows []SubscriptionRow) []string {
	type column struct {
		cells   []string
		members []string
	}
	var columns []column
	for i, id := range s.Members {
		if _, unknown := s.Unknown[id]; unknown {
			continue
		}
		var cells []string
		for _, row := range rows {
			cell := row.Cells[i]
			switch {
			case cell == "":
				cell = "-"
			case i < len(row.Types) && row.Types[i] != "" && row.Types[i] != protocol.ExpressionTAG:
				cell += " (" + row.Types[i] + ")"
			}
			cells = append(cells, cell)
		}
		at := slices.IndexFunc(columns, func(c column) bool { return slices.Equal(c.cells, cells) })
		if at < 0 {
			at, columns = len(columns), append(columns, column{cells: cells})
		}
		columns[at].members = append(columns[at].members, id)
	}
	if len(columns) > maxEvidence {
		columns = columns[:maxEvidence]
	}
	var lines []string
	for i, c := range columns {
		lines = append(lines, fmt.Sprintf("%s = %s: %s", letter(i), Plural(len(c.members), "member"), joined(c.members)))
	}
	grid := make([][]string, 1+min(len(rows), maxEvidence))
	grid[0] = []string{"topic"}
	for i := range columns {
		grid[0] = append(grid[0], letter(i))
	}
	for r := range grid[1:] {
		grid[r+1] = []string{rows[r].Topic}
		for _, c := range columns {
			grid[r+1] = append(grid[r+1], c.cells[r])
		}
	}
	return append(lines, aligned(grid)...)
}

func letter(i int) string { return string(rune('A' + i)) }

// aligned pads the columns of a grid. Foreign names may be wide; the matrix is then
// less straight, and still right.
func aligned(grid [][]string) []string {
	widths := make([]int, len(grid[0]))
	for _, row := range grid {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	var lines []string
	for _, row := range grid {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-len([]rune(cell))+2))
			}
		}
		lines = append(lines, b.String())
	}
	return lines
}

// judgeModes finds members that consume in another way than the others.
func judgeModes(v *visit) {
	for _, mode := range []struct{ property, name, means string }{
		{"messageModel", "message model", "a broadcasting member neither commits nor shares, but brokers count it as one that has a share"},
		{"PROP_CONSUMEORDERLY", "orderly consumption", "a member that takes no locks reads queues that another believes to have for itself"},
	} {
		by := v.membersBy(mode.property)
		if len(by) < 2 {
			continue
		}
		var lines []string
		for _, value := range slices.Sorted(maps.Keys(by)) {
			lines = append(lines, fmt.Sprintf("%s: %s", value, joined(by[value])))
		}
		v.find(CodeConsumeModeDiffers, SeverityCritical, "members differ in "+mode.name,
			"Start all members of the group with the same code and settings.", append(lines, mode.means)...)
	}
}

// membersBy gives the members that have a property, by its value.
func (v *visit) membersBy(property string) map[string][]string {
	by := map[string][]string{}
	for _, m := range v.last.Members.Members {
		if m.Info != nil {
			if value, ok := m.Info.Properties[property]; ok {
				by[value] = append(by[value], m.ClientID)
			}
		}
	}
	return by
}

// judgeSilence finds members that did not answer at any time. That a client cannot
// answer is no finding.
func judgeSilence(v *visit) {
	var silent []string
	var lines []string
	for _, m := range v.last.Members.Members {
		if m.Info != nil {
			continue
		}
		before := v.before[m.ClientID]
		if m.Why.Kind != ReasonUnreachable || before == nil || before.Info != nil {
			v.unchecked("queues and settings", m.ClientID, m.Why)
			continue
		}
		silent = append(silent, m.ClientID)
		lines = append(lines, fmt.Sprintf("%s (%s %s at %s): %v", m.ClientID, m.Language, m.Version, joined(m.Addresses), m.Why))
		v.unchecked("queues and settings", m.ClientID, m.Why)
	}
	if len(silent) == 0 {
		return
	}
	v.find(CodeMemberSilent, SeverityWarning,
		fmt.Sprintf("%d of %d members %s connected, but %s not answer", len(silent), len(v.last.Members.Members), verb(len(silent), "is", "are"), verb(len(silent), "does", "do")),
		"Look at the process: a long garbage collection, a stopped or swapped-out process, a network that is cut. Until its connection is closed "+
			"(two minutes) its queues are given to nobody else.",
		capped(lines)...)
}

// judgeUnknownMembers finds members that a broker with queues of the group does not
// know: it refuses their pulls and leaves them out when queues are shared.
func judgeUnknownMembers(v *visit) {
	if !v.clustering() {
		return
	}
	serving := map[string]bool{}
	for _, q := range v.last.Lag.Queues {
		if !q.Retry {
			serving[q.BrokerName] = true
		}
	}
	for _, m := range v.last.Members.Members {
		before := v.before[m.ClientID]
		if before == nil || v.young(&m) {
			continue
		}
		var missing []string
		for _, broker := range m.Missing {
			if serving[broker] && slices.Contains(before.Missing, broker) {
				missing = append(missing, broker)
			}
		}
		if len(missing) == 0 {
			continue
		}
		v.find(CodeMemberUnknown, SeverityCritical,
			fmt.Sprintf("%s does not know the member %s", joined(missing), m.ClientID),
			"Its heartbeats do not arrive there: check the way from the member to that broker (address, firewall), and restart the member if it does not come back within 30 s.",
			fmt.Sprintf("known at %s", joined(m.Brokers)),
			"the members of that broker's queues are shared out without it, so queues have no owner or two")
	}
}

// judgeProxy says when members cannot be seen for a proxy.
func judgeProxy(v *visit) {
	if !v.proxied() {
		return
	}
	if n := len(v.last.Members.Members); n > 0 {
		var lines []string
		for i := range v.last.Members.Members {
			m := &v.last.Members.Members[i]
			lines = append(lines, fmt.Sprintf("%s (%s %s) at the proxy %s", m.ClientID, m.Language, m.Version, m.Proxy))
		}
		v.find(CodeBehindProxy, SeverityInfo, fmt.Sprintf("%s of the group %s connected by a proxy, and cannot be asked what %s", Plural(int64(n), "member"), verb(n, "is", "are"), verb(n, "it holds", "they hold")),
			"Lag and offsets here are the brokers' and are right. For the inside of a member look at its own log.", capped(lines)...)
		return
	}
	v.find(CodeBehindProxy, SeverityInfo, "the group is read, and no broker knows a member: they may be behind a proxy",
		"Ask at the proxy for its clients. Lag and offsets here are the brokers' and are right.",
		fmt.Sprintf("%.1f messages/s are consumed, 0 members are connected to the brokers", v.last.Lag.ConsumeTPS))
}

func (v *visit) proxied() bool {
	return v.last.Members.Kind == KindProxy || v.last.Lag.State == StateProxy
}

// judgeBroadcasting says what is different with such a group.
func judgeBroadcasting(v *visit) {
	if v.clustering() {
		return
	}
	v.find(CodeBroadcasting, SeverityInfo, "the group is broadcasting: each member reads all queues and keeps its own offsets",
		"How far each member is: "+v.eyeq("group members %s", v.f.Group),
		"brokers hold no offsets of it: there is no lag to judge, and failed messages are not tried again")
}

// judgeVersions names mixed clients.
func judgeVersions(v *visit) {
	by := map[string][]string{}
	for _, m := range v.last.Members.Members {
		by[m.Language+" "+m.Version] = append(by[m.Language+" "+m.Version], m.ClientID)
	}
	if len(by) < 2 {
		return
	}
	var lines []string
	for _, version := range slices.Sorted(maps.Keys(by)) {
		lines = append(lines, fmt.Sprintf("%s: %s", version, joined(by[version])))
	}
	v.find(CodeVersionsDiffer, SeverityInfo, fmt.Sprintf("members run %d different clients", len(by)),
		"Fine during a rollout. Clients of different lines and languages differ in how they take queues over and obey resets.", capped(lines)...)
}

// comparedSettings are those that make one member consume otherwise than another.
var comparedSettings = []string{
	"consumeFromWhere", "consumeThreadMin", "consumeThreadMax", "consumeMessageBatchMaxSize", "consumeTimeout", "maxReconsumeTimes",
	"consumeConcurrentlyMaxSpan", "pullBatchSize", "pullInterval", "pullThresholdForQueue", "pullThresholdSizeForQueue",
	"pullThresholdForTopic", "pullThresholdSizeForTopic",
}

// judgeSettings names settings in which members differ.
func judgeSettings(v *visit) {
	var names, lines []string
	for _, name := range comparedSettings {
		if topic, ok := strings.CutSuffix(name, "Queue"); ok && v.setAnywhere(topic+"Topic") {
			continue // computed from the topic's by the number of queues
		}
		by := v.membersBy(name)
		if len(by) < 2 {
			continue
		}
		names = append(names, name)
		for _, value := range slices.Sorted(maps.Keys(by)) {
			lines = append(lines, fmt.Sprintf("%s = %s: %s", name, value, joined(by[value])))
		}
	}
	if len(names) == 0 {
		return
	}
	v.find(CodeSettingsDiffer, SeverityInfo, "members have different settings: "+joined(names),
		"Fine during a rollout, and when it is meant so.", capped(lines)...)
}

func (v *visit) setAnywhere(property string) bool {
	for value := range v.membersBy(property) {
		if value != "-1" {
			return true
		}
	}
	return false
}
