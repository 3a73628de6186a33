package tui

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/engine/inspect/message"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

const (
	bodyLimit   = 10 * time.Second
	tracksLimit = 20 * time.Second
	sieveLimit  = 20 * time.Second
	queuesLimit = 10 * time.Second
)

// tailMessage is a message for the tail view; ticket tells whether it is for the one
// that is open now.
type tailMessage interface{ tailTicket() int }

type (
	// tailOpenedMsg answers the opening of a tail.
	tailOpenedMsg struct {
		ticket int
		tail   page.Tail
		err    string
	}
	// tailMsg is a batch.
	tailMsg struct {
		ticket      int
		rows        []*tailRow
		counts      page.TailBatch // without its messages
		notice, err string
	}
	// tailBodyMsg is a body made readable.
	tailBodyMsg struct {
		ticket int
		key    bodyKey
		body   tailBody
	}
	// tailTracksMsg says who has read a message, as far as offsets tell.
	tailTracksMsg struct {
		ticket int
		seq    uint64
		tracks []inspect.Track
		err    string
	}
	// tailSievedMsg says which rows pass a filter that they have not passed on their way.
	tailSievedMsg struct {
		ticket   int
		sieve    tailSieve
		rows     []*tailRow
		verdicts map[uint64]bool
		notice   string
		err      string
	}
	// tailQueuesMsg are the queues to choose from.
	tailQueuesMsg struct {
		ticket int
		queues []engine.MessageQueue
		err    string
	}
)

func (m tailOpenedMsg) tailTicket() int { return m.ticket }
func (m tailMsg) tailTicket() int       { return m.ticket }
func (m tailBodyMsg) tailTicket() int   { return m.ticket }
func (m tailTracksMsg) tailTicket() int { return m.ticket }
func (m tailSievedMsg) tailTicket() int { return m.ticket }
func (m tailQueuesMsg) tailTicket() int { return m.ticket }

// openTail begins a tail; it lives as long as the screen or until it is closed.
func openTail(c page.Commands, open page.OpenTail, r page.TailRequest, ticket int) tea.Cmd {
	return c.Within(0, func(ctx context.Context) tea.Msg {
		t, err := open(ctx, r)
		return tailOpenedMsg{ticket, t, page.ErrorText(err)}
	})
}

// closeTail ends a tail and waits for it.
func closeTail(c page.Commands, t page.Tail) tea.Cmd {
	if t == nil {
		return nil
	}
	return func() tea.Msg {
		t.Close()
		return nil
	}
}

// nextOfTail waits for the next batch.
func nextOfTail(c page.Commands, t page.Tail, ticket int) tea.Cmd {
	return c.Within(0, func(ctx context.Context) tea.Msg {
		b, err := t.Next(ctx)
		m := tailMsg{ticket: ticket, rows: tailRows(&b), counts: b, notice: draw.SafeText(b.Notice)}
		m.counts.Messages, m.counts.Unread = nil, nil
		if err != nil && !errors.Is(err, context.Canceled) {
			m.err = page.ErrorText(err)
		}
		return m
	})
}

// bodyKey is what a readable body depends on.
type bodyKey struct {
	seq     uint64
	decoder string
	charset message.Charset
	width   int
	wrap    bool
	more    int // how often its text was doubled, see DecodeMore
}

// tailBody is a readable body in lines of at most the width, safe to print.
type tailBody struct {
	lines  []string
	reader string // how it was read
	failed string
	size   int
	cut    bool
}

// decode makes a body readable, off the screen's loop: it may be megabytes.
func decodeBody(c page.Commands, r *tailRow, k bodyKey, ticket int) tea.Cmd {
	return c.Within(bodyLimit, func(context.Context) tea.Msg { return tailBodyMsg{ticket, k, readBody(r, k)} })
}

