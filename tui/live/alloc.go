package live

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/tui/draw"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// newFor is how long a member counts as new.
const newFor = time.Minute

// drawAlloc draws who gets which queue of the shown topic.
func (v *View) drawAlloc(c *draw.Canvas) {
	th := v.env.Theme
	t, nth := v.ShownTopic()
	label := "Allocation"
	if v.w < 86 {
		label = "Alloc"
	}
	if t == nil {
		c.Top(v.box(PaneAlloc), th.Frame, v.titleStyle(PaneAlloc), label, "")
		v.fillAlloc(c, []string{"no topics yet"})
		c.Bottom(draw.ThinBox, th.Frame)
		return
	}
	title := label + "  " + t.Topic
	if v.w < 86 {
		title = label + " " + t.Topic
	}
	c.Top(v.box(PaneAlloc), th.Frame, v.titleStyle(PaneAlloc), title, v.allocDetails(t, nth))
	if notes := v.allocNotes(t); len(t.Members) == 0 {
		v.fillAlloc(c, notes)
		c.Bottom(draw.ThinBox, th.Frame)
		return
	}
	grid := v.gridBrokers(t)
	if v.plan.allocHead {
		c.Open(draw.ThinBox, th.Frame)
		c.Put(th.Header, draw.Pad("    member (client id)", 4+v.memberWidth(t)+1+7)+"queues  share")
		if v.plan.grid {
			c.To(v.gridX(t))
			for i, b := range grid {
				if i > 0 {
					c.Skip(gridGap)
				}
				c.Put(th.Header, b.name)
				for _, id := range b.ids {
					c.Put(th.Header, " "+strconv.Itoa(int(id)%10))
				}
			}
		} else {
			c.To(v.gridX(t) - 1)
			c.Put(th.Header, "by broker")
		}
		c.Close(draw.ThinBox, th.Frame)
	}
	first, end := v.Members.Window()
	for i := first; i < end && i < len(t.Members); i++ {
		v.drawMember(c, t, nth, i, grid)
	}
	for range v.plan.alloc - (end - first) {
		c.Boxed(draw.ThinBox, th.Frame)
	}
	c.Bottom(draw.ThinBox, th.Frame)
}

// fillAlloc writes notes in place of members.
func (v *View) fillAlloc(c *draw.Canvas, notes []string) {
	n := v.plan.alloc
	if v.plan.allocHead {
		n++
	}
	notes = draw.FitNotes(notes, c.W-4, n)
	for i := range n {
		text := ""
		if i < len(notes) {
			text = " " + notes[i]
		}
		c.Boxed(draw.ThinBox, v.env.Theme.Frame, draw.Styled(v.env.Theme.Text, text))
	}
}

// allocDetails is the right part of the upper edge.
func (v *View) allocDetails(t *engine.TopicSnapshot, nth int) string {
	s := v.pic.Scene
	if s.Watch != nil {
		return v.watchAllocDetails(t, nth)
	}
	if v.w < 86 {
		by := s.Strategy
		if s.Told == nil && by != "" && !IsBroadcast(s) && len(t.Members) > 1 {
			by += " computed"
		}
		text := strings.TrimSpace(fmt.Sprintf("%s %dq/%dm", by, t.Queues, len(t.Members)))
		if len(s.Topics) > 1 {
			text = fmt.Sprintf("%d/%d · ", nth+1, len(s.Topics)) + text
		}
		if !s.LastRebalance.IsZero() {
			text += " · " + words.Ago(s.LastRebalance, v.pic.Now)
		}
		return text
	}
	text := fmt.Sprintf("%s · %s / %s", s.by(), words.Plural(t.Queues, "queue"), words.Plural(len(t.Members), "member"))
	if IsBroadcast(s) {
		text = fmt.Sprintf("broadcasting: each member has all %s", words.Plural(t.Queues, "queue"))
	}
	if len(s.Topics) > 1 {
		text = fmt.Sprintf("topic %d of %d (%s) · ", nth+1, len(s.Topics), v.env.Keys.First("next-topic")) + text
	}
	if t.MembersError != "" {
		if t.MembersAt.IsZero() {
			return text + " · members unknown"
		}
		return text + " · members " + words.Since(t.MembersAt, v.pic.Now) + " old"
	}
	if next := s.NextRebalance.Sub(v.pic.Now); !s.NextRebalance.IsZero() && next >= 0 {
		text += " · next rebalance " + words.Age(next)
	}
	return text
}

