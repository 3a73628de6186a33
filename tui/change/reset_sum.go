package change

import (
	"fmt"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/words"
)

// resetSum is what the included rows come to.
type resetSum struct {
	queues, changed, unknown, excluded int
	replay, skip, gone                 int64
	skips, gones                       int
	lagBefore, lagAfter                int64
	lagUnknown                         int // nobody says where these queues end
}

// sum adds up the rows that are not left out and whose offsets are known.
func (d *ResetDialog) sum() resetSum {
	var s resetSum
	for i := range d.Rows {
		r := &d.Rows[i]
		switch {
		case d.exclude[r.MessageQueue]:
			s.excluded++
			continue
		case r.Err != nil:
			s.unknown++
			continue
		}
		s.queues++
		if r.Before != r.After {
			s.changed++
		}
		before := r.Before
		if before == engine.Unknown {
			before = r.MinOffset
		}
		if r.MaxOffset == engine.Unknown || before == engine.Unknown {
			s.lagUnknown++
		}
		s.lagBefore += r.MaxOffset - before
		s.lagAfter += r.MaxOffset - r.After
		switch r.Effect {
		case core.EffectReplay:
			s.replay += r.Count
		case core.EffectSkip:
			s.skip += r.Count
			s.skips++
		case core.EffectGone:
			s.gone += r.Count
			s.gones++
		}
	}
	return s
}

// sumLines are the lines below the rows: what they come to, and what is to be known.
func (d *ResetDialog) sumLines(wide bool) [][]draw.Segment {
	e, s := d.Env, d.sum()
	switch {
	case len(d.Rows) == 0:
		return [][]draw.Segment{page.Line()}
	case d.old: // figures of another target are none
		return [][]draw.Segment{page.Line(), page.Line(draw.Styled(e.Theme.Dim, " Sum    "), e.Plain("…")), page.Line(draw.Styled(e.Theme.Dim, " Lag    "), e.Plain("…"))}
	}
	sum := words.Plural(s.queues, "queue") + " · replay " + words.Grouped(s.replay)
	if d.rate >= 1 && s.replay > 0 {
		takes := "≈ " + words.Age(time.Duration(float64(s.replay)/d.rate*float64(time.Second)))
		if wide {
			takes += " at " + words.Rate(d.rate, true)
		}
		sum += " (" + takes + ")"
	}
	in := func(n int) string {
		if wide {
			return " in " + words.Plural(n, "queue")
		}
		return fmt.Sprintf(" (%dq)", n)
	}
	if s.skips > 0 {
		sum += " · SKIP " + words.Grouped(s.skip) + in(s.skips)
	}
	if s.gones > 0 {
		sum += " · GONE " + words.Grouped(s.gone) + in(s.gones)
	}
	if s.excluded > 0 {
		sum += fmt.Sprintf(" · %d left out", s.excluded)
	}
	if s.unknown > 0 {
		sum += fmt.Sprintf(" · %d unknown", s.unknown)
	}
	lag := words.Grouped(s.lagBefore) + " → " + words.Grouped(s.lagAfter)
	if s.lagUnknown > 0 {
		lag = words.Unknown
	}
	lag += fmt.Sprintf("   preview %s old, ", words.Since(d.at, e.Now))
	switch {
	case d.Any && wide:
		lag += "re-checked at apply; stops if any offset was moved"
	case d.Any:
		lag += "re-checked at apply"
	case wide:
		lag += "applied as shown; a queue that was moved back since is not touched"
	default:
		lag += "applied as shown"
	}
	lines := [][]draw.Segment{page.Line(), page.Line(draw.Styled(e.Theme.Dim, " Sum    "), e.Plain(sum)), page.Line(draw.Styled(e.Theme.Dim, " Lag    "), e.Plain(lag))}
	if !wide {
		return lines
	}
	if d.Any {
		return append(lines, d.riskLines()...)
	}
	return append(lines,
		page.Line(draw.Styled(e.Theme.Dim, " Risk   "), e.Plain("consumers must be idempotent · other members' queues are not touched")))
}
