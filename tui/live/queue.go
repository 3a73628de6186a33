package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

const (
	// HeldMessages are asked of the head of a cache.
	HeldMessages = 50
	HeldToDecide = 1000 // when an operator decides about them
	heldLimit    = 2 * time.Second
	bodyPreview  = 1000 // cells
)

// QueueView is everything about one queue, and the head of its cache.
type QueueView struct {
	env    *page.Env
	pic    Picture
	w, h   int
	MQ     engine.MessageQueue // true name
	List   table.State[int64]  // by queue offset
	Held   []HeldRow
	asked  bool // an answer has come
	zoomed bool // the messages only
	err    string
	scroll int
	Head   HeadMsg // of a watched group's queue: the message it waits for
}

// NewQueueView shows one queue.
func NewQueueView(e *page.Env, mq engine.MessageQueue) QueueView { return QueueView{env: e, MQ: mq} }

// Update takes a size, an action, a click or a picture.
func (v QueueView) Update(msg any) QueueView {
	switch msg := msg.(type) {
	case PictureMsg:
		v.pic = msg.Picture
		if q := v.pic.Scene.Queue(v.MQ); q == nil || !q.Own { // what was cached here is the next owner's business
			v.Held, v.err, v.asked = nil, "", false
			v.List.SetKeys(nil)
		}
		v.layout()
	case page.SizeMsg:
		v.w, v.h = msg.W, msg.H
		v.layout()
	case HeadMsg:
		if msg.MQ == v.MQ && !v.pic.frozen {
			v.Head = msg
		}
	case HeldMsg:
		if msg.MQ != v.MQ || v.pic.frozen {
			return v
		}
		v.Held, v.err, v.asked = msg.Rows, msg.err, true
		keys := make([]int64, len(v.Held))
		for i := range v.Held {
			keys[i] = v.Held[i].Offset
		}
		v.List.SetKeys(keys)
	case page.ActionMsg:
		switch msg.Action {
		case "left":
			v.scroll = max(v.scroll-16, 0)
		case "right":
			v.scroll += 16
		case "far-left":
			v.scroll = 0
		case "mark-message":
			v.List.ToggleMark()
			v.List.Move(1)
		case "mark-range":
			v.List.MarkRange()
		case "mark-all":
			v.List.MarkAll(func(i int) bool { return !v.Held[i].Held.IsZero() })
		case "zoom":
			v.zoomed = !v.zoomed
			v.layout()
		default:
			page.MoveBy(&v.List, msg.Action)
		}
	}
	return v
}

func (v *QueueView) layout() {
	above := len(v.facts()) + 2
	if v.zoomed {
		above = 0
	}
	v.List.Resize(max(v.h-above-page.TableFrame, 1))
}

// fact is one line of the upper part: two columns where there is room.
type fact struct{ name, text string }

// facts are the lines about the queue, packed into the width.
func (v *QueueView) facts() []string {
	s := v.pic.Scene
	q := s.Queue(v.MQ)
	if q == nil {
		return []string{" this queue is not in the route any more: " + draw.SafeText(v.MQ.String())}
	}
	facts := v.factsOf(s, q)
	if v.env.Options.Hold && q.Own {
		facts = v.briefFacts(facts)
	}
	const leastRows = 4
	if v.w < 100 || len(facts)+2+page.TableFrame+leastRows <= v.h {
		lines := make([]string, 0, len(facts))
		for _, f := range facts {
			lines = append(lines, fmt.Sprintf(" %-10s %s", f.name, f.text))
		}
		return lines
	}
	half := (len(facts) + 1) / 2
	column := (v.w - 3) / 2
	lines := make([]string, half)
	for i := range half {
		line := draw.Pad(table.Cut(fmt.Sprintf(" %-11s %s", facts[i].name, facts[i].text), column-1), column)
		if j := i + half; j < len(facts) {
			line += fmt.Sprintf(" %-11s %s", facts[j].name, facts[j].text)
		}
		lines[i] = line
	}
	return lines
}

func (v *QueueView) factsOf(s *Scene, q *engine.QueueSnapshot) []fact {
	if s.Watch != nil {
		return v.watchFacts(s, q)
	}
	return v.queueFacts(s, q)
}

