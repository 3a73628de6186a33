package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"eyeq/engine/core"
	"eyeq/remoting/protocol"
)

// SettleVerdict is what an operator decides about held messages.
type SettleVerdict uint8

// The verdicts.
const (
	SettleAck        SettleVerdict = iota + 1 // they count as consumed
	SettleRefuse                              // they come again later
	SettleDeadLetter                          // they go to the group's dead letters
)

// String gives the word of the hold_settled event.
func (v SettleVerdict) String() string {
	return [...]string{"", "ack", "refuse", "dead_letter"}[v]
}

// HeldRange names held messages of one queue: those with the offsets First … Last.
type HeldRange struct {
	MessageQueue
	First, Last int64
}

// SettleRequest decides about messages that a listener has left to an operator
// by the verdict Hold. What lies in a range and is not held is not touched.
type SettleRequest struct {
	Messages []HeldRange
	Verdict  SettleVerdict
	// DelayLevel of a refusal: 0 lets the broker choose, n is level n. An orderly
	// consumer has none: its queue waits SuspendCurrentQueueTime.
	DelayLevel int32
	By         string
}

// SettleRow is what became of one message, or of a range where nothing is held.
type SettleRow struct {
	MessageQueue
	Offset    int64 // the first one of a range where nothing is held
	MessageID string
	// Became says it in words: "acknowledged", "sent back", "handed out again",
	// "dead letter"; "" with an error.
	Became string
	Err    error
}

// Settle decides about held messages: it acknowledges them, refuses them as a
// worker does when its listener refuses, or sends them to the dead letters. An
// orderly queue has one batch held, its head: refusing one of its messages is
// refusing what is left of it, in order.
//
// It returns a row a message when all queues have answered or ctx has ended;
// then what was not begun is left held. A row's Err says why a message is still
// held, or is no longer ours.
func (e *Engine) Settle(ctx context.Context, r SettleRequest) ([]SettleRow, error) {
	switch {
	case len(r.Messages) == 0:
		return nil, errors.New("settle: no message is chosen")
	case r.Verdict < SettleAck || r.Verdict > SettleDeadLetter:
		return nil, fmt.Errorf("settle: verdict %d: must be ack, refuse or dead letter", r.Verdict)
	case r.DelayLevel < 0 || r.Verdict != SettleRefuse && r.DelayLevel != 0:
		return nil, fmt.Errorf("settle: delay level %d: only a refusal has one, from 0 on", r.DelayLevel)
	case r.Verdict != SettleAck && e.o.MessageModel == protocol.Broadcasting:
		return nil, errors.New("settle: a broadcasting consumer has no retry topic and no dead letters; acknowledge the messages or leave them")
	}
	var queues []MessageQueue
	ranges := map[MessageQueue][]HeldRange{}
	for _, m := range r.Messages {
		if ranges[m.MessageQueue] == nil {
			queues = append(queues, m.MessageQueue)
		}
		ranges[m.MessageQueue] = append(ranges[m.MessageQueue], m)
	}
	answers := make([][]SettleRow, len(queues))
	var wg sync.WaitGroup
	for i, mq := range queues {
		wg.Go(func() { answers[i] = e.settleQueue(ctx, ranges[mq], r) })
	}
	wg.Wait()
	rows := slices.Concat(answers...)
	done := 0
	for i := range rows {
		if rows[i].Err == nil {
			done++
		}
	}
	what := map[SettleVerdict]string{SettleAck: "acknowledged", SettleRefuse: "refused", SettleDeadLetter: "sent to the dead letters"}[r.Verdict]
	e.inbox.put(operatorSaid{fmt.Sprintf("%s by %s: %d of %d messages of %s", what, r.By, done, len(rows), nameQueues(queues))})
	return rows, nil
}

