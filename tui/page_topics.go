package tui

import (
	"cmp"
	"fmt"
	"strings"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// topicsView is the list of all topics; RocketMQ's own, retry topics and dead letters
// are hidden until asked for.
type topicsView struct {
	catalog[inspect.TopicRow]
	list inspect.TopicList // safe to print
}

var (
	topicOrders  = []string{nameOrder, "stored", "queues", "last", "type"}
	topicColumns = []string{"stored", "queues"} // that a filter compares
)

func newTopicsView(e *env) topicsView {
	v := topicsView{catalog: catalog[inspect.TopicRow]{env: e,
		names:   question{kind: askTopics, what: "topics", every: namesEvery},
		details: question{kind: askTopicRows, what: "details of topics", every: detailsEvery},
		search:  topicSearch, value: topicValue, compare: topicCompare, trouble: topicTrouble}}
	v.rows = lister[string]{env: e, title: "Topics", orders: topicOrders, rising: []string{nameOrder, "type"}, focused: true}
	v.rows.order(nameOrder)
	return v
}

func (v topicsView) narrow(text string) (page, error) {
	err := v.catalog.narrow(text, topicColumns)
	return v, err
}

func (v topicsView) status() pageStatus {
	return v.catalog.status("topic", v.list.Problems)
}

func (v topicsView) update(msg any) (page, request) {
	switch msg := msg.(type) {
	case sizeMsg:
		v.w, v.h = msg.w, msg.h
		v.rows.columns = v.columns()
		v.rows.list.Resize(v.h - tableFrame)
	case answerMsg:
		v.answer(msg)
	case clickMsg:
		v.rows.click(msg.y, v.h)
	case actionMsg:
		key, ok := v.rows.list.Current()
		switch msg.action {
		case "detail", "describe":
			if ok {
				return v, openRequest{place{view: viewTopic, topic: key}}
			}
			return v, nil
		case "tail-here":
			if ok {
				return v, openTailRequest{TailRequest{Topic: key}}
			}
			return v, nil
		case "copy-json":
			if ok {
				return v, copyRequest{v.rowsOf(v.rows.targets()).copied(draw.SafeText(key))}
			}
		}
		r := v.act(msg.action)
		return v, r
	default:
		r, _ := v.ownUpdate(msg)
		return v, r
	}
	return v, nil
}

func (v *topicsView) answer(msg answerMsg) {
	switch {
	case v.names.answer(msg, v.env.now):
		raw := msg.raw.(inspect.TopicList)
		v.list = msg.safe.(inspect.TopicList)
		names := make([]catalogName, len(raw.Topics))
		for i := range raw.Topics {
			t := &v.list.Topics[i]
			names[i] = catalogName{raw.Topics[i].Topic, t.Topic, t.System || t.Retry || t.Dead}
		}
		v.take(names)
		v.rows.columns = v.columns()
		v.arrange()
	case v.details.answer(msg, v.env.now):
		v.takeRows(msg.names, msg.safe.([]inspect.TopicRow))
	}
}

func topicSearch(r *inspect.TopicRow) string {
	return r.Type + "\n" + strings.Join(r.Brokers, "\n")
}

func topicValue(r *inspect.TopicRow, column string) (float64, bool) {
	switch column {
	case "stored":
		return float64(r.Stored.Value), r.Stored.Known
	case "queues":
		return float64(r.Queues), r.Perm != ""
	case "last":
		return float64(r.LastStored.UnixMilli()), !r.LastStored.IsZero()
	}
	return 0, false
}

func topicTrouble(r *inspect.TopicRow) (problems []inspect.Problem, lost bool) {
	return r.Problems, r.Perm == "" && len(r.Problems) > 0
}

func topicCompare(a, b *inspect.TopicRow, column string) int {
	if column != "type" {
		return 0
	}
	return cmp.Compare(a.Type, b.Type)
}

// The columns.
const (
	colTopicName = iota
	colTopicType
	colTopicQueues
	colTopicStored
	colTopicLast
	colTopicPerm
	colTopicBrokers
)

func (v *topicsView) columns() []table.Column {
	return []table.Column{
		colTopicName:    v.nameColumn("topic"),
		colTopicType:    {ID: "type", Title: "type", Width: 8, Flex: 1, Max: 12, Gap: 2, Rank: 2},
		colTopicQueues:  {ID: "queues", Title: "queues", Width: 7, Right: true, Rank: 1},
		colTopicStored:  {ID: "stored", Title: "stored", Width: 13, Right: true},
		colTopicLast:    {ID: "last", Title: "last", Width: 12, Right: true},
		colTopicPerm:    {ID: "perm", Title: "perm", Width: 5, Gap: 2, Rank: 3},
		colTopicBrokers: {ID: "brokers", Title: "brokers", Width: 10, Flex: 3, Rank: 4},
	}
}

func (v *topicsView) cells(k string, cells []table.Cell) {
	e, th := v.entries[k], v.env.th
	cells[colTopicName] = e.nameCell(th.Text)
	if e.row == nil {
		for i := colTopicType; i <= colTopicBrokers; i++ {
			cells[i] = table.Cell{Text: "…", Style: th.Dim}
		}
		return
	}
	r := e.row
	cells[colTopicType] = table.Cell{Text: topicType(r), Style: th.Dim}
	cells[colTopicQueues] = table.Cell{Text: words.Unknown, Style: th.Warn}
	if r.Perm != "" { // there is a route
		cells[colTopicQueues] = table.Cell{Text: words.Grouped(int64(r.Queues)), Style: th.Text}
	}
	cells[colTopicStored] = v.env.numberCell(r.Stored, false)
	cells[colTopicLast] = table.Cell{Text: sinceText(r.LastStored, v.env.now), Style: th.Text}
	cells[colTopicPerm] = table.Cell{Text: r.Perm, Style: th.Text}
	brokers := strings.Join(r.Brokers, " ")
	if len(r.Problems) > 0 {
		brokers = words.Warning.Sign() + " " + r.Problems[0].String()
	}
	cells[colTopicBrokers] = table.Cell{Text: brokers, Style: th.Dim}
}

func (v topicsView) view(w, h int) string {
	c := draw.NewCanvas(w, h)
	v.rows.draw(c, h, v.rows.details(v.progress()), v.cells, v.notes())
	c.Blank(h)
	return c.String()
}

func (v *topicsView) notes() []string {
	if !v.names.asked {
		return v.names.lines(v.env)
	}
	if lines := v.rows.noMatch("topic"); lines != nil {
		return lines
	}
	lines := []string{"", "This cluster has no topics yet.", "One is made by its first message, or by:  eyeq topic create TOPIC"}
	if n := v.hiding(); n > 0 {
		lines = append(lines, fmt.Sprintf("%s of RocketMQ itself, retry topics and dead letters hidden · %s shows them", words.Plural(n, "topic"), v.env.keys.first("show-system")))
	}
	for _, p := range v.list.Problems {
		lines = append(lines, words.Warning.Sign()+" "+p.String())
	}
	return lines
}

// topicType is a topic's type. Where a broker has told what it knows of the topic and no
// type is in it, as on 4.x, there is none.
func topicType(r *inspect.TopicRow) string {
	if t := r.TypeText(); t != "" || r.Perm == "" {
		return orUnknown(t)
	}
	return words.None
}
