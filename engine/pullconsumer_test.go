package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// puller is one running pull consumer of a test.
type puller struct {
	*engine.PullConsumer
	t      testing.TB
	client *remoting.Client
	end    func() // once; else the end of the test does it
}

// pullFrom starts a pull consumer whose connections go through w, when it is not
// nil. It runs until the end of the test.
func pullFrom(t testing.TB, tg *sandboxtest.Target, w *wire, store func(c *remoting.Client) engine.OffsetStore, changes ...func(*engine.PullOptions)) *puller {
	t.Helper()
	over := *tg
	if w != nil {
		over.Dial = w.dial
	}
	p := &puller{t: t, client: over.Client(t, nil)}
	o := engine.DefaultPullOptions()
	for _, c := range changes {
		c(&o)
	}
	d := engine.PullDeps{Client: p.client}
	if store != nil {
		d.Store = store(p.client)
	}
	var err error
	if p.PullConsumer, err = engine.NewPullConsumer(o, d); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	p.end = sync.OnceFunc(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("Run = %v", err)
		}
		for {
			if _, err := p.Poll(context.WithoutCancel(t.Context())); err != nil {
				if !errors.Is(err, engine.ErrEnded) {
					t.Errorf("Poll after the end = %v", err)
				}
				return
			}
		}
	})
	t.Cleanup(p.end)
	return p
}

func allFromFirst(o *engine.PullOptions) { o.From = protocol.ConsumeFromFirstOffset }

// queues are the topic's.
func (p *puller) queues(topic string) []engine.MessageQueue {
	p.t.Helper()
	route, err := p.client.Route(p.t.Context(), topic)
	if err != nil {
		p.t.Fatal(err)
	}
	return route.Queues
}

// until polls until ok holds of what came.
func (p *puller) until(what string, ok func(engine.Polled) bool) engine.Polled {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	for {
		got, err := p.Poll(ctx)
		if err != nil {
			p.t.Fatalf("polled in vain until %s: %v", what, err)
		}
		if ok(got) {
			return got
		}
	}
}

// offsets polls n messages and gives their offsets by queue.
func (p *puller) offsets(n int) map[int32][]int64 {
	p.t.Helper()
	got := map[int32][]int64{}
	if n == 0 {
		return got
	}
	p.until(fmt.Sprintf("%d messages", n), func(r engine.Polled) bool {
		for i := range r.Messages {
			got[r.Queue.QueueID] = append(got[r.Queue.QueueID], r.Messages[i].QueueOffset())
			n--
		}
		return n <= 0
	})
	return got
}

func fromTo(lo, hi int64) (all []int64) {
	for ; lo < hi; lo++ {
		all = append(all, lo)
	}
	return all
}

// Pull mode reads what it is told to, and nothing of it is left in the cluster:
// no member, no offset, no request but for reading.
func TestPullModeReadsQueuesWithoutAGroup(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic := tg.Topic(t, 4)
		tg.Produce(t, topic, 400)
		w := newWire(tg)
		codes := map[protocol.RequestCode]bool{}
		var mu sync.Mutex
		w.onRequest(func(req *protocol.Command) {
			mu.Lock()
			defer mu.Unlock()
			codes[protocol.RequestCode(req.Code)] = true
		})
		p := pullFrom(t, tg, w, nil, allFromFirst)
		mqs := p.queues(topic)[:3]
		p.Assign(mqs...)
		if got := p.Assignment(); !slices.Equal(got, mqs) {
			t.Errorf("assignment = %v, want %v", got, mqs)
		}
		for id, got := range p.offsets(300) {
			if !slices.Equal(got, fromTo(0, 100)) {
				t.Errorf("queue %d: offsets %v, want 0 to 99 in order", id, got)
			}
		}
		p.until("the end", func(r engine.Polled) bool { return r.AtEnd })
		if at, ok := p.Position(mqs[0]); !ok || at != 100 {
			t.Errorf("position = %d, %v, want 100", at, ok)
		}
		tg.Produce(t, topic, 4)
		p.offsets(3)
		p.Unassign(mqs[0])
		p.Assign(mqs[1], p.queues(topic)[3]) // queue 1 goes on, queue 3 begins
		if got := p.offsets(101); len(got) != 1 || !slices.Equal(got[3], fromTo(0, 101)) {
			t.Errorf("after another assignment: %v, want all of queue 3", got)
		}
		for _, mq := range mqs {
			// (A 4.x broker says 0 of a group without offset while the topic is young.)
			if got, _, err := p.client.QueryConsumerOffset(t.Context(), engine.ToolsGroup, mq); err != nil || got != 0 {
				t.Errorf("an offset is stored for %v: %v, %v", mq, got, err)
			}
		}
		// Tools that others use on a real broker are members of that group.
		if ids, _, err := p.client.ConsumerIDs(t.Context(), topic, engine.ToolsGroup); err != nil || tg.Sandbox != nil && len(ids) > 0 {
			t.Errorf("members = %v, %v", ids, err)
		}
		mu.Lock()
		defer mu.Unlock()
		for code := range codes {
			switch code {
			case protocol.PullMessage, protocol.GetMinOffset, protocol.GetMaxOffset, protocol.GetRouteInfoByTopic,
				protocol.QueryConsumerOffset, protocol.GetConsumerListByGroup: // the last two are the test's
			default:
				t.Errorf("request %v was sent", code)
			}
		}
	})
}

