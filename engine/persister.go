package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"eyeq/remoting"
)

// persistAgain is how often offsets are written although they have not changed:
// a broker can lose a commit that it answered, and Java writes all of them at
// each round.
const persistAgain = time.Minute

// saveLimit bounds one write of offsets.
const saveLimit = 10 * time.Second

// persister writes the committed offsets that have changed every
// PersistInterval, and all of them now and then. It waits for the store's answer (trap T11: a lost one-way
// commit is noticed by nobody), so a slow broker delays the next round, but
// nothing else.
func (e *Engine) persister(ctx context.Context) {
	tick := time.NewTicker(e.o.PersistInterval)
	defer tick.Stop()
	again := time.NewTicker(persistAgain)
	defer again.Stop()
	for {
		select {
		case <-tick.C:
			e.persistChanged(ctx)
		case <-again.C:
			for _, q := range e.base.Load().own {
				q.unsure.Store(true)
			}
		case <-ctx.Done():
			return
		}
	}
}

func (e *Engine) persistChanged(ctx context.Context) {
	sctx, cancel := context.WithTimeout(ctx, saveLimit)
	defer cancel()
	// A failure has been told as an event; the next round tries again.
	if e.persist(sctx, e.base.Load().own) == nil {
		e.lastPersist.Store(e.stamp(time.Now()))
	}
}

// persist makes the committed offsets of queues durable where they have changed,
// tells the first failure of a queue in a row as an event, and returns one.
func (e *Engine) persist(ctx context.Context, queues []*queue) error {
	byBroker := map[string][]*queue{}
	for _, q := range queues {
		byBroker[q.mq.BrokerName] = append(byBroker[q.mq.BrokerName], q)
	}
	var first firstError
	e.eachBroker(ctx, byBroker, func(part []*queue, err error) {
		// Read in turn, so that an older value never comes last.
		offsets := map[MessageQueue]int64{}
		var compare []*queue
		for _, q := range part {
			if o := q.memory.Load(); o != Unknown && (o != q.persisted.Load() || q.unsure.Load()) {
				offsets[q.mq] = o
				if q.elsewhere.Load() || q.unsaved.Load() != Unknown {
					compare = append(compare, q)
				}
			}
		}
		unread := map[MessageQueue]error{}
		for i, s := range e.loadAll(ctx, compare) {
			q := compare[i]
			o := offsets[q.mq]
			switch {
			case blind(s.err): // it must not go over what another owner may have committed
				unread[q.mq] = fmt.Errorf("compare with what is committed: %w", s.err)
			case s.err == nil && s.found && s.offset >= o: // another owner, or we ourselves, had come as far
				delete(offsets, q.mq)
				q.unsure.Store(false)
				q.unsaved.Store(Unknown)
				q.notePersisted(o)
			}
		}
		failed := unread
		if err == nil && len(offsets) > len(unread) {
			failed = e.saveBut(ctx, offsets, unread)
		}
		for _, q := range part {
			o, ok := offsets[q.mq]
			if !ok {
				continue
			}
			if qerr := cmp.Or(err, failed[q.mq]); qerr != nil {
				if q.unsaved.Load() == o {
					continue // nothing was consumed yet that could be lost
				}
				text := qerr.Error()
				e.notSaved.Store(&text)
				if q.notDurable.CompareAndSwap(0, e.stamp(time.Now())) { // told once, until a write succeeds
					e.events.publish(OffsetPersistFailed{q.at(), o, text})
				}
				first.set(fmt.Errorf("commit %d of %v: %w", o, q.mq, qerr))
				continue
			}
			q.unsure.Store(false)
			q.unsaved.Store(Unknown)
			q.notDurable.Store(0)
			q.notePersisted(o)
		}
	})
	return first.err
}

// blind reports whether what is committed could not be read where offsets are
// written. A slave that stands in for a lost master may have none yet, and is
// written to nevertheless: nobody else's progress is there.
func blind(err error) bool {
	_, noMaster := errors.AsType[*remoting.NoBrokerError](err)
	return err != nil && !noMaster
}

// saveBut saves offsets, but those of the queues that failed before, and returns
// all that failed.
func (e *Engine) saveBut(ctx context.Context, offsets map[MessageQueue]int64, failed map[MessageQueue]error) map[MessageQueue]error {
	if len(failed) == 0 {
		return e.d.Store.Save(ctx, offsets)
	}
	rest := maps.Clone(offsets)
	maps.DeleteFunc(rest, func(mq MessageQueue, _ int64) bool { return failed[mq] != nil })
	maps.Copy(failed, e.d.Store.Save(ctx, rest))
	return failed
}

// storedOffset is what a store holds for a queue.
type storedOffset struct {
	offset int64
	found  bool
	err    error
}

