package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
	"eyeq/tui/change"
	"eyeq/tui/draw"
	"eyeq/tui/live"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// filter is the shown view's.
func (a *app) filter() *page.Filter {
	if a.shown == page.ViewEvents {
		return &a.events[a.cur].Filter
	}
	return &a.live[a.cur].Filter
}

func (a *app) filterText() string {
	if p := a.page(); p != nil {
		return p.FilterText()
	}
	return a.filter().Text
}

// setFilter tries a filter; a bad one leaves the old in force.
func (a *app) setFilter(text string) error {
	if p := a.page(); p != nil {
		p, err := p.Narrow(text)
		if err == nil {
			a.pages[a.shown] = p
		}
		return err
	}
	columns := live.FilterColumns
	if a.shown == page.ViewEvents {
		columns = nil
	}
	f, err := page.ParseFilter(text, columns)
	if err != nil {
		return err
	}
	if a.shown == page.ViewEvents {
		a.events[a.cur].Filter = f
		a.events[a.cur].Refilter()
		return nil
	}
	a.live[a.cur].Filter = f
	a.live[a.cur].Refresh(true)
	return nil
}

// askPause opens the prompt for queues: resume when all of them are paused.
func (a *app) askPause(queues []engine.MessageQueue) tea.Cmd {
	s := a.source().Scene
	if s == nil || len(queues) == 0 {
		return a.refuse("there is no queue to pause")
	}
	var own, paused []engine.MessageQueue
	var left leftOut
	other := ""
	for _, mq := range queues {
		q := s.Queue(mq)
		switch {
		case q == nil:
			left.gone++
		case !q.Own:
			left.foreign++
			other = a.queueName(mq) + " is not ours: by " + s.Strategy + " it is " + words.OrUnknown(q.Owner) + "'s"
		case s.PausedAlone(q):
			paused = append(paused, mq)
		default:
			own = append(own, mq)
		}
	}
	a.unseenMarks(&left)
	switch {
	case len(own)+len(paused) == 0:
		return a.refuse("only own queues can be paused here; " + other)
	case len(own) == 0:
		a.push(change.NewPauseDialog(a.env, paused, a.queueNames(paused), left.text(), true))
	default:
		left.paused = len(paused)
		d := change.NewPauseDialog(a.env, own, a.queueNames(own), left.text(), false)
		d.Handover = a.handover(s)
		a.push(d)
	}
	return nil
}

// leftOut counts the marked queues that an act is not about, by why.
type leftOut struct{ foreign, gone, hidden, paused int }

// unseenMarks counts the marked queues that the table does not show.
func (a *app) unseenMarks(l *leftOut) {
	v := &a.live[a.cur]
	s := a.picture().Scene
	marks := v.Queues.MarkCount()
	if a.shown != page.ViewLive || s == nil || marks == 0 {
		return
	}
	here := 0
	for i := range s.Raw.Queues {
		if v.Queues.IsMarked(s.Raw.Queues[i].MessageQueue) {
			here++
		}
	}
	l.hidden += here - len(v.Queues.Marked())
	l.gone += marks - here
}

