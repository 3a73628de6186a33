package page

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/words"
)

// What is read again how often while its page is shown, and how long an answer is
// waited for.
const (
	askLimit     = 30 * time.Second // each question inside has a deadline of its own
	NamesEvery   = 15 * time.Second
	DetailsEvery = 5 * time.Second
	LagEvery     = 2 * time.Second
	TopicEvery   = 3 * time.Second
	BrokersEvery = 5 * time.Second
	// retryFirst is the pause after a try that failed, retryLimit the longest one after
	// several.
	retryFirst = 2 * time.Second
	retryLimit = 30 * time.Second
)

// ask is one question on its way to a command.
type ask struct {
	call   func(ctx context.Context, cl Cluster) (raw, safe any, err error)
	names  []string // true names of groups, topics or members
	ticket int
	stop   <-chan struct{} // closed when nobody wants the answer any more
}

// AnswerMsg answers an ask: Raw as it came, safe to print in Safe. The question with its
// Ticket takes it.
type AnswerMsg struct {
	Ticket    int
	Names     []string
	Raw, Safe any
	err       string
	Gone      bool // there is no such thing (any more)
}

// Question is one that is asked again and again while its answer, a T, is shown.
type Question[T any] struct {
	Schedule
	// Ask puts it to the cluster, about Names; a command calls it. See All, About, Rows.
	Ask func(ctx context.Context, cl Cluster, names []string) (T, error)
	// Unsafe: the answer is not made safe here, because it has a door of its own.
	Unsafe bool
}

// All asks about everything there is.
func All[T any](f func(Cluster, context.Context) (T, error)) func(context.Context, Cluster, []string) (T, error) {
	return func(ctx context.Context, cl Cluster, _ []string) (T, error) { return f(cl, ctx) }
}

// About asks about the one that is named.
func About[T any](f func(Cluster, context.Context, string) (T, error)) func(context.Context, Cluster, []string) (T, error) {
	return func(ctx context.Context, cl Cluster, names []string) (T, error) { return f(cl, ctx, names[0]) }
}

// AboutOneOf asks about a member of a group: both are named.
func AboutOneOf[T any](f func(Cluster, context.Context, string, string) (T, error)) func(context.Context, Cluster, []string) (T, error) {
	return func(ctx context.Context, cl Cluster, names []string) (T, error) {
		return f(cl, ctx, names[0], names[1])
	}
}

// Rows asks about all that are named; what cannot be told is in its row.
func Rows[T any](f func(Cluster, context.Context, []string) T) func(context.Context, Cluster, []string) (T, error) {
	return func(ctx context.Context, cl Cluster, names []string) (T, error) { return f(cl, ctx, names), nil }
}

// Begin puts it on its way.
func (q *Question[T]) Begin(e *Env) ask {
	q.Ticket, q.Asking, q.Began, q.Stop, q.Hurried = e.NewTicket(), true, e.Now, make(chan struct{}), false
	put, names, unsafe := q.Ask, q.Names, q.Unsafe
	return ask{func(ctx context.Context, cl Cluster) (raw, safe any, err error) {
		answer, err := put(ctx, cl, names)
		switch {
		case err != nil:
			return nil, nil, err
		case unsafe:
			return answer, nil, nil
		}
		return answer, CleanCopy(answer), nil
	}, names, q.Ticket, q.Stop}
}

// Take takes an answer: as it came, and safe to print. ok is false unless it is the one
// that is waited for, and a good one.
func (q *Question[T]) Take(msg AnswerMsg, now time.Time) (raw, safe T, ok bool) {
	if !q.answer(msg, now) {
		return raw, safe, false
	}
	raw = msg.Raw.(T)
	if !q.Unsafe {
		safe = msg.Safe.(T)
	}
	return raw, safe, true
}

// Schedule says when a question is due, and what became of it. One is on its way at most.
type Schedule struct {
	Names   []string // true names that it is about
	What    string   // "groups", for people
	Every   time.Duration
	Steady  bool // every counts from one question to the next, whatever came of it
	Ticket  int
	Asking  bool
	Began   time.Time // of the try under way, or of the last one
	ended   time.Time // when the last one was answered, however
	Stop    chan struct{}
	Hurried bool      // it is due at once
	Asked   bool      // was ever answered
	Gone    bool      // there is nothing to be asked about: pages show nothing of before
	At      time.Time // when the last good answer came
	// Since the last good answer:
	Err   string
	Tries int
	since time.Time // of the first try that failed
}

