package live

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

const headLimit = 10 * time.Second

// HeadMsg is the message at which a watched queue stands.
type HeadMsg struct {
	MQ     engine.MessageQueue
	Offset int64
	Row    *HeldRow // nil: err says why, or there is none
	Err    string
	Poll   int
}

// head reads a message by its place.
func ReadHeadOf(c page.Commands, cl page.Cluster, mq engine.MessageQueue, offset int64, poll int) tea.Cmd {
	return c.Within(headLimit, func(ctx context.Context) tea.Msg {
		m, err := cl.Head(ctx, mq, offset)
		switch {
		case err != nil:
			return HeadMsg{mq, offset, nil, page.ErrorText(err), poll}
		case m.StoreSize() == 0:
			return HeadMsg{mq, offset, nil, "the broker has no message there", poll}
		}
		r := &HeldRow{ID: draw.SafeText(m.MessageID())}
		r.letIn(&m)
		return HeadMsg{mq, offset, r, "", poll}
	})
}

// HeadOffset is the message that a watched queue waits for: the oldest that its holder
// has not finished, else the first that is not committed. ok is false when nothing
// waits or nobody knows.
func HeadOffset(q *engine.QueueSnapshot) (int64, bool) {
	if q.Own && q.CachedMin != engine.Unknown {
		return q.CachedMin, true
	}
	lag, known := q.Lag()
	return q.CommittedOffset, known && lag > 0
}

// consumeText says when a queue's holder finished a message last. How long nothing was
// finished of what it has cached is its own clock's difference.
func consumeText(q *engine.QueueSnapshot, w *watchedQueue, now time.Time) string {
	text := "last " + words.Ago(q.LastConsume, now)
	if w.idle >= time.Second {
		text += ", no message finished for at least " + words.Age(w.idle)
	}
	return text
}

// watchFacts tells everything that is known of a watched queue, ordered by what
// matters at night.
func (v *QueueView) watchFacts(s *Scene, q *engine.QueueSnapshot) []fact {
	w := &s.Watch.queues[s.Index[v.MQ]]
	now := v.pic.Now
	state := withDetail(q.State.String(), q.Detail) + " since " + v.when(q.StateSince)
	if w.finding != "" {
		state = w.finding + ", " + state
	}
	if w.closed != "" {
		state = w.closed
	}
	if w.standing > 0 {
		state += ", the commit stands still for at least " + words.Age(w.standing)
	}
	facts := []fact{
		{"state", state},
		{"owner", v.watchOwner(s, q, w)},
		{"lag", v.watchLag(w)},
		{"broker has", fmt.Sprintf("%s … %s, asked %s at its %s", words.Offset(q.MinOffset), words.Offset(q.MaxOffset), words.Ago(q.OffsetsAt, now), words.Role(q.BrokerID))},
		{"next", v.watchNext(q, w)},
	}
	if w.inflight.Known && !q.Own {
		facts = append(facts, fact{"in flight", words.Grouped(w.inflight.Value) + " handed out by the broker and not committed"})
	}
	if w.pop {
		facts = append(facts, fact{"in flight", words.Unknown + " a queue: no broker tells what is popped and not acknowledged"})
		if s.Watch.unacked != nil {
			facts = append(facts, fact{"unacked", words.NumberText(*s.Watch.unacked) + " in the group, as its members say"})
		}
	}
	if !q.Own {
		return append(facts, fact{"inside", "what its holder caches is not known: " + strings.Trim(v.insideWhy(s, q, w), "()")})
	}
	span := "none, nothing is cached"
	if q.CachedMin != engine.Unknown {
		span = fmt.Sprintf("%s from the first to the last cached, %s … %s", words.Grouped(q.Span), words.Offset(q.CachedMin), words.Offset(q.CachedMax))
	}
	if w.orderly {
		span += ", no limit when orderly"
	} else {
		span += ", limit " + limitText(w.limits.Span)
	}
	flow := "no limit hit when asked"
	switch {
	case q.Flow != core.FlowNone:
		flow = fmt.Sprintf("%s since %s", words.FlowText(q.Flow, q.FlowValue, q.FlowLimit), v.when(q.FlowSince))
	case !w.limits.Count.Known():
		flow = words.Unknown + words.Because(draw.SafeText(w.limits.Count.Why.Text))
	}
	facts = append(facts,
		fact{"in flight", inFlightText(q, w)},
		fact{"cached", fmt.Sprintf("%s messages, limit %s", words.Grouped(q.CachedCount), limitText(w.limits.Count))},
		fact{"size", fmt.Sprintf("%s MiB, in whole MiB as members tell it, limit %s", words.Grouped(w.sizeMiB), limitText(w.limits.SizeMiB))},
		fact{"span", span},
		fact{"flow", flow},
		fact{"pull", "last " + words.Ago(q.LastPull, now)},
		fact{"consume", consumeText(q, w, now)},
		fact{"read from", "master or slave, its holder does not tell which"},
	)
	if w.orderly {
		lock := "not held"
		if q.Locked {
			renewed := "renewed " + words.Ago(q.LockedAt, now)
			if q.LockedAt.IsZero() {
				renewed = "when it was renewed its member does not tell"
			}
			lock = "held, " + renewed + ", lost after " + words.Age(core.LockMaxLive) + " without"
		}
		facts = append(facts, fact{"lock", lock})
		if q.Consuming > 0 {
			facts = append(facts, fact{"taken", fmt.Sprintf("%s, %s … %s, not committed yet", words.Grouped(q.Consuming), words.Offset(q.ConsumingMin), words.Offset(q.ConsumingMax))})
		}
	}
	return facts
}

