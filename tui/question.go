package tui

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
	askGroups askKind = iota
	askGroupRows
	askGroup
	askMembers
	askOthers // all members but one
	askLag
	askTopics
	askTopicRows
	askTopic
	askBrokers
	askDoctor
	askStack
	askLive
)

// What is read again how often while its page is shown, and how long an answer is
// waited for.
const (
	askLimit     = 30 * time.Second // each question inside has a deadline of its own
	namesEvery   = 15 * time.Second
	detailsEvery = 5 * time.Second
	lagEvery     = 2 * time.Second
	topicEvery   = 3 * time.Second
	brokersEvery = 5 * time.Second
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

// answerMsg answers an ask: raw as it came, safe to print in safe, which askLive leaves
// out: a watched group's pictures have a door of their own.
type answerMsg struct {
	kind      askKind
	ticket    int
	names     []string
	raw, safe any
	err       string
	gone      bool // there is no such thing (any more)
}

// question is one that is asked again and again while its answer is shown: what became of
// it, and when it is due. One is on its way at most.
type question struct {
	kind    askKind
	names   []string // true names that it is about
	what    string   // "groups", for people
	every   time.Duration
	steady  bool // every counts from one question to the next, whatever came of it
	ticket  int
	asking  bool
	began   time.Time // of the try under way, or of the last one
	ended   time.Time // when the last one was answered, however
	stop    chan struct{}
	hurried bool      // it is due at once
	asked   bool      // was ever answered
	gone    bool      // there is nothing to be asked about: pages show nothing of before
	at      time.Time // when the last good answer came
	// Since the last good answer:
	err   string
	tries int
	since time.Time // of the first try that failed
}

// next is when the question is due; never while one is on its way.
func (q *question) next() time.Time {
	switch {
	case q.steady && (q.asked || q.tries > 0):
		next := q.began.Add(q.every)
		if soon := q.ended.Add(q.every / 4); next.Before(soon) { // slow answers leave the cluster a pause
			return soon
		}
		return next
	case q.tries > 0:
		wait := min(q.every, retryFirst)
		for i := 1; i < q.tries && wait < retryLimit; i++ {
			wait *= 2
		}
		return q.ended.Add(min(wait, retryLimit))
	case q.asked:
		return q.at.Add(q.every)
	}
	return time.Time{}
}

func (q *question) due(now time.Time) bool {
	return !q.asking && (q.hurried || !now.Before(q.next()))
}

// begin puts it on its way.
func (q *question) begin(e *env) ask {
	q.ticket, q.asking, q.began, q.stop, q.hurried = e.newTicket(), true, e.now, make(chan struct{}), false
	return ask{q.kind, q.names, q.ticket, q.stop}
}

// askDue puts those of a page's questions on their way that are due; nil when none is.
func (e *env) askDue(questions ...*question) request {
	var asks []ask
	for _, q := range questions {
		if q.due(e.now) {
			asks = append(asks, q.begin(e))
		}
	}
	if asks == nil {
		return nil
	}
	return asksRequest{asks}
}

// answer takes an answer; true when it is the one that is waited for, and a good one.
func (q *question) answer(msg answerMsg, now time.Time) bool {
	if !q.asking || msg.kind != q.kind || msg.ticket != q.ticket {
		return false
	}
	q.asking, q.ended = false, now
	if msg.err != "" {
		if q.tries == 0 {
			q.since = q.began
		}
		q.tries++
		q.err = msg.err
		if msg.gone { // what was told before is true no longer
			q.gone, q.asked = true, false
		}
		return false
	}
	q.asked, q.gone, q.at, q.err, q.tries = true, false, now, "", 0
	return true
}

// drop gives an answer up that is on its way.
func (q *question) drop() {
	if q.asking {
		close(q.stop)
		q.asking = false
	}
}

// old is how old the data is when it is older than it should be.
func (q *question) old(now time.Time) (time.Duration, bool) {
	if !q.asked {
		return 0, false
	}
	d := now.Sub(q.at)
	return d, d > 2*q.every+time.Second || q.tries > 0
}

// note says in a few words that data is old or still being read; "" when all is well.
func (q *question) note(e *env) string {
	if old, stale := q.old(e.now); stale {
		return words.Warning.Sign() + " stale " + words.Age(old)
	}
	return ""
}

// lines say why there is nothing to show yet.
func (q *question) lines(e *env) []string {
	switch {
	case q.tries > 0:
		next := "next try in " + words.Age(max(q.next().Sub(e.now), 0)+time.Second-1)
		if q.asking {
			next = "trying again"
		}
		lines := []string{""}
		for i, part := range draw.WrapText(q.what+": "+q.err, max(e.width-10, 20)) {
			lines = append(lines, []string{words.Failure.Sign() + " ", "  "}[min(i, 1)]+part)
		}
		keys := "  " + e.keys.first("refresh") + " now   " + e.keys.first("log") + " log"
		if len(e.o.Clusters) > 1 {
			keys += "   " + e.keys.first("command") + "cluster other cluster"
		}
		return append(lines, fmt.Sprintf("  %s, %s · %s", inspect.Plurals(q.tries, "try", "tries"), words.Age(e.now.Sub(q.since)), next), keys)
	case !q.asked && q.asking && e.now.Sub(q.began) >= loadingAfter:
		return []string{"", fmt.Sprintf("reading %s …  %s", q.what, words.Span(e.now.Sub(q.began).Truncate(100*time.Millisecond)))}
	}
	return nil
}

// ask puts a question to the cluster.
func askCluster(c commands, cl Cluster, k ask) tea.Cmd {
	return c.within(askLimit, func(ctx context.Context) tea.Msg {
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
		msg := answerMsg{kind: k.kind, ticket: k.ticket, names: k.names}
		name := ""
		if len(k.names) > 0 {
			name = k.names[0]
		}
		var err error
		switch k.kind {
		case askGroups:
			msg.raw, msg.safe, err = both(cl.Groups(ctx))
		case askGroupRows:
			msg.raw, msg.safe, err = both(cl.GroupRows(ctx, k.names), nil)
		case askGroup:
			msg.raw, msg.safe, err = both(cl.Group(ctx, name))
		case askMembers:
			msg.raw, msg.safe, err = both(cl.Members(ctx, name))
		case askOthers:
			msg.raw, err = cl.Others(ctx, name, k.names[1])
		case askLag:
			msg.raw, msg.safe, err = both(cl.Lag(ctx, name))
		case askTopics:
			msg.raw, msg.safe, err = both(cl.Topics(ctx))
		case askTopicRows:
			msg.raw, msg.safe, err = both(cl.TopicRows(ctx, k.names), nil)
		case askTopic:
			msg.raw, msg.safe, err = both(cl.Topic(ctx, name))
		case askDoctor:
			msg.raw, msg.safe, err = both(cl.Doctor(ctx, name))
		case askStack:
			msg.raw, msg.safe, err = both(withGroups(cl.Stack(ctx, name, k.names[1])))
		case askBrokers:
			msg.raw, msg.safe, err = both(cl.Brokers(ctx))
		case askLive:
			msg.raw, err = cl.Live(ctx, name)
		}
		msg.err = errorText(err)
		_, msg.gone = errors.AsType[*inspect.NotFoundError](err)
		return msg
	})
}

// both gives an answer as it came and safe to print.
func both[T any](answer T, err error) (raw, safe any, _ error) {
	if err != nil {
		return nil, nil, err
	}
	return answer, cleanCopy(answer), nil
}

// takenStack is a stack with its threads by what they do.
type takenStack struct {
	inspect.Stack
	Groups []inspect.ThreadGroup
}

func withGroups(s inspect.Stack, err error) (takenStack, error) {
	return takenStack{s, inspect.GroupThreads(s.Threads)}, err
}
