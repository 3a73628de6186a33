package tail

import (
	"time"

	"eyeq/engine/inspect/message"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// sieveAfter is how long nothing must have been typed before a filter is put in
// force, restAfter how long the cursor must rest before groups are asked about it.
const sieveAfter = 300 * time.Millisecond

const restAfter = time.Second

// keepBodies and keepTracks are how many answers about messages are kept.
const keepBodies = 8

const keepTracks = 64

const histogram = 60 // seconds

// View reads a topic without any group: the list of messages, and the one under
// the cursor in full.
type View struct {
	env  *page.Env
	cmds page.Commands
	w, h int

	Request page.TailRequest
	Group   string // whose dead letters these are; "" for any other topic
	Ticket  int
	Tail    page.Tail
	opening bool
	Reading bool // a batch is waited for
	Err     string
	since   time.Time // when it was opened
	main    page.Schedule

	Ring   tailRing
	shown  []*Row    // what the list shows, oldest first; not the newest while frozen
	first  uint64    // sequence number of shown's first
	frozen time.Time // since when it stands, by a key or by scrolling; zero: it follows
	byKey  bool
	names  []string // of brokers that messages came from, safe
	brief  words.Shortener
	List   table.State[uint64]
	total  page.TailBatch // the newest counts
	rates  [histogram]int64
	rateAt int64 // second of the newest
	letGo  int64 // messages that are kept no more
	errors int   // rows that cannot be read
	noted  string
	noteAt time.Time

	levels    map[string]delayLevels // by broker
	levelless []string               // brokers that are to be asked for theirs

	Filter   string // as typed
	Want     message.Filter
	wantAt   time.Time
	applied  string // the last that was to come into force, as request.Filter
	Sieve    tailSieve
	Sieves   int // number of the last
	sieving  bool
	late     bool // rows have come that it has not looked at
	sieveErr string

	moved   time.Time
	wrap    bool
	decoder string
	zoomed  bool
	Top     int // first line of the body that is shown
	More    int // of the body of moreOf, how often its text was doubled
	MoreOf  uint64
	Hunt    int // findMatch goes on in this direction when there is more of the body
	Bodies  []BodyMsg
	decodes BodyKey // on its way
	tracks  []TracksMsg
	asking  uint64 // row whose tracks are on their way
}

// DLQPrefix begins the name of a group's topic of dead letters.
const DLQPrefix = "%DLQ%"

// Row finds a shown row; their numbers have no gaps.
func (v *View) Row(seq uint64) *Row {
	if v.first == 0 || seq < v.first || seq-v.first >= uint64(len(v.shown)) {
		return nil
	}
	return v.shown[seq-v.first]
}

// Current is the row under the cursor.
func (v *View) Current() *Row {
	seq, ok := v.List.Current()
	if !ok {
		return nil
	}
	return v.Row(seq)
}

// note shows what the tail or a filter has to say for a while.
func (v *View) note(text string) {
	if text != "" {
		v.noted, v.noteAt = text, v.env.Now
	}
}

// rekey lists those of the shown rows that pass the filter.
func (v *View) rekey() {
	keys := make([]uint64, 0, len(v.shown))
	for _, r := range v.shown {
		if passes, _ := v.verdict(r); passes {
			keys = append(keys, r.Seq)
		}
	}
	v.first = 0
	if len(v.shown) > 0 {
		v.first = v.shown[0].Seq
	}
	v.List.SetKeys(keys)
}

// arrange shows the kept rows that pass the filter.
func (v *View) arrange() {
	v.shown = v.Ring.Rows
	v.rekey()
}

// stand keeps the list as it is; messages go on coming.
func (v *View) stand() {
	v.List.Follow = false
	if v.frozen.IsZero() {
		v.frozen, v.moved = v.env.Now, v.env.Now
	}
}

// targets are the messages a key is about: the marked ones, else the one under the
// cursor.
func (v *View) targets() []*Row {
	var rows []*Row
	for _, seq := range v.List.Marked() {
		if r := v.Row(seq); r != nil && r.Message != nil {
			rows = append(rows, r)
		}
	}
	if v.List.MarkCount() > 0 {
		return rows
	}
	if r := v.Current(); r != nil && r.Message != nil {
		return []*Row{r}
	}
	return nil
}

// waiting counts the rows that came since the list stands.
func (v *View) waiting() int64 {
	if v.frozen.IsZero() {
		return 0
	}
	last := v.first
	if n := len(v.shown); n > 0 {
		last = v.shown[n-1].Seq + 1
	}
	return int64(v.Ring.next) - int64(max(last, 1))
}
