package tail

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/engine/inspect/message"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/words"
)

const (
	// KeepRows and keepBytes bound what a tail keeps; the oldest go first.
	KeepRows  = 5000
	KeepBytes = 64 << 20
	// rowCells is how much of a body a row keeps as text.
	rowCells = 300
)

// Row is a message of a tail behind the door. It is made by a command, once, and
// never changed; its texts are safe to print.
type Row struct {
	Seq     uint64          // in the order in which they came, from 1
	Message *engine.Message // its own copy; nil: a record that cannot be read
	mq      engine.MessageQueue
	broker  string
	Offset  int64
	born    time.Time
	stored  time.Time
	parked  *inspect.Delay // of a message that is held back; nil: it is not
	Key     string
	tags    string
	line    string // the beginning of the body
	head    []byte // its first bytes, for another charset
	bad     string // why the body, or the record, cannot be read; "" it can
	size    int    // of the body
	bytes   int    // that keeping it takes
	retries int32
	filter  int    // number of the filter that it has passed
	decoder string // that reads it: json, text, hex
}

// Rows lets a batch in.
func Rows(b *page.TailBatch) []*Row {
	rows := make([]*Row, 0, len(b.Messages)+len(b.Unread))
	for i := range b.Messages {
		r := NewRow(&b.Messages[i])
		r.filter = b.Filter
		rows = append(rows, r)
	}
	for _, text := range b.Unread {
		text, _ = draw.SafeHead([]byte(text), rowCells)
		rows = append(rows, &Row{bad: text, line: text, bytes: len(text)})
	}
	return rows
}

// NewRow copies the message out of the answer it came with, of which else every
// byte would be kept with it.
func NewRow(m *engine.Message) *Row {
	own := m.Clone()
	r := &Row{Message: &own, mq: own.MessageQueue(), Offset: own.QueueOffset(), born: own.Born(), stored: own.Stored(),
		retries: own.ReconsumeTimes(), bytes: own.StoreSize() + 512}
	r.parked = ParkedOf(&own)
	r.broker = draw.SafeText(r.mq.BrokerName)
	r.Key, _ = draw.SafeHead([]byte(strings.Join(own.Keys(), " ")), rowCells)
	r.tags, _ = draw.SafeHead([]byte(own.Tags()), rowCells)
	body, why := message.Body(&own)
	r.size = len(body)
	head := body[:min(len(body), 4*rowCells)]
	if why == "" {
		r.head = slices.Clone(head) // else all of an inflated body would be kept with it
	}
	switch {
	case why != "":
		r.bad = draw.SafeText(why)
		r.line, r.decoder = words.Warning.Sign()+" "+r.bad, message.DecoderHex
	case !validHead(head, len(body) > len(head)):
		r.line, r.decoder = "‹hex "+words.Size(int64(len(body)))+"›", message.DecoderHex
	default:
		r.line, _ = draw.SafeHead(body, rowCells)
		r.decoder = message.DecoderText
	}
	return r
}

// lineIn is the beginning of the body, read in a charset.
func (r *Row) lineIn(c message.Charset) string {
	if c == "" || r.head == nil {
		return r.line
	}
	text, _ := c.Text(r.head)
	line, _ := draw.SafeHead(text, rowCells)
	return line
}

// validHead reports whether the beginning of a body is text; a character that is cut
// at its end is none of its faults.
func validHead(head []byte, cut bool) bool {
	for cut && len(head) > 0 && !utf8.Valid(head) && !utf8.FullRune(lastRune(head)) {
		head = head[:len(head)-len(lastRune(head))]
	}
	return utf8.Valid(head)
}

// lastRune are the last bytes from where a character begins.
func lastRune(b []byte) []byte {
	for i := len(b) - 1; i >= 0 && i > len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			return b[i:]
		}
	}
	return b[len(b)-1:]
}

// tailRing keeps the newest rows. It is never changed in place, so that a frozen
// screen can keep what it shows.
type tailRing struct {
	Rows    []*Row
	Bytes   int
	Dropped int64
	next    uint64 // sequence number of the next row
}

// add takes rows in and lets the oldest go, which it gives.
func (r *tailRing) add(rows []*Row) (gone []*Row) {
	if r.next == 0 {
		r.next = 1
	}
	for _, x := range rows {
		x.Seq = r.next
		r.next++
		r.Bytes += x.bytes
	}
	r.Rows = append(r.Rows, rows...)
	drop := 0
	for len(r.Rows)-drop > KeepRows || r.Bytes > KeepBytes && drop < len(r.Rows)-1 {
		r.Bytes -= r.Rows[drop].bytes
		drop++
	}
	if drop > 0 {
		r.Dropped += int64(drop)
		kept := make([]*Row, len(r.Rows)-drop, max(2*(len(r.Rows)-drop), 64))
		copy(kept, r.Rows[drop:])
		gone, r.Rows = r.Rows[:drop], kept
	}
	return gone
}
