package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/tui/table"
)

// Below this the screen is one status line a fact.
const (
	leastWidth  = 60
	leastHeight = 16
	// tabsFrom is the height from which there is a line of tabs.
	tabsFrom = 30
	// staleAfter is when a snapshot counts as old.
	staleAfter = 3 * time.Second
)

func (a *app) tiny() bool { return a.w < leastWidth || a.h < leastHeight }

// bodyHeight is the room of a view: all but line 1, tabs, hints and status.
func (a *app) bodyHeight() int {
	n := a.h - 3
	if a.h >= tabsFrom {
		n--
	}
	return max(n, 0)
}

// draw makes the whole frame: exactly h lines of w cells.
func (a *app) draw() string {
	var frame string
	if a.tiny() {
		frame = a.drawTiny()
	} else {
		frame = a.drawFull()
	}
	if a.env.o.ASCII {
		frame = toASCII(frame)
	}
	return frame
}

func (a *app) drawFull() string {
	c := newCanvas(a.w, a.h)
	a.drawHeader(c)
	if a.h >= tabsFrom {
		a.drawTabs(c)
	}
	body := a.bodyHeight()
	over := a.drawDialogs(a.w, body)
	lines := 0
	if over != "" {
		lines = strings.Count(over, "\n") + 1
	}
	c.b = append(c.b, head(a.drawView(a.w, body), body-lines)...)
	if lines > 0 {
		c.b = append(c.b, over...)
		c.b = append(c.b, '\n')
	}
	a.drawHint(c)
	a.drawStatus(c)
	return c.String()
}

// head is the first n lines of a drawing, with their newlines.
func head(drawing string, n int) string {
	end := 0
	for range n {
		i := strings.IndexByte(drawing[end:], '\n')
		if i < 0 {
			return drawing + "\n"
		}
		end += i + 1
	}
	return drawing[:end]
}

func (a *app) drawView(w, h int) string {
	switch a.shown {
	case viewQueue:
		return a.queue.view(w, h)
	case viewEvents:
		return a.events[a.cur].view(w, h)
	case viewLog:
		return a.log.view(w, h)
	}
	return a.live[a.cur].view(w, h)
}

// drawDialogs draws the topmost dialog that has a drawing.
func (a *app) drawDialogs(w, h int) string {
	for _, d := range slices.Backward(a.dialogs) {
		if drawing := d.view(w, h); drawing != "" {
			return drawing
		}
	}
	return ""
}

// drawHeader is line 1: cluster, mode and group, always.
func (a *app) drawHeader(c *canvas) {
	th, s := a.env.th, a.picture().scene
	wide := a.w >= 100
	gap := " "
	if wide {
		gap = "  "
	}
	left := []segment{{th.bold, " eyeq "}, {th.cluster, "● "}, {th.bold, SafeText(orUnknown(a.env.o.Cluster))}, {style{}, gap}}
	if m := a.env.modeWord(); m != "" {
		left = append(left, segment{th.mode, m}, segment{style{}, gap})
	}
	if t := SafeText(a.env.o.Title); t != "" && t != SafeText(a.env.o.Cluster) {
		left = append(left, segment{th.accent, t}, segment{style{}, gap})
	}
	left = append(left, segment{style{}, " "}, segment{th.bold, a.groupName()})
	if n := len(a.sources); n > 1 {
		left = append(left, segment{th.dim, fmt.Sprintf(" [%d/%d]", a.cur+1, n)})
	}
	now := a.env.now.In(a.env.o.Location)
	if a.env.mode == timeUTC {
		now = now.UTC()
	}
	if !wide {
		c.spread(left, []segment{{th.bold, now.Format("15:04:05") + " "}})
		return
	}
	right := []segment{}
	if s != nil {
		left = append(left, segment{th.dim, gap + a.subscriptionText(s)})
		right = append(right, a.namesrvText(s)...)
	}
	c.spread(left, append(right, segment{th.bold, "   " + now.Format("15:04:05 -07:00") + " "}))
}

func (a *app) picture() picture { return a.source().picture(a.env.now) }

func (a *app) groupName() string {
	s := a.picture().scene
	name := SafeText(a.source().name)
	switch {
	case s == nil:
		return orUnknown(name)
	case name == "" || name == s.Group:
		return s.Group
	case strings.HasPrefix(name, s.Group):
		return name
	}
	return s.Group + " (" + name + ")"
}

