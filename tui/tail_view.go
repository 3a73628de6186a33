package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
	"eyeq/engine/inspect/message"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

const (
	// sieveAfter is how long nothing must have been typed before a filter is put in
	// force, restAfter how long the cursor must rest before groups are asked about it.
	sieveAfter = 300 * time.Millisecond
	restAfter  = time.Second
	// keepBodies and keepTracks are how many answers about messages are kept.
	keepBodies = 8
	keepTracks = 64
	histogram  = 60 // seconds
)

// tailView reads a topic without any group: the list of messages, and the one under
// the cursor in full.
type tailView struct {
	env  *page.Env
	cmds page.Commands
	w, h int

	request page.TailRequest
	group   string // whose dead letters these are; "" for any other topic
	ticket  int
	tail    page.Tail
	opening bool
	reading bool // a batch is waited for
	err     string
	since   time.Time // when it was opened
	main    page.Question

	ring   tailRing
	shown  []*tailRow // what the list shows, oldest first; not the newest while frozen
	first  uint64     // sequence number of shown's first
	frozen time.Time  // since when it stands, by a key or by scrolling; zero: it follows
	byKey  bool
	names  []string // of brokers that messages came from, safe
	brief  words.Shortener
	list   table.State[uint64]
	total  page.TailBatch // the newest counts
	rates  [histogram]int64
	rateAt int64 // second of the newest
	letGo  int64 // messages that are kept no more
	errors int   // rows that cannot be read
	noted  string
	noteAt time.Time

	levels    map[string]delayLevels // by broker
	levelless []string               // brokers that are to be asked for theirs

	filter   string // as typed
	want     message.Filter
	wantAt   time.Time
	applied  string // the last that was to come into force, as request.Filter
	sieve    tailSieve
	sieves   int // number of the last
	sieving  bool
	late     bool // rows have come that it has not looked at
	sieveErr string

	moved   time.Time
	wrap    bool
	decoder string
	zoomed  bool
	top     int // first line of the body that is shown
	more    int // of the body of moreOf, how often its text was doubled
	moreOf  uint64
	hunt    int // findMatch goes on in this direction when there is more of the body
	bodies  []tailBodyMsg
	decodes bodyKey // on its way
	tracks  []tailTracksMsg
	asking  uint64 // row whose tracks are on their way
}

func newTailView(e *page.Env, cmds page.Commands, r page.TailRequest) tailView {
	v := tailView{env: e, cmds: cmds, request: r, wrap: true, decoder: message.DecoderAuto, since: e.Now}
	v.main = page.Question{What: "messages", Asked: true}
	v.group = strings.TrimPrefix(r.Topic, dlqPrefix)
	if v.group == r.Topic {
		v.group = ""
	}
	v.list.Follow = true
	v.total.Behind = -1
	v.renew()
	return v
}

// dlqPrefix begins the name of a group's topic of dead letters.
const dlqPrefix = "%DLQ%"

// renew forgets all messages; answers that are on their way are for nobody.
func (v *tailView) renew() {
	v.ticket, v.tail, v.opening, v.reading, v.err = v.env.NewTicket(), nil, false, false, ""
	v.ring, v.shown, v.first, v.frozen, v.bodies, v.tracks, v.byKey = tailRing{}, nil, 0, time.Time{}, nil, nil, false
	v.sieve, v.sieves, v.sieving, v.late, v.sieveErr = tailSieve{}, 0, false, false, ""
	v.levels, v.levelless = nil, nil
	v.total, v.letGo, v.errors, v.asking, v.decodes, v.top = page.TailBatch{Behind: -1}, 0, 0, 0, bodyKey{}, 0
	v.rates = [histogram]int64{}
	v.list.SetKeys(nil)
	v.list.ClearMarks()
	v.list.Follow = true
	v.since = v.env.Now
}

func (v tailView) FilterText() string { return v.filter }

func (v tailView) Subject() string { return draw.SafeText(v.request.Topic) }

// Narrow takes a filter as it is typed; it comes into force when nothing more is.
func (v tailView) Narrow(text string) (page.Page, error) {
	f, err := parseTailFilter(text)
	if err != nil {
		return v, err
	}
	v.filter, v.want, v.wantAt = text, f, v.env.Now
	return v, nil
}

func (v tailView) Update(msg any) (page.Page, page.Request) {
	switch msg := msg.(type) {
	case page.SizeMsg:
		v.w, v.h = msg.W, msg.H
		v.resize()
	case page.DueMsg:
		return v.due()
	case page.HurryMsg:
		if v.err != "" {
			v.reopen()
		}
	case page.ActionMsg:
		return v.act(msg.Action)
	case page.ClickMsg:
		v.click(msg.X, msg.Y)
	case tailMessage:
		if msg.tailTicket() != v.ticket {
			if opened, ok := msg.(tailOpenedMsg); ok { // nobody wants it any more
				return v, page.RunRequest{Cmd: closeTail(v.cmds, opened.tail)}
			}
			return v, nil
		}
		return v.answer(msg)
	case seekMsg:
		v.request.From = msg.from
		return v, v.reopen()
	case consumeHereMsg:
		return v.askDirect(msg)
	case chosenQueuesMsg:
		v.request.Queues = msg.queues
		return v, v.reopen()
	}
	return v, nil
}

