package pages

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// gather makes the topics of the tree from the queues of an answer.
func (v *LagView) gather() {
	var order []string
	topics := map[string]*lagTopic{}
	for i := range v.raw.Queues {
		raw, q := &v.raw.Queues[i], &v.Data.Queues[i]
		t := topics[raw.Topic]
		if t == nil {
			t = &lagTopic{name: raw.Topic, safe: q.Topic, retry: raw.Retry, lag: inspect.Exact(0)}
			topics[raw.Topic] = t
			order = append(order, raw.Topic)
		}
		t.add(i, q, v.env.Now)
	}
	for i, name := range v.raw.UnknownTopics {
		if topics[name] == nil {
			topics[name] = &lagTopic{name: name, safe: v.Data.UnknownTopics[i], lag: inspect.Number{}, why: v.whyUnknown(name)}
			order = append(order, name)
		}
	}
	v.topics, v.index = make([]lagTopic, 0, len(order)+1), make(map[lagKey]int, len(order)+len(v.raw.Queues))
	for _, name := range order {
		v.addTopic(*topics[name])
	}
	if n := v.Data.DeadLetters; n.Known && n.Value > 0 || !n.Known && n.Why.Kind != inspect.ReasonNone {
		v.addTopic(lagTopic{name: "%DLQ%" + v.Name, safe: "%DLQ%" + draw.SafeText(v.Name), dead: true, lag: n, why: n.Why.String()})
	}
	v.layout()
}

func (v *LagView) addTopic(t lagTopic) {
	if _, known := v.open[t.name]; !known { // what is retried or cannot be read stays closed
		v.open[t.name] = !t.retry && !t.dead && t.lag.Known
	}
	if len(t.queues) > 0 {
		owners := map[string]bool{}
		for _, i := range t.queues {
			for _, o := range v.Data.Queues[i].Owners {
				owners[o] = true
			}
			v.index[lagKey{t.name, v.raw.Queues[i].MessageQueue, true}] = i
		}
		if len(owners) > 0 {
			t.clients = words.Plural(len(owners), "client")
		}
	}
	v.index[lagKey{topic: t.name}] = len(v.topics)
	v.topics = append(v.topics, t)
}

// whyUnknown is the problem that tells of a topic, or the first there is.
func (v *LagView) whyUnknown(topic string) string {
	for i, p := range v.raw.Problems {
		if strings.Contains(p.What, topic) {
			return v.Data.Problems[i].Where + ": " + v.Data.Problems[i].Why.String()
		}
	}
	if len(v.Data.Problems) > 0 {
		return v.Data.Problems[0].Where + ": " + v.Data.Problems[0].Why.String()
	}
	return ""
}

// add counts a queue in.
func (t *lagTopic) add(i int, q *inspect.QueueLag, now time.Time) {
	t.queues = append(t.queues, i)
	switch {
	case q.Lag.Known && q.Lag.Value < 0: // ahead of the end: no part of the lag
	case len(t.queues) == 1:
		t.lag = q.Lag
	default:
		t.lag = t.lag.Plus(q.Lag)
	}
	if !q.NextStored.IsZero() {
		t.late, t.lateKnown = max(t.late, now.Sub(q.NextStored)), true
	}
	if q.LastConsumed.After(t.consumed) {
		t.consumed = q.LastConsumed
	}
}

// arrange makes the rows of the tree: topics in order, the queues of open ones below.
// Retry topic and dead letters stand last, whatever the order.
func (v *LagView) arrange() {
	topics := make([]lagKey, len(v.topics))
	for i := range topics {
		topics[i] = lagKey{topic: v.topics[i].name}
	}
	before := make(map[string][]lagKey) // "" the topics, else the queues of one
	for _, k := range v.Rows.List.Keys() {
		if k.Queue {
			before[k.topic] = append(before[k.topic], k)
		} else {
			before[""] = append(before[""], k)
		}
	}
	exactly := v.Rows.Begin(v.Rows.List.Order, v.env.Now)
	topics = page.InOrder(&v.Rows.SteadyOrder, exactly, topics, before[""], func(a, b lagKey, o page.Ordering) int { return v.compareTopics(v.topic(a.topic), v.topic(b.topic), o) })
	var keys []lagKey
	hidden, total := 0, 0
	for _, k := range topics {
		t := v.topic(k.topic)
		queues := make([]lagKey, len(t.queues))
		for i, q := range t.queues {
			queues[i] = lagKey{t.name, v.raw.Queues[q].MessageQueue, true}
		}
		queues = page.InOrder(&v.Rows.SteadyOrder, exactly, queues, before[t.name], func(a, b lagKey, o page.Ordering) int { return v.compareQueues(v.Queue(a), v.Queue(b), o) })
		rows := make([]lagKey, 0, len(queues))
		for _, q := range queues {
			if total++; v.passes(v.Queue(q)) {
				rows = append(rows, q)
			} else {
				hidden++
			}
		}
		if v.Rows.Filter.Active() {
			if len(rows) == 0 && (len(queues) > 0 || !v.passesTopic(t)) {
				continue
			}
		} else if !v.open[t.name] {
			rows = nil
		}
		keys = append(append(keys, lagKey{topic: t.name}), rows...)
	}
	v.Rows.List.SetKeys(keys)
	v.Rows.Hidden, v.Rows.Total = hidden, total
	if !v.Rows.Chosen {
		v.Rows.List.MoveTo(0)
		if i := slices.IndexFunc(keys, func(k lagKey) bool { return k.Queue }); i == 1 {
			v.Rows.List.MoveTo(1) // the queue that is furthest behind
		}
	}
}