// subscriptionText says what kind of consumer this is and what it subscribes to.
func (a *app) subscriptionText(s *scene) string {
	kind := "concurrent"
	if s.Orderly {
		kind = "orderly"
	}
	model := "cluster"
	if isBroadcast(s) {
		model = "broadcast"
	}
	expression := ""
	if t, _ := a.live[a.cur].shownTopic(); t != nil {
		expression = t.Expression
	}
	if expression == "" || expression == "*" {
		return model + "·" + kind + "·all tags"
	}
	return model + "·" + kind + "·tag " + table.Cut(expression, 30)
}

// namesrvText is the name server that answered last and its place in the list.
func (a *app) namesrvText(s *scene) []segment {
	th := a.env.th
	n := slices.Index(s.Namesrv, s.NamesrvCurrent) + 1
	switch {
	case s.NamesrvError != "":
		return []segment{{th.bad, fmt.Sprintf("ns %s down 0/%d", failure.sign(), len(s.Namesrv))}}
	case s.NamesrvCurrent == "":
		return []segment{{th.dim, fmt.Sprintf("ns %s of %d", unknown, len(s.Namesrv))}}
	}
	return []segment{{th.text, "ns " + strings.TrimSuffix(s.NamesrvCurrent, ":9876")}, {th.dim, fmt.Sprintf(" %d/%d", n, len(s.Namesrv))}}
}

func (a *app) drawTabs(c *canvas) {
	th := a.env.th
	var left []segment
	tab := func(on bool, text string) {
		if on {
			left = append(left, segment{th.title, " [" + text + "]"})
		} else {
			left = append(left, segment{th.text, "  " + text + " "})
		}
	}
	tab(a.shown == viewLive, a.env.keys.first("live")+" Live")
	events := a.env.keys.first("events") + " Events"
	if n := a.source().log.unseen; n > 0 {
		events += fmt.Sprintf("(%s%s)", failure.sign(), grouped(int64(n)))
	}
	tab(a.shown == viewEvents, events)
	if a.shown == viewQueue {
		tab(true, "Queue "+SafeText(a.queue.mq.Short()))
	}
	if a.shown == viewLog {
		tab(true, "Log")
	}
	state := segment{th.good, "● live"}
	if a.frozen() {
		state = segment{th.warn, "FROZEN"}
	} else if old, stale := a.stale(); stale {
		state = segment{th.bad, "! " + age(old) + " old"}
	}
	c.spread(left, []segment{state, {th.dim, " " + refreshText(a.refresh) + " "}})
}

func refreshText(d time.Duration) string {
	if d < time.Second {
		return short(float64(time.Second)/float64(d)) + " Hz"
	}
	return "every " + span(d)
}

// stale is how old the newest figures are, when they are old.
func (a *app) stale() (time.Duration, bool) {
	s := a.source().scene
	if s == nil {
		return 0, false
	}
	old := a.env.now.Sub(s.At)
	return old, old > staleAfter && !a.ended
}

// hintPair is a key and what it does.
type hintPair struct {
	name      action
	key, word string
}

func (p *hintPair) width() int { return table.Width(p.key) + table.Width(p.word) + 3 }

// hintRank says which hints are shown where there is no room for all; their order on
// the line is the key table's.
var hintRank = []action{"detail", "pause", "reset", "filter", "freeze", "next-error", "mark", "sort", "next-topic", "down"}

// drawHint shows keys of the view from the key table, or what the dialog says.
func (a *app) drawHint(c *canvas) {
	if n := len(a.dialogs); n > 0 {
		a.dialogs[n-1].hint(c)
		return
	}
	var middle, end []hintPair
	for i := range a.env.keys.bindings {
		b := &a.env.keys.bindings[i]
		if b.hint == "" || b.where&a.shown.scope() == 0 || b.write && a.env.readOnly() {
			continue
		}
		p := hintPair{b.name, a.env.keys.first(b.name), b.hint}
		switch b.name {
		case "down":
			p.key += "/" + a.env.keys.first("up")
		case "next-topic":
			if s := a.picture().scene; s == nil || len(s.Topics) < 2 {
				continue
			}
		case "back":
			if a.shown == viewLive {
				p.word = "leave"
			}
		}
		if b.name == "help" || b.name == "back" {
			end = append(end, p)
		} else {
			middle = append(middle, p)
		}
	}
	room := a.w
	for _, p := range end {
		room -= p.width()
	}
	shown := make([]bool, len(middle))
	for _, name := range hintRank {
		if i := slices.IndexFunc(middle, func(p hintPair) bool { return p.name == name }); i >= 0 && middle[i].width() <= room {
			shown[i] = true
			room -= middle[i].width()
		}
	}
	for i, p := range append(middle, end...) {
		if i < len(middle) && !shown[i] {
			continue
		}
		c.put(style{}, " ")
		c.put(a.env.th.key, p.key)
		c.put(a.env.th.dim, " "+p.word+" ")
	}
	c.end()
}