// Bounds and times are found by pulls where access control does not tell them.
func TestPullModeWithoutBounds(t *testing.T) {
	sandboxtest.RunIn(t, only5, func(t *testing.T, tg *sandboxtest.Target) {
		topic := tg.Topic(t, 1)
		p := pullFrom(t, tg, nil, nil)
		mq := p.queues(topic)[0]
		tg.Produce(t, topic, 30)
		time.Sleep(time.Second)
		between := time.Now()
		tg.Produce(t, topic, 20)
		tg.Sandbox.Truncate(mq, 7)
		onFault(tg, func(code protocol.RequestCode, _ string) sandbox.Fault { return deniedBounds(code, "me@1") })
		if lo, hi, err := p.Bounds(t.Context(), mq); lo != 7 || hi != 50 || err != nil {
			t.Errorf("bounds = %d, %d, %v, want 7 and 50", lo, hi, err)
		}
		for at, want := range map[time.Time]int64{between: 30, between.Add(-time.Hour): 7, between.Add(time.Hour): 50} {
			if got, err := p.OffsetAt(t.Context(), mq, at); got != want || err != nil {
				t.Errorf("offset at %v = %d, %v, want %d", at, got, err, want)
			}
		}
	})
}

// A seek goes to an offset within the queue's bounds, its ends or a time, and
// drops what was pulled of the place before.
func TestPullModeSeek(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic := tg.Topic(t, 2)
		p := pullFrom(t, tg, nil, nil)
		mqs := p.queues(topic)
		mq := mqs[0]
		tg.Produce(t, topic, 40)
		if tg.Sandbox != nil {
			time.Sleep(time.Second)
		} else {
			<-time.After(time.Second)
		}
		between := time.Now()
		tg.Produce(t, topic, 60)
		seekTo := func(what string, want int64, seek func() (int64, error)) {
			t.Helper()
			got, err := seek()
			if err != nil || got != want {
				t.Fatalf("seek to %s = %d, %v, want %d", what, got, err, want)
			}
			if n := p.offsets(int(50 - want)); want < 50 && !slices.Equal(n[0], fromTo(want, 50)) {
				t.Errorf("after the seek to %s: %v, want %d to 49", what, n, want)
			}
		}
		at := func(offset int64) func() (int64, error) {
			return func() (int64, error) { return offset, p.Seek(t.Context(), mq, offset) }
		}
		if err := p.Seek(t.Context(), mq, 3); err == nil || !strings.Contains(err.Error(), "not assigned") {
			t.Errorf("seek of a queue that is not assigned = %v", err)
		}
		p.Assign(mq)
		for _, bad := range []int64{-1, 51, 1 << 40} {
			if err := p.Seek(t.Context(), mq, bad); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("to %d: it has 0 to 50", bad)) {
				t.Errorf("seek to %d = %v, want a refusal", bad, err)
			}
		}
		seekTo("10", 10, at(10))
		seekTo("0", 0, at(0))
		if err := p.Seek(t.Context(), mq, 5); err != nil { // pulled, not polled
			t.Fatal(err)
		}
		seekTo("the end", 50, func() (int64, error) { return p.SeekToEnd(t.Context(), mq) })
		seekTo("the beginning", 0, func() (int64, error) { return p.SeekToBegin(t.Context(), mq) })
		seekTo("the time between", 20, func() (int64, error) { return p.SeekToTime(t.Context(), mq, between) })
		seekTo("long ago", 0, func() (int64, error) { return p.SeekToTime(t.Context(), mq, between.Add(-time.Hour)) })
		seekTo("an hour to come", 50, func() (int64, error) { return p.SeekToTime(t.Context(), mq, between.Add(time.Hour)) })
		if at, ok := p.Position(mq); !ok || at != 50 {
			t.Errorf("position after the seek to the end = %d, %v, want 50", at, ok)
		}
		// A pull that is held at the end does not hold up a seek.
		p.until("the end", func(r engine.Polled) bool { return r.AtEnd })
		began := time.Now()
		seekTo("40", 40, at(40))
		if took := time.Since(began); tooLong(tg, took, 5*time.Second) {
			t.Errorf("the seek took %v", took)
		}
	})
}

