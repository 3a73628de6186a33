package tail

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/words"
)

// muteText says which brokers' queues cannot be read, since when and why.
func (v *View) muteText() string {
	mute := v.total.Mute
	first := mute[0]
	for _, m := range mute {
		if m.Since.Before(first.Since) {
			first = m
		}
	}
	when := fmt.Sprintf("since %s (%s)", v.env.Clock(first.Since, words.ClockSeconds), words.Since(first.Since, v.env.Now))
	why := words.Cause(draw.SafeText(first.Why))
	switch names := v.muteBrokers(); {
	case first.Queue == engine.MessageQueue{}:
		return fmt.Sprintf("the topic's queues are not known %s: %s", when, why)
	case len(names) > 1:
		return fmt.Sprintf("%d brokers cannot be read, the first %s: %s", len(names), when, strings.Join(names, ", "))
	case len(mute) == 1:
		return fmt.Sprintf("%s cannot be read %s: %s", draw.SafeText(first.Queue.Short()), when, why)
	default:
		return fmt.Sprintf("%s cannot be read %s, %s: %s", names[0], when, words.Plural(len(mute), "queue"), why)
	}
}

// muteBrokers are the brokers of the queues that cannot be read.
func (v *View) muteBrokers() (names []string) {
	for _, m := range v.total.Mute {
		if name := draw.SafeText(m.Queue.BrokerName); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// muteQueues says how many queues cannot be read.
func (v *View) muteQueues() string {
	if (v.total.Mute[0].Queue == engine.MessageQueue{}) {
		return "no queue read"
	}
	return words.Plural(len(v.total.Mute), "queue") + " not read"
}

// queuesDialog chooses which queues a tail reads.
type queuesDialog struct {
	env    *page.Env
	queues []engine.MessageQueue
	chosen []bool
	at     int
}

func newQueuesDialog(e *page.Env, queues, chosen []engine.MessageQueue) queuesDialog {
	d := queuesDialog{env: e, queues: queues, chosen: make([]bool, len(queues))}
	for i, mq := range queues {
		d.chosen[i] = len(chosen) == 0 || slices.Contains(chosen, mq)
	}
	return d
}

// Update implements page.Dialog.
func (d queuesDialog) Update(msg tea.Msg) (page.Dialog, page.Request) {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return d, nil
	}
	switch k.String() {
	case "esc", "q":
		return d, page.CloseRequest{}
	case "j", "down":
		d.at = min(d.at+1, len(d.queues)-1)
	case "k", "up":
		d.at = max(d.at-1, 0)
	case " ", "v":
		d.chosen = slices.Clone(d.chosen)
		d.chosen[d.at] = !d.chosen[d.at]
		d.at = min(d.at+1, len(d.queues)-1)
	case "a":
		all := !slices.Contains(d.chosen, false)
		d.chosen = make([]bool, len(d.queues))
		for i := range d.chosen {
			d.chosen[i] = !all
		}
	case "enter":
		if !slices.Contains(d.chosen, true) {
			return d, nil
		}
		var list []engine.MessageQueue
		for i, mq := range d.queues {
			if d.chosen[i] {
				list = append(list, mq)
			}
		}
		if len(list) == len(d.queues) {
			list = nil // those that come later too
		}
		return d, page.ToPageRequest{Msg: chosenQueuesMsg{list}}
	}
	return d, nil
}

// View implements page.Dialog.
func (d queuesDialog) View(w, h int) string {
	var lines [][]draw.Segment
	n := 0
	for i, mq := range d.queues {
		mark, box := " ", "[ ]"
		if d.chosen[i] {
			box = "[x]"
			n++
		}
		st := d.env.Theme.Text
		if i == d.at {
			mark, st = d.env.Glyphs.Cursor, d.env.Theme.Cursor
		}
		lines = append(lines, page.Line(draw.Styled(st, mark+" "+box+" "+draw.SafeText(mq.Short()))))
	}
	return page.DrawBox(d.env, w, h, "QUEUES to read", fmt.Sprintf("%d of %d", n, len(d.queues)), lines, d.at)
}

// Hint implements page.Dialog.
func (d queuesDialog) Hint(c *draw.Canvas) string {
	d.env.Hints(c, "space", "this one", "a", "all or none", d.env.Enter(), "read them", "esc", "leave")
	return "DIALOG"
}