// drawStatus is the last line: how the engine is, the last note, the mode.
func (a *app) drawStatus(c *canvas) {
	th := a.env.th
	word := "NORMAL"
	if a.frozen() {
		word = "FROZEN"
	}
	if n := len(a.dialogs); n > 0 {
		word = a.dialogs[n-1].word()
	}
	if a.leave.on || a.leave.after {
		word = "LEAVING"
	}
	var left []segment
	switch {
	case a.leave.on || a.leave.after:
		left = append(left, segment{th.warn, " " + a.leavingText()})
	case a.frozen():
		f := a.source().frozen
		left = append(left, segment{th.warn, fmt.Sprintf(" FROZEN %s · %s · %s waiting · %s to go on", a.env.clock(f.now, clockSeconds), age(a.env.now.Sub(f.now)),
			plural(a.source().hidden(), "change"), a.env.keys.first("freeze"))})
	default:
		left = append(left, a.health())
	}
	if a.note.text != "" {
		st := severityStyle(th, a.note.sev)
		note := segment{st, strings.TrimSpace(a.note.sev.sign()) + lead(a.note.sev) + a.note.text}
		room := a.w - table.Width(word) - 4
		if fine := left[0].style == th.good; fine && widthOf(left)+3+table.Width(note.text) > room {
			left[0].text = " ✓" // all is well: the answer to a key is what matters
			if table.Width(note.text) > room-5 {
				left = nil
			}
		}
		if len(left) > 0 {
			left = append(left, segment{th.dim, " · "})
		} else {
			left = append(left, segment{style{}, " "})
		}
		left = append(left, note)
	} else if a.w >= 100 && !a.frozen() && !a.leave.on {
		left = append(left, segment{th.dim, a.membersText()})
	}
	c.spread(left, []segment{{th.mode, " " + word + " "}})
}

func lead(s severity) string {
	if strings.TrimSpace(s.sign()) == "" {
		return ""
	}
	return " "
}

func (a *app) leavingText() string {
	switch {
	case a.leave.after:
		return "leaving: " + a.writing + " is still being written · ctrl-c again leaves at once"
	case a.source().log.leaving != "":
		return fmt.Sprintf("leaving: %s … %s · ctrl-c again leaves at once", a.source().log.leaving, age(a.env.now.Sub(a.leave.began)))
	}
	return fmt.Sprintf("leaving: stopping, %s · ctrl-c again leaves at once", age(a.env.now.Sub(a.leave.began)))
}

// health is the worst thing that is wrong, or that nothing is.
func (a *app) health() segment {
	th, s := a.env.th, a.source().scene
	switch {
	case a.ended:
		return segment{th.bad, " " + failure.sign() + " the consumer has ended"}
	case s == nil:
		return segment{th.warn, " ! waiting for the engine's first figures"}
	case s.State != engine.Running:
		return segment{th.warn, " ! " + s.State.String() + because(s.StateCause)}
	case s.NamesrvError != "":
		return segment{th.bad, " " + failure.sign() + " name server: " + s.NamesrvError}
	}
	if old, stale := a.stale(); stale {
		return segment{th.bad, " ! figures are " + age(old) + " old: the engine does not answer"}
	}
	beat := time.Time{}
	for i := range s.Brokers {
		b := &s.Brokers[i]
		if b.Error != "" {
			return segment{th.bad, fmt.Sprintf(" %s %s %s: %s, for %s", failure.sign(), b.Name, b.Address, b.Error, since(b.ErrorSince, a.env.now))}
		}
		if beat.IsZero() || b.LastHeartbeat.Before(beat) {
			beat = b.LastHeartbeat
		}
	}
	for i := range s.Topics {
		switch t := &s.Topics[i]; {
		case t.Missing != "" && !t.Retry:
			return segment{th.warn, " ! topic " + t.Topic + ": " + t.Missing}
		case t.MembersError != "":
			return segment{th.warn, " ! members of " + t.Topic + " " + unknown + ": " + t.MembersError}
		}
	}
	if s.Pause != nil {
		return segment{th.accent, fmt.Sprintf(" PAUSED by %s%s, %s", s.Pause.By, quoted(s.Pause.Reason), resumeText(s.Pause, a.env.now))}
	}
	if a.w < 100 {
		return segment{th.good, fmt.Sprintf(" ✓ ok · hb %s", since(beat, a.env.now))}
	}
	return segment{th.good, fmt.Sprintf(" ✓ engine ok · %s · heartbeat %s", plural(len(s.Brokers), "broker"), ago(beat, a.env.now))}
}

