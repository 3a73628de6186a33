package tui

import (
	"fmt"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// lagKey is a row of the tree: a topic, or one of its queues. Names are true ones.
type lagKey struct {
	topic string
	mq    engine.MessageQueue // of a queue's row
	queue bool
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

// lagView is how far a group is behind: a tree of topics and queues.
type lagView struct {
	env    *env
	name   string // true name of the group
	w, h   int
	ask    question
	rows   lister[lagKey]
	raw    inspect.GroupLag
	data   inspect.GroupLag // safe to print; what is shown
	topics []lagTopic
	index  map[lagKey]int // to topics, or to queues of data
	open   map[string]bool
	hist   lagHistory
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

func newLagView(e *env, group string) lagView {
	v := lagView{env: e, name: group, ask: question{kind: askLag, names: []string{group}, what: "lag of " + draw.SafeText(group), every: lagEvery}, open: map[string]bool{}}
	v.rows = lister[lagKey]{env: e, title: "Lag  " + draw.SafeText(group), orders: lagOrders, rising: []string{"queue"}, focused: true}
	v.rows.order("lag")
	return v
}

func (v lagView) filterText() string { return v.rows.filter.text }

func (v lagView) subject() string {
	text := "group " + draw.SafeText(v.name)
	if !v.ask.asked {
		return text
	}
	if p := pauseText(v.data.Pause); p != "" {
		text += "  " + p
		if v.data.State == inspect.StatePaused { // said already
			return fmt.Sprintf("%s  (%s)", text, membersCount(v.data.Members))
		}
	}
	return fmt.Sprintf("%s  (%s: %s)", text, orUnknown(v.data.State), membersCount(v.data.Members))
}

// membersCount is a count of members that need not be known.
func membersCount(n inspect.Number) string {
	if n.Known && n.Value == 1 && !n.AtLeast {
		return "1 member"
	}
	return words.NumberText(n) + " members"
}

func (v lagView) narrow(text string) (page, error) {
	err := v.rows.narrow(text, lagColumns)
	if err == nil {
		v.arrange()
	}
	return v, err
}

func (v lagView) status() pageStatus {
	s := pageStatus{main: &v.ask, frozen: v.frozen, hidden: v.hidden}
	known := len(v.data.Queues) - v.data.UnknownQueues
	s.fine = fmt.Sprintf("%d of %s read", known, words.Plural(len(v.data.Queues), "queue"))
	s.health = partial(v.env.th, v.data.Problems)
	if text := v.wrong(); text != "" {
		if s.health.Text != "" {
			text += " · " + strings.TrimPrefix(s.health.Text, " ! ")
		}
		s.health = draw.Styled(v.env.th.Bad, " "+words.Failure.Sign()+" "+text)
	}
	switch {
	case s.health.Text != "":
	case v.data.Model == broadcasting: // nothing failed: no broker has these offsets
		s.fine = "broadcasting: the members keep the offsets"
	case v.data.UnknownQueues > 0:
		s.health = draw.Styled(v.env.th.Warn, fmt.Sprintf(" ! partial: %d of %s read, %d unknown", known, words.Plural(len(v.data.Queues), "queue"), v.data.UnknownQueues))
	}
	return s
}

// wrong is the worst that the page's own rows show; "" when none is red.
func (v *lagView) wrong() string {
	expired, shared, without := int64(0), 0, 0
	for i := range v.data.Queues {
		q := &v.data.Queues[i]
		expired += q.Expired
		if len(q.Owners) > 1 && !q.Pop {
			shared++
		}
		if v.clientText(q) == unowned {
			without++
		}
	}
	switch texts := v.data.UnreadableTexts(); {
	case shared > 0 && v.data.Model != broadcasting:
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

func (v lagView) update(msg any) (page, request) {
	switch msg := msg.(type) {
	case sizeMsg:
		v.w, v.h = msg.w, msg.h
		v.layout()
	case dueMsg:
		r := v.env.askDue(&v.ask)
		return v, r
	case hurryMsg:
		v.ask.hurried = true
		v.rows.resort()
	case orderMsg:
		if !v.rows.order(msg.column) {
			return v, refuseRequest{"sort: columns are " + strings.Join(lagOrders, ", ")}
		}
		v.arrange()
	case closedMsg:
		v.ask.drop()
	case answerMsg:
		if v.ask.answer(msg, v.env.now) {
			v.take(lagAnswer{msg.raw.(inspect.GroupLag), msg.safe.(inspect.GroupLag)})
		} else if v.ask.gone {
			v.hist, v.frozen, v.newest = lagHistory{}, time.Time{}, nil
			v.raw, v.data = inspect.GroupLag{}, inspect.GroupLag{}
			v.gather()
			v.arrange()
		}
	case actionMsg:
		return v.act(msg.action)
	case clickMsg:
		above := len(v.figuresIn(v.h))
		v.rows.click(msg.y-above, v.h-above)
	}
	return v, nil
}

// take takes an answer; a frozen screen keeps it for later and counts what changed.
func (v *lagView) take(x lagAnswer) {
	v.hist.add(v.env.now, &x.raw)
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
	v.raw, v.data = x.raw, x.safe
	v.gather()
	v.arrange()
}

func (v *lagView) freeze() {
	if v.frozen.IsZero() {
		v.frozen = v.env.now
		return
	}
	v.frozen, v.hidden = time.Time{}, 0
	if x := v.newest; x != nil {
		v.newest = nil
		v.raw, v.data = x.raw, x.safe
		v.gather()
		v.arrange()
	}
}

func (v lagView) act(a action) (page, request) {
	key, ok := v.rows.list.Current()
	switch a {
	case "escape":
		arrange, taken := v.rows.escape()
		if arrange {
			v.arrange()
		}
		if !taken {
			return v, backRequest{}
		}
		return v, nil
	case "freeze":
		v.freeze()
		return v, nil
	case "detail":
		switch {
		case !ok:
		case key.queue:
			return v, v.describe(key)
		default:
			v.open[key.topic] = !v.open[key.topic]
			v.arrange()
		}
		return v, nil
	case "describe":
		return v, openRequest{place{view: viewGroup, group: v.name}}
	case "tail-here":
		if !ok {
			return v, nil
		}
		r := TailRequest{Topic: key.topic}
		if key.queue {
			r.Queues = []engine.MessageQueue{key.mq}
			if q := v.queue(key); q.Committed.Known {
				r.From = TailPosition{ByOffset: true, Offset: q.Committed.Value}
			}
		}
		return v, openTailRequest{r}
	case "reset":
		return v, v.reset()
	case "copy", "copy-json":
		return v, v.copy(a == "copy-json")
	}
	if arrange, _ := v.rows.act(a); arrange {
		v.arrange()
	}
	return v, nil
}

// reset is about the marked queues, else the topic under the cursor or the queue's.
func (v *lagView) reset() request {
	if !v.ask.asked {
		return refuseRequest{"reset: the lag has not been read yet"}
	}
	key, ok := v.rows.list.Current()
	if !ok {
		return refuseRequest{"reset: there is no queue of this group"}
	}
	r := resetAnyRequest{group: v.name}
	if perSecond, ok := v.hist.consumed(); ok {
		r.rate = perSecond
	}
	for _, k := range v.rows.list.Marked() {
		if k.queue {
			r.queues = append(r.queues, k.mq)
		}
	}
	if len(r.queues) == 0 && key.queue {
		r.queues = []engine.MessageQueue{key.mq}
	}
	if t := v.topic(key.topic); t != nil && t.dead {
		return refuseRequest{"reset: dead letters are not consumed by the group; eyeq message resend sends them back"}
	}
	r.topic = key.topic
	return r
}

func (v *lagView) copy(asJSON bool) request {
	key, ok := v.rows.list.Current()
	if !ok {
		return refuseRequest{"there is nothing under the cursor to copy"}
	}
	if asJSON {
		return copyRequest{v.rowsOf(v.rows.targets()).copied(map[bool]string{true: "the queue", false: "the topic"}[key.queue])}
	}
	if key.queue {
		return copyRequest{literal("the queue", key.mq.String())}
	}
	return copyRequest{literal("the topic", key.topic)}
}

// queue is the row of a queue.
func (v *lagView) queue(k lagKey) *inspect.QueueLag { return &v.data.Queues[v.index[k]] }

func (v *lagView) topic(name string) *lagTopic {
	if i, ok := v.index[lagKey{topic: name}]; ok {
		return &v.topics[i]
	}
	return nil
}

// describe is everything about a queue as text.
func (v *lagView) describe(k lagKey) request {
	q, now := v.queue(k), v.env.now
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
		return t.In(v.env.o.Location).Format("2006-01-02 15:04:05.000 -07:00") + "   " + words.Ago(t, now)
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
		lines = append(lines, "expires      the next message about "+q.ExpiresAt.In(v.env.o.Location).Format("2006-01-02 15:04 -07:00")+", in "+words.Age(q.ExpiresAt.Sub(now)))
	}
	return textRequest{"Queue " + q.Short(), append(lines, "client       "+v.clientText(q), "owners       "+orDash(ownersText(q)))}
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
func (v *lagView) shareCells() int {
	if v.w < 140 {
		return 8
	}
	return 12
}

func (v *lagView) layout() {
	v.rows.list.Resize(v.h - len(v.figuresIn(v.h)) - tableFrame) // keys go by pages of it
	name, offsets := 22, len("committed")
	for i := range v.topics {
		name = max(name, table.Width(v.topics[i].safe)+8)
	}
	for i := range v.data.Queues {
		q := &v.data.Queues[i]
		name = max(name, table.Width(q.Short())+2)
		offsets = max(offsets, groupedWidth(q.Max.Value))
	}
	offsets = min(offsets, 20)
	widest := name
	name = min(name, max(v.w/5, 20))
	v.rows.columns = []table.Column{
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
		v.rows.columns[colLagClient].Width = 8
	}
}