// settleQueue asks one queue and waits for its rows.
func (e *Engine) settleQueue(ctx context.Context, ranges []HeldRange, r SettleRequest) []SettleRow {
	none := func(err error) (rows []SettleRow) {
		for _, m := range ranges {
			rows = append(rows, SettleRow{MessageQueue: m.MessageQueue, Offset: m.First, Err: err})
		}
		return rows
	}
	q := e.base.Load().byMQ[ranges[0].MessageQueue]
	if q == nil {
		return none(errors.New("this member does not hold the queue (any more)"))
	}
	reply := newReply[[]SettleRow]()
	q.inbox.put(settleHeld{ranges: ranges, verdict: r.Verdict, level: r.DelayLevel, by: r.By, given: ctx.Done(), reply: reply})
	select {
	case rows := <-reply:
		return rows
	case <-q.gone:
		select { // both may be ready: what was done is done
		case rows := <-reply:
			return rows
		default:
			return none(errors.New("the queue was given to another member meanwhile"))
		}
	case <-ctx.Done():
		return none(fmt.Errorf("no answer yet, look at the queue's events: %w", context.Cause(ctx)))
	}
}

// HoldSettled: an operator decided about held messages of a queue. SentBack tells
// of each message that was sent.
type HoldSettled struct {
	At
	By         string `json:"by"`
	Verdict    string `json:"verdict"` // ack, refuse, dead_letter
	DelayLevel int32  `json:"delay_level,omitempty"`
	Count      int    `json:"count"` // messages it came true for
	Failed     int    `json:"failed,omitempty"`
	First      int64  `json:"first_offset"`
	Last       int64  `json:"last_offset"`
}

// EventName is the event's name.
func (HoldSettled) EventName() string { return "hold_settled" }

// heldSlot is a message that is held. The queue's goroutine owns it.
type heldSlot struct {
	b       *batch // of this message alone
	since   time.Time
	sending bool // an operator's verdict is being carried out
}

func (s *heldSlot) message() *protocol.MessageExt { return &s.b.msgs[0] }

// hold books what a concurrent listener has left to an operator: unfinished, with
// nobody working on it.
func (q *queue) hold(b *batch, s span) {
	for i := s.from; i < s.to; i++ {
		if seq := b.first + uint64(i); q.pq.Message(seq) != nil {
			q.holdOne(b, i, seq, time.Now())
		}
	}
}

// holdOne books message i of b, which is in the slot seq of the ProcessQueue.
func (q *queue) holdOne(b *batch, i int32, seq uint64, since time.Time) {
	if q.held == nil {
		q.held = map[int64]*heldSlot{}
	}
	one := &batch{q: q, gen: b.gen, msgs: b.msgs[i : i+1 : i+1], first: seq}
	q.held[b.msgs[i].QueueOffset()] = &heldSlot{b: one, since: since}
}

// holdRun books the held batch of an orderly run: what was acknowledged before it
// is committed, it stays taken, and the queue hands nothing more out until it is
// decided about.
func (q *queue) holdRun(b *batch, run *runResult) {
	if run.done > 0 {
		q.pq.ConsumeAgain(run.size)
		q.commitRun(true)
		q.pq.Take(run.size)
	}
	q.dispatched = true
	index := map[int64]int32{}
	for i := run.done; i < run.done+run.size; i++ {
		index[b.msgs[i].QueueOffset()] = int32(i)
	}
	now, st := time.Now(), q.pq.Stats()
	q.pq.Head(int(st.Consuming+st.Done), func(seq uint64, m *protocol.MessageExt, stage core.Stage) {
		if i, ok := index[m.QueueOffset()]; ok && stage == core.StageTaken {
			// Not b.first + i: between those that are tried again lie acknowledged ones.
			q.holdOne(b, i, seq, now)
		}
	})
}

// unhold forgets held messages that are finished. An orderly queue goes on when
// its held batch is.
func (q *queue) unhold(r *result) {
	if len(q.held) == 0 {
		return
	}
	for _, s := range r.done[:r.n] {
		for i := range r.b.msgs[s.from:s.to] {
			delete(q.held, r.b.msgs[int(s.from)+i].QueueOffset())
		}
	}
	if q.orderly && len(q.held) == 0 {
		q.dispatched = false
	}
}

// heldSince is when a message began to be held; zero when it is not.
func (q *queue) heldSince(offset int64) time.Time {
	if s := q.held[offset]; s != nil {
		return s.since
	}
	return time.Time{}
}