// allocNotes says why there is no allocation.
func (v *View) allocNotes(t *engine.TopicSnapshot) []string {
	switch {
	case t.Missing != "":
		return []string{words.Failure.Sign() + " " + t.Topic + ": " + t.Missing, "  waited for; no allocation without queues"}
	case t.MembersError != "":
		return []string{words.Failure.Sign() + " members " + words.Unknown + ": " + t.MembersError, "  asked " + words.OrUnknown(t.MembersFrom) + "; what is held stays as it is"}
	case v.watched() != nil && v.watched().Empty():
		return []string{"no member is connected: nobody consumes, offsets stay as they are"}
	case v.pic.Scene.State == engine.CreateJust:
		return []string{"joining the group: no members known yet"}
	}
	return []string{"no members: no broker has named any yet"}
}

// memberWidth is the room of a client id.
func (v *View) memberWidth(t *engine.TopicSnapshot) int {
	n := 14
	for i := range t.Members {
		n = max(n, table.Width(t.Members[i].ClientID))
	}
	most := 40
	switch {
	case v.w < 70:
		most = 18
	case v.w < 104:
		most = 24
	case v.w < 140:
		most = 22
	}
	return min(n, most)
}

// drawMember draws one member's line.
func (v *View) drawMember(c *draw.Canvas, t *engine.TopicSnapshot, nth, i int, grid []gridBroker) {
	th, m, cursor := v.env.Theme, &t.Members[i], i == v.Members.Cursor()
	focused := cursor && v.Focus == PaneAlloc
	mark := " "
	if cursor {
		mark = v.env.Glyphs.Cursor
	}
	text, bar := th.Text, th.Bar
	if m.Self {
		text = th.Bold
	}
	if focused {
		text, bar = th.Cursor, th.Cursor
	}
	c.Open(draw.ThinBox, th.Frame)
	gap := " "
	if v.w < 86 {
		gap = ""
	}
	c.Put(text, mark+gap+draw.Pad(v.pic.Scene.letters[m.ClientID], 2))
	c.Cell(text, table.CutMiddle(m.ClientID, v.memberWidth(t)), v.memberWidth(t)+1, false)
	word := ""
	switch {
	case m.Self && v.w < 86:
		word = "this"
	case m.Self:
		word = "(this)"
	case isNew(v.pic.Scene, m, v.pic.Now):
		word = "new"
	}
	if v.w < 86 {
		c.Put(text, draw.Pad(word, 4)+" ")
		c.Put(text, draw.PadLeft(queueCount(m), 3)+" ")
		c.Put(bar, draw.Pad(v.env.Glyphs.Meter(8, share(int64(len(m.Queues)), int64(t.Queues))), 9))
	} else {
		c.Put(text, draw.Pad(word, 7)+draw.PadLeft(queueCount(m), 6)+"  ")
		c.Put(bar, v.env.Glyphs.Meter(10, share(int64(len(m.Queues)), int64(t.Queues))))
		part := words.Percent(float64(len(m.Queues)), float64(t.Queues))
		if m.Unknown {
			part = words.Unknown
		}
		c.Put(text, draw.PadLeft(part, 5)+"  ")
	}
	switch {
	case v.pic.Scene.Watch != nil && m.Unknown:
	case m.Unknown:
		text := "its own list: " + v.pic.Scene.Strategy
		if v.pic.Scene.Told != nil {
			text = words.Warning.Sign() + " does not say what it holds"
		}
		c.Put(th.Dim, text)
	case v.plan.grid:
		c.To(v.gridX(t))
		own := make(map[engine.MessageQueue]bool, len(m.Queues))
		for _, mq := range m.Queues {
			own[mq] = true
		}
		mark := v.pic.Scene.letters[m.ClientID]
		if len(mark) > 1 {
			mark = v.env.Glyphs.Full
		}
		for i, b := range grid {
			if i > 0 {
				c.Skip(gridGap)
			}
			c.Skip(table.Width(b.name))
			var row strings.Builder
			for _, id := range b.ids {
				row.WriteByte(' ')
				if own[engine.MessageQueue{Topic: t.Topic, BrokerName: b.name, QueueID: id}] {
					row.WriteString(mark)
				} else {
					row.WriteString(v.env.Glyphs.Void)
				}
			}
			c.Put(text, row.String())
		}
	default:
		c.Put(text, v.ranges(m.Queues))
	}
	if v.pic.Scene.Watch != nil {
		c.Put(th.Warn, v.memberNote(m, nth))
	}
	if m.Self && m.Held != len(m.Queues) {
		c.Put(th.Warn, fmt.Sprintf("  holds %d", m.Held))
	}
	c.Close(draw.ThinBox, th.Frame)
}

