package tail

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

// Message is a message for the tail view; ticket tells whether it is for the one
// that is open now.
type Message interface{ tailTicket() int }

type (
	// OpenedMsg answers the opening of a tail.
	OpenedMsg struct {
		Ticket int
		Tail   page.Tail
		err    string
	}
	// BatchMsg is a batch.
	BatchMsg struct {
		Ticket      int
		Rows        []*Row
		Counts      page.TailBatch // without its messages
		Notice, Err string
	}
	// BodyMsg is a body made readable.
	BodyMsg struct {
		ticket int
		Key    BodyKey
		Body   Body
	}
	// TracksMsg says who has read a message, as far as offsets tell.
	TracksMsg struct {
		Ticket int
		Seq    uint64
		Tracks []inspect.Track
		Err    string
	}
	// tailSievedMsg says which rows pass a filter that they have not passed on their way.
	tailSievedMsg struct {
		ticket   int
		sieve    tailSieve
		rows     []*Row
		verdicts map[uint64]bool
		notice   string
		err      string
	}
	// QueuesMsg are the queues to choose from.
	QueuesMsg struct {
		Ticket int
		Queues []engine.MessageQueue
		err    string
	}
)

func (m OpenedMsg) tailTicket() int     { return m.Ticket }
func (m BatchMsg) tailTicket() int      { return m.Ticket }
func (m BodyMsg) tailTicket() int       { return m.ticket }
func (m TracksMsg) tailTicket() int     { return m.Ticket }
func (m tailSievedMsg) tailTicket() int { return m.ticket }
func (m QueuesMsg) tailTicket() int     { return m.Ticket }

// openTail begins a tail; it lives as long as the screen or until it is closed.
func openTail(c page.Commands, open page.OpenTail, r page.TailRequest, ticket int) tea.Cmd {
	return c.Within(0, func(ctx context.Context) tea.Msg {
		t, err := open(ctx, r)
		return OpenedMsg{ticket, t, page.ErrorText(err)}
	})
}

// CloseTail ends a tail and waits for it.
func CloseTail(c page.Commands, t page.Tail) tea.Cmd {
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
		m := BatchMsg{Ticket: ticket, Rows: Rows(&b), Counts: b, Notice: draw.SafeText(b.Notice)}
		m.Counts.Messages, m.Counts.Unread = nil, nil
		if err != nil && !errors.Is(err, context.Canceled) {
			m.Err = page.ErrorText(err)
		}
		return m
	})
}

// BodyKey is what a readable body depends on.
type BodyKey struct {
	seq     uint64
	Decoder string
	charset message.Charset
	Width   int
	Wrap    bool
	more    int // how often its text was doubled, see DecodeMore
}

// Body is a readable body in lines of at most the width, safe to print.
type Body struct {
	Lines  []string
	reader string // how it was read
	failed string
	size   int
	Cut    bool
}

// decode makes a body readable, off the screen's loop: it may be megabytes.
func decodeBody(c page.Commands, r *Row, k BodyKey, ticket int) tea.Cmd {
	return c.Within(bodyLimit, func(context.Context) tea.Msg { return BodyMsg{ticket, k, ReadBody(r, k)} })
}

// ReadBody decodes a row's body as the key asks for it. Commands call it: it takes time.
func ReadBody(r *Row, k BodyKey) Body {
	d := message.DecodeMore(r.Message, k.Decoder, k.charset, k.more)
	b := Body{reader: d.Reader(), failed: draw.SafeText(d.Failed), size: d.Size, Cut: d.Cut}
	text := strings.ReplaceAll(strings.TrimSuffix(d.Text, "\n"), "\r\n", "\n")
	if d.Decoder == message.DecoderHex && k.Width < dumpLine {
		text = halveDump(text)
	}
	for l := range strings.SplitSeq(text, "\n") {
		l = draw.SafeText(l)
		if k.Wrap && k.Width > 0 {
			b.Lines = appendWrapped(b.Lines, l, k.Width)
		} else {
			b.Lines = append(b.Lines, l)
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

// Tracks asks who has read a message.
func readTracks(c page.Commands, cl page.Cluster, r *Row, ticket int) tea.Cmd {
	return c.Within(tracksLimit, func(ctx context.Context) tea.Msg {
		list, err := cl.Tracks(ctx, r.Message)
		return TracksMsg{ticket, r.Seq, page.CleanCopy(list), page.ErrorText(err)}
	})
}

// sieve looks which rows pass a filter, and puts it in force before where t is not nil.
// What there is no time for is left without a verdict, to be asked about again.
func sieveTail(c page.Commands, t page.Tail, s tailSieve, rows []*Row, ticket int) tea.Cmd {
	return c.Within(sieveLimit, func(ctx context.Context) tea.Msg {
		m := tailSievedMsg{ticket: ticket, sieve: s, rows: rows, verdicts: make(map[uint64]bool)}
		matcher, err := s.Filter.Compile()
		if err == nil && t != nil {
			err = t.SetFilter(s.Number, s.Filter)
		}
		if err != nil {
			m.err = page.ErrorText(err)
			return m
		}
		for _, r := range rows {
			passes := r.Message == nil || matcher.Match(ctx, r.Message)
			if ctx.Err() != nil {
				break
			}
			m.verdicts[r.Seq] = passes
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
		m := QueuesMsg{Ticket: ticket, err: page.ErrorText(err)}
		for i := range d.Queues {
			m.Queues = append(m.Queues, d.Queues[i].MessageQueue)
		}
		return m
	})
}