func (v *LagView) passes(q *inspect.QueueLag) bool {
	return v.Rows.Filter.Matches(
		func() string {
			return strings.Join(append([]string{q.Topic, q.Short(), v.clientText(q)}, q.Owners...), "\n")
		},
		func(column string) (float64, bool) { return v.value(q, column) })
}

func (v *LagView) passesTopic(t *lagTopic) bool {
	return v.Rows.Filter.Matches(func() string { return t.safe }, func(column string) (float64, bool) { return float64(t.lag.Value), t.lag.Known && column == "lag" })
}

// value is what a queue is sorted and filtered by.
func (v *LagView) value(q *inspect.QueueLag, column string) (float64, bool) {
	switch column {
	case "lag":
		return float64(q.Lag.Value), q.Lag.Known
	case "late":
		return v.env.Now.Sub(q.NextStored).Seconds(), !q.NextStored.IsZero()
	case "consumed":
		return v.env.Now.Sub(q.LastConsumed).Seconds(), !q.LastConsumed.IsZero()
	case "committed":
		return float64(q.Committed.Value), q.Committed.Known
	case "min":
		return float64(q.Min.Value), q.Min.Known
	case "max":
		return float64(q.Max.Value), q.Max.Known
	}
	return 0, false
}

// compareQueues orders queues of a topic. The worst lag is one that nobody can tell:
// sorted by lag, unknown stands first.
func (v *LagView) compareQueues(a, b *inspect.QueueLag, o page.Ordering) int {
	if o.Column == "queue" {
		return page.Directed(cmp.Or(cmp.Compare(a.BrokerName, b.BrokerName), cmp.Compare(a.QueueID, b.QueueID)), o)
	}
	x, known := v.value(a, o.Column)
	y, also := v.value(b, o.Column)
	if o.Column == "lag" && known != also {
		if known {
			return 1
		}
		return -1
	}
	return page.CompareKnown(x, known, y, also, o)
}

func (v *LagView) compareTopics(a, b *lagTopic, o page.Ordering) int {
	last := func(t *lagTopic) int {
		switch {
		case t.dead:
			return 2
		case t.retry:
			return 1
		}
		return 0
	}
	if n := cmp.Compare(last(a), last(b)); n != 0 {
		return n
	}
	n := 0
	switch o.Column {
	case "queue":
		return page.Directed(cmp.Compare(a.safe, b.safe), o)
	case "late":
		n = page.CompareKnown(a.late.Seconds(), a.lateKnown, b.late.Seconds(), b.lateKnown, o)
	case "consumed":
		n = page.CompareKnown(-float64(a.consumed.Unix()), !a.consumed.IsZero(), -float64(b.consumed.Unix()), !b.consumed.IsZero(), o)
	default:
		n = page.CompareKnown(float64(a.lag.Value), a.lag.Known, float64(b.lag.Value), b.lag.Known, o)
	}
	if o.Loose || o.Bare {
		return n
	}
	return cmp.Or(n, cmp.Compare(a.safe, b.safe))
}

// largest is the lag that a full bar of shares means.
func (v *LagView) largest() float64 {
	n := int64(0)
	for i := range v.topics {
		n = max(n, v.topics[i].lag.Value)
	}
	return float64(n)
}

func (v *LagView) cells(k lagKey, cells []table.Cell) {
	if k.Queue {
		v.queueCells(v.Queue(k), cells)
		return
	}
	v.topicCells(v.topic(k.topic), cells)
}

func (v *LagView) topicCells(t *lagTopic, cells []table.Cell) {
	th, e := v.env.Theme, v.env
	sign := "▹ "
	if v.open[t.name] && len(t.queues) > 0 || v.Rows.Filter.Active() {
		sign = "▾ "
	}
	name := sign + t.safe
	if len(t.queues) > 0 {
		name += fmt.Sprintf("  (%d)", len(t.queues))
	}
	cells[colLagName] = table.Cell{Text: name, Style: th.Bold, Name: true}
	cells[colLagLag] = e.NumberCell(t.lag, t.retry || t.dead)
	if t.lag.Known && !t.dead {
		cells[colLagShare] = table.Cell{Text: v.share(t.lag), Style: th.Bar}
	}
	switch {
	case t.lateKnown:
		cells[colLagLate] = table.Cell{Text: words.Age(t.late), Style: th.Text}
	case !t.lag.Known:
		cells[colLagLate] = table.Cell{Text: words.Unknown, Style: th.Warn}
	}
	if !t.consumed.IsZero() {
		cells[colLagConsumed] = table.Cell{Text: words.SinceText(t.consumed, e.Now), Style: th.Text}
	}
	client := table.Cell{Text: t.clients, Style: th.Dim}
	if t.why != "" {
		client = table.Cell{Text: words.Warning.Sign() + " " + t.why, Style: th.Warn}
	}
	cells[colLagClient] = client
}