// heldEnds are the smallest and largest held offsets, Unknown when nothing is held.
func (q *queue) heldEnds() (first, last int64) {
	first, last = Unknown, Unknown
	for o := range q.held {
		if first == Unknown || o < first {
			first = o
		}
		last = max(last, o)
	}
	return first, last
}

// settleHeld is an operator's verdict on its way to the queue.
type settleHeld struct {
	ranges  []HeldRange
	verdict SettleVerdict
	level   int32
	by      string
	given   <-chan struct{} // closed when who asked has given up
	reply   chan<- []SettleRow
}

func (c settleHeld) applyTo(ctx context.Context, q *queue) {
	rows, slots := c.find(q)
	now := time.Now()
	switch {
	case q.phase != phaseActive || q.resetting != nil:
		c.refuse(rows, errors.New("the queue is being given away or reset: who gets it next gets the message again"))
	case q.orderly && !q.mayRun(now):
		c.refuse(rows, errors.New("the broker's lock on the queue is not held just now: another member may have the message"))
	case len(slots) == 0:
	case c.verdict == SettleAck:
		for i, s := range slots {
			rows[i].Became = "acknowledged"
			r := result{b: s.b, ok: 1}
			r.add(0, 1)
			q.onResult(r)
		}
	case c.verdict == SettleRefuse && q.orderly:
		c.suspend(ctx, q)
		return
	default:
		c.send(ctx, q, rows, slots)
		return
	}
	c.tell(q, rows)
}

// find gives the held messages of the ranges by offset, a row each, and after
// those the rows of ranges where none is held.
func (c settleHeld) find(q *queue) (rows []SettleRow, slots []*heldSlot) {
	offsets := make([]int64, 0, len(q.held))
	for o, s := range q.held {
		if !s.sending {
			offsets = append(offsets, o)
		}
	}
	slices.Sort(offsets)
	taken := map[int64]bool{}
	var missing []SettleRow
	for _, r := range c.ranges {
		from, _ := slices.BinarySearch(offsets, r.First)
		found := false
		for ; from < len(offsets) && offsets[from] <= r.Last; from++ {
			found = true
			if o := offsets[from]; !taken[o] {
				taken[o] = true
				slots = append(slots, q.held[o])
				rows = append(rows, SettleRow{MessageQueue: q.mq, Offset: o, MessageID: q.held[o].message().MessageID()})
			}
		}
		if found {
			continue
		}
		err := errors.New("not held (any more)")
		if s := q.held[r.First]; s != nil && s.sending {
			err = errors.New("another decision about it is being carried out")
		}
		missing = append(missing, SettleRow{MessageQueue: q.mq, Offset: r.First, Err: err})
	}
	return append(rows, missing...), slots
}

func (c settleHeld) refuse(rows []SettleRow, err error) {
	for i := range rows {
		if rows[i].Err == nil {
			rows[i].Err = err
		}
	}
}

// tell publishes the event and answers.
func (c settleHeld) tell(q *queue, rows []SettleRow) {
	ev := HoldSettled{At: q.at(), By: c.by, Verdict: c.verdict.String(), DelayLevel: c.level, First: Unknown, Last: Unknown}
	for i := range rows {
		if o := rows[i].Offset; ev.First == Unknown || o < ev.First {
			ev.First = o
		}
		ev.Last = max(ev.Last, rows[i].Offset)
		if rows[i].Err != nil {
			ev.Failed++
		} else {
			ev.Count++
		}
	}
	q.emit(ev)
	c.reply <- rows // capacity 1
}

// beside runs f as a worker's work: a drop and a reset of the queue wait for it as
// they do for a listener.
func (q *queue) beside(f func()) {
	q.running.Add(1)
	q.e.start(func() {
		defer func() {
			if q.running.Add(-1) == 0 {
				q.quietNow()
			}
		}()
		f()
	})
}