func resumeText(p *engine.PauseState, now time.Time) string {
	if p.ResumeAt.IsZero() {
		return "until resumed"
	}
	return "resumes in " + age(p.ResumeAt.Sub(now))
}

// membersText says how fresh the allocation is.
func (a *app) membersText() string {
	t, _ := a.live[a.cur].shownTopic()
	if t == nil || t.MembersAt.IsZero() {
		return ""
	}
	return fmt.Sprintf(" · %s, told %s by %s", plural(len(t.Members), "member"), ago(t.MembersAt, a.env.now), orUnknown(t.MembersFrom))
}

// drawTiny is the screen that is too small for tables: a fact a line, still live.
func (a *app) drawTiny() string {
	c := newCanvas(a.w, a.h)
	var facts []segment
	if over := a.drawDialogs(a.w, a.h-1); over != "" && a.w >= 20 && a.h >= 4 {
		c.b = append(append(c.b, over...), '\n')
		c.lines = strings.Count(over, "\n") + 1
		for c.lines < a.h-1 {
			c.end()
		}
	} else {
		facts = a.facts()
	}
	for _, f := range facts {
		if c.lines >= a.h-1 {
			break
		}
		c.put(f.style, f.text)
		c.end()
	}
	c.blank(a.h - 1)
	switch {
	case len(a.dialogs) > 0:
		a.dialogs[len(a.dialogs)-1].hint(c)
	case a.leave.on || a.leave.after:
		c.put(a.env.th.warn, a.leavingText())
		c.end()
	case a.note.text != "" && a.env.now.Sub(a.note.at) < 10*time.Second && a.h > 1:
		c.put(severityStyle(a.env.th, a.note.sev), a.note.text)
		c.end()
	default:
		c.put(a.env.th.dim, a.tinySummary())
		c.end()
	}
	return c.String()
}

func (a *app) tinySummary() string {
	p := a.picture()
	text := fmt.Sprintf("eyeq %dx%d: ", a.w, a.h)
	if a.frozen() {
		text += "FROZEN"
	} else {
		text += "live"
	}
	if p.scene != nil && a.h == 1 {
		v := &a.live[a.cur]
		f := v.figures()
		trend, _ := f.trendText(false)
		text += fmt.Sprintf(" · %s lag %s %s · flow %s", p.scene.Group, f.lagText(func(n int64) string { return short(float64(n)) }), trend, v.flowTotal(&f))
	}
	return text + " · enlarge for tables"
}

// facts are the lines of the tiny screen, the most important first.
func (a *app) facts() []segment {
	th, p := a.env.th, a.picture()
	s := p.scene
	lines := []segment{{th.bold, strings.TrimSpace(SafeText(a.env.o.Cluster) + " " + a.env.modeWord() + " " + a.groupName())}}
	health := a.health()
	health.text = strings.TrimSpace(health.text)
	lines = append(lines, health)
	if s == nil {
		return lines
	}
	v := &a.live[a.cur]
	f := v.figures()
	add := func(st style, format string, args ...any) {
		lines = append(lines, segment{st, fmt.Sprintf(format, args...)})
	}
	trend, st := f.trendText(true)
	add(st(th), "lag %s %s", f.lagText(grouped), trend)
	add(th.text, "pull %s  done %s  fail %s", rate(f.pull, f.pullOK), rate(f.consume, f.consumeOK), v.failShare(&f))
	add(th.text, "flow %s %s", v.flowTotal(&f), v.flowCauses(&f, " ", true))
	states := map[engine.QueueState]int{}
	for i := range s.Queues {
		if s.Queues[i].Own {
			states[s.Queues[i].State]++
		}
	}
	text := ""
	for st := engine.QueueTaking; st <= engine.QueueDropping; st++ {
		if n := states[st]; n > 0 {
			text += fmt.Sprintf(" %d %s", n, st)
		}
	}
	add(th.text, "own %d of %s:%s", f.own, plural(len(s.Queues), "queue"), text)
	add(th.text, "cache %s/%s  %s MiB", grouped(f.cached), grouped(f.cacheLimit), mib(f.cachedBytes))
	add(th.text, "RT p50 %s p99 %s  threads %d/%d", v.rtText(0.5), v.rtText(0.99), s.ThreadsBusy, s.Threads)
	add(th.text, "%s", v.rebalanceText())
	add(th.text, "%s", v.commitText())
	for i := range p.folds {
		r := &p.folds[i].row
		add(severityStyle(th, r.sev), "%s %s %s %s %s", a.env.clock(r.at, clockSeconds), r.kind, r.cause, r.queue, r.text)
	}
	return lines
}
