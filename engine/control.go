package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"eyeq/engine/core"
)

// PauseRequest stops the pulling of queues, or of the whole consumer when Queues
// is empty. What is cached is consumed to its end; the member keeps its share.
// A queue's pause survives a rebalance.
type PauseRequest struct {
	Queues      []MessageQueue
	By, Reason  string
	ResumeAfter time.Duration // zero: not by itself
}

// Pause applies the request. It waits for the coordinator, or for ctx.
func (e *Engine) Pause(ctx context.Context, r PauseRequest) error {
	return e.ask(ctx, func(reply chan<- error) command { return pauseCommand{r, reply} })
}

// ResumeRequest ends pauses: of the named queues, or of the whole consumer (and
// each queue, when Queues is empty).
type ResumeRequest struct {
	Queues []MessageQueue
	By     string
}

// Resume applies the request.
func (e *Engine) Resume(ctx context.Context, r ResumeRequest) error {
	return e.ask(ctx, func(reply chan<- error) command { return resumeCommand{r, reply} })
}

// ask sends a command to the coordinator and waits for its answer.
func (e *Engine) ask(ctx context.Context, make func(reply chan<- error) command) error {
	reply := newReply[error]()
	e.inbox.put(make(reply))
	return await(ctx, e, reply, func(err error) error { return err })
}

func newReply[T any]() chan T { return make(chan T, 1) }

