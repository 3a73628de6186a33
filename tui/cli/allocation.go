package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
	"eyeq/tui/draw"
	"eyeq/tui/table"
)

// allocated is what one strategy gives.
type allocated struct {
	strategy      string
	topics        int
	before, after map[string][]engine.MessageQueue // by member
	members       []string                         // after
	nobody        []engine.MessageQueue            // after: queues without an owner
	several       []engine.MessageQueue            // after: queues with more than one
	moves         []move
}

// move is a queue that changes hands; "" is nobody.
type move struct {
	mq       engine.MessageQueue
	from, to string
}

// allocate divides by s, before and after.
func (w *allocationWorld) allocate(s core.Strategy) (allocated, error) {
	r := allocated{strategy: s.Name(), topics: len(w.topics), members: slices.Compact(slices.Clone(w.after)),
		before: map[string][]engine.MessageQueue{}, after: map[string][]engine.MessageQueue{}}
	for _, t := range w.topics {
		before, err := w.owners(s, t, w.before, r.before)
		if err != nil {
			return r, err
		}
		after, err := w.owners(s, t, w.after, r.after)
		if err != nil {
			return r, err
		}
		for _, mq := range w.queues[t] {
			if after[mq] == "" {
				r.nobody = append(r.nobody, mq)
			}
			if len(r.owners(mq)) > 1 {
				r.several = append(r.several, mq)
			}
			if before[mq] != after[mq] {
				r.moves = append(r.moves, move{mq, before[mq], after[mq]})
			}
		}
	}
	return r, nil
}

// owners divides one topic, adds the shares and gives the owner of each queue.
func (w *allocationWorld) owners(s core.Strategy, topic string, members []string, shares map[string][]engine.MessageQueue) (map[engine.MessageQueue]string, error) {
	owner := map[engine.MessageQueue]string{}
	if len(members) == 0 {
		return owner, nil // all have left; a strategy would call it an error
	}
	part, err := core.AllocateAll(s, w.group, topic, "", w.queues[topic], members)
	if err != nil {
		return nil, err
	}
	for m, share := range part {
		slices.SortFunc(share, protocol.CompareMessageQueues)
		shares[m] = append(shares[m], share...)
		for _, mq := range share {
			if owner[mq] == "" || m < owner[mq] { // of several the first, so that it does not change hands by chance
				owner[mq] = m
			}
		}
	}
	return owner, nil
}

// owners are the members that have a queue after the change.
func (r *allocated) owners(mq engine.MessageQueue) (members []string) {
	for _, m := range r.members {
		if slices.Contains(r.after[m], mq) {
			members = append(members, m)
		}
	}
	return members
}

// allocationRow is the JSON of one strategy.
type allocationRow struct {
	Strategy   string          `json:"strategy"`
	Members    []allocationOf  `json:"members"`
	Unassigned []string        `json:"unassigned"`
	Shared     []sharedQueue   `json:"shared,omitempty"`
	Moves      []allocationFor `json:"moves"`
}

// sharedQueue is one that several members have: each of its messages is consumed by all.
type sharedQueue struct {
	Queue   string   `json:"queue"`
	Members []string `json:"members"`
}

type allocationOf struct {
	ClientID string   `json:"client_id"`
	Queues   []string `json:"queues"`
}

type allocationFor struct {
	Queue string  `json:"queue"`
	From  *string `json:"from"`
	To    *string `json:"to"`
}

func (r *allocated) row() allocationRow {
	row := allocationRow{Strategy: r.strategy, Members: []allocationOf{}, Unassigned: r.names(r.nobody), Moves: []allocationFor{}}
	for _, m := range r.members {
		row.Members = append(row.Members, allocationOf{m, r.names(r.after[m])})
	}
	for _, mq := range r.several {
		row.Shared = append(row.Shared, sharedQueue{r.name(mq), r.owners(mq)})
	}
	some := func(m string) *string {
		if m == "" {
			return nil
		}
		return &m
	}
	for _, m := range r.moves {
		row.Moves = append(row.Moves, allocationFor{r.name(m.mq), some(m.from), some(m.to)})
	}
	return row
}

func (r *allocated) names(mqs []engine.MessageQueue) []string {
	names := make([]string, len(mqs))
	for i, mq := range mqs {
		names[i] = r.name(mq)
	}
	return names
}

// name is a queue as flags take it; with its topic where there are several.
func (r *allocated) name(mq engine.MessageQueue) string {
	name := mq.BrokerName + ":" + strconv.Itoa(int(mq.QueueID))
	if r.topics > 1 {
		name = mq.Topic + "=" + name
	}
	return name
}

// runs names queues in short, broker by broker: broker-a:0-3,5 broker-b:0.
func (r *allocated) runs(mqs []engine.MessageQueue) string {
	if len(mqs) == 0 {
		return "none"
	}
	var b strings.Builder
	for i := 0; i < len(mqs); {
		first, last := mqs[i], mqs[i]
		j := i + 1
		for j < len(mqs) && mqs[j] == (engine.MessageQueue{Topic: last.Topic, BrokerName: last.BrokerName, QueueID: last.QueueID + 1}) {
			last = mqs[j]
			j++
		}
		switch {
		case i > 0 && mqs[i-1].Topic == first.Topic && mqs[i-1].BrokerName == first.BrokerName:
			b.WriteString("," + strconv.Itoa(int(first.QueueID)))
		default:
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(r.name(first))
		}
		if last != first {
			b.WriteString("-" + strconv.Itoa(int(last.QueueID)))
		}
		i = j
	}
	return b.String()
}

