package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect/message"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/tui/page"
)

const (
	// heldMessages and heldBytes are what waits for a reader that does not come;
	// beyond them nothing more is pulled.
	heldMessages = 2000
	heldBytes    = 32 << 20
	heldUnread   = 100
	// tailPace is the time between two batches: a screen cannot show more, and a scan
	// that matches nothing must not wake it for every pull.
	tailPace = 100 * time.Millisecond
	// tailAbsent is the time between two looks for a topic of dead letters that is not
	// there.
	tailAbsent = 5 * time.Second
)

// tailOpener opens the tails of a screen; they read by the client, and their
// goroutines are the crew's.
type tailOpener struct {
	client  *remoting.Client
	crew    *crew
	timeout time.Duration
	now     func() time.Time
}

// open implements tui.OpenTail.
func (o *tailOpener) open(ctx context.Context, r page.TailRequest) (page.Tail, error) {
	first, err := r.Filter.Compile()
	if err != nil {
		return nil, err
	}
	own, cancel := context.WithCancel(ctx)
	s := &screenTail{
		tailer: tailer{
			client: o.client, timeout: o.timeout, topic: r.Topic, grows: len(r.Queues) == 0, expression: "*",
			from: positionOf(r.From), now: o.now,
		},
		changed: make(chan struct{}, 1), taken: make(chan struct{}, 1), done: make(chan struct{}), cancel: cancel,
	}
	s.sieve.Store(&sieve{Matcher: first})
	t := &s.tailer
	t.keep, t.pause = s.keep, func() error { return nil }
	t.notice, t.unread = s.notice, s.unreadable
	t.emit = func(m *keptMessage) (bool, error) { return s.emit(own, m) }
	t.progress = s.progress
	s.behind = -1
	s.told[1] = -1
	o.crew.start(func() {
		err := s.read(own, o.crew, r.Queues)
		s.mu.Lock()
		s.err = err
		s.mu.Unlock()
		close(s.done)
	})
	return s, nil
}

// positionOf is a position in the tailer's terms.
func positionOf(p page.TailPosition) position {
	switch {
	case p.Earliest:
		return position{kind: posEarliest}
	case p.ByOffset:
		return position{kind: posOffset, offset: p.Offset}
	case !p.Time.IsZero():
		return position{kind: posTime, time: p.Time}
	}
	return position{kind: posLatest}
}

// screenTail is a tui.Tail: a tailer whose messages wait for the screen.
type screenTail struct {
	tailer  tailer
	sieve   atomic.Pointer[sieve] // in force
	seen    atomic.Int64
	missed  atomic.Int64  // did not match the filter that was in force
	used    *sieve        // the last message's; only keep uses it
	changed chan struct{} // capacity 1: Next has something to look at
	taken   chan struct{} // capacity 1: there is room again
	done    chan struct{} // closed when read has ended
	cancel  context.CancelFunc

	mu       sync.Mutex // guards what follows
	messages []keptMessage
	bytes    int
	unread   []string
	lost     int // lines of unread that were left out
	text     string
	behind   int64
	mute     []page.MuteQueue
	changes  int64 // of mute
	err      error
	last     time.Time // when Next returned; only Next uses it
	told     [4]int64  // what it said then
}

// read finds the topic's queues and reads them until ctx ends.
func (s *screenTail) read(ctx context.Context, crew *crew, wanted []engine.MessageQueue) error {
	t := &s.tailer
	var since time.Time
	for t.queues == nil {
		asked := t.now()
		cctx, cancel := context.WithTimeout(ctx, t.timeout)
		route, _, err := t.client.RefreshRoute(cctx, t.topic)
		cancel()
		switch {
		case ctx.Err() != nil:
			return nil
		case isType[*remoting.NoRouteError](err) && strings.HasPrefix(t.topic, protocol.DLQTopicPrefix):
			t.progress(0, nil) // nothing is wrong: there are no dead letters yet
			t.from = position{kind: posEarliest}
			waitFor(ctx.Done(), tailAbsent)
			continue
		case isType[*remoting.NoRouteError](err):
			return noTopic(t.topic)
		case err != nil && !remoting.Retryable(err):
			return err
		case err != nil:
			since = cmp.Or(since, asked)
			t.progress(-1, []page.MuteQueue{{Since: since, Why: reasonText(err)}})
			waitFor(ctx.Done(), tailRetry)
			continue
		}
		if err := followed(route); err != nil {
			return err
		}
		var refs []queueRef
		for _, mq := range wanted {
			refs = append(refs, queueRef{mq.BrokerName, mq.QueueID})
		}
		choice := topicQueues{client: t.client, route: route, limit: t.timeout}
		if t.queues, err = choice.choose(ctx, refs); err != nil {
			return err
		}
	}
	return t.run(ctx, crew)
}

// keep implements tailer.keep.
func (s *screenTail) keep(ctx context.Context, m *engine.Message) *sieve {
	by := s.sieve.Load()
	if by != s.used {
		s.used = by
		by.missed.Store(s.missed.Load())
	}
	matched := by.Match(ctx, m)
	s.seen.Add(1)
	if !matched {
		s.missed.Add(1)
		return nil
	}
	return by
}