// await waits for a reply, for the engine's end or for ctx.
func await[T any](ctx context.Context, e *Engine, reply <-chan T, result func(T) error) error {
	select {
	case r := <-reply:
		return result(r)
	case <-e.ended:
		return ErrEnded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

type pauseCommand struct {
	r     PauseRequest
	reply chan<- error
}

func (p pauseCommand) apply(_ context.Context, c *coordinator) {
	now := time.Now()
	state := &PauseState{By: p.r.By, Reason: p.r.Reason, Since: now}
	if p.r.ResumeAfter > 0 {
		state.ResumeAt = now.Add(p.r.ResumeAfter)
	}
	event := func(mq MessageQueue) {
		c.e.events.publish(Pause{At{now, mq}, p.r.By, p.r.Reason, p.r.ResumeAfter.Milliseconds()})
	}
	for _, mq := range p.r.Queues {
		if !c.subscribed(mq.Topic) {
			p.reply <- fmt.Errorf("pause %v: the topic is not subscribed here", mq)
			return
		}
	}
	if len(p.r.Queues) == 0 {
		c.whole = state
		event(MessageQueue{})
		c.say("paused by %s: the whole consumer%s", p.r.By, because(p.r.Reason))
	}
	for _, mq := range p.r.Queues {
		c.pauses[mq] = state
		event(mq)
	}
	if len(p.r.Queues) > 0 {
		c.say("paused by %s: %s%s", p.r.By, nameQueues(p.r.Queues), because(p.r.Reason))
	}
	c.tellPauses()
	p.reply <- nil
}

type resumeCommand struct {
	r     ResumeRequest
	reply chan<- error
}

func (r resumeCommand) apply(_ context.Context, c *coordinator) {
	if len(r.r.Queues) == 0 {
		for mq := range c.pauses {
			c.resume(mq, r.r.By)
		}
		c.resumeWhole(r.r.By)
		c.say("resumed by %s: the whole consumer", r.r.By)
	}
	for _, mq := range r.r.Queues {
		c.resume(mq, r.r.By)
	}
	if len(r.r.Queues) > 0 {
		c.say("resumed by %s: %s", r.r.By, nameQueues(r.r.Queues))
	}
	c.tellPauses()
	c.wake("resume", 0)
	r.reply <- nil
}

func (c *coordinator) resume(mq MessageQueue, by string) {
	if p := c.pauses[mq]; p != nil {
		delete(c.pauses, mq)
		c.e.events.publish(Resume{At{time.Now(), mq}, by, time.Since(p.Since).Milliseconds()})
	}
}

func (c *coordinator) resumeWhole(by string) {
	if p := c.whole; p != nil {
		c.whole = nil
		c.e.events.publish(Resume{At{Time: time.Now()}, by, time.Since(p.Since).Milliseconds()})
	}
}

// autoResume ends the pauses whose time has come.
func (c *coordinator) autoResume(now time.Time) {
	const by = "its time"
	for mq, p := range c.pauses {
		if !p.ResumeAt.IsZero() && !now.Before(p.ResumeAt) {
			c.resume(mq, by)
			c.say("resumed by %s: %s", by, mq.Short())
		}
	}
	if p := c.whole; p != nil && !p.ResumeAt.IsZero() && !now.Before(p.ResumeAt) {
		c.resumeWhole(by)
		c.say("resumed by %s: the whole consumer", by)
	}
	c.tellPauses()
}

func (c *coordinator) tellPauses() {
	for mq, q := range c.queues {
		q.inbox.put(setPause{c.pauses[mq], c.whole})
	}
	c.dirty = true
}

func (c *coordinator) subscribed(topic string) bool {
	for _, t := range c.topics {
		if t.sub.Topic == topic {
			return true
		}
	}
	return false
}

// say keeps an operator's act as a sentence in the snapshot.
func (c *coordinator) say(format string, args ...any) {
	c.operator, c.operAt, c.dirty = fmt.Sprintf(format, args...), time.Now(), true
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return fmt.Sprintf(" (%s)", reason)
}

func nameQueues(mqs []MessageQueue) string {
	if len(mqs) > 4 {
		return fmt.Sprintf("%d queues", len(mqs))
	}
	names := make([]string, len(mqs))
	for i, mq := range mqs {
		names[i] = mq.Short()
	}
	return strings.Join(names, ", ")
}

// ResetRequest moves the offsets of our own queues.
type ResetRequest struct {
	Queues     []MessageQueue
	Target     core.ResetTarget
	Exact      map[MessageQueue]int64 // when not nil: where each queue goes, instead of Target
	By, Reason string
	// Preview are the rows of a preview of these queues, which ResetOffset carries out as
	// they are: each queue goes where its row says, whatever was sent since. A queue whose
	// offset has moved back since is not touched, nor is one that was to go forward and has
	// passed its target by itself (*PassedError). Nil: ResetOffset previews, and checks nothing.
	Preview []ResetRow
}

// PassedError says that a queue was not touched: it was to go forward, and has consumed
// up to its target or further since the preview.
type PassedError struct{ Committed, Target int64 }

func (e *PassedError) Error() string {
	return fmt.Sprintf("not touched: it has come to %d by itself since the preview, past the target %d", e.Committed, e.Target)
}

// ResetRow is one queue of a preview or a result.
type ResetRow struct {
	MessageQueue
	MinOffset, MaxOffset int64
	Before, After        int64
	Effect               core.ResetEffect
	Count                int64     // messages replayed, skipped or gone
	FirstStored          time.Time // store time of the first message at After; zero: none or unknown
	// Verified: the broker was asked afterwards and holds After (results only).
	Verified bool
	// Err says why this queue was not or cannot be reset.
	Err error
}

// PreviewReset asks the brokers for bounds and target and returns what a reset
// would do, a row a queue in the order asked for. It changes nothing.
func (e *Engine) PreviewReset(ctx context.Context, r ResetRequest) ([]ResetRow, error) {
	if len(r.Queues) == 0 {
		return nil, errors.New("reset: no queue is chosen")
	}
	rows := make([]ResetRow, len(r.Queues))
	var wg sync.WaitGroup
	places := make(chan struct{}, resetParallel)
	for i, mq := range r.Queues {
		wg.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			rows[i] = e.previewOne(ctx, mq, r.target(mq))
		})
	}
	wg.Wait()
	return rows, nil
}

// target is where a queue goes; no target leaves it where it is.
func (r *ResetRequest) target(mq MessageQueue) core.ResetTarget {
	if r.Exact == nil {
		return r.Target
	}
	if offset, ok := r.Exact[mq]; ok {
		return core.ResetTarget{Kind: core.ResetOffset, Offset: offset}
	}
	return core.ResetTarget{}
}

// resetParallel is how many queues are asked about, or reset, at once.
const resetParallel = 16

