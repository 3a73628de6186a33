package tail

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
	"eyeq/tui/words"
)

// NewView is a tail that is not open yet.
func NewView(e *page.Env, cmds page.Commands, r page.TailRequest) View {
	v := View{env: e, cmds: cmds, Request: r, wrap: true, decoder: message.DecoderAuto, since: e.Now}
	v.main = page.Schedule{What: "messages", Asked: true}
	v.Group = strings.TrimPrefix(r.Topic, DLQPrefix)
	if v.Group == r.Topic {
		v.Group = ""
	}
	v.List.Follow = true
	v.total.Behind = -1
	v.renew()
	return v
}

// renew forgets all messages; answers that are on their way are for nobody.
func (v *View) renew() {
	v.Ticket, v.Tail, v.opening, v.Reading, v.Err = v.env.NewTicket(), nil, false, false, ""
	v.Ring, v.shown, v.first, v.frozen, v.Bodies, v.tracks, v.byKey = tailRing{}, nil, 0, time.Time{}, nil, nil, false
	v.Sieve, v.Sieves, v.sieving, v.late, v.sieveErr = tailSieve{}, 0, false, false, ""
	v.levels, v.levelless = nil, nil
	v.total, v.letGo, v.errors, v.asking, v.decodes, v.Top = page.TailBatch{Behind: -1}, 0, 0, 0, BodyKey{}, 0
	v.rates = [histogram]int64{}
	v.List.SetKeys(nil)
	v.List.ClearMarks()
	v.List.Follow = true
	v.since = v.env.Now
}

// FilterText implements page.Page.
func (v View) FilterText() string { return v.Filter }

// Subject implements page.Page.
func (v View) Subject() string { return draw.SafeText(v.Request.Topic) }

// Narrow takes a filter as it is typed; it comes into force when nothing more is.
func (v View) Narrow(text string) (page.Page, error) {
	f, err := ParseTailFilter(text)
	if err != nil {
		return v, err
	}
	v.Filter, v.Want, v.wantAt = text, f, v.env.Now
	return v, nil
}

// Update implements page.Page.
func (v View) Update(msg any) (page.Page, page.Request) {
	switch msg := msg.(type) {
	case page.SizeMsg:
		v.w, v.h = msg.W, msg.H
		v.resize()
	case page.DueMsg:
		return v.due()
	case page.HurryMsg:
		if v.Err != "" {
			v.reopen()
		}
	case page.ActionMsg:
		return v.act(msg.Action)
	case page.ClickMsg:
		v.click(msg.X, msg.Y)
	case Message:
		if msg.tailTicket() != v.Ticket {
			if opened, ok := msg.(OpenedMsg); ok { // nobody wants it any more
				return v, page.RunRequest{Cmd: CloseTail(v.cmds, opened.Tail)}
			}
			return v, nil
		}
		return v.answer(msg)
	case seekMsg:
		v.Request.From = msg.from
		return v, v.reopen()
	case ConsumeHereMsg:
		return v.askDirect(msg)
	case chosenQueuesMsg:
		v.Request.Queues = msg.queues
		return v, v.reopen()
	}
	return v, nil
}

// reopen reads from another place.
func (v *View) reopen() page.Request {
	r := page.RunRequest{Cmd: CloseTail(v.cmds, v.Tail)}
	v.renew()
	v.Request.Filter = v.Want
	v.applied = v.Filter
	v.Sieve.text, v.Sieve.Filter = v.Filter, v.Want
	return r
}

// answer takes what a command brought.
func (v View) answer(msg Message) (page.Page, page.Request) {
	switch msg := msg.(type) {
	case OpenedMsg:
		v.opening, v.Tail, v.Err = false, msg.Tail, msg.err
	case BatchMsg:
		v.Reading = false
		v.Take(msg)
	case BodyMsg:
		if v.decodes == msg.Key {
			v.decodes = BodyKey{}
		}
		v.Bodies = append(slices.Clip(v.Bodies), msg)
		v.Bodies = v.Bodies[max(len(v.Bodies)-keepBodies, 0):]
		if msg.Key.more > 0 { // it may take megabytes
			v.Bodies = v.Bodies[max(len(v.Bodies)-1, 0):]
		}
		if r := v.Current(); v.Hunt != 0 && r != nil && msg.Key == v.BodyKey(r) {
			return v.FindMatch(v.Hunt)
		}
	case TracksMsg:
		v.asking = 0
		v.tracks = append(slices.Clip(v.tracks), msg)
		v.tracks = v.tracks[max(len(v.tracks)-keepTracks, 0):]
	case tailLevelsMsg:
		v.levels[msg.broker] = msg.delayLevels
	case tailSievedMsg:
		v.sieved(msg)
	case ResendPlanMsg:
		if msg.err != "" {
			return v, page.RefuseRequest{Text: "resend: " + msg.err}
		}
		return v, page.PushRequest{Dialog: newResendDialog(v.env, v.cmds, msg.Plan)}
	case directPlanMsg:
		if msg.err != "" {
			return v, page.RefuseRequest{Text: "consume: " + msg.err}
		}
		return v, page.PushRequest{Dialog: newDirectDialog(v.env, v.cmds, msg.raw)}
	case QueuesMsg:
		if msg.err != "" || len(msg.Queues) == 0 {
			return v, page.RefuseRequest{Text: "queues of " + draw.SafeText(v.Request.Topic) + ": " + words.OrUnknown(msg.err)}
		}
		return v, page.PushRequest{Dialog: newQueuesDialog(v.env, msg.Queues, v.Request.Queues)}
	}
	return v, nil
}