// A paused queue is not pulled; what was pulled before is polled. A queue that is
// assigned again is not paused.
func TestPullModePause(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic := tg.Topic(t, 2)
		p := pullFrom(t, tg, nil, nil, allFromFirst)
		mqs := p.queues(topic)
		if !p.Paused(mqs[0]) {
			t.Error("a queue that is not assigned does not count as paused")
		}
		p.Assign(mqs...)
		p.Pause(mqs[0])
		if !p.Paused(mqs[0]) || p.Paused(mqs[1]) {
			t.Error("the wrong queue is paused")
		}
		// One pull may have been under way when the pause came.
		for n := 0; n < 2; n++ {
			p.until("the other's end", func(r engine.Polled) bool { return r.AtEnd && r.Queue == mqs[1] })
			p.Recheck(mqs[1])
		}
		tg.Produce(t, topic, 20)
		got := p.offsets(10)
		if len(got[0]) > 0 && len(got[1]) == 0 {
			t.Errorf("got %v", got)
		}
		p.Resume(mqs[0])
		rest := p.offsets(20 - len(got[0]) - len(got[1]))
		if all := len(got[0]) + len(rest[0]); all != 10 {
			t.Errorf("%d messages of the resumed queue, want 10", all)
		}
		p.Pause(mqs[0])
		p.Unassign(mqs[0])
		p.Assign(mqs...)
		if p.Paused(mqs[0]) {
			t.Error("a queue that was assigned again is paused")
		}
	})
}

// What is pulled and not polled is bounded: by count and by size of a queue, by
// the span of its offsets, by the count of all. Polling makes room at once.
func TestPullModeFlowControl(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic := tg.Topic(t, 2)
		for i := range 400 {
			tag := "no"
			if i%40 < 2 {
				tag = "yes"
			}
			tg.Sandbox.Put(sandbox.Message{Topic: topic, QueueID: -1, Body: make([]byte, 20_000), Properties: []protocol.Property{tagged(tag)}})
		}
		for name, tt := range map[string]struct {
			change    func(*engine.PullOptions)
			low, high int32 // pulls before anything is polled
		}{
			"count of a queue": {func(o *engine.PullOptions) { o.PullThresholdForQueue = 25 }, 6, 6},
			"count of all":     {func(o *engine.PullOptions) { o.PullThresholdForAll = 25 }, 3, 4},
			"size":             {func(o *engine.PullOptions) { o.PullThresholdSizeForQueue = 1 }, 22, 24},
			"span":             {func(o *engine.PullOptions) { o.ConsumeMaxSpan, o.Expression, o.PullBatchSize = 30, "yes", 1 }, 4, 8},
		} {
			w := newWire(tg)
			var pulls atomic.Int32
			w.onRequest(func(req *protocol.Command) {
				if protocol.RequestCode(req.Code) == protocol.PullMessage {
					pulls.Add(1)
				}
			})
			p := pullFrom(t, tg, w, nil, allFromFirst, tt.change)
			p.Assign(p.queues(topic)...)
			time.Sleep(time.Minute)
			n := pulls.Load()
			if n < tt.low || n > tt.high {
				t.Errorf("%s: %d pulls before anything was polled, want %d to %d", name, n, tt.low, tt.high)
			}
			want := 400
			if name == "span" {
				want = 20
			}
			began := time.Now()
			p.offsets(want)
			if took := time.Since(began); took > 100*time.Millisecond {
				t.Errorf("%s: the rest took %v", name, took)
			}
		}
	})
}