func (e *Engine) previewOne(ctx context.Context, mq MessageQueue, t core.ResetTarget) ResetRow {
	row := ResetRow{MessageQueue: mq, Before: Unknown, After: Unknown, MinOffset: Unknown, MaxOffset: Unknown}
	q := e.base.Load().byMQ[mq]
	if q == nil {
		row.Err = errors.New("this member does not hold the queue")
		return row
	}
	row.Before = q.memory.Load()
	b := core.ResetBounds{Committed: row.Before}
	if b.Min, row.Err = e.d.Client.MinOffset(ctx, mq); row.Err != nil {
		return row
	}
	if b.Max, row.Err = e.d.Client.MaxOffset(ctx, mq); row.Err != nil {
		return row
	}
	if t.Kind == core.ResetTime {
		if b.ByTime, row.Err = e.d.Client.SearchOffset(ctx, mq, t.Time); row.Err != nil {
			return row
		}
	}
	row.MinOffset, row.MaxOffset = b.Min, b.Max
	row.After, row.Effect, row.Count = core.PlanReset(b, t)
	if row.After < b.Max {
		row.FirstStored, _ = e.storedAt(ctx, mq, row.After) // zero: it cannot be told
	}
	return row
}

// ResetOffset resets queues that this engine holds, as r.Preview says: stop handing
// out, wait for running listeners (bounded), drop the cache, write the target to the
// store, read it back, pull from there. A row's Err says which queue was refused.
func (e *Engine) ResetOffset(ctx context.Context, r ResetRequest) ([]ResetRow, error) {
	rows := slices.Clone(r.Preview)
	if rows == nil {
		var err error
		if rows, err = e.PreviewReset(ctx, r); err != nil {
			return nil, err
		}
	}
	var wg sync.WaitGroup
	for i := range rows {
		row := &rows[i]
		if row.Err != nil {
			continue
		}
		wg.Go(func() { e.resetOne(ctx, row, r) })
	}
	wg.Wait()
	done := 0
	for i := range rows {
		if rows[i].Err == nil {
			done++
		}
	}
	e.inbox.put(operatorSaid{fmt.Sprintf("reset by %s: %d of %d queues%s", r.By, done, len(rows), because(r.Reason))})
	return rows, nil
}

func (e *Engine) resetOne(ctx context.Context, row *ResetRow, r ResetRequest) {
	q := e.base.Load().byMQ[row.MessageQueue]
	if q == nil {
		row.Err = errors.New("this member does not hold the queue (any more)")
		return
	}
	expect := Unknown
	if r.Preview != nil {
		expect = row.Before
	}
	reply := newReply[ResetRow]()
	q.inbox.put(resetQueue{*row, cmp.Or(r.By, "operator"), reply, expect})
	select {
	case *row = <-reply:
	case <-q.gone:
		row.Err = errors.New("the queue was given to another member meanwhile")
	case <-ctx.Done():
		row.Err = fmt.Errorf("no answer yet, look at the queue's events: %w", context.Cause(ctx))
	}
}

// operatorSaid keeps a sentence about an operator's act.
type operatorSaid struct{ text string }

func (o operatorSaid) apply(_ context.Context, c *coordinator) { c.say("%s", o.text) }

// HeldMessage is a message in a ProcessQueue and how far it has come.
type HeldMessage struct {
	Message *Message
	Stage   core.Stage
	Started time.Time // when its listener was called; zero: not yet
	Retries int       // local retries so far
	Held    time.Time // since when an operator is to decide about it; zero: not
}

// Held returns the first n messages of an own queue's cache, oldest first. It
// waits for the queue's goroutine, or for ctx.
func (e *Engine) Held(ctx context.Context, mq MessageQueue, n int) ([]HeldMessage, error) {
	q := e.base.Load().byMQ[mq]
	if q == nil {
		return nil, fmt.Errorf("%v is not held by this member", mq)
	}
	reply := newReply[[]HeldMessage]()
	q.inbox.put(heldQuery{n, reply})
	select {
	case held := <-reply:
		return held, nil
	case <-q.gone:
		return nil, fmt.Errorf("%v was given to another member", mq)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
