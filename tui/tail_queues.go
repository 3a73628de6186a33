package tui

import (
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
)

// queuesDialog chooses which queues a tail reads.
type queuesDialog struct {
	env    *env
	queues []engine.MessageQueue
	chosen []bool
	at     int
}

func newQueuesDialog(e *env, queues, chosen []engine.MessageQueue) queuesDialog {
	d := queuesDialog{env: e, queues: queues, chosen: make([]bool, len(queues))}
	for i, mq := range queues {
		d.chosen[i] = len(chosen) == 0 || slices.Contains(chosen, mq)
	}
	return d
}

func (d queuesDialog) update(msg tea.Msg) (dialog, request) {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return d, nil
	}
	switch k.String() {
	case "esc", "q":
		return d, closeRequest{}
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
		return d, toPageRequest{chosenQueuesMsg{list}}
	}
	return d, nil
}

func (d queuesDialog) view(w, h int) string {
	var lines [][]segment
	n := 0
	for i, mq := range d.queues {
		mark, box := " ", "[ ]"
		if d.chosen[i] {
			box = "[x]"
			n++
		}
		st := d.env.th.text
		if i == d.at {
			mark, st = d.env.g.cursor, d.env.th.cursor
		}
		lines = append(lines, line(segment{st, mark + " " + box + " " + SafeText(mq.Short())}))
	}
	return drawBox(d.env, w, h, "QUEUES to read", fmt.Sprintf("%d of %d", n, len(d.queues)), lines, d.at)
}

func (d queuesDialog) hint(c *canvas) string {
	d.env.hints(c, "space", "this one", "a", "all or none", d.env.enter(), "read them", "esc", "leave")
	return "DIALOG"
}