// An offset that the queue does not have is replaced by the broker's correction, and told.
func TestPullModeOffsetIllegal(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic := tg.Topic(t, 1)
		tg.Produce(t, topic, 30)
		p := pullFrom(t, tg, nil, nil)
		mq := p.queues(topic)[0]
		p.AssignAt(mq, 100)
		r := p.until("the correction", func(r engine.Polled) bool { return r.Event != nil })
		if e, ok := r.Event.(engine.OffsetIllegal); !ok || e.Requested != 100 || e.Corrected != 30 || e.MaxOffset != 30 || r.Next != 30 {
			t.Errorf("polled %+v, want 100 corrected to 30", r)
		}
		if at, ok := p.Position(mq); !ok || at != 30 {
			t.Errorf("position = %d, %v, want 30", at, ok)
		}
		tg.Produce(t, topic, 5)
		if got := p.offsets(5); !slices.Equal(got[0], fromTo(30, 35)) {
			t.Errorf("got %v, want 30 to 34", got)
		}
	})
}

// Nothing is committed unless it is asked for; what was polled is, and the next
// consumer of the group begins there.
func TestPullModeCommit(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 30)
		store := func(c *remoting.Client) engine.OffsetStore { return brokerStore{c, group} }
		as := func(o *engine.PullOptions) { o.Group = group }
		p := pullFrom(t, tg, nil, store, allFromFirst, as)
		mq := p.queues(topic)[0]
		p.AssignAt(mq, 0)
		p.until("ten", func(r engine.Polled) bool { return r.Next == 10 })
		if got, found, err := p.Committed(t.Context(), mq); err != nil || found && got != 0 {
			t.Errorf("committed %d, %v, %v before a commit", got, found, err)
		}
		if err := p.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, found, err := p.Committed(t.Context(), mq); err != nil || !found || got != 10 {
			t.Errorf("committed %d, %v, %v, want 10", got, found, err)
		}
		next := pullFrom(t, tg, nil, store, as)
		next.Assign(mq)
		if got := next.offsets(20); !slices.Equal(got[0], fromTo(10, 30)) {
			t.Errorf("the next one got %v, want 10 to 29", got)
		}
		none := pullFrom(t, tg, nil, nil)
		if err := none.Commit(t.Context()); err == nil {
			t.Error("a commit without a store is no error")
		}
	})
}

// Where a queue without seek and without stored offset begins.
func TestPullModeStart(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic := tg.Topic(t, 1)
		tg.Produce(t, topic, 10)
		time.Sleep(time.Minute)
		at := time.Now()
		tg.Produce(t, topic, 10)
		for name, tt := range map[string]struct {
			change func(*engine.PullOptions)
			want   int64
		}{
			"first": {allFromFirst, 0},
			"last":  {func(*engine.PullOptions) {}, 20},
			"time":  {func(o *engine.PullOptions) { o.From, o.Timestamp = protocol.ConsumeFromTimestamp, at }, 10},
		} {
			p := pullFrom(t, tg, nil, nil, tt.change)
			mq := p.queues(topic)[0]
			if _, ok := p.Position(mq); ok {
				t.Errorf("%s: there is a position before the assignment", name)
			}
			p.Assign(mq)
			if got := p.offsets(int(20 - tt.want)); !slices.Equal(got[0], fromTo(tt.want, 20)) {
				t.Errorf("%s: got %v, want %d to 19", name, got, tt.want)
			}
			p.until("the end", func(r engine.Polled) bool { return r.AtEnd })
			if at, ok := p.Position(mq); !ok || at != 20 {
				t.Errorf("%s: position %d, %v, want 20", name, at, ok)
			}
		}
	})
}

// Queues that a watched topic gets are told.
func TestPullModeWatchesTopics(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic := tg.Topic(t, 2)
		p := pullFrom(t, tg, nil, nil, func(o *engine.PullOptions) { o.TopicCheckInterval = time.Second })
		p.Watch(topic, p.queues(topic))
		tg.Grow(t, topic, 4)
		var added []engine.MessageQueue
		p.until("two more queues", func(r engine.Polled) bool {
			if r.Topic != topic || len(r.Removed) > 0 {
				t.Errorf("polled %+v", r)
			}
			added = append(added, r.Added...)
			return len(added) >= 2
		})
		if len(added) != 2 || added[0].QueueID != 2 || added[1].QueueID != 3 {
			t.Errorf("added %v, want the queues 2 and 3", added)
		}
	})
}

