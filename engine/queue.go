package engine

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"eyeq/engine/core"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// phase is where a queue is in its life at this client
// (docs/conformance/rebalance.md 8).
type phase uint8

const (
	phaseTaking   phase = iota // waits for its lock and its start offset
	phaseActive                // pulls and consumes
	phaseDropping              // waits for running listeners
	phaseGone
)

// queue is one owned queue. Its goroutine (run) owns every field below the line;
// above it are what never changes and what workers, the persister and Snapshot
// share by atomics and channels.
type queue struct {
	e          *Engine
	mq         MessageQueue
	orderly    bool
	clustering bool
	fourLine   bool // its broker is a 4.x one, or of unknown version
	retry      bool // a queue of the group's retry topic
	batchMax   int
	reader     pullReader
	stats      *topicStats

	gen     atomic.Uint64 // results and batches of an older one are void
	halt    atomic.Bool   // hand nothing more out
	running atomic.Int32  // workers that look at or run a batch of this queue
	quiet   chan struct{} // capacity 1: running came to zero
	results chan result
	gone    chan struct{} // closed when the goroutine has ended
	inbox   *mailbox[queueCommand]
	// lockedUntil is when the broker's lock expires on this side, as a stamp; 0: not
	// locked (orderly).
	lockedUntil atomic.Int64
	snap        atomic.Pointer[QueueSnapshot]
	// memory is the committed offset to be persisted, -1: none. persisted is what
	// the store holds as far as we know.
	memory      atomic.Int64
	persisted   atomic.Int64
	persistedAt atomic.Int64 // a stamp
	// unsure: the broker was away and may have come back with older offsets, so the
	// offset is written again although it has not changed.
	unsure atomic.Bool
	// elsewhere: another member may have had the queue since the offset was written
	// last (we were cut off, or have given it away): a lower value must not be put
	// over its progress.
	elsewhere atomic.Bool
	// unsaved is the computed start that is not durable as far as we know, -1: none.
	// Another member that took the queue at the same time may be ahead, so what is
	// committed is compared before the first write.
	unsaved atomic.Int64
	// notDurable: since when writes of the offset fail, which was told, as a
	// stamp; 0: the last one did not.
	notDurable atomic.Int64
	pulledAt   atomic.Int64 // the last pull attempt, a stamp
	// dropping and drained are the coordinator's: it has told the queue to end, and
	// the queue has.
	dropping, drained bool
	// subSeq is the coordinator's too: the subscription that the queue was told of;
	// and doubted: it is to be reassured by the next pass, of which so many were
	// undecided.
	subSeq    uint64
	doubted   bool
	undecided int

	// ---- owned by run ----
	sub        protocol.SubscriptionData
	tags       map[string]bool // client-side tag check; nil: everything passes
	unfiltered bool            // the broker leaves nothing out
	// announced: the broker has heard of the subscription that the queue pulls by.
	announced bool

	pq    core.ProcessQueue
	phase phase
	live  []*batch // concurrent batches with messages in the cache, by sequence
	limit core.Limits

	// progress is how far this member had come when it lost the queue because its
	// broker died, which may have lost the last commits; Unknown: it did not.
	progress    int64
	nextOffset  int64
	commit      int64 // the committed offset in memory; -1: none
	min, max    int64
	offsetsAt   time.Time
	offsetsFrom int64 // the broker id that told min and max
	known       bool  // the start offset was read (again) since the lock was gained
	reading     bool
	readSeq     uint64
	readAgainAt time.Time
	// While it is taken: asking, its former owner is being asked whether it has the
	// queue; released, it has given it back; rested, handOver has passed.
	asking, released, rested bool
	doubt                    doubt
	doubtUntil               time.Time

	conn      *remoting.Conn
	connAddr  string
	brokerID  int64
	suggested int64
	moved     bool   // the routes have changed since the last dial
	avoid     string // an address to keep away from until avoidTill
	avoidTill time.Time
	dialing   bool
	enc       *protocol.PullRequestEncoder
	encode    func(dst []byte, opaque int32) ([]byte, error)
	replies   chan remoting.Reply
	inFlight  bool
	opaque    int32
	asked     int64 // offset of the pull in flight
	pullStart time.Time
	rtt       time.Duration
	status    string
	nextPull  time.Time // zero while a pull is in flight
	lastPull  time.Time

	flow       core.FlowTracker
	errors     int64 // in a row
	errorSince time.Time
	lastError  string
	lastErrAt  time.Time
	expired    stretch // told by messages_expired
	corrected  stretch // told by tags_corrected
	suspended  bool    // the pause in force was told by pull_suspended
	// lastStored is when the last message that was pulled was stored, or the queue was
	// taken; judging: it is being looked at what an illegal offset means.
	lastStored time.Time
	judging    bool
	// undecodableAt is the offset of the broken record told last, so that asking
	// again for it does not tell it each time.
	undecodableAt int64

	locked      bool
	lockedAt    time.Time
	refusedAt   time.Time // since when the lock is refused; zero: it is not
	lockErr     error     // of the last request for it
	uncommitted bool      // OrderlyUncommitted was told
	dispatched  bool      // an orderly run is with the pool:
	out         *batch
	harvestAt   time.Time
	losses      uint64 // of the lock: an offset read before one is stale
	heldRun     *heldRun
	voided      bool // a call of an older generation may still run
	abandoned   bool // its listener gave it up: nothing more is handed out
	suspendTill time.Time
	suspends    map[int64]int32 // orderly: local tries by queue offset
	sentAway    map[int64]bool

	held     map[int64]*heldSlot // by queue offset: left to an operator
	again    []retry             // local retries, by time
	retrying []*batch            // those that were handed out
	cleanAt  time.Time
	cleaning bool
	pause    *PauseState
	whole    *PauseState // the consumer's pause

	dropCause  core.DropCause
	drainUntil time.Time
	dropBegan  time.Time
	saveAt     time.Time // when to persist while a listener runs
	busyAt     time.Time // when to tell that an orderly queue cannot be given away yet
	resetting  *resetting

	takenAt, lastConsume               time.Time
	pulled, consumed, failed, sentBack uint64
	detail                             string
	state                              QueueState
	stateSince                         time.Time
	publishAt                          time.Time
	stale                              bool // changed since it was published
	armed                              time.Time
}

