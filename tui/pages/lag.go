package pages

import (
	"fmt"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// lagKey is a row of the tree: a topic, or one of its queues. Names are true ones.
type lagKey struct {
	topic string
	mq    engine.MessageQueue // of a queue's row
	Queue bool
}

// lagTopic is a topic of the tree with what its queues come to.
type lagTopic struct {
	name, safe  string
	retry, dead bool
	queues      []int // in the GroupLag, as they are listed there
	lag         inspect.Number
	late        time.Duration // of its oldest message that waits
	lateKnown   bool
	consumed    time.Time
	clients     string
	why         string // why it is not known
}

// LagView is how far a group is behind: a tree of topics and queues.
type LagView struct {
	env    *page.Env
	Name   string // true name of the group
	w, h   int
	Ask    page.Question[inspect.GroupLag]
	Rows   page.Lister[lagKey]
	raw    inspect.GroupLag
	Data   inspect.GroupLag // safe to print; what is shown
	topics []lagTopic
	index  map[lagKey]int // to topics, or to queues of data
	open   map[string]bool
	Hist   LagHistory
	frozen time.Time // zero: it is not
	newest *lagAnswer
	hidden int // changes while frozen
}

// lagAnswer is an answer that a frozen screen keeps for later.
type lagAnswer struct{ raw, safe inspect.GroupLag }

var (
	lagOrders  = []string{"lag", "queue", "late", "consumed"}
	lagColumns = []string{"lag", "late", "committed", "min", "max"} // that a filter compares
)

// NewLagView is the page of a group's lag.
func NewLagView(e *page.Env, group string) LagView {
	v := LagView{env: e, Name: group, Ask: page.Question[inspect.GroupLag]{Ask: page.About(page.Cluster.Lag), Schedule: page.Schedule{Names: []string{group}, What: "lag of " + draw.SafeText(group), Every: page.LagEvery}}, open: map[string]bool{}}
	v.Rows = page.Lister[lagKey]{Env: e, Title: "Lag  " + draw.SafeText(group), Orders: lagOrders, Rising: []string{"queue"}, Focused: true}
	v.Rows.Order("lag")
	return v
}

// FilterText implements page.Page.
func (v LagView) FilterText() string { return v.Rows.Filter.Text }

// Subject implements page.Page.
func (v LagView) Subject() string {
	text := "group " + draw.SafeText(v.Name)
	if !v.Ask.Asked {
		return text
	}
	if p := pauseText(v.Data.Pause); p != "" {
		text += "  " + p
		if v.Data.State == inspect.StatePaused { // said already
			return fmt.Sprintf("%s  (%s)", text, membersCount(v.Data.Members))
		}
	}
	return fmt.Sprintf("%s  (%s: %s)", text, words.OrUnknown(v.Data.State), membersCount(v.Data.Members))
}

// membersCount is a count of members that need not be known.
func membersCount(n inspect.Number) string {
	if n.Known && n.Value == 1 && !n.AtLeast {
		return "1 member"
	}
	return words.NumberText(n) + " members"
}

// Narrow implements page.Page.
func (v LagView) Narrow(text string) (page.Page, error) {
	err := v.Rows.Narrow(text, lagColumns)
	if err == nil {
		v.arrange()
	}
	return v, err
}

// Status implements page.Page.
func (v LagView) Status() page.Status {
	s := page.Status{Main: &v.Ask.Schedule, Frozen: v.frozen, Hidden: v.hidden}
	known := len(v.Data.Queues) - v.Data.UnknownQueues
	s.Fine = fmt.Sprintf("%d of %s read", known, words.Plural(len(v.Data.Queues), "queue"))
	s.Health = page.Partial(v.env.Theme, v.Data.Problems)
	if text := v.wrong(); text != "" {
		if s.Health.Text != "" {
			text += " · " + strings.TrimPrefix(s.Health.Text, " ! ")
		}
		s.Health = draw.Styled(v.env.Theme.Bad, " "+words.Failure.Sign()+" "+text)
	}
	switch {
	case s.Health.Text != "":
	case v.Data.Model == words.Broadcasting: // nothing failed: no broker has these offsets
		s.Fine = "broadcasting: the members keep the offsets"
	case v.Data.UnknownQueues > 0:
		s.Health = draw.Styled(v.env.Theme.Warn, fmt.Sprintf(" ! partial: %d of %s read, %d unknown", known, words.Plural(len(v.Data.Queues), "queue"), v.Data.UnknownQueues))
	}
	return s
}

// wrong is the worst that the page's own rows show; "" when none is red.
func (v *LagView) wrong() string {
	expired, shared, without := int64(0), 0, 0
	for i := range v.Data.Queues {
		q := &v.Data.Queues[i]
		expired += q.Expired
		if len(q.Owners) > 1 && !q.Pop {
			shared++
		}
		if v.clientText(q) == unowned {
			without++
		}
	}
	switch texts := v.Data.UnreadableTexts(); {
	case shared > 0 && v.Data.Model != words.Broadcasting:
		return words.Plural(shared, "queue") + " with two owners"
	case without > 0:
		return words.Plural(without, "queue") + " unowned"
	case len(texts) > 0:
		return texts[0]
	case expired > 0:
		return words.Plural(expired, "message") + " expired before they were consumed"
	}
	return ""
}

// Update implements page.Page.
func (v LagView) Update(msg any) (page.Page, page.Request) {
	switch msg := msg.(type) {
	case page.SizeMsg:
		v.w, v.h = msg.W, msg.H
		v.layout()
	case page.DueMsg:
		r := v.env.AskDue(&v.Ask)
		return v, r
	case page.HurryMsg:
		v.Ask.Hurried = true
		v.Rows.Resort()
	case page.OrderMsg:
		if !v.Rows.Order(msg.Column) {
			return v, page.RefuseRequest{Text: "sort: columns are " + strings.Join(lagOrders, ", ")}
		}
		v.arrange()
	case page.ClosedMsg:
		v.Ask.Drop()
	case page.AnswerMsg:
		if raw, safe, ok := v.Ask.Take(msg, v.env.Now); ok {
			v.take(lagAnswer{raw, safe})
		} else if v.Ask.Gone {
			v.Hist, v.frozen, v.newest = LagHistory{}, time.Time{}, nil
			v.raw, v.Data = inspect.GroupLag{}, inspect.GroupLag{}
			v.gather()
			v.arrange()
		}
	case page.ActionMsg:
		return v.act(msg.Action)
	case page.ClickMsg:
		above := len(v.figuresIn(v.h))
		v.Rows.Click(msg.Y-above, v.h-above)
	}
	return v, nil
}

// take takes an answer; a frozen screen keeps it for later and counts what changed.
func (v *LagView) take(x lagAnswer) {
	v.Hist.Add(v.env.Now, &x.raw)
	if !v.frozen.IsZero() {
		v.newest, v.hidden = &x, 0
		before := map[engine.MessageQueue]*inspect.QueueLag{}
		for i := range v.raw.Queues {
			before[v.raw.Queues[i].MessageQueue] = &v.raw.Queues[i]
		}
		for i := range x.raw.Queues {
			q := &x.raw.Queues[i]
			if old := before[q.MessageQueue]; old == nil || old.Committed != q.Committed || old.Max != q.Max {
				v.hidden++
			}
		}
		return
	}
	v.raw, v.Data = x.raw, x.safe
	v.gather()
	v.arrange()
}

func (v *LagView) freeze() {
	if v.frozen.IsZero() {
		v.frozen = v.env.Now
		return
	}
	v.frozen, v.hidden = time.Time{}, 0
	if x := v.newest; x != nil {
		v.newest = nil
		v.raw, v.Data = x.raw, x.safe
		v.gather()
		v.arrange()
	}
}

func (v LagView) act(a page.Action) (page.Page, page.Request) {
	key, ok := v.Rows.List.Current()
	switch a {
	case "escape":
		arrange, taken := v.Rows.Escape()
		if arrange {
			v.arrange()
		}
		if !taken {
			return v, page.BackRequest{}
		}
		return v, nil
	case "freeze":
		v.freeze()
		return v, nil
	case "detail":
		switch {
		case !ok:
		case key.Queue:
			return v, v.describe(key)
		default:
			v.open[key.topic] = !v.open[key.topic]
			v.arrange()
		}
		return v, nil
	case "describe":
		return v, page.OpenRequest{Place: page.Place{View: page.ViewGroup, Group: v.Name}}
	case "tail-here":
		if !ok {
			return v, nil
		}
		r := page.TailRequest{Topic: key.topic}
		if key.Queue {
			r.Queues = []engine.MessageQueue{key.mq}
			if q := v.Queue(key); q.Committed.Known {
				r.From = page.TailPosition{ByOffset: true, Offset: q.Committed.Value}
			}
		}
		return v, page.OpenTailRequest{TailRequest: r}
	case "reset":
		return v, v.reset()
	case "copy", "copy-json":
		return v, v.copy(a == "copy-json")
	}
	if arrange, _ := v.Rows.Act(a); arrange {
		v.arrange()
	}
	return v, nil
}

// reset is about the marked queues, else the topic under the cursor or the queue's.
func (v *LagView) reset() page.Request {
	if !v.Ask.Asked {
		return page.RefuseRequest{Text: "reset: the lag has not been read yet"}
	}
	key, ok := v.Rows.List.Current()
	if !ok {
		return page.RefuseRequest{Text: "reset: there is no queue of this group"}
	}
	r := page.ResetAnyRequest{Group: v.Name}
	if perSecond, ok := v.Hist.Consumed(); ok {
		r.Rate = perSecond
	}
	for _, k := range v.Rows.List.Marked() {
		if k.Queue {
			r.Queues = append(r.Queues, k.mq)
		}
	}
	if len(r.Queues) == 0 && key.Queue {
		r.Queues = []engine.MessageQueue{key.mq}
	}
	if t := v.topic(key.topic); t != nil && t.dead {
		return page.RefuseRequest{Text: "reset: dead letters are not consumed by the group; eyeq message resend sends them back"}
	}
	r.Topic = key.topic
	return r
}

func (v *LagView) copy(asJSON bool) page.Request {
	key, ok := v.Rows.List.Current()
	if !ok {
		return page.RefuseRequest{Text: "there is nothing under the cursor to copy"}
	}
	if asJSON {
		what := "the topic"
		if key.Queue {
			what = "the queue"
		}
		return page.CopyRequest{Copied: v.rowsOf(v.Rows.Targets()).Copied(what)}
	}
	if key.Queue {
		return page.CopyRequest{Copied: page.Literal("the queue", key.mq.String())}
	}
	return page.CopyRequest{Copied: page.Literal("the topic", key.topic)}
}

// Queue is the row of a queue.
func (v *LagView) Queue(k lagKey) *inspect.QueueLag { return &v.Data.Queues[v.index[k]] }

func (v *LagView) topic(name string) *lagTopic {
	if i, ok := v.index[lagKey{topic: name}]; ok {
		return &v.topics[i]
	}
	return nil
}

// describe is everything about a queue as text.
func (v *LagView) describe(k lagKey) page.Request {
	q, now := v.Queue(k), v.env.Now
	of := func(n inspect.Number) string {
		if n.Why.Kind != inspect.ReasonNone {
			return words.NumberText(n) + "   " + n.Why.String()
		}
		return words.NumberText(n)
	}
	when := func(t time.Time) string {
		if t.IsZero() {
			return words.Unknown
		}
		return t.In(v.env.Options.Location).Format("2006-01-02 15:04:05.000 -07:00") + "   " + words.Ago(t, now)
	}
	next := when(q.NextStored)
	if q.NextStored.IsZero() {
		next = "none waits, or not known" + words.Because(q.NextWhy.String())
	}
	lag := "max − committed"
	if q.Pop {
		lag = "what nobody has popped yet"
	}
	lines := []string{
		"queue        " + q.MessageQueue.String(),
		"min          " + of(q.Min), "committed    " + of(q.Committed), "pulled       " + of(q.Pulled), "max          " + of(q.Max), "",
		"lag          " + of(q.Lag) + "   = " + lag, "in flight    " + of(q.Inflight),
		"consumed     last message stored " + when(q.LastConsumed), "next         stored " + next,
	}
	if q.Expired > 0 {
		lines = append(lines, words.Failure.Sign()+" expired    "+words.Grouped(q.Expired)+" messages were deleted before they were consumed")
	}
	if !q.ExpiresAt.IsZero() {
		lines = append(lines, "expires      the next message about "+q.ExpiresAt.In(v.env.Options.Location).Format("2006-01-02 15:04 -07:00")+", in "+words.Age(q.ExpiresAt.Sub(now)))
	}
	return page.TextRequest{Title: "Queue " + q.Short(), Lines: append(lines, "client       "+v.clientText(q), "owners       "+orDash(ownersText(q)))}
}

// The columns.
const (
	colLagName = iota
	colLagMin
	colLagCommitted
	colLagMax
	colLagLag
	colLagShare
	colLagLate
	colLagConsumed
	colLagClient
)

// shareCells is the width of the bars: a client id is worth more than a long one.
func (v *LagView) shareCells() int {
	if v.w < 140 {
		return 8
	}
	return 12
}

func (v *LagView) layout() {
	v.Rows.List.Resize(v.h - len(v.figuresIn(v.h)) - page.TableFrame) // keys go by pages of it
	name, offsets := 22, len("committed")
	for i := range v.topics {
		name = max(name, table.Width(v.topics[i].safe)+8)
	}
	for i := range v.Data.Queues {
		q := &v.Data.Queues[i]
		name = max(name, table.Width(q.Short())+2)
		offsets = max(offsets, words.GroupedWidth(q.Max.Value))
	}
	offsets = min(offsets, 20)
	widest := name
	name = min(name, max(v.w/5, 20))
	v.Rows.Columns = []table.Column{
		colLagName:      {ID: "queue", Title: "topic / queue", Width: name, Flex: 3, Max: max(widest, name), Fixed: true},
		colLagMin:       {ID: "min", Title: "min", Width: offsets, Right: true, Rank: 8},
		colLagCommitted: {ID: "committed", Title: "committed", Width: offsets, Right: true, Rank: 5},
		colLagMax:       {ID: "max", Title: "max", Width: offsets, Right: true, Rank: 6},
		colLagLag:       {ID: "lag", Title: "lag", Width: 10, Right: true},
		colLagShare:     {ID: "share", Title: "share", Width: v.shareCells(), Rank: 7},
		colLagLate:      {ID: "late", Title: "late by", Width: 8, Right: true},
		colLagConsumed:  {ID: "consumed", Title: "done to", Width: 10, Gap: 2, Rank: 4},
		colLagClient:    {ID: "client", Title: "client", Width: 10, Flex: 4, Rank: 3},
	}
	if v.w < 70 {
		v.Rows.Columns[colLagClient].Width = 8
	}
}
