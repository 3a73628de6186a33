package tail

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/words"
)

const levelsLimit = 10 * time.Second

// delayLevels are a broker's delays by level, or why they are not known.
type delayLevels struct {
	levels []time.Duration
	why    inspect.Reason
}

// tailLevelsMsg are the delay levels of a broker whose topic of waiting messages is read.
type tailLevelsMsg struct {
	ticket int
	broker string
	delayLevels
}

func (m tailLevelsMsg) tailTicket() int { return m.ticket }

// levels asks a broker for its delay levels.
func readLevels(c page.Commands, cl page.Cluster, broker string, ticket int) tea.Cmd {
	return c.Within(levelsLimit, func(ctx context.Context) tea.Msg {
		levels, err := cl.Levels(ctx, broker)
		return tailLevelsMsg{ticket, broker, delayLevels{levels, inspect.ReasonOf(err)}}
	})
}

// askLevels asks the next broker of which they are needed; nil: none is.
func (v *View) askLevels() tea.Cmd {
	if len(v.levelless) == 0 || v.env.Options.Inspect == nil {
		return nil
	}
	broker := v.levelless[0]
	v.levelless = v.levelless[1:]
	return readLevels(v.cmds, v.env.Options.Inspect, broker, v.Ticket)
}

// needsLevels notes the broker of a message that waits there by a delay level.
func (v *View) needsLevels(r *Row) {
	if r.parked == nil || r.parked.Level == 0 {
		return
	}
	if _, asked := v.levels[r.mq.BrokerName]; asked {
		return
	}
	if v.levels == nil {
		v.levels = map[string]delayLevels{}
	}
	v.levels[r.mq.BrokerName] = delayLevels{why: inspect.Reason{Kind: inspect.ReasonNotAsked}}
	v.levelless = append(v.levelless, r.mq.BrokerName)
}

// ParkedOf is what a message that a broker holds back says of its delay; nil: it is none.
func ParkedOf(m *engine.Message) *inspect.Delay {
	d, ok := inspect.DelayOf(m, nil, inspect.Reason{Kind: inspect.ReasonNotAsked})
	if !ok || !d.Parked {
		return nil
	}
	d.Topic = draw.SafeText(d.Topic)
	return &d
}

// delay is when a message that is held back is due, by its broker's delay levels; ok is
// false of any other.
func (v *View) delay(r *Row) (d inspect.Delay, ok bool) {
	if r.parked == nil {
		return d, false
	}
	d = *r.parked
	if d.Level > 0 {
		l := v.levels[r.mq.BrokerName]
		by, _ := inspect.DelayOf(r.Message, l.levels, l.why)
		d.Due, d.Why = by.Due, by.Why
	}
	return d, true
}

// dueText is when a message is due, and in how long.
func (v *View) dueText(d inspect.Delay) string {
	if d.Due.IsZero() {
		return words.Unknown + " " + draw.SafeText(d.Why.String())
	}
	in := "over"
	if left := d.Due.Sub(v.env.Now); left > 0 {
		in = "in " + words.Age(left)
	}
	return v.env.Clock(d.Due, words.ClockSeconds) + " (" + in + ")"
}