// queueFacts tells everything of a QueueSnapshot, ordered by what matters at night.
func (v *QueueView) queueFacts(s *Scene, q *engine.QueueSnapshot) []fact {
	now := v.pic.Now
	lag := words.Unknown
	if n, ok := LagOf(q); ok {
		lag = words.Grouped(n)
	}
	has := "broker has"
	if q.OffsetsFrom != 0 {
		has = words.Role(q.OffsetsFrom) + " has" // it may be behind its master
	}
	facts := []fact{
		{"state", withDetail(q.State.String(), q.Detail) + " since " + v.when(q.StateSince)},
		{"owner", v.ownerText(s, q)},
		{"lag", fmt.Sprintf("%s = max %s − committed %s", lag, words.Offset(q.MaxOffset), words.Offset(q.CommittedOffset))},
		{has, fmt.Sprintf("%s … %s, heard %s", words.Offset(q.MinOffset), words.Offset(q.MaxOffset), words.Ago(q.OffsetsAt, now))},
	}
	if !q.Own {
		stored := "last committed message stored " + words.Unknown
		if !q.LastConsumedStored.IsZero() {
			stored = "last committed message stored " + v.when(q.LastConsumedStored)
		}
		return append(facts, fact{"consumed", stored}, fact{"inside", "not ours: what another member caches is not known here"})
	}
	persisted := "not yet"
	if q.PersistedOffset != engine.Unknown {
		persisted = fmt.Sprintf("%s, %s", words.Grouped(q.PersistedOffset), words.Ago(q.PersistedAt, now))
		if behind := q.CommittedOffset - q.PersistedOffset; behind > 0 && q.CommittedOffset != engine.Unknown {
			persisted += fmt.Sprintf(" (%s not stored yet)", words.Grouped(behind))
		}
	}
	limit := s.Limits
	facts = append(facts,
		fact{"durable", persisted},
		fact{"in flight", ownInFlightText(q)},
		fact{"cached", fmt.Sprintf("%s of %s: %s running, %s local retry", words.Grouped(q.CachedCount), words.Grouped(limit.Count), words.Grouped(q.InProcess), words.Grouped(q.LocalRetry))},
		fact{"size", fmt.Sprintf("%s of %s MiB pinned, bodies %s", words.Size(q.CachedBytes), words.Grouped(limit.SizeMiB), words.Size(q.BodyBytes))},
		fact{"span", v.spanText(s, q)},
		fact{"head", v.headText(q)},
		fact{"flow", v.flowText(q)},
		fact{"pull", v.pullText(q)},
		fact{"consume", fmt.Sprintf("last %s · consumed %s · failed %s · sent back %s", words.Ago(q.LastConsume, now),
			words.Grouped(int64(q.Consumed)), words.Grouped(int64(q.Failed)), words.Grouped(int64(q.SentBack)))},
	)
	if s.Orderly {
		if q.Consuming > 0 {
			facts = append(facts, fact{"taken", fmt.Sprintf("%s, %s … %s, not committed yet", words.Grouped(q.Consuming), words.Offset(q.ConsumingMin), words.Offset(q.ConsumingMax))})
		}
		lock := "not held"
		if q.Locked {
			lock = "held, granted " + words.Ago(q.LockedAt, now) + ", lost after " + words.Age(core.LockMaxLive) + " without renewal"
		}
		facts = append(facts, fact{"lock", lock})
	}
	if text := v.pauseText(s, q); text != "" {
		facts = append(facts, fact{"pause", text})
	}
	if q.LastError != "" {
		facts = append(facts, fact{"last error", v.when(q.LastErrorAt) + " " + q.LastError})
	}
	return facts
}

// briefFacts are those that matter to a decision about held messages, where there
// is no room for all and for two thirds of the height with messages.
func (v *QueueView) briefFacts(facts []fact) []fact {
	room := max((v.h-2-page.TableFrame)/3, 2)
	for _, name := range []string{"pull", "size", "owner", "broker has", "durable", "in flight", "span", "consume", "flow", "lag", "pause", "taken", "lock", "cached", "last error", "head"} {
		if len(facts) <= room {
			break
		}
		facts = slices.DeleteFunc(facts, func(f fact) bool { return f.name == name })
	}
	return facts
}