// queueCommand is what the coordinator and helpers send to a queue's goroutine.
type queueCommand interface {
	applyTo(ctx context.Context, q *queue)
}

func (e *Engine) newQueue(mq MessageQueue, sub protocol.SubscriptionData, limit core.Limits) *queue {
	q := &queue{
		e: e, mq: mq, sub: sub, limit: limit,
		orderly:    e.o.Orderly,
		clustering: e.o.MessageModel == protocol.Clustering,
		retry:      mq.Topic == protocol.RetryTopic(e.o.Group),
		batchMax:   e.o.ConsumeMessageBatchMaxSize,
		reader:     newPullReader(mq, &e.decompressor),
		stats:      e.statsOf(mq.Topic),
		quiet:      make(chan struct{}, 1),
		results:    make(chan result, 32),
		gone:       make(chan struct{}),
		inbox:      newMailbox[queueCommand](),
		nextOffset: Unknown, commit: Unknown, progress: Unknown, min: Unknown, max: Unknown, undecodableAt: Unknown,
		replies: make(chan remoting.Reply, 1),
	}
	q.subscribe(sub)
	q.gen.Store(e.generations.Add(1))
	q.memory.Store(Unknown)
	q.persisted.Store(Unknown)
	q.unsaved.Store(Unknown)
	flags := protocol.PullSuspend
	if e.o.PostSubscriptionWhenPull {
		flags |= protocol.PullSubscription
	}
	q.encode = func(dst []byte, opaque int32) ([]byte, error) {
		// The commit offset does not ride on the pull, as the reference lets it: a
		// broker serves pulls and commits on different threads, so a pull sent just
		// before a commit could move the group back behind it (seen on 4.9.7), and
		// nobody would notice, since unchanged offsets are not written again.
		return q.enc.AppendFrame(dst, opaque, q.asked, 0, flags), nil
	}
	return q
}