// Failures are told with their begin and their end, and tried again at the
// reference's pace.
func TestPullModeFailures(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic := tg.Topic(t, 1)
		tg.Produce(t, topic, 10)
		for _, tt := range []struct {
			code  protocol.ResponseCode
			of    protocol.RequestCode
			pace  time.Duration
			quiet bool
		}{
			{protocol.SystemBusy, protocol.PullMessage, time.Second, false},
			{protocol.NoPermission, protocol.PullMessage, time.Second, false},
			{protocol.TopicNotExist, protocol.PullMessage, time.Second, false},
			{protocol.FlowControl, protocol.PullMessage, 20 * time.Millisecond, true},
			{protocol.SystemError, protocol.GetMinOffset, 3 * time.Second, false},
		} {
			time.Sleep(time.Second) // what the last one has sent has arrived
			var tries []time.Time
			var mu sync.Mutex
			onFault(tg, func(code protocol.RequestCode, _ string) (f sandbox.Fault) {
				mu.Lock()
				defer mu.Unlock()
				if code == tt.of && len(tries) < 4 {
					tries = append(tries, time.Now())
					f.Code, f.Remark = tt.code, "not now"
				}
				return f
			})
			p := pullFrom(t, tg, nil, nil, allFromFirst)
			p.Assign(p.queues(topic)...)
			failed, recovered := 0, int64(0)
			p.until("the messages", func(r engine.Polled) bool {
				if r.Err != nil {
					failed++
					if ce, ok := errors.AsType[*remoting.CodeError](r.Err); !ok || ce.Code != tt.code || r.Since != tries[0] {
						t.Errorf("%v: polled %v since %v, want the code since %v", tt.code, r.Err, r.Since, tries[0])
					}
				}
				if e, ok := r.Event.(engine.PullRecovered); ok {
					recovered = e.Errors
				}
				return len(r.Messages) == 10
			})
			for i := 1; i < 4; i++ {
				if got := tries[i].Sub(tries[i-1]); got != tt.pace {
					t.Errorf("%v: tried again after %v, want %v", tt.code, got, tt.pace)
				}
			}
			p.end()
			if tt.quiet && failed+int(recovered) > 0 || !tt.quiet && (failed != 4 || recovered != 4) {
				t.Errorf("%v: told %d failures and a recovery from %d", tt.code, failed, recovered)
			}
		}
	})
}

// A broken answer drops its connection, is told, and moves nothing. A record that
// stays broken is told with its offset and passed over.
func TestPullModeBrokenAnswers(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic := tg.Topic(t, 1)
		tg.Produce(t, topic, 30)
		w := newWire(tg)
		p := pullFrom(t, tg, w, nil)
		mq := p.queues(topic)[0]
		breakNext(w, topic, 10, func(_ *protocol.PullMessageRequestHeader, a *protocol.Command) []byte {
			return field(a, "nextBeginOffset", "-1")
		})
		p.AssignAt(mq, 0)
		r := p.until("the broken answer", func(r engine.Polled) bool { return r.Err != nil })
		if broken, ok := errors.AsType[*remoting.BadAnswerError](r.Err); !ok || broken.Request != protocol.PullMessage || r.Next != 10 {
			t.Errorf("polled %+v, want a broken answer at 10", r)
		}
		if got := p.offsets(20); !slices.Equal(got[0], fromTo(10, 30)) {
			t.Errorf("got %v, want 10 to 29", got)
		}

		var looks atomic.Int32
		w.onAnswer(func(req, answer *protocol.Command) []byte { // the record at 15 is broken in the store
			if protocol.RequestCode(req.Code) != protocol.PullMessage || answer.Code != int32(protocol.Success) {
				return nil
			}
			b := append([]byte(nil), answer.Body...)
			ms, err := protocol.AppendMessages(nil, b, nil)
			if err != nil {
				return nil
			}
			at := 0
			for i := range ms {
				if ms[i].QueueOffset() == 15 {
					looks.Add(1)
					b[at+4] ^= 0xff
					return body(answer, b)
				}
				at += ms[i].StoreSize()
			}
			return nil
		})
		if err := p.Seek(t.Context(), mq, 2); err != nil {
			t.Fatal(err)
		}
		var got []int64
		var told []engine.MessageUndecodable
		p.until("the rest", func(r engine.Polled) bool {
			for i := range r.Messages {
				got = append(got, r.Messages[i].QueueOffset())
			}
			if e, ok := r.Event.(engine.MessageUndecodable); ok {
				told = append(told, e)
			}
			return r.Next == 30
		})
		if want := append(fromTo(2, 15), fromTo(16, 30)...); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		if len(told) != 1 || told[0].Offset != 15 || !strings.Contains(told[0].Error, "magic") {
			t.Errorf("told %+v, want the record at 15", told)
		}
		if n := looks.Load(); n != 3 { // before it, then twice at it
			t.Errorf("the record was looked at %d times, want 3", n)
		}
	})
}