// inFlightText says what a watched queue's holder has pulled and not committed.
func inFlightText(q *engine.QueueSnapshot, w *watchedQueue) string {
	text := words.NumberText(w.inFlight) + " pulled and not committed"
	if todo := q.CachedCount + q.Consuming; w.inFlight.Value > 0 {
		text += fmt.Sprintf(": %s not done, %s done and waiting, or not for it", words.Grouped(todo), words.Grouped(q.CachedDone))
	}
	if w.inFlight.AtLeast {
		text += " (this broker does not tell how far it was pulled)"
	}
	return text
}

// insideWhy says why a queue's cache is not known.
func (v *QueueView) insideWhy(s *Scene, q *engine.QueueSnapshot, w *watchedQueue) string {
	switch why := s.Watch.silent[q.Owner]; {
	case w.pop:
		return "by POP a member has no cache a queue"
	case why != "":
		return q.Owner + " does not tell: " + why
	case q.Owner == "" && w.finding != "":
		return "nobody holds it"
	}
	return words.OrUnknown(w.why)
}

func (v *QueueView) watchOwner(s *Scene, q *engine.QueueSnapshot, w *watchedQueue) string {
	text := ""
	switch {
	case len(w.owners) > 1:
		names := make([]string, len(w.owners))
		for i, id := range w.owners {
			names[i] = s.letters[id] + " " + id
		}
		text = strings.Join(names, " and ")
	case q.Owner != "":
		text = s.letters[q.Owner] + " " + q.Owner
	case w.why != "":
		text = words.Unknown + ": " + w.why
	default:
		text = "nobody"
	}
	if w.expected != "" && w.expected != q.Owner {
		text += fmt.Sprintf(" (%s gives it to %s %s)", words.OrUnknown(s.Strategy), s.letters[w.expected], w.expected)
	}
	return text
}

// watchLag says what the lag is and what it is counted from.
func (v *QueueView) watchLag(w *watchedQueue) string {
	switch {
	case !w.lag.Known:
		return words.Unknown + words.Because(draw.SafeText(w.lag.Why.String()))
	case !w.committed.Known && w.committed.Why.Kind == inspect.ReasonNoCommit:
		return fmt.Sprintf("%s, counted from the first message: nothing is committed yet", words.NumberText(w.lag))
	case !w.committed.Known:
		return words.NumberText(w.lag) + ", committed " + words.Unknown + words.Because(draw.SafeText(w.committed.Why.String()))
	}
	if w.pop {
		return words.NumberText(w.lag) + ": what nobody has popped yet"
	}
	text := fmt.Sprintf("%s = max %s − committed %s", words.NumberText(w.lag), words.NumberText(w.max), words.NumberText(w.committed))
	if w.expired > 0 {
		text = fmt.Sprintf("%s, and %s expired before they were consumed", words.NumberText(w.lag), words.Plural(w.expired, "message"))
	}
	return text
}

// watchNext is about the next message to be consumed.
func (v *QueueView) watchNext(q *engine.QueueSnapshot, w *watchedQueue) string {
	if q.HeadStored.IsZero() {
		if w.next != "" {
			return "stored " + words.Unknown + ": " + w.next
		}
		return "nothing waits"
	}
	text := "stored " + v.when(q.HeadStored)
	if !w.expiresAt.IsZero() {
		text += ", expires in about " + words.Age(w.expiresAt.Sub(v.pic.Now))
	}
	return text
}

// headLines are the message that the queue waits for.
func (v *QueueView) headLines(width int) []string {
	q := v.pic.Scene.Queue(v.MQ)
	if q == nil {
		return nil
	}
	at, ok := HeadOffset(q)
	switch {
	case !ok:
		return []string{" nothing waits"}
	case v.Head.Err != "" && v.Head.Offset == at:
		return []string{" " + words.Failure.Sign() + " " + words.Grouped(at) + ": " + v.Head.Err}
	case v.Head.Row == nil || v.Head.Offset != at:
		return []string{" reading the message at " + words.Grouped(at) + " …"}
	}
	r := v.Head.Row
	lines := []string{
		fmt.Sprintf(" offset %s   id %s   sent back %d times", words.Grouped(at), words.OrUnknown(r.ID), r.Reconsumed),
		fmt.Sprintf(" born %s   stored %s", v.when(r.Born), v.when(r.Stored)),
		fmt.Sprintf(" tags %s   keys %s   body %s%s", words.OrNone(r.Tags), words.OrNone(r.Keys), words.Size(int64(r.BodySize)), r.More), ""}
	for _, l := range draw.WrapText(r.Body, max(width-3, 10)) {
		lines = append(lines, " "+l)
	}
	return lines
}

// drawHead draws the head message in place of a cache's list.
func (v *QueueView) drawHead(c *draw.Canvas, h int) {
	th := v.env.Theme
	c.Top(draw.ThinBox, th.Frame, th.Bold, "Message that waits for its turn", "")
	lines := v.headLines(c.W - 2)
	top := min(v.scroll/16, max(len(lines)-1, 0))
	lines = lines[top:]
	for i := 0; c.Lines < h-1; i++ {
		text := ""
		if i < len(lines) {
			text = table.Cut(lines[i], c.W-2)
		}
		c.Boxed(draw.ThinBox, th.Frame, draw.Styled(th.Text, text))
	}
	c.Bottom(draw.ThinBox, th.Frame)
}