// next is when the question is due; never while one is on its way.
func (q *Schedule) next() time.Time {
	switch {
	case q.Steady && (q.Asked || q.Tries > 0):
		next := q.Began.Add(q.Every)
		if soon := q.ended.Add(q.Every / 4); next.Before(soon) { // slow answers leave the cluster a pause
			return soon
		}
		return next
	case q.Tries > 0:
		wait := min(q.Every, retryFirst)
		for i := 1; i < q.Tries && wait < retryLimit; i++ {
			wait *= 2
		}
		return q.ended.Add(min(wait, retryLimit))
	case q.Asked:
		return q.At.Add(q.Every)
	}
	return time.Time{}
}

// Due reports whether it is time to ask.
func (q *Schedule) Due(now time.Time) bool {
	return !q.Asking && (q.Hurried || !now.Before(q.next()))
}

// asker is a Question of any answer.
type asker interface {
	Due(now time.Time) bool
	Begin(e *Env) ask
}

// AskDue puts those of a page's questions on their way that are due; nil when none is.
func (e *Env) AskDue(questions ...asker) Request {
	var asks []ask
	for _, q := range questions {
		if q.Due(e.Now) {
			asks = append(asks, q.Begin(e))
		}
	}
	if asks == nil {
		return nil
	}
	return AsksRequest{asks}
}

// answer takes an answer; true when it is the one that is waited for, and a good one.
func (q *Schedule) answer(msg AnswerMsg, now time.Time) bool {
	if !q.Asking || msg.Ticket != q.Ticket {
		return false
	}
	q.Asking, q.ended = false, now
	if msg.err != "" {
		if q.Tries == 0 {
			q.since = q.Began
		}
		q.Tries++
		q.Err = msg.err
		if msg.Gone { // what was told before is true no longer
			q.Gone, q.Asked = true, false
		}
		return false
	}
	q.Asked, q.Gone, q.At, q.Err, q.Tries = true, false, now, "", 0
	return true
}

// Drop gives an answer up that is on its way.
func (q *Schedule) Drop() {
	if q.Asking {
		close(q.Stop)
		q.Asking = false
	}
}

// Old is how old the data is when it is older than it should be.
func (q *Schedule) Old(now time.Time) (time.Duration, bool) {
	if !q.Asked {
		return 0, false
	}
	d := now.Sub(q.At)
	return d, d > 2*q.Every+time.Second || q.Tries > 0
}

// Note says in a few words that data is old or still being read; "" when all is well.
func (q *Schedule) Note(e *Env) string {
	if old, stale := q.Old(e.Now); stale {
		return words.Warning.Sign() + " stale " + words.Age(old)
	}
	return ""
}

// Lines say why there is nothing to show yet.
func (q *Schedule) Lines(e *Env) []string {
	switch {
	case q.Tries > 0:
		next := "next try in " + words.Age(max(q.next().Sub(e.Now), 0)+time.Second-1)
		if q.Asking {
			next = "trying again"
		}
		lines := []string{""}
		for i, part := range draw.WrapText(q.What+": "+q.Err, max(e.Width-10, 20)) {
			lines = append(lines, []string{words.Failure.Sign() + " ", "  "}[min(i, 1)]+part)
		}
		keys := "  " + e.Keys.First("refresh") + " now   " + e.Keys.First("log") + " log"
		if len(e.Options.Clusters) > 1 {
			keys += "   " + e.Keys.First("command") + "cluster other cluster"
		}
		return append(lines, fmt.Sprintf("  %s, %s · %s", inspect.Plurals(q.Tries, "try", "tries"), words.Age(e.Now.Sub(q.since)), next), keys)
	case !q.Asked && q.Asking && e.Now.Sub(q.Began) >= LoadingAfter:
		return []string{"", fmt.Sprintf("reading %s …  %s", q.What, words.Span(e.Now.Sub(q.Began).Truncate(100*time.Millisecond)))}
	}
	return nil
}

// AskCluster puts a question to the cluster.
func AskCluster(c Commands, cl Cluster, k ask) tea.Cmd {
	return c.Within(askLimit, func(ctx context.Context) tea.Msg {
		ctx, cancel := context.WithCancel(ctx)
		var watcher sync.WaitGroup
		watcher.Go(func() {
			select {
			case <-k.stop:
				cancel()
			case <-ctx.Done():
			}
		})
		defer watcher.Wait()
		defer cancel()
		msg := AnswerMsg{Ticket: k.ticket, Names: k.names}
		var err error
		msg.Raw, msg.Safe, err = k.call(ctx, cl)
		msg.err = ErrorText(err)
		_, msg.Gone = errors.AsType[*inspect.NotFoundError](err)
		return msg
	})
}

// TakenStack is a stack with its threads by what they do.
type TakenStack struct {
	inspect.Stack
	Groups []inspect.ThreadGroup
}

// TakeStack asks one member what its threads do.
func TakeStack(cl Cluster, ctx context.Context, group, clientID string) (TakenStack, error) {
	s, err := cl.Stack(ctx, group, clientID)
	return TakenStack{s, inspect.GroupThreads(s.Threads)}, err
}