// appendTable writes the strategies side by side, when there are several, and then
// what each gives.
func (w *allocationWorld) appendTable(dst []byte, results []allocated) []byte {
	if len(results) > 1 {
		dst = appendColumns(dst, w.comparison(results))
	}
	for i := range results {
		r := &results[i]
		if len(results) > 1 {
			dst = append(dst, '\n')
		}
		dst = append(dst, w.head(r)...)
		rows := [][]string{{"MEMBER", "QUEUES", "WHICH"}}
		for _, m := range w.everybody() {
			which := r.runs(r.after[m])
			if !slices.Contains(w.after, m) {
				which = "leaves"
			}
			rows = append(rows, []string{m, w.count(r, m), which})
		}
		if len(r.nobody) > 0 {
			rows = append(rows, []string{"(nobody)", strconv.Itoa(len(r.nobody)), r.runs(r.nobody)})
		}
		if len(r.several) > 0 {
			rows = append(rows, []string{"(several)", strconv.Itoa(len(r.several)), r.runs(r.several)})
		}
		dst = appendColumns(dst, rows)
		if len(r.moves) > 0 {
			dst = appendColumns(append(dst, "moves:\n"...), r.moveRows())
		}
	}
	return dst
}

// everybody returns the members of both lists, before and after the change: sorted, and
// each once.
func (w *allocationWorld) everybody() []string {
	all := append(slices.Clone(w.before), w.after...)
	slices.SortFunc(all, protocol.CompareUTF16)
	return slices.Compact(all)
}

// count is how many queues a member has, and had.
func (w *allocationWorld) count(r *allocated, m string) string {
	before, after := len(r.before[m]), len(r.after[m])
	if !w.changed || before == after {
		return strconv.Itoa(after)
	}
	return fmt.Sprintf("%d → %d", before, after)
}

func (w *allocationWorld) head(r *allocated) string {
	queues := 0
	for _, t := range w.topics {
		queues += len(w.queues[t])
	}
	s := fmt.Sprintf("%s: %s", r.strategy, inspect.Plural(queues, "queue"))
	if len(w.topics) > 1 {
		s += fmt.Sprintf(" of %d topics", len(w.topics))
	}
	if !w.changed {
		return fmt.Sprintf("%s, %s\n", s, inspect.Plural(len(w.after), "member"))
	}
	return fmt.Sprintf("%s, %d → %s, %s\n", s, len(w.before), inspect.Plural(len(w.after), "member"), w.moved(r))
}

func (w *allocationWorld) moved(r *allocated) string {
	return inspect.Plurals(len(r.moves), "queue moves", "queues move")
}

// comparison has a column for each strategy.
func (w *allocationWorld) comparison(results []allocated) [][]string {
	head := []string{"MEMBER"}
	for i := range results {
		head = append(head, results[i].strategy)
	}
	rows := [][]string{head}
	for _, m := range w.everybody() {
		row := []string{m}
		for i := range results {
			row = append(row, w.count(&results[i], m))
		}
		rows = append(rows, row)
	}
	line := func(name string, value func(r *allocated) int) {
		row, any := []string{name}, false
		for i := range results {
			n := value(&results[i])
			any = any || n > 0
			row = append(row, strconv.Itoa(n))
		}
		if any {
			rows = append(rows, row)
		}
	}
	line("(nobody)", func(r *allocated) int { return len(r.nobody) })
	if w.changed {
		line("(moves)", func(r *allocated) int { return len(r.moves) })
	}
	return rows
}

// moveRows are the moves, those between the same two in one row.
func (r *allocated) moveRows() [][]string {
	type pair struct{ from, to string }
	var order []pair
	queues := map[pair][]engine.MessageQueue{}
	for _, m := range r.moves {
		p := pair{m.from, m.to}
		if queues[p] == nil {
			order = append(order, p)
		}
		queues[p] = append(queues[p], m.mq)
	}
	name := func(m string) string {
		if m == "" {
			return "(nobody)"
		}
		return m
	}
	var rows [][]string
	for _, p := range order {
		rows = append(rows, []string{name(p.from) + " → " + name(p.to), strconv.Itoa(len(queues[p])), r.runs(queues[p])})
	}
	return rows
}

// appendColumns writes rows with columns as wide as they need; the last one is
// not padded. Foreign text is made safe.
func appendColumns(dst []byte, rows [][]string) []byte {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			row[i] = draw.SafeText(cell)
			widths[i] = max(widths[i], table.Width(row[i]))
		}
	}
	for _, row := range rows {
		for i, cell := range row {
			dst = append(dst, cell...)
			if i < len(row)-1 {
				dst = append(dst, strings.Repeat(" ", widths[i]-table.Width(cell)+2)...)
			}
		}
		dst = append(dst, '\n')
	}
	return dst
}

// allocationWorld is what is divided, among whom, before and after.
type allocationWorld struct {
	group         string
	topics        []string
	queues        map[string][]engine.MessageQueue // by topic, sorted
	before, after []string                         // members, sorted
	changed       bool                             // somebody joins or leaves
}