func (v *LagView) share(n inspect.Number) string {
	whole := v.largest()
	if !n.Known || n.Value <= 0 || whole <= 0 {
		return ""
	}
	return strings.TrimRight(v.env.Glyphs.Meter(v.shareCells(), float64(n.Value)/whole), v.env.Glyphs.Void)
}

func (v *LagView) queueCells(q *inspect.QueueLag, cells []table.Cell) {
	th, e := v.env.Theme, v.env
	cells[colLagName] = table.Cell{Text: "  " + q.Short(), Style: th.Text, Name: true}
	cells[colLagMin] = e.NumberCell(q.Min, false)
	cells[colLagCommitted] = e.NumberCell(q.Committed, false)
	cells[colLagMax] = e.NumberCell(q.Max, false)
	cells[colLagLag] = e.NumberCell(q.Lag, false)
	if q.Lag.Known && q.Lag.Value < 0 {
		cells[colLagLag] = table.Cell{Text: words.Signed(q.Lag.Value), Style: th.Warn}
	}
	cells[colLagShare] = table.Cell{Text: v.share(q.Lag), Style: th.Bar}
	switch {
	case !q.NextStored.IsZero():
		cells[colLagLate] = table.Cell{Text: words.Age(e.Now.Sub(q.NextStored)), Style: th.Text}
	case q.Lag.Known && q.Lag.Value <= 0:
		cells[colLagLate] = table.Cell{Text: words.None, Style: th.Dim}
	default:
		cells[colLagLate] = table.Cell{Text: words.Unknown, Style: th.Warn}
	}
	cells[colLagConsumed] = table.Cell{Text: words.SinceText(q.LastConsumed, e.Now), Style: th.Text}
	client := v.clientText(q)
	st := th.Dim
	if len(q.Owners) > 1 && !q.Pop || client == unowned {
		st = th.Bad
	}
	if q.Expired > 0 {
		client, st = strings.TrimSuffix(fmt.Sprintf("%s GONE %s %s", words.Warning.Sign(), words.Grouped(q.Expired), client), " "+words.None), th.Bad
	}
	if !q.Lag.Known && q.Lag.Why.Kind != inspect.ReasonNone {
		client, st = words.Warning.Sign()+" "+q.Lag.Why.String(), th.Warn
	}
	cells[colLagClient] = table.Cell{Text: client, Style: st, Name: len(q.Owners) == 1 && client == q.Owners[0]}
}

// unowned is a queue that no member holds although there are members: nobody
// consumes it.
const unowned = "UNOWNED"

// clientText is who holds a queue.
func (v *LagView) clientText(q *inspect.QueueLag) string {
	switch {
	case len(q.Owners) > 1 && q.Pop:
		return fmt.Sprintf("popped by %d: %s", len(q.Owners), strings.Join(q.Owners, " "))
	case len(q.Owners) > 1:
		return fmt.Sprintf("%d OWNERS %s", len(q.Owners), strings.Join(q.Owners, " "))
	case len(q.Owners) == 1:
		return q.Owners[0]
	case v.Data.Members.Known && v.Data.Members.Value == 0:
		return words.None
	case q.OwnersWhy.Kind != inspect.ReasonNone:
		return words.Unknown + " " + q.OwnersWhy.String()
	case v.Data.Members.Known && v.Data.Model != words.Broadcasting:
		return unowned
	}
	return words.None
}

func ownersText(q *inspect.QueueLag) string { return strings.Join(q.Owners, ", ") }

// Export are the queues, those of closed topics too: a topic's own row is their sum.
func (v LagView) Export() page.Export { return v.rowsOf(v.Rows.List.Keys()) }

// rowsOf are the queues of rows; of a topic whose queues are rows themselves only the
// topic's own row is asked for alone.
func (v LagView) rowsOf(rows []lagKey) page.Export {
	x := page.Export{Name: "lag-" + v.Name, Columns: []string{"topic", "broker", "queue", "min_offset", "committed_offset", "max_offset", "lag", "lag_error",
		"next_stored", "last_consumed", "client_id"}}
	add := func(i int) {
		q := &v.raw.Queues[i]
		x.Rows = append(x.Rows, []any{q.Topic, q.BrokerName, q.QueueID, exportNumber(q.Min), exportNumber(q.Committed), exportNumber(q.Max), exportNumber(q.Lag), exportReason(q.Lag.Why),
			q.NextStored, q.LastConsumed, strings.Join(q.Owners, " ")})
	}
	for _, k := range rows {
		switch t := v.topic(k.topic); {
		case k.Queue:
			add(v.index[k])
		case len(rows) == 1, !v.open[k.topic] && !v.Rows.Filter.Active():
			for _, i := range t.queues {
				add(i)
			}
		}
	}
	return x
}