func readBody(r *tailRow, k bodyKey) tailBody {
	d := message.DecodeMore(r.message, k.decoder, k.charset, k.more)
	b := tailBody{reader: d.Reader(), failed: draw.SafeText(d.Failed), size: d.Size, cut: d.Cut}
	text := strings.ReplaceAll(strings.TrimSuffix(d.Text, "\n"), "\r\n", "\n")
	if d.Decoder == message.DecoderHex && k.width < dumpLine {
		text = halveDump(text)
	}
	for l := range strings.SplitSeq(text, "\n") {
		l = draw.SafeText(l)
		if k.wrap && k.width > 0 {
			b.lines = appendWrapped(b.lines, l, k.width)
		} else {
			b.lines = append(b.lines, l)
		}
	}
	return b
}

// dumpLine is the width of a line of a dump: place, 16 bytes in two groups, and the
// same as characters.
const dumpLine = len("00000000  00 11 22 33 44 55 66 77  88 99 aa bb cc dd ee ff  |0123456789abcdef|")

// halveDump gives a dump 8 bytes a line, for a narrow pane.
func halveDump(text string) string {
	const bytesAt, secondAt, charsAt, half = 10, 35, 61, len("00 11 22 33 44 55 66 77")
	var b strings.Builder
	for l := range strings.SplitSeq(text, "\n") {
		place, err := strconv.ParseInt(l[:min(len(l), 8)], 16, 64)
		if err != nil || len(l) <= charsAt { // an empty body
			b.WriteString(l)
			continue
		}
		chars := strings.TrimSuffix(l[charsAt:], "|")
		for i, at := range []int{bytesAt, secondAt} {
			if from := i * 8; from < len(chars) {
				fmt.Fprintf(&b, "%08x  %s  |%s|\n", place+int64(from), l[at:at+half], chars[from:min(from+8, len(chars))])
			}
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// appendWrapped breaks one line into pieces of at most w cells. A line of megabytes
// costs its length once.
func appendWrapped(lines []string, text string, w int) []string {
	for len(text) > w { // fewer bytes than cells there are not
		piece := table.Head(text, w)
		if piece == "" || len(piece) == len(text) {
			break
		}
		lines = append(lines, piece)
		text = text[len(piece):]
	}
	return append(lines, text)
}

// tracks asks who has read a message.
func readTracks(c page.Commands, cl page.Cluster, r *tailRow, ticket int) tea.Cmd {
	return c.Within(tracksLimit, func(ctx context.Context) tea.Msg {
		list, err := cl.Tracks(ctx, r.message)
		return tailTracksMsg{ticket, r.seq, page.CleanCopy(list), page.ErrorText(err)}
	})
}

// sieve looks which rows pass a filter, and puts it in force before where t is not nil.
// What there is no time for is left without a verdict, to be asked about again.
func sieveTail(c page.Commands, t page.Tail, s tailSieve, rows []*tailRow, ticket int) tea.Cmd {
	return c.Within(sieveLimit, func(ctx context.Context) tea.Msg {
		m := tailSievedMsg{ticket: ticket, sieve: s, rows: rows, verdicts: make(map[uint64]bool)}
		matcher, err := s.filter.Compile()
		if err == nil && t != nil {
			err = t.SetFilter(s.number, s.filter)
		}
		if err != nil {
			m.err = page.ErrorText(err)
			return m
		}
		for _, r := range rows {
			passes := r.message == nil || matcher.Match(ctx, r.message)
			if ctx.Err() != nil {
				break
			}
			m.verdicts[r.seq] = passes
		}
		if n := matcher.Counts(); n.Failed > 0 {
			m.notice = draw.SafeText(fmt.Sprintf("the jq program failed on %d of %s, first on %s", n.Failed, words.Plural(n.Seen, "kept message"), n.Why))
		}
		return m
	})
}

// tailQueues asks which queues there are.
func tailQueues(c page.Commands, cl page.Cluster, topic string, ticket int) tea.Cmd {
	return c.Within(queuesLimit, func(ctx context.Context) tea.Msg {
		d, err := cl.Topic(ctx, topic)
		m := tailQueuesMsg{ticket: ticket, err: page.ErrorText(err)}
		for i := range d.Queues {
			m.queues = append(m.queues, d.Queues[i].MessageQueue)
		}
		return m
	})
}