// reopen reads from another place.
func (v *tailView) reopen() page.Request {
	r := page.RunRequest{Cmd: closeTail(v.cmds, v.tail)}
	v.renew()
	v.request.Filter = v.want
	v.applied = v.filter
	v.sieve.text, v.sieve.filter = v.filter, v.want
	return r
}

// answer takes what a command brought.
func (v tailView) answer(msg tailMessage) (page.Page, page.Request) {
	switch msg := msg.(type) {
	case tailOpenedMsg:
		v.opening, v.tail, v.err = false, msg.tail, msg.err
	case tailMsg:
		v.reading = false
		v.take(msg)
	case tailBodyMsg:
		if v.decodes == msg.key {
			v.decodes = bodyKey{}
		}
		v.bodies = append(slices.Clip(v.bodies), msg)
		v.bodies = v.bodies[max(len(v.bodies)-keepBodies, 0):]
		if msg.key.more > 0 { // it may take megabytes
			v.bodies = v.bodies[max(len(v.bodies)-1, 0):]
		}
		if r := v.current(); v.hunt != 0 && r != nil && msg.key == v.bodyKey(r) {
			return v.findMatch(v.hunt)
		}
	case tailTracksMsg:
		v.asking = 0
		v.tracks = append(slices.Clip(v.tracks), msg)
		v.tracks = v.tracks[max(len(v.tracks)-keepTracks, 0):]
	case tailLevelsMsg:
		v.levels[msg.broker] = msg.delayLevels
	case tailSievedMsg:
		v.sieved(msg)
	case resendPlanMsg:
		if msg.err != "" {
			return v, page.RefuseRequest{Text: "resend: " + msg.err}
		}
		return v, page.PushRequest{Dialog: newResendDialog(v.env, v.cmds, msg.plan)}
	case directPlanMsg:
		if msg.err != "" {
			return v, page.RefuseRequest{Text: "consume: " + msg.err}
		}
		return v, page.PushRequest{Dialog: newDirectDialog(v.env, v.cmds, msg.raw)}
	case tailQueuesMsg:
		if msg.err != "" || len(msg.queues) == 0 {
			return v, page.RefuseRequest{Text: "queues of " + draw.SafeText(v.request.Topic) + ": " + words.OrUnknown(msg.err)}
		}
		return v, page.PushRequest{Dialog: newQueuesDialog(v.env, msg.queues, v.request.Queues)}
	}
	return v, nil
}

// take takes a batch in.
func (v *tailView) take(msg tailMsg) {
	if msg.err != "" {
		v.err = msg.err
		return
	}
	v.forget(v.ring.add(msg.rows))
	v.total = msg.counts
	v.note(msg.notice)
	for _, r := range msg.rows {
		if r.bad != "" {
			v.errors++
		}
		v.needsLevels(r)
		_, judged := v.verdict(r)
		v.late = v.late || !judged
		if r.message != nil && !slices.Contains(v.names, r.broker) {
			v.names = append(slices.Clip(v.names), r.broker)
			v.brief = words.NewShortener(v.names)
		}
	}
	v.count(int64(len(msg.rows)))
	if v.frozen.IsZero() {
		v.arrange()
	}
}

// note shows what the tail or a filter has to say for a while.
func (v *tailView) note(text string) {
	if text != "" {
		v.noted, v.noteAt = text, v.env.Now
	}
}

// arrange shows the kept rows that pass the filter.
func (v *tailView) arrange() {
	v.shown = v.ring.rows
	v.rekey()
}

// rekey lists those of the shown rows that pass the filter.
func (v *tailView) rekey() {
	keys := make([]uint64, 0, len(v.shown))
	for _, r := range v.shown {
		if passes, _ := v.verdict(r); passes {
			keys = append(keys, r.seq)
		}
	}
	v.first = 0
	if len(v.shown) > 0 {
		v.first = v.shown[0].seq
	}
	v.list.SetKeys(keys)
}

// row finds a shown row; their numbers have no gaps.
func (v *tailView) row(seq uint64) *tailRow {
	if v.first == 0 || seq < v.first || seq-v.first >= uint64(len(v.shown)) {
		return nil
	}
	return v.shown[seq-v.first]
}

// current is the row under the cursor.
func (v *tailView) current() *tailRow {
	seq, ok := v.list.Current()
	if !ok {
		return nil
	}
	return v.row(seq)
}