// postedSubscription is what each pull carries of the expression: nothing, unless
// the option asks for it.
func postedSubscription(o *Options, sub *SubscriptionData) string {
	if !o.PostSubscriptionWhenPull {
		return ""
	}
	return sub.SubString
}

// subscribe sets what is pulled.
func (q *queue) subscribe(sub protocol.SubscriptionData) {
	q.sub = sub
	q.takeBy(sub)
	q.unfiltered = unfiltered(&sub)
	o := &q.e.o
	q.enc = q.e.d.Client.PullRequestEncoder(protocol.PullMessageRequestHeader{
		ConsumerGroup: o.Group, Topic: q.mq.Topic, QueueID: q.mq.QueueID, MaxMsgNums: int32(o.PullBatchSize),
		SuspendTimeout: brokerSuspend, SubVersion: sub.SubVersion, ExpressionType: sub.ExpressionType,
		MaxMsgBytes: pullBatchBytes(o.PullBatchSize), BrokerName: q.mq.BrokerName,
		Subscription: postedSubscription(o, &sub),
	})
}

// takeBy sets which of the pulled messages are taken. What a broker has left out may
// still be by the expression before.
func (q *queue) takeBy(sub protocol.SubscriptionData) {
	q.tags = nil
	if len(sub.TagsSet) > 0 && !sub.ClassFilterMode {
		q.tags = map[string]bool{}
		for _, t := range sub.TagsSet {
			q.tags[t] = true
		}
	}
	q.unfiltered = q.unfiltered && unfiltered(&sub)
}

// unfiltered reports whether a subscription lets everything pass.
func unfiltered(sub *protocol.SubscriptionData) bool {
	return sub.ExpressionType == protocol.ExpressionTAG && len(sub.TagsSet) == 0 && !sub.ClassFilterMode
}

// pullBatchBytes is maxMsgBytes: Java's 256 KiB for the default batch, and in
// proportion for a larger one, so that it does not undo pullBatchSize.
func pullBatchBytes(pullBatchSize int) int32 {
	return int32(max(256<<10, min(pullBatchSize*(8<<10), 4<<20)))
}

func (q *queue) at() At { return At{Time: time.Now(), MQ: q.mq} }

func (q *queue) emit(e Event) { q.e.events.publish(e) }

// run owns the queue until it is gone or ctx ends.
func (q *queue) run(ctx context.Context) {
	defer close(q.gone)
	defer q.answerHeld()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for q.phase != phaseGone {
		q.arm(timer)
		select {
		case r := <-q.replies:
			q.obey(ctx) // what the broker has answered by may be waiting here
			q.onReply(ctx, r)
		case r := <-q.results:
			q.onResult(r)
		case <-q.inbox.wake:
		case <-q.quiet:
		case <-timer.C:
			q.armed = time.Time{}
		case <-ctx.Done():
			q.cancelPull()
			return
		}
		q.obey(ctx)
		q.step(ctx)
	}
}

// obey does what the coordinator told, whatever it was that woke the queue: once
// Pause has returned, an answer that comes begins no further pull.
func (q *queue) obey(ctx context.Context) {
	for _, c := range q.inbox.all() {
		c.applyTo(ctx, q)
	}
}

// step does what is due now.
func (q *queue) step(ctx context.Context) {
	now := time.Now()
	switch q.phase {
	case phaseTaking:
		q.stepTaking(ctx, now)
	case phaseActive:
		switch {
		case q.resetting != nil:
			q.stepReset(ctx, now)
		default:
			q.stepActive(ctx, now)
		}
	case phaseDropping:
		q.stepDropping(now)
	}
	if ended := q.flow.Tick(now); ended != nil {
		q.flowEnded(*ended)
	}
	q.tellStretches(now)
	q.harvestDue(now)
	q.publishIfDue(now)
}