// text is a sentence; "" when nothing is left out.
func (l *leftOut) text() string {
	n := 0
	var why []string
	for _, x := range [...]struct {
		count int
		why   string
	}{{l.foreign, "not ours (any more)"}, {l.gone, "gone from the route"}, {l.hidden, "hidden by filter or topic"}, {l.paused, "paused already"}} {
		if n += x.count; x.count > 0 {
			why = append(why, fmt.Sprintf("%d %s", x.count, x.why))
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "1 marked queue is left out: " + strings.TrimPrefix(why[0], "1 ")
	}
	return fmt.Sprintf("%d marked queues are left out: %s", n, strings.Join(why, ", "))
}

func (a *app) askPauseAll() tea.Cmd {
	s := a.source().Scene
	if s == nil {
		return a.refuse("the engine has not shown anything yet")
	}
	d := change.NewPauseDialog(a.env, nil, "the whole consumer "+s.Group, "", s.Pause != nil)
	d.Handover = a.handover(s)
	a.push(d)
	return nil
}

// queueName names a queue with its topic: an act must not be about another topic's
// queue of the same number.
func (a *app) queueName(mq engine.MessageQueue) string {
	return a.queueNames([]engine.MessageQueue{mq})
}

// queueNames names queues in one line, a topic only where it changes.
func (a *app) queueNames(queues []engine.MessageQueue) string {
	const most = 3
	group := ""
	if s := a.source().Scene; s != nil {
		group = s.Raw.Group
	}
	var names []string
	for i, mq := range queues {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(queues)-most))
			break
		}
		name := draw.SafeText(mq.Short())
		if i == 0 || queues[i-1].Topic != mq.Topic {
			name = words.TopicLabel(group, mq.Topic) + " " + name
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// openReset opens the reset dialog for own queues.
func (a *app) openReset() tea.Cmd {
	if a.watchedNow() != nil {
		return a.resetWatched()
	}
	s := a.source().Scene
	if s == nil || a.source().Engine == nil {
		return a.refuse("the engine has not shown anything yet")
	}
	targets := a.targets()
	if len(targets) == 0 {
		return a.refuse("there is no queue to reset")
	}
	topic := targets[0].Topic
	var all, chosen []engine.MessageQueue
	var left leftOut
	for i := range s.Raw.Queues {
		q := &s.Raw.Queues[i]
		if !q.Own {
			if slices.Contains(targets, q.MessageQueue) {
				left.foreign++
			}
			continue
		}
		if q.Topic == topic {
			all = append(all, q.MessageQueue)
		}
		if slices.Contains(targets, q.MessageQueue) {
			chosen = append(chosen, q.MessageQueue)
		}
	}
	var scopes []change.ResetScope
	if len(chosen) > 0 {
		label := a.queueNames(chosen)
		if len(chosen) > 1 {
			label = fmt.Sprintf("marked (%d)", len(chosen))
			if !slices.ContainsFunc(chosen, func(mq engine.MessageQueue) bool { return mq.Topic != topic }) {
				label = fmt.Sprintf("marked of %s (%d)", table.Cut(words.TopicLabel(s.Raw.Group, topic), 24), len(chosen))
			}
		}
		scopes = append(scopes, change.ResetScope{Label: label, Queues: chosen})
	}
	if len(all) > 0 {
		scopes = append(scopes, change.ResetScope{Label: fmt.Sprintf("all own of %s (%d)", table.Cut(words.TopicLabel(s.Raw.Group, topic), 24), len(all)), Queues: all})
	}
	if len(scopes) == 0 {
		return a.refuse("none of these queues is ours: other members' queues cannot be reset one by one while the group is online")
	}
	perSecond, _ := a.source().Hist.Rate(live.Consumed, live.TrendWindow)
	a.unseenMarks(&left)
	d, r := change.NewResetDialog(a.env, s.Raw.Group, topic, scopes, perSecond)
	if len(chosen) > 0 && a.live[a.cur].Queues.MarkCount() > 0 && a.shown == page.ViewLive {
		d.Left = left.text()
	}
	a.push(d)
	return a.serve(r)
}

// serve does what a dialog asks for.
func (a *app) serve(r page.Request) tea.Cmd {
	e := a.source().Engine
	switch r := r.(type) {
	case page.CloseRequest:
		a.pop()
	case page.LeaveRequest:
		a.pop()
		return a.beginLeave(false)
	case page.FilterRequest:
		return a.onFilter(r)
	case page.CommandRequest:
		a.pop()
		a.commands.Add(r.Line)
		return a.command(r.Line)
	case change.PauseRequest:
		a.pop()
		what := "paused " + a.what(r.Queues)
		return pause(a.cmds, e, r.PauseRequest, what)
	case change.ResumeRequest:
		a.pop()
		return resume(a.cmds, e, r.ResumeRequest, "resumed "+a.what(r.Queues))
	case change.PreviewRequest:
		return change.PreviewReset(a.cmds, e, r, a.env.Options.Now)
	case change.SettleRequest:
		a.writing = "a decision about " + words.Plural(r.Count, "held message")
		return change.Settle(a.cmds, e, r.SettleRequest, r.Ticket)
	case change.ApplyRequest:
		a.writing = "a reset of " + words.Plural(len(r.Queues), "queue")
		return change.DoReset(a.cmds, e, r.ResetRequest)
	default:
		return a.servePage(r)
	}
	return nil
}

func (a *app) what(queues []engine.MessageQueue) string {
	if len(queues) == 0 {
		return "the whole consumer"
	}
	return a.queueNames(queues)
}

func (a *app) onFilter(r page.FilterRequest) tea.Cmd {
	err := a.setFilter(r.Text)
	if n := len(a.dialogs); n > 0 && err != nil {
		d, _ := a.dialogs[n-1].Update(filterRefused{draw.SafeText(err.Error())})
		a.dialogs[n-1] = d
		return nil
	}
	if r.Done {
		a.pop()
		a.filters.Add(r.Text)
	}
	return nil
}

func (a *app) onResetDone(msg change.ResetDoneMsg) tea.Cmd {
	good := 0
	for i := range msg.Rows {
		if msg.Rows[i].Err == nil && msg.Rows[i].Verified {
			good++
		}
	}
	sev := words.Notice
	text := fmt.Sprintf("reset: %d of %s verified", good, words.Plural(len(msg.Rows), "queue"))
	if msg.Err != "" || good < len(msg.Rows) {
		sev = words.Failure
	}
	if msg.Err != "" {
		text += ": " + msg.Err
	}
	return a.written(msg, text, sev)
}

// toDialogs hands a result to every open dialog.
func (a *app) toDialogs(msg tea.Msg) tea.Cmd {
	var cmds []tea.Cmd
	for i := range a.dialogs {
		d, r := a.dialogs[i].Update(msg)
		a.dialogs[i] = d
		cmds = append(cmds, a.serve(r))
	}
	return tea.Batch(cmds...)
}

func (a *app) push(d page.Dialog) { a.dialogs = append(slices.Clip(a.dialogs), d) }

func (a *app) pop() {
	if n := len(a.dialogs); n > 0 {
		a.dialogs = slices.Clip(a.dialogs[:n-1])
	}
}