// waiting counts the rows that came since the list stands.
func (v *tailView) waiting() int64 {
	if v.frozen.IsZero() {
		return 0
	}
	last := v.first
	if n := len(v.shown); n > 0 {
		last = v.shown[n-1].seq + 1
	}
	return int64(v.ring.next) - int64(max(last, 1))
}

// due begins what is to be done: opening, reading on, putting a filter in force,
// making the body under the cursor readable, asking who has read it.
func (v tailView) due() (page.Page, page.Request) {
	var cmds []tea.Cmd
	switch {
	case v.err != "":
	case v.tail == nil && !v.opening && v.env.Options.OpenTail != nil:
		v.opening = true
		cmds = append(cmds, openTail(v.cmds, v.env.Options.OpenTail, v.request, v.ticket))
	case v.tail != nil && !v.reading:
		v.reading = true
		cmds = append(cmds, nextOfTail(v.cmds, v.tail, v.ticket))
	}
	if !v.sieving && !v.opening {
		cmds = append(cmds, v.beginSieve())
	}
	cmds = append(cmds, v.askLevels())
	r := v.current()
	if r != nil && r.message != nil {
		if k := v.bodyKey(r); v.body(k) == nil && v.decodes == (bodyKey{}) {
			v.decodes = k
			cmds = append(cmds, decodeBody(v.cmds, r, k, v.ticket))
		}
		if v.asking == 0 && !v.list.Follow && v.env.Now.Sub(v.moved) >= restAfter && v.tracksOf(r.seq) == nil && v.env.Options.Inspect != nil {
			v.asking = r.seq
			cmds = append(cmds, readTracks(v.cmds, v.env.Options.Inspect, r, v.ticket))
		}
	}
	cmd := tea.Batch(cmds...)
	if cmd == nil {
		return v, nil
	}
	return v, page.RunRequest{Cmd: cmd}
}

// Status is what stands round the view.
func (v tailView) Status() page.PageStatus {
	s := page.PageStatus{Main: &v.main, Hidden: int(v.waiting())}
	if v.byKey {
		s.Frozen = v.frozen
	}
	th := v.env.Theme
	switch {
	case v.err != "":
		s.Health = draw.Styled(th.Bad, " "+words.Failure.Sign()+" "+v.err)
	case v.env.Options.OpenTail == nil:
		s.Health = draw.Styled(th.Warn, " ! no topic can be read here")
	case len(v.total.Mute) > 0:
		s.Health = draw.Styled(th.Bad, " "+words.Failure.Sign()+" "+v.muteText())
	case v.noted != "" && v.env.Now.Sub(v.noteAt) < page.NoteFor:
		s.Health = draw.Styled(th.Warn, " ! "+v.noted)
	default:
		lead := " ✓ "
		if !v.frozen.IsZero() {
			lead = fmt.Sprintf(" stands: %s new since %s · ", words.Grouped(v.waiting()), v.env.Clock(v.frozen, words.ClockSeconds))
		}
		text := lead + "buffer "
		if v.w >= 100 { // the line above the list says it too
			text += fmt.Sprintf("%s of %s messages, ", words.Grouped(int64(len(v.ring.rows))), words.Grouped(keepRows))
		}
		text += words.Size(int64(v.ring.bytes)) + " of " + words.Size(keepBytes)
		if v.ring.dropped > 0 {
			text += " · oldest " + words.Grouped(v.ring.dropped) + " dropped"
		}
		s.Health = draw.Styled(th.Good, text)
	}
	s.State = []draw.Segment{draw.Styled(th.Good, "● follow"), draw.Styled(th.Text, " +"+words.ShortRate(v.rate(), true)+" "), draw.Styled(th.Spark, v.env.Glyphs.Trend(v.trend(8), true)+" ")}
	switch {
	case v.err != "": // nothing is read until the operator says so
		s.State = []draw.Segment{draw.Styled(th.Bad, words.Failure.Sign()+" stopped ")}
	case len(v.total.Mute) > 0:
		s.State[0] = draw.Styled(th.Bad, words.Failure.Sign()+" "+v.muteQueues())
	case !v.frozen.IsZero():
		s.State[0] = draw.Styled(th.Warn, "stands")
	}
	return s
}

// seekMsg and chosenQueuesMsg are what the operator chose in a dialog.
type (
	seekMsg         struct{ from page.TailPosition }
	chosenQueuesMsg struct{ queues []engine.MessageQueue }
)

// click selects a message of a tail.
func (v *tailView) click(x, y int) {
	p := v.plan()
	if p.beside && x >= p.listW {
		return
	}
	v.stand()
	if page.ClickRow(&v.list, y-1, 2) {
		v.top, v.moved = 0, v.env.Now
	}
}