// loadAll reads what is committed of queues, several at once.
func (e *Engine) loadAll(ctx context.Context, queues []*queue) []storedOffset {
	stored := make([]storedOffset, len(queues))
	var wg sync.WaitGroup
	places := make(chan struct{}, loadsAtOnce)
	for i, q := range queues {
		places <- struct{}{}
		e.guard(&wg, func() {
			defer func() { <-places }()
			s := &stored[i]
			s.offset, s.found, s.err = e.load(ctx, q.mq)
		})
	}
	wg.Wait()
	return stored
}

// save writes one offset as given and waits until it is durable.
func (e *Engine) save(ctx context.Context, mq MessageQueue, offset int64) error {
	var result error
	one := map[string][]*queue{mq.BrokerName: nil}
	e.eachBroker(ctx, one, func(_ []*queue, err error) {
		if err == nil {
			err = e.d.Store.Save(ctx, map[MessageQueue]int64{mq: offset})[mq]
		}
		result = err
	})
	return result
}

// computedStart is a computed start on its way into the store.
type computedStart struct {
	mq           MessageQueue
	offset, kept int64
	err          error
	done         chan struct{} // closed when kept and err are set
}

// startWait is how long a queue waits until its computed start is durable.
const startWait = time.Second

var errStartLate = fmt.Errorf("not durable within %v", startWait)

// saveStart makes a computed start durable at once: a member restarted before its
// first commit must not compute another, later one. Where another member has
// committed since the store was read, its offset is the start: two that start a
// new group together compute at the same time, and the slower must not undo the
// progress of the other. Starts that come together are written together: a topic
// of many queues would take a round trip each. A store that does not answer, or
// refuses, delays the queue for startWait at most and then holds it no longer, as
// in Java, which writes a start with the first commit: a broker refuses commits of a
// group that it does not know, and may know it by the first pull only.
func (e *Engine) saveStart(ctx context.Context, mq MessageQueue, offset int64) (kept int64, err error) {
	s := &computedStart{mq: mq, offset: offset, done: make(chan struct{})}
	e.turnsMu.Lock()
	e.starts[mq.BrokerName] = append(e.starts[mq.BrokerName], s)
	e.turnsMu.Unlock()
	e.reads.Add(1)
	e.start(func() {
		defer e.reads.Done()
		wctx, cancel := context.WithTimeout(ctx, saveLimit)
		defer cancel()
		turn := e.saveTurn(mq.BrokerName)
		select {
		case turn <- struct{}{}:
			e.saveStarts(wctx, mq.BrokerName)
			<-turn
		case <-s.done: // another one's turn
		case <-wctx.Done():
		}
	})
	limit := time.NewTimer(startWait)
	defer limit.Stop()
	select {
	case <-s.done:
		return s.kept, s.err
	case <-limit.C:
		return 0, errStartLate
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// saveStarts writes what waits for a broker; the caller has the turn.
func (e *Engine) saveStarts(ctx context.Context, broker string) {
	e.turnsMu.Lock()
	starts := e.starts[broker]
	delete(e.starts, broker)
	e.turnsMu.Unlock()
	var wg sync.WaitGroup
	places := make(chan struct{}, loadsAtOnce)
	for _, s := range starts {
		places <- struct{}{}
		e.guard(&wg, func() {
			defer func() { <-places }()
			var found bool
			if s.kept, found, s.err = e.load(ctx, s.mq); s.err == nil && !found {
				s.kept = Unknown
			}
		})
	}
	wg.Wait()
	offsets := map[MessageQueue]int64{}
	for _, s := range starts {
		if s.err == nil && s.kept == Unknown {
			offsets[s.mq] = s.offset
		}
	}
	var failed map[MessageQueue]error
	if len(offsets) > 0 {
		failed = e.d.Store.Save(ctx, offsets)
	}
	for _, s := range starts {
		if _, written := offsets[s.mq]; written {
			s.kept, s.err = s.offset, failed[s.mq]
		}
		close(s.done)
	}
}

// loadsAtOnce is how many offsets of one broker are read at once.
const loadsAtOnce = 32

// eachBroker calls f for each broker's part, side by side, so that a broker that
// does not answer delays nobody else; writers to one broker follow each other.
// f gets the reason when the turn did not come before ctx ended.
func (e *Engine) eachBroker(ctx context.Context, parts map[string][]*queue, f func(part []*queue, err error)) {
	var wg sync.WaitGroup
	for broker, part := range parts {
		e.guard(&wg, func() {
			turn := e.saveTurn(broker)
			select {
			case turn <- struct{}{}:
				f(part, nil)
				<-turn
			case <-ctx.Done():
				f(part, context.Cause(ctx))
			}
		})
	}
	wg.Wait()
}

// firstError keeps the first of several errors.
type firstError struct {
	mu  sync.Mutex // guards err
	err error
}

func (f *firstError) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
}

// saveTurn is the one place for a writer to a broker's offsets.
func (e *Engine) saveTurn(broker string) chan struct{} {
	e.turnsMu.Lock()
	defer e.turnsMu.Unlock()
	turn := e.turns[broker]
	if turn == nil {
		turn = make(chan struct{}, 1)
		e.turns[broker] = turn
	}
	return turn
}