// Take takes a batch in.
func (v *View) Take(msg BatchMsg) {
	if msg.Err != "" {
		v.Err = msg.Err
		return
	}
	v.forget(v.Ring.add(msg.Rows))
	v.total = msg.Counts
	v.note(msg.Notice)
	for _, r := range msg.Rows {
		if r.bad != "" {
			v.errors++
		}
		v.needsLevels(r)
		_, judged := v.verdict(r)
		v.late = v.late || !judged
		if r.Message != nil && !slices.Contains(v.names, r.broker) {
			v.names = append(slices.Clip(v.names), r.broker)
			v.brief = words.NewShortener(v.names)
		}
	}
	v.count(int64(len(msg.Rows)))
	if v.frozen.IsZero() {
		v.arrange()
	}
}

// due begins what is to be done: opening, reading on, putting a filter in force,
// making the body under the cursor readable, asking who has read it.
func (v View) due() (page.Page, page.Request) {
	var cmds []tea.Cmd
	switch {
	case v.Err != "":
	case v.Tail == nil && !v.opening && v.env.Options.OpenTail != nil:
		v.opening = true
		cmds = append(cmds, openTail(v.cmds, v.env.Options.OpenTail, v.Request, v.Ticket))
	case v.Tail != nil && !v.Reading:
		v.Reading = true
		cmds = append(cmds, nextOfTail(v.cmds, v.Tail, v.Ticket))
	}
	if !v.sieving && !v.opening {
		cmds = append(cmds, v.beginSieve())
	}
	cmds = append(cmds, v.askLevels())
	r := v.Current()
	if r != nil && r.Message != nil {
		if k := v.BodyKey(r); v.Body(k) == nil && v.decodes == (BodyKey{}) {
			v.decodes = k
			cmds = append(cmds, decodeBody(v.cmds, r, k, v.Ticket))
		}
		if v.asking == 0 && !v.List.Follow && v.env.Now.Sub(v.moved) >= restAfter && v.tracksOf(r.Seq) == nil && v.env.Options.Inspect != nil {
			v.asking = r.Seq
			cmds = append(cmds, readTracks(v.cmds, v.env.Options.Inspect, r, v.Ticket))
		}
	}
	cmd := tea.Batch(cmds...)
	if cmd == nil {
		return v, nil
	}
	return v, page.RunRequest{Cmd: cmd}
}

// Status is what stands round the view.
func (v View) Status() page.Status {
	s := page.Status{Main: &v.main, Hidden: int(v.waiting())}
	if v.byKey {
		s.Frozen = v.frozen
	}
	th := v.env.Theme
	switch {
	case v.Err != "":
		s.Health = draw.Styled(th.Bad, " "+words.Failure.Sign()+" "+v.Err)
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
			text += fmt.Sprintf("%s of %s messages, ", words.Grouped(int64(len(v.Ring.Rows))), words.Grouped(KeepRows))
		}
		text += words.Size(int64(v.Ring.Bytes)) + " of " + words.Size(KeepBytes)
		if v.Ring.Dropped > 0 {
			text += " · oldest " + words.Grouped(v.Ring.Dropped) + " dropped"
		}
		s.Health = draw.Styled(th.Good, text)
	}
	s.State = []draw.Segment{draw.Styled(th.Good, "● follow"), draw.Styled(th.Text, " +"+words.ShortRate(v.rate(), true)+" "), draw.Styled(th.Spark, v.env.Glyphs.Trend(v.trend(8), true)+" ")}
	switch {
	case v.Err != "": // nothing is read until the operator says so
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
func (v *View) click(x, y int) {
	p := v.plan()
	if p.beside && x >= p.listW {
		return
	}
	v.stand()
	if page.ClickRow(&v.List, y-1, 2) {
		v.Top, v.moved = 0, v.env.Now
	}
}