func (q *queue) stepActive(ctx context.Context, now time.Time) {
	if q.inFlight && now.Sub(q.pullStart) >= pullTimeout {
		q.pullTimedOut()
	}
	if q.mayPull() && !q.inFlight && !q.dialing && !q.nextPull.IsZero() && !now.Before(q.nextPull) {
		q.pull(ctx, now)
	}
	if q.mustRead() && !now.Before(q.readAgainAt) {
		q.readOffset(ctx)
	}
	if q.orderly {
		q.dispatchOrderly(now)
	} else {
		q.retryDue(now)
		q.cleanDue(ctx, now)
	}
	q.commitScanned(now)
}

// commitScanned moves the committed offset over what a filter left out behind the
// last message, once nothing is cached any more. The reference does so when the
// next pull is answered, which the broker may hold for 15 s.
func (q *queue) commitScanned(now time.Time) {
	if q.commit < q.nextOffset && q.pq.Stats().Count == 0 {
		if !q.unfiltered || len(q.e.o.FilterHooks) > 0 {
			q.corrected.add(now, q.commit, q.nextOffset)
		} // else the messages have expired, which is told
		q.setCommit(q.nextOffset, true)
		q.touch()
	}
}

// mayPull reports whether the broker knows what is pulled, nobody else may have the
// queue, and no offset is in question.
func (q *queue) mayPull() bool { return q.announced && q.doubt == noDoubt && !q.judging }

// arm sets the timer to the earliest thing that is due. A timer that is armed
// earlier is left: waking once too often is cheaper than setting it at each event.
func (q *queue) arm(timer *time.Timer) {
	var due time.Time
	earliest := func(t time.Time) {
		if !t.IsZero() && (due.IsZero() || t.Before(due)) {
			due = t
		}
	}
	earliest(q.publishAt)
	earliest(q.harvestAt)
	earliest(q.flow.EndsAt())
	earliest(q.expired.due)
	earliest(q.corrected.due)
	switch q.phase {
	case phaseTaking:
		if !q.reading && q.mayRead() && !q.mustWait() {
			earliest(q.readAgainAt)
		}
	case phaseActive:
		if q.resetting != nil {
			earliest(q.resetting.until)
			break
		}
		if q.inFlight {
			earliest(q.pullStart.Add(pullTimeout))
		} else if q.mayPull() && !q.dialing {
			earliest(q.nextPull)
		}
		if len(q.again) > 0 {
			earliest(q.again[0].at)
		}
		if q.orderly && !q.dispatched {
			earliest(q.suspendTill)
		}
		if q.mustRead() {
			earliest(q.readAgainAt)
		}
		if !q.cleaning {
			earliest(q.cleanAt)
		}
	case phaseDropping:
		earliest(q.drainUntil)
		earliest(q.saveAt)
		earliest(q.busyAt)
	}
	if due.IsZero() || (!q.armed.IsZero() && !due.Before(q.armed)) {
		return
	}
	q.armed = due
	timer.Reset(max(time.Until(due), 0))
}

// report hands a worker's results to the queue's goroutine, if it still lives.
func (q *queue) report(r *result) {
	if r.empty() && r.run == nil {
		return
	}
	select {
	case q.results <- *r:
	case <-q.gone:
		q.tooLate(r)
	}
}