// when is a time of day with its age.
func (v *QueueView) when(t time.Time) string {
	if t.IsZero() {
		return words.Unknown
	}
	if v.env.Mode == words.TimeRelative {
		return words.Ago(t, v.pic.Now)
	}
	return v.env.Clock(t, words.ClockSeconds) + " (" + words.Ago(t, v.pic.Now) + ")"
}

func (v *QueueView) ownerText(s *Scene, q *engine.QueueSnapshot) string {
	n := s.Index[v.MQ]
	switch {
	case s.ownersFinding(n) == "TWO OWNERS":
		names := make([]string, len(s.Told.owners[n]))
		for i, id := range s.Told.owners[n] {
			names[i] = s.letters[id] + " " + id
		}
		return "TWO OWNERS: " + strings.Join(names, " and ") + ", as they told " + words.Ago(s.Told.At, v.pic.Now)
	case s.ownersFinding(n) == "UNOWNED":
		return fmt.Sprintf("UNOWNED: nobody says to hold it, told %s; %s gives it to %s", words.Ago(s.Told.At, v.pic.Now), s.Strategy, words.OrUnknown(s.Raw.Queues[n].Owner))
	case q.Owner == "":
		return words.Unknown + ": no allocation known"
	case q.Own && q.Owner == s.ClientID:
		return s.letters[q.Owner] + " " + q.Owner + " (this)"
	case q.Own:
		return fmt.Sprintf("held here; %s gives it to %s %s", s.Strategy, s.letters[q.Owner], q.Owner)
	}
	if s.Told == nil {
		return fmt.Sprintf("%s %s, computed by %s%s", s.letters[q.Owner], q.Owner, s.Strategy, words.Because(s.ToldWhy))
	}
	return fmt.Sprintf("%s %s, as it told %s", s.letters[q.Owner], q.Owner, words.Ago(s.Told.At, v.pic.Now))
}

func (v *QueueView) spanText(s *Scene, q *engine.QueueSnapshot) string {
	ends := "empty"
	if q.CachedMin != engine.Unknown {
		ends = words.Offset(q.CachedMin) + " … " + words.Offset(q.CachedMax)
	}
	if s.Orderly {
		return fmt.Sprintf("%s, %s (no limit when orderly)", words.Grouped(q.Span), ends)
	}
	return fmt.Sprintf("%s of %s, first to last cached: %s", words.Grouped(q.Span), words.Grouped(s.Limits.Span), ends)
}

func ownInFlightText(q *engine.QueueSnapshot) string {
	n := ownInFlight(q)
	text := words.Grouped(n) + " pulled and not committed"
	if n == 0 {
		return text
	}
	text += fmt.Sprintf(": %s not done, %s done and waiting", words.Grouped(q.CachedCount), words.Grouped(q.CachedDone))
	if other := n - q.CachedCount - q.CachedDone; other > 0 {
		text += fmt.Sprintf(", %s not for us", words.Grouped(other))
	}
	return text
}

// headText is about the message that holds the commit back.
func (v *QueueView) headText(q *engine.QueueSnapshot) string {
	if q.CachedMin == engine.Unknown {
		return words.None
	}
	text := "waiting for a thread"
	switch {
	case !q.HeadHeld.IsZero():
		text = "held for the operator for " + words.Span(v.pic.Now.Sub(q.HeadHeld))
	case !q.HeadStarted.IsZero():
		text = "in its listener for " + words.Span(v.pic.Now.Sub(q.HeadStarted))
	}
	return fmt.Sprintf("%s %s, stored %s, id %s", words.Grouped(q.CachedMin), text, words.Ago(q.HeadStored, v.pic.Now), words.OrUnknown(q.HeadMessageID))
}

func (v *QueueView) flowText(q *engine.QueueSnapshot) string {
	if q.Flow == core.FlowNone {
		return "no limit hit"
	}
	return fmt.Sprintf("%s, %s times since %s", words.FlowText(q.Flow, q.FlowValue, q.FlowLimit), words.Grouped(q.FlowTimes), v.when(q.FlowSince))
}