// Filters hold in pull mode too, and what they leave out is progress.
func TestPullModeFilters(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic := tg.Topic(t, 1)
		tg.Produce(t, topic, 20, tagged("Aa"))
		tg.Produce(t, topic, 20, tagged("BB"))
		tg.Produce(t, topic, 20, tagged("C"), protocol.Property{Name: "a", Value: "7"})
		for expression, want := range map[string][]int64{"Aa": fromTo(0, 20), "BB||C": fromTo(20, 60), "none": nil, "SQL": fromTo(40, 60)} {
			p := pullFrom(t, tg, nil, nil, func(o *engine.PullOptions) {
				if o.Expression = expression; expression == "SQL" {
					o.Expression, o.ExpressionType = "a > 5", protocol.ExpressionSQL92
				}
			})
			p.AssignAt(p.queues(topic)[0], 0)
			var got []int64
			refused := p.until("the end", func(r engine.Polled) bool {
				for i := range r.Messages {
					got = append(got, r.Messages[i].QueueOffset())
				}
				return r.Next == 60 || r.Err != nil
			})
			if tg.Sandbox != nil && expression == "SQL" {
				if !isCodeError(refused.Err, protocol.SystemError) {
					t.Errorf("polled %+v, want the refusal", refused)
				}
				continue
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: got %v, want %v", expression, got, want)
			}
		}
	})
}

func isCodeError(err error, code protocol.ResponseCode) bool {
	ce, ok := errors.AsType[*remoting.CodeError](err)
	return ok && ce.Code == code
}

func TestPullOptionsAreChecked(t *testing.T) {
	for property, change := range map[string]func(*engine.PullOptions){
		"consumerGroup":                    func(o *engine.PullOptions) { o.Group = "a b" },
		"consumeFromWhere":                 func(o *engine.PullOptions) { o.From = 9 },
		"consumeTimestamp":                 func(o *engine.PullOptions) { o.From = protocol.ConsumeFromTimestamp },
		"subscription":                     func(o *engine.PullOptions) { o.Expression = "||" },
		"pullBatchSize":                    func(o *engine.PullOptions) { o.PullBatchSize = 0 },
		"brokerSuspendMaxTimeMillis":       func(o *engine.PullOptions) { o.BrokerSuspend = time.Minute },
		"pullThresholdForAll":              func(o *engine.PullOptions) { o.PullThresholdForAll = 0 },
		"pullThresholdForQueue":            func(o *engine.PullOptions) { o.PullThresholdForQueue = 65536 },
		"pullThresholdSizeForQueue":        func(o *engine.PullOptions) { o.PullThresholdSizeForQueue = 1025 },
		"consumeMaxSpan":                   func(o *engine.PullOptions) { o.ConsumeMaxSpan = 0 },
		"topicMetadataCheckIntervalMillis": func(o *engine.PullOptions) { o.TopicCheckInterval = 0 },
		"mqClientApiTimeout":               func(o *engine.PullOptions) { o.CallTimeout = 0 },
	} {
		o := engine.DefaultPullOptions()
		if err := o.Validate(); err != nil {
			t.Fatal(err)
		}
		change(&o)
		if ce, ok := errors.AsType[*engine.ConfigError](o.Validate()); !ok || ce.Property != property {
			t.Errorf("%s: Validate = %v", property, o.Validate())
		}
	}
}