// tooLate tells which messages of a result count for nothing, since the queue was
// given away or reset meanwhile. What was settled before that counts.
func (q *queue) tooLate(r *result) {
	if r.run != nil {
		if from := int(r.b.harvested.Load()); from < r.run.done {
			q.discarded(r.b.msgs[from:r.run.done])
		}
		return
	}
	for _, s := range r.done[:r.n] {
		from, to := int(s.from), int(s.to)
		for at := from; at < to && len(r.b.started) > 0; {
			end := min((at/q.batchMax+1)*q.batchMax, to) // of its call
			if r.b.started[at/q.batchMax].Load() == markSettled {
				q.discarded(r.b.msgs[from:at])
				from = end
			}
			at = end
		}
		q.discarded(r.b.msgs[from:to])
	}
}

func (q *queue) quietNow() {
	select {
	case q.quiet <- struct{}{}:
	default:
	}
}

// discarded tells that a listener has taken messages while the queue was given away:
// its verdicts do not count.
func (q *queue) discarded(msgs []protocol.MessageExt) {
	if len(msgs) == 0 {
		return
	}
	q.emit(ConsumeDiscarded{q.at(), "after", len(msgs), msgs[0].QueueOffset(), msgs[len(msgs)-1].QueueOffset()})
}

// refused tells that a listener did not accept messages.
func (q *queue) refused(status Status, err error, rt time.Duration, msgs []protocol.MessageExt) {
	ev := ConsumeFailed{At: q.at(), Count: len(msgs), First: msgs[0].QueueOffset(), RTMS: ms(rt),
		ReturnType: q.returnType(status, err, rt).String()}
	if err != nil {
		ev.Error = err.Error()
	}
	q.emit(ev)
}

// misfit logs, once a consumer, that a listener gives verdicts that do not fit.
func (q *queue) misfit(status Status, why string) {
	if !q.e.misfit.Swap(true) {
		q.e.log.Warn("odd verdict", "status", status.String(), "topic", q.mq.Topic, "why", why)
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// setCommit moves the committed offset in memory.
func (q *queue) setCommit(offset int64, increaseOnly bool) {
	if increaseOnly && offset <= q.commit {
		return
	}
	q.commit = offset
	q.memory.Store(offset)
}

// publishEvery is how often at most a queue publishes its snapshot while
// somebody looks.
const publishEvery = 100 * time.Millisecond

// touch notes that something the screen shows has changed. While nobody looks no
// timer is set for it: the next look asks for it (refresh).
func (q *queue) touch() {
	q.stale = true
	if q.publishAt.IsZero() && q.e.watched(time.Now()) {
		q.publishAt = time.Now().Add(publishEvery)
	}
}

func (q *queue) publishIfDue(now time.Time) {
	if q.publishAt.IsZero() || now.Before(q.publishAt) {
		return
	}
	q.publish(now)
}

// refresh asks a queue for a snapshot of now.
type refresh struct{ done chan<- struct{} } // may be nil

func (r refresh) applyTo(_ context.Context, q *queue) {
	if q.stale {
		q.publish(time.Now())
	}
	if r.done != nil {
		r.done <- struct{}{} // has room for each queue
	}
}

// paused is the pause in force, the queue's own or the consumer's.
func (q *queue) paused() *PauseState {
	if q.pause != nil {
		return q.pause
	}
	return q.whole
}

// noteError remembers an error and tells it once a run of equal ones.
func (q *queue) noteError(offset int64, err error, delay time.Duration) {
	now := time.Now()
	if q.errors == 0 {
		q.errorSince = now
	}
	q.errors++
	q.lastErrAt = now
	q.touch()
	text := err.Error()
	if q.errors > 1 && text == q.lastError {
		return
	}
	q.lastError = text
	ev := PullError{At: q.at(), Offset: offset, Error: text, DelayMS: delay.Milliseconds()}
	if ce, ok := errors.AsType[*remoting.CodeError](err); ok {
		ev.Code = int32(ce.Code)
	}
	q.emit(ev)
}

func (q *queue) recovered() {
	if q.errors == 0 {
		return
	}
	q.emit(PullRecovered{q.at(), q.errors, time.Since(q.errorSince).Milliseconds()})
	q.errors, q.undecodableAt = 0, Unknown
	q.touch()
}
