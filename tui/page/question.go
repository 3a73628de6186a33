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

// askKind is a kind of question to a cluster.
type askKind uint8

const (
	AskGroups askKind = iota
	AskGroupRows
	AskGroup
	AskMembers
	AskOthers // all members but one
	AskLag
	AskTopics
	AskTopicRows
	AskTopic
	AskBrokers
	AskDoctor
	AskStack
	AskLive
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
	kind   askKind
	names  []string // true names of groups, topics or members
	ticket int
	stop   <-chan struct{} // closed when nobody wants the answer any more
}

// AnswerMsg answers an ask: raw as it came, safe to print in safe, which askLive leaves
// out: a watched group's pictures have a door of their own.
type AnswerMsg struct {
	Kind      askKind
	Ticket    int
	Names     []string
	Raw, Safe any
	err       string
	Gone      bool // there is no such thing (any more)
}

// Question is one that is asked again and again while its answer is shown: what became of
// it, and when it is due. One is on its way at most.
type Question struct {
	Kind    askKind
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
func (q *Question) next() time.Time {
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
func (q *Question) Due(now time.Time) bool {
	return !q.Asking && (q.Hurried || !now.Before(q.next()))
}

// Begin puts it on its way.
func (q *Question) Begin(e *Env) ask {
	q.Ticket, q.Asking, q.Began, q.Stop, q.Hurried = e.NewTicket(), true, e.Now, make(chan struct{}), false
	return ask{q.Kind, q.Names, q.Ticket, q.Stop}
}

// AskDue puts those of a page's questions on their way that are due; nil when none is.
func (e *Env) AskDue(questions ...*Question) Request {
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

// Answer takes an answer; true when it is the one that is waited for, and a good one.
func (q *Question) Answer(msg AnswerMsg, now time.Time) bool {
	if !q.Asking || msg.Kind != q.Kind || msg.Ticket != q.Ticket {
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
func (q *Question) Drop() {
	if q.Asking {
		close(q.Stop)
		q.Asking = false
	}
}

// Old is how old the data is when it is older than it should be.
func (q *Question) Old(now time.Time) (time.Duration, bool) {
	if !q.Asked {
		return 0, false
	}
	d := now.Sub(q.At)
	return d, d > 2*q.Every+time.Second || q.Tries > 0
}

// Note says in a few words that data is old or still being read; "" when all is well.
func (q *Question) Note(e *Env) string {
	if old, stale := q.Old(e.Now); stale {
		return words.Warning.Sign() + " stale " + words.Age(old)
	}
	return ""
}

// Lines say why there is nothing to show yet.
func (q *Question) Lines(e *Env) []string {
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

// ask puts a question to the cluster.
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
		msg := AnswerMsg{Kind: k.kind, Ticket: k.ticket, Names: k.names}
		name := ""
		if len(k.names) > 0 {
			name = k.names[0]
		}
		var err error
		switch k.kind {
		case AskGroups:
			msg.Raw, msg.Safe, err = both(cl.Groups(ctx))
		case AskGroupRows:
			msg.Raw, msg.Safe, err = both(cl.GroupRows(ctx, k.names), nil)
		case AskGroup:
			msg.Raw, msg.Safe, err = both(cl.Group(ctx, name))
		case AskMembers:
			msg.Raw, msg.Safe, err = both(cl.Members(ctx, name))
		case AskOthers:
			msg.Raw, err = cl.Others(ctx, name, k.names[1])
		case AskLag:
			msg.Raw, msg.Safe, err = both(cl.Lag(ctx, name))
		case AskTopics:
			msg.Raw, msg.Safe, err = both(cl.Topics(ctx))
		case AskTopicRows:
			msg.Raw, msg.Safe, err = both(cl.TopicRows(ctx, k.names), nil)
		case AskTopic:
			msg.Raw, msg.Safe, err = both(cl.Topic(ctx, name))
		case AskDoctor:
			msg.Raw, msg.Safe, err = both(cl.Doctor(ctx, name))
		case AskStack:
			msg.Raw, msg.Safe, err = both(withGroups(cl.Stack(ctx, name, k.names[1])))
		case AskBrokers:
			msg.Raw, msg.Safe, err = both(cl.Brokers(ctx))
		case AskLive:
			msg.Raw, err = cl.Live(ctx, name)
		}
		msg.err = ErrorText(err)
		_, msg.Gone = errors.AsType[*inspect.NotFoundError](err)
		return msg
	})
}

// both gives an answer as it came and safe to print.
func both[T any](answer T, err error) (raw, safe any, _ error) {
	if err != nil {
		return nil, nil, err
	}
	return answer, CleanCopy(answer), nil
}

// TakenStack is a stack with its threads by what they do.
type TakenStack struct {
	inspect.Stack
	Groups []inspect.ThreadGroup
}

func withGroups(s inspect.Stack, err error) (TakenStack, error) {
	return TakenStack{s, inspect.GroupThreads(s.Threads)}, err
}