func (v *QueueView) pullText(q *engine.QueueSnapshot) string {
	rtt := words.None
	if q.PullRTT > 0 {
		rtt = words.Span(q.PullRTT)
	}
	return fmt.Sprintf("next %s · last %s from %s, %s in %s · pulled %s · generation %d", words.Offset(q.NextOffset), words.Ago(q.LastPull, v.pic.Now),
		words.Role(q.BrokerID), words.OrUnknown(q.LastStatus), rtt, words.Grouped(int64(q.Pulled)), q.Generation)
}

func (v *QueueView) pauseText(s *Scene, q *engine.QueueSnapshot) string {
	p, whole := s.pauseOf(q)
	what := ""
	if whole {
		what = "whole consumer "
	}
	if p == nil {
		return ""
	}
	text := what + "by " + p.By + words.Quoted(p.Reason) + " since " + v.when(p.Since)
	if !p.ResumeAt.IsZero() {
		text += ", resumes in " + words.Age(p.ResumeAt.Sub(v.pic.Now))
	}
	return text
}

// View draws it in w by h cells.
func (v QueueView) View(w, h int) string {
	th, c := v.env.Theme, draw.NewCanvas(w, h)
	s := v.pic.Scene
	q := s.Queue(v.MQ)
	if !v.zoomed {
		c.Top(draw.ThinBox, th.Frame, th.Title, "Queue  "+draw.SafeText(v.MQ.Short()), draw.SafeText(v.MQ.Topic))
		for _, line := range v.facts() {
			if c.Lines >= h-1 {
				break
			}
			c.Boxed(draw.ThinBox, th.Frame, draw.Styled(th.Text, line))
		}
		c.Bottom(draw.ThinBox, th.Frame)
	}
	if h-c.Lines < page.TableFrame+1 {
		c.Blank(h)
		return c.String()
	}
	if s != nil && s.Watch != nil {
		v.drawHead(c, h)
		return c.String()
	}
	first, end := v.List.Window()
	details := ""
	if q != nil && q.Own {
		details = fmt.Sprintf("oldest first · %s cached", words.Grouped(q.CachedCount))
	}
	title := "Messages in the cache"
	if v.env.Options.Hold && q != nil && q.Own {
		title, details = v.holdTitle(q)
	}
	c.Top(draw.ThinBox, th.Frame, th.Bold, title, details)
	layout := table.Fit(heldColumns, w-2, w, 0)
	c.TableHead(th, &layout, heldColumns, table.Order{}, "", "")
	for i := first; i < end && c.Lines < h-1; i++ {
		v.drawHeld(c, &layout, i)
	}
	note := v.note(q)
	for c.Lines < h-1 {
		c.Boxed(draw.ThinBox, th.Frame, draw.Styled(th.Text, note))
		note = ""
	}
	c.Bottom(draw.ThinBox, th.Frame)
	return c.String()
}

// holdTitle is the list's upper edge where messages are held.
func (v *QueueView) holdTitle(q *engine.QueueSnapshot) (title, details string) {
	first, end := v.List.Window()
	title = "Held messages"
	if v.List.Len() > 0 {
		title = fmt.Sprintf("Held messages  %d-%d of %s", first+1, end, words.Grouped(int64(v.List.Len())))
	}
	if n := v.List.MarkCount(); n > 0 {
		details = fmt.Sprintf("%d marked · ", n)
	}
	details += fmt.Sprintf("%s held of %s cached", words.Grouped(q.Held), words.Grouped(q.CachedCount))
	if int(q.CachedCount) > v.List.Len() && v.List.Len() >= HeldToDecide {
		details += ", the oldest are listed"
	}
	return title, details
}

// Current is the message under the cursor.
func (v *QueueView) Current() *HeldRow {
	if i := v.List.Cursor(); i < len(v.Held) && v.List.Len() > 0 {
		return &v.Held[i]
	}
	return nil
}

// MarkedRows are the marked messages of the list.
func (v *QueueView) MarkedRows() (rows []*HeldRow) {
	for i := range v.Held {
		if v.List.IsMarked(v.Held[i].Offset) {
			rows = append(rows, &v.Held[i])
		}
	}
	return rows
}
