package tui

import (
	"fmt"
	"strings"

	"eyeq/engine"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/words"
)

func (a *app) tiny() bool { return a.w < leastWidth || a.h < leastHeight }

// drawTiny is the screen that is too small for tables: a fact a line, still live.
func (a *app) drawTiny() string {
	c := draw.NewCanvas(a.w, a.h)
	var facts []draw.Segment
	if over := a.drawDialogs(a.w, a.h-1); over != "" && a.w >= 20 && a.h >= 4 {
		c.B = append(append(c.B, over...), '\n')
		c.Lines = strings.Count(over, "\n") + 1
		for c.Lines < a.h-1 {
			c.End()
		}
	} else if p := a.page(); p != nil {
		facts = a.pageFacts(p)
	} else {
		facts = a.facts()
	}
	for _, f := range facts {
		if c.Lines >= a.h-1 {
			break
		}
		c.Put(f.Style, f.Text)
		c.End()
	}
	if p := a.page(); p != nil && len(a.dialogs) == 0 && a.h-1-c.Lines >= page.LeastPane && a.w >= 20 {
		c.B = append(append(c.B, p.View(a.w, a.h-1-c.Lines)...), '\n')
		c.Lines = a.h - 1
	}
	c.Blank(a.h - 1)
	switch {
	case len(a.dialogs) > 0:
		a.dialogs[len(a.dialogs)-1].Hint(c)
	case a.leave.on || a.leave.after:
		c.Put(a.env.Theme.Warn, a.leavingText())
		c.End()
	case a.note.text != "" && a.env.Now.Sub(a.note.at) < page.NoteFor && a.h > 1:
		c.Put(words.SeverityStyle(a.env.Theme, a.note.sev), a.note.text)
		c.End()
	default:
		c.Put(a.env.Theme.Dim, a.tinySummary())
		c.End()
	}
	return c.String()
}

// pageFacts are the lines of a page on the tiny screen, above as much of its table as
// there is room for.
func (a *app) pageFacts(p page.Page) []draw.Segment {
	health := a.pageHealth(p.Status())
	health.Text = strings.TrimSpace(health.Text)
	return []draw.Segment{draw.Styled(a.env.Theme.Bold, strings.TrimSpace(draw.SafeText(a.env.Options.Cluster)+" "+a.env.ModeWord()+" "+p.Subject())), health}
}

func (a *app) tinySummary() string {
	if p := a.page(); p != nil {
		return fmt.Sprintf("eyeq %dx%d: %s · enlarge for tables", a.w, a.h, strings.TrimSpace(a.pageHealth(p.Status()).Text))
	}
	p := a.picture()
	text := fmt.Sprintf("eyeq %dx%d: ", a.w, a.h)
	if a.frozen() {
		text += "FROZEN"
	} else {
		text += "live"
	}
	if p.Scene != nil && a.h == 1 {
		v := &a.live[a.cur]
		f := v.Figures()
		trend, _ := f.TrendText(false)
		text += fmt.Sprintf(" · %s lag %s %s · flow %s", p.Scene.Group, f.LagText(func(n int64) string { return words.Short(float64(n)) }), trend, v.FlowTotal(&f))
	}
	return text + " · enlarge for tables"
}

// facts are the lines of the tiny screen, the most important first.
func (a *app) facts() []draw.Segment {
	th, p := a.env.Theme, a.picture()
	s := p.Scene
	lines := []draw.Segment{draw.Styled(th.Bold, strings.TrimSpace(draw.SafeText(a.env.Options.Cluster)+" "+a.env.ModeWord()+" "+a.groupName()))}
	health := a.health()
	health.Text = strings.TrimSpace(health.Text)
	lines = append(lines, health)
	if s == nil {
		return lines
	}
	v := &a.live[a.cur]
	f := v.Figures()
	add := func(st draw.Style, format string, args ...any) {
		lines = append(lines, draw.Styled(st, fmt.Sprintf(format, args...)))
	}
	trend, st := f.TrendText(true)
	add(st(th), "lag %s %s", f.LagText(words.Grouped), trend)
	add(th.Text, "pull %s  done %s  fail %s", words.Rate(f.Pull, f.PullOK), words.Rate(f.Consume, f.ConsumeOK), v.FailShare(&f))
	add(th.Text, "flow %s %s", v.FlowTotal(&f), v.FlowCauses(&f, " ", true))
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
	add(th.Text, "own %d of %s:%s", f.Own, words.Plural(len(s.Queues), "queue"), text)
	if n := s.Held(); n > 0 {
		add(th.Warn, "%s held for the operator", words.Plural(n, "message"))
	}
	add(th.Text, "cache %s/%s  %s MiB", words.Grouped(f.Cached), words.Grouped(f.CacheLimit), words.MiB(f.CachedBytes))
	add(th.Text, "RT p50 %s p99 %s  threads %d/%d", v.RtText(0.5), v.RtText(0.99), s.ThreadsBusy, s.Threads)
	add(th.Text, "%s", v.RebalanceText())
	add(th.Text, "%s", v.CommitText())
	for i := range p.Folds {
		r := &p.Folds[i].Row
		add(words.SeverityStyle(th, r.Sev), "%s %s %s %s %s", a.env.Clock(r.At, words.ClockSeconds), r.Kind, r.Cause, v.FeedQueue(&p.Folds[i], true), p.Folds[i].Text())
	}
	return lines
}