// send sends messages back, or to the dead letters, in the order of their offsets.
// What cannot be sent stays held: there is no need to hand it to the listener again.
func (c settleHeld) send(ctx context.Context, q *queue, rows []SettleRow, slots []*heldSlot) {
	level, became := c.level, "sent back"
	if c.verdict == SettleDeadLetter {
		level, became = -1, "dead letter"
	}
	for _, s := range slots {
		s.sending = true
	}
	q.beside(func() {
		var kept []*heldSlot
		for i, s := range slots {
			row, m := &rows[i], s.message()
			if row.Err = c.stopped(s.b); row.Err != nil {
				kept = append(kept, s)
				continue
			}
			if row.Err = q.e.sendBack(ctx, q, m, level); row.Err != nil {
				q.emit(SendBackFailed{q.at(), row.Offset, row.MessageID, row.Err.Error()})
				kept = append(kept, s)
				continue
			}
			row.Became = became
			if s.b.gen != q.gen.Load() {
				row.Err = fmt.Errorf("%s, but the queue was given away or reset meanwhile: who gets it next gets the message once more", became)
			}
			r := result{b: s.b, failed: 1, back: 1}
			r.add(0, 1)
			q.report(&r)
		}
		if q.halt.Load() {
			c.tell(q, rows) // the queue may end before it looks into its inbox
			return
		}
		q.inbox.put(heldSent{c, rows, kept})
	})
}

// stopped says why nothing more of b is to be sent; nil: go on.
func (c settleHeld) stopped(b *batch) error {
	if b.void() {
		return errors.New("the queue was given away or reset meanwhile: who gets it next gets the message again")
	}
	select {
	case <-c.given:
		return errors.New("the time was up before its turn, it is still held")
	default:
		return nil
	}
}

// heldSent ends the carrying out of a verdict.
type heldSent struct {
	c    settleHeld
	rows []SettleRow
	kept []*heldSlot // could not be sent: the operator's again
}

func (h heldSent) applyTo(_ context.Context, q *queue) {
	q.takeResults() // whoever is told finds what was sent gone
	for _, s := range h.kept {
		s.sending = false
	}
	q.touch()
	h.c.tell(q, h.rows)
}

// answerHeld answers those whose verdict was carried out while the queue ended:
// what was sent was sent, whoever gets the queue next.
func (q *queue) answerHeld() {
	for _, c := range q.inbox.all() {
		if h, ok := c.(heldSent); ok {
			h.c.tell(q, h.rows)
		}
	}
}

// takeResults books what workers have reported so far.
func (q *queue) takeResults() {
	for {
		select {
		case r := <-q.results:
			q.onResult(r)
		default:
			return
		}
	}
}

// suspend refuses what is left of an orderly queue's held batch, as a worker does
// whose listener suspends: messages whose retries are used up go to the dead
// letters, the others are handed out again when the queue has waited.
func (c settleHeld) suspend(ctx context.Context, q *queue) {
	var slots []*heldSlot
	for _, s := range q.held {
		if s.sending {
			c.reply <- []SettleRow{{MessageQueue: q.mq, Offset: s.message().QueueOffset(), Err: errors.New("another decision about the batch is being carried out")}}
			return
		}
		slots = append(slots, s)
	}
	slices.SortFunc(slots, func(a, b *heldSlot) int { return cmp.Compare(a.b.first, b.b.first) })
	n := len(slots)
	b := &batch{q: q, gen: q.gen.Load(), msgs: make([]protocol.MessageExt, n), first: slots[0].b.first, retries: make([]int32, n), away: make([]bool, n)}
	rows := make([]SettleRow, n)
	for i, s := range slots {
		m := s.message()
		o := m.QueueOffset()
		b.msgs[i], b.retries[i], b.away[i] = *m, q.suspends[o], q.sentAway[o]
		rows[i] = SettleRow{MessageQueue: q.mq, Offset: o, MessageID: m.MessageID(), Became: "handed out again"}
	}
	q.held = nil
	q.touch()
	q.beside(func() {
		w := worker{p: q.e.pool}
		run := &runResult{verdict: core.OrderlySuspend, size: n, autoCommit: true}
		run.exhausted, run.away = w.sendAway(ctx, b, 0, n)
		for i := range rows {
			if slices.Contains(run.away, rows[i].Offset) {
				rows[i].Became = "dead letter"
			}
			rows[i].Err = c.stopped(b)
		}
		q.report(&result{b: b, failed: int64(n), run: run})
		c.tell(q, rows)
	})
}