// queueCount is how many queues a member has by the strategy.
func queueCount(m *engine.MemberSnapshot) string {
	if m.Unknown {
		return words.Unknown
	}
	return strconv.Itoa(len(m.Queues))
}

// isNew reports whether a member joined a moment ago: seen first well after our own
// start, when everybody was new to us.
func isNew(s *Scene, m *engine.MemberSnapshot, now time.Time) bool {
	return !m.Self && !m.Since.IsZero() && now.Sub(m.Since) < newFor && m.Since.Sub(s.Started) > 5*time.Second
}

// ranges names queues by broker: "a:0-5 b:3,7".
func (v *View) ranges(queues []engine.MessageQueue) string {
	var b strings.Builder
	broker := ""
	for i := 0; i < len(queues); {
		j := i
		for j+1 < len(queues) && queues[j+1].BrokerName == queues[i].BrokerName && queues[j+1].QueueID == queues[j].QueueID+1 {
			j++
		}
		if q := queues[i]; q.BrokerName != broker || i == 0 {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(v.pic.Scene.Short.Name(q.BrokerName) + ":")
			broker = q.BrokerName
		} else {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(int(queues[i].QueueID)))
		if j > i {
			b.WriteString("-" + strconv.Itoa(int(queues[j].QueueID)))
		}
		i = j + 1
	}
	return b.String()
}

// gridBroker is one broker's columns of the grid.
type gridBroker struct {
	name string
	ids  []int32
}

const gridGap = 4

func (v *View) gridBrokers(t *engine.TopicSnapshot) []gridBroker {
	var brokers []gridBroker
	s := v.pic.Scene
	for i := range s.Queues {
		q := &s.Queues[i]
		if q.Topic != t.Topic {
			continue
		}
		n := slices.IndexFunc(brokers, func(b gridBroker) bool { return b.name == q.BrokerName })
		if n < 0 {
			brokers = append(brokers, gridBroker{name: q.BrokerName})
			n = len(brokers) - 1
		}
		brokers[n].ids = append(brokers[n].ids, q.QueueID)
	}
	return brokers
}

func (v *View) gridX(t *engine.TopicSnapshot) int {
	return 1 + 4 + v.memberWidth(t) + 1 + 7 + 6 + 2 + 10 + 5 + 3
}

// gridFits reports whether the shown topic's queues fit as a grid.
func (v *View) gridFits() bool {
	t, _ := v.ShownTopic()
	if t == nil || v.pic.Scene == nil {
		return false
	}
	brokers := v.gridBrokers(t)
	n := v.gridX(t) + 1
	for i, b := range brokers {
		if i > 0 {
			n += gridGap
		}
		n += table.Width(b.name) + 2*len(b.ids)
	}
	return len(brokers) > 0 && n+12 <= v.w // "  holds 12" must fit too
}

// drawAllocLine is the allocation in one line: A6 B5 C5.
func (v *View) drawAllocLine(c *draw.Canvas) {
	th := v.env.Theme
	t, _ := v.ShownTopic()
	switch {
	case t == nil:
		c.Put(th.Dim, " alloc: no topics yet")
	case len(t.Members) == 0:
		c.Put(th.Text, " alloc "+t.Topic+": "+strings.TrimSpace(v.allocNotes(t)[0]))
	default:
		c.Put(th.Text, " alloc "+t.Topic+" ")
		for i := range t.Members {
			m := &t.Members[i]
			st := th.Text
			if m.Self {
				st = th.Bold
			}
			c.Put(st, " "+v.pic.Scene.letters[m.ClientID]+queueCount(m))
			if m.Self {
				c.Put(st, "(this)")
			}
		}
		by := "by " + words.OrUnknown(v.pic.Scene.Strategy)
		if v.pic.Scene.Watch == nil {
			by = v.pic.Scene.by()
		}
		if IsBroadcast(v.pic.Scene) {
			by = "each all"
		}
		c.Put(th.Dim, fmt.Sprintf("  %s of %d", by, t.Queues))
	}
	c.End()
}