// emit implements tailer.emit: it waits while too much waits for the reader.
func (s *screenTail) emit(ctx context.Context, m *keptMessage) (bool, error) {
	for !s.put(m) {
		select {
		case <-s.taken:
		case <-ctx.Done():
			return false, nil
		}
	}
	s.signal()
	return true, nil
}

func (s *screenTail) put(m *keptMessage) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full() {
		return false
	}
	s.messages = append(s.messages, *m)
	s.bytes += m.StoreSize()
	return true
}

// full is called under mu.
func (s *screenTail) full() bool { return len(s.messages) >= heldMessages || s.bytes >= heldBytes }

// notice implements tailer.notice; of several that nobody has read the last one counts.
func (s *screenTail) notice(text string) {
	s.mu.Lock()
	s.text = text
	s.mu.Unlock()
	s.signal()
}

// unreadable implements tailer.unread.
func (s *screenTail) unreadable(mq engine.MessageQueue, offset int64, reason string) error {
	s.mu.Lock()
	if len(s.unread) < heldUnread {
		s.unread = append(s.unread, fmt.Sprintf("%v: the record at offset %d cannot be read: %s", mq, offset, reason))
	} else {
		s.lost++
	}
	s.mu.Unlock()
	s.signal()
	return nil
}

// progress implements tailer.progress.
func (s *screenTail) progress(behind int64, mute []page.MuteQueue) {
	s.mu.Lock()
	s.behind = behind
	if !slices.Equal(s.mute, mute) {
		s.mute = mute
		s.changes++
	}
	s.mu.Unlock()
	s.signal()
}

func (s *screenTail) signal() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Next implements tui.Tail. It is called by one goroutine at a time.
func (s *screenTail) Next(ctx context.Context) (page.TailBatch, error) {
	for {
		ended := false
		select {
		case <-s.done:
			ended = true
		default:
		}
		if b, ok := s.take(ended); ok {
			return b, nil
		}
		if ended {
			s.mu.Lock()
			defer s.mu.Unlock()
			return page.TailBatch{}, cmp.Or[error](s.err, engine.ErrEnded)
		}
		select {
		case <-s.changed:
		case <-s.done:
		case <-ctx.Done():
			return page.TailBatch{}, context.Cause(ctx)
		}
		if err := s.slow(ctx); err != nil {
			return page.TailBatch{}, err
		}
	}
}

// slow waits until tailPace has passed since the last batch, unless the batch is full.
func (s *screenTail) slow(ctx context.Context) error {
	wait := tailPace - time.Since(s.last)
	s.mu.Lock()
	full := s.full()
	s.mu.Unlock()
	if wait <= 0 || full {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// take gives what has come since the last batch, as far as it passed one filter; ok is
// false when that is nothing.
func (s *screenTail) take(ended bool) (b page.TailBatch, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	by := s.sieve.Load()
	if len(s.messages) > 0 {
		by = s.messages[0].by
	}
	counts := by.Counts()
	b = page.TailBatch{Unread: s.unread, Notice: s.text, Filter: by.number, Looked: counts.Seen, Matched: counts.Matched,
		Seen: s.seen.Load(), Missed: by.missed.Load(), Behind: s.behind, Mute: s.mute}
	n, bytes := 0, 0
	for ; n < len(s.messages) && s.messages[n].by == by; n++ {
		b.Messages = append(b.Messages, s.messages[n].Message)
		bytes += s.messages[n].StoreSize()
	}
	if s.lost > 0 {
		b.Unread = append(b.Unread, fmt.Sprintf("%d more records cannot be read", s.lost))
	}
	told := [4]int64{b.Seen, b.Behind, int64(b.Filter), s.changes}
	if len(b.Messages)+len(b.Unread) == 0 && b.Notice == "" && (told == s.told || ended) {
		return b, false
	}
	if err := by.GivenUp(); b.Notice == "" && err != nil {
		b.Notice = err.Error() + "; nothing passes until there is another filter"
	}
	if b.Notice == "" && counts.Failed > 0 {
		b.Notice = fmt.Sprintf("the jq program failed on %d of %d, first on %s", counts.Failed, counts.Seen, counts.Why)
	}
	if s.messages, s.bytes = s.messages[n:], s.bytes-bytes; len(s.messages) == 0 {
		s.messages = nil
	} else {
		s.signal() // the rest passed another filter
	}
	s.unread, s.lost, s.text, s.told = nil, 0, "", told
	s.last = time.Now()
	select {
	case s.taken <- struct{}{}:
	default:
	}
	return b, true
}

// SetFilter implements tui.Tail.
func (s *screenTail) SetFilter(number int, f message.Filter) error {
	m, err := f.Compile()
	if err == nil {
		next := &sieve{Matcher: m, number: number}
		next.missed.Store(s.missed.Load())
		s.sieve.Store(next)
		s.signal()
	}
	return err
}

// Close implements tui.Tail.
func (s *screenTail) Close() {
	s.cancel()
	<-s.done
}

var _ page.Tail = (*screenTail)(nil)
