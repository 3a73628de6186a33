package pages

import (
	"cmp"
	"fmt"
	"strings"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// TopicsView is the list of all topics; RocketMQ's own, retry topics and dead letters
// are hidden until asked for.
type TopicsView struct {
	page.Catalog[inspect.TopicList, inspect.TopicRow]
	list inspect.TopicList // safe to print
}

var (
	topicOrders  = []string{page.NameOrder, "stored", "queues", "last", "type"}
	topicColumns = []string{"stored", "queues"} // that a filter compares
)

// NewTopicsView is the list of all topics.
func NewTopicsView(e *page.Env) TopicsView {
	v := TopicsView{Catalog: page.Catalog[inspect.TopicList, inspect.TopicRow]{Env: e,
		Names:   page.Question[inspect.TopicList]{Ask: page.All(page.Cluster.Topics), Schedule: page.Schedule{What: "topics", Every: page.NamesEvery}},
		Details: page.Question[[]inspect.TopicRow]{Ask: page.Rows(page.Cluster.TopicRows), Schedule: page.Schedule{What: "details of topics", Every: page.DetailsEvery}},
		Search:  topicSearch, Value: topicValue, Compare: topicCompare, Trouble: topicTrouble}}
	v.Rows = page.Lister[string]{Env: e, Title: "Topics", Orders: topicOrders, Rising: []string{page.NameOrder, "type"}, Focused: true}
	v.Rows.Order(page.NameOrder)
	return v
}

// Narrow implements page.Page.
func (v TopicsView) Narrow(text string) (page.Page, error) {
	err := v.Catalog.Narrow(text, topicColumns)
	return v, err
}

// Status implements page.Page.
func (v TopicsView) Status() page.Status {
	return v.Catalog.Status("topic", v.list.Problems)
}

// Update implements page.Page.
func (v TopicsView) Update(msg any) (page.Page, page.Request) {
	switch msg := msg.(type) {
	case page.SizeMsg:
		v.W, v.H = msg.W, msg.H
		v.Rows.Columns = v.columns()
		v.Rows.List.Resize(v.H - page.TableFrame)
	case page.AnswerMsg:
		v.answer(msg)
	case page.ClickMsg:
		v.Rows.Click(msg.Y, v.H)
	case page.ActionMsg:
		key, ok := v.Rows.List.Current()
		switch msg.Action {
		case "detail", "describe":
			if ok {
				return v, page.OpenRequest{Place: page.Place{View: page.ViewTopic, Topic: key}}
			}
			return v, nil
		case "tail-here":
			if ok {
				return v, page.OpenTailRequest{TailRequest: page.TailRequest{Topic: key}}
			}
			return v, nil
		case "copy-json":
			if ok {
				return v, page.CopyRequest{Copied: v.rowsOf(v.Rows.Targets()).Copied(draw.SafeText(key))}
			}
		}
		r := v.Act(msg.Action)
		return v, r
	default:
		r, _ := v.OwnUpdate(msg)
		return v, r
	}
	return v, nil
}

func (v *TopicsView) answer(msg page.AnswerMsg) {
	if raw, safe, ok := v.Names.Take(msg, v.Env.Now); ok {
		v.list = safe
		names := make([]page.CatalogName, len(raw.Topics))
		for i := range raw.Topics {
			t := &v.list.Topics[i]
			names[i] = page.CatalogName{Name: raw.Topics[i].Topic, Safe: t.Topic, System: t.System || t.Retry || t.Dead}
		}
		v.Take(names)
		v.Rows.Columns = v.columns()
		v.Arrange()
	} else if _, rows, ok := v.Details.Take(msg, v.Env.Now); ok {
		v.TakeRows(msg.Names, rows)
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

func (v *TopicsView) columns() []table.Column {
	return []table.Column{
		colTopicName:    v.NameColumn("topic"),
		colTopicType:    {ID: "type", Title: "type", Width: 8, Flex: 1, Max: 12, Gap: 2, Rank: 2},
		colTopicQueues:  {ID: "queues", Title: "queues", Width: 7, Right: true, Rank: 1},
		colTopicStored:  {ID: "stored", Title: "stored", Width: 13, Right: true},
		colTopicLast:    {ID: "last", Title: "last", Width: 12, Right: true},
		colTopicPerm:    {ID: "perm", Title: "perm", Width: 5, Gap: 2, Rank: 3},
		colTopicBrokers: {ID: "brokers", Title: "brokers", Width: 10, Flex: 3, Rank: 4},
	}
}

func (v *TopicsView) cells(k string, cells []table.Cell) {
	e, th := v.Entries[k], v.Env.Theme
	cells[colTopicName] = e.NameCell(th.Text)
	if e.Row == nil {
		for i := colTopicType; i <= colTopicBrokers; i++ {
			cells[i] = table.Cell{Text: "…", Style: th.Dim}
		}
		return
	}
	r := e.Row
	cells[colTopicType] = table.Cell{Text: TopicType(r), Style: th.Dim}
	cells[colTopicQueues] = table.Cell{Text: words.Unknown, Style: th.Warn}
	if r.Perm != "" { // there is a route
		cells[colTopicQueues] = table.Cell{Text: words.Grouped(int64(r.Queues)), Style: th.Text}
	}
	cells[colTopicStored] = v.Env.NumberCell(r.Stored, false)
	cells[colTopicLast] = table.Cell{Text: words.SinceText(r.LastStored, v.Env.Now), Style: th.Text}
	cells[colTopicPerm] = table.Cell{Text: r.Perm, Style: th.Text}
	brokers := strings.Join(r.Brokers, " ")
	if len(r.Problems) > 0 {
		brokers = words.Warning.Sign() + " " + r.Problems[0].String()
	}
	cells[colTopicBrokers] = table.Cell{Text: brokers, Style: th.Dim}
}

// View implements page.Page.
func (v TopicsView) View(w, h int) string {
	c := draw.NewCanvas(w, h)
	v.Rows.Draw(c, h, v.Rows.Details(v.Progress()), v.cells, v.notes())
	c.Blank(h)
	return c.String()
}

func (v *TopicsView) notes() []string {
	if !v.Names.Asked {
		return v.Names.Lines(v.Env)
	}
	if lines := v.Rows.NoMatch("topic"); lines != nil {
		return lines
	}
	lines := []string{"", "This cluster has no topics yet.", "One is made by its first message, or by:  eyeq topic create TOPIC"}
	if n := v.Hiding(); n > 0 {
		lines = append(lines, fmt.Sprintf("%s of RocketMQ itself, retry topics and dead letters hidden · %s shows them", words.Plural(n, "topic"), v.Env.Keys.First("show-system")))
	}
	for _, p := range v.list.Problems {
		lines = append(lines, words.Warning.Sign()+" "+p.String())
	}
	return lines
}

// Export are the topics; details that were not read yet are null.
func (v TopicsView) Export() page.Export { return v.rowsOf(v.Rows.List.Keys()) }

func (v TopicsView) rowsOf(topics []string) page.Export {
	x := page.Export{Name: "topics", Columns: []string{"topic", "type", "perm", "queues", "stored", "last_stored", "brokers"}}
	v.ExportRows(&x, topics, func(r *inspect.TopicRow) []any {
		return []any{r.Type, r.Perm, r.Queues, exportNumber(r.Stored), r.LastStored, strings.Join(r.Brokers, " ")}
	})
	return x
}
