package live

import (
	"strings"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// watchCells overrides the cells of a row that an engine's own queue fills otherwise.
func (v *View) watchCells(cells []table.Cell, n int, layout *table.Layout) {
	th := v.env.Theme
	q, w := &v.pic.Scene.Queues[n], &v.pic.Scene.Watch.queues[n]
	bar := layout.WidthOf(v.columns, "bar")
	base := th.Text
	if !q.Own {
		base = th.Dim
	}
	committed := table.Cell{Text: words.Unknown, Style: base}
	switch {
	case w.committed.Known:
		committed.Text = words.Grouped(w.committed.Value)
	case w.committed.Why.Kind == inspect.ReasonNoCommit:
		committed.Text = words.None
	}
	cells[colCommit] = committed
	if q.Owner == "" && (v.pic.Scene.Watch.Empty() || w.finding != "") {
		cells[colOwn] = table.Cell{Text: words.None, Style: base}
	}
	if len(w.owners) > 1 && (w.finding != "" || w.pop) {
		letters := make([]string, len(w.owners))
		for i, id := range w.owners {
			letters[i] = words.OrUnknown(v.pic.Scene.letters[id])
		}
		cells[colOwn] = table.Cell{Text: strings.Join(letters, "+"), Style: th.Bad}
		if w.pop {
			cells[colOwn].Style = base
		}
	}
	if !q.Own {
		text := v.insideUnknown(q, w)
		switch wide := table.Width(text) > bar; {
		case wide && text == nobodyHolds:
			text = "(nobody)"
		case wide:
			text = "(" + words.Unknown + ")"
		}
		cells[colBar] = table.Cell{Text: center(text, bar), Style: th.Dim}
		return
	}
	cells[colMiB].Text = words.Grouped(w.sizeMiB)
}

// nobodyHolds is said of a queue in place of its cache.
const nobodyHolds = "(nobody holds it)"

// insideUnknown says why nothing is known of a queue's cache.
func (v *View) insideUnknown(q *engine.QueueSnapshot, w *watchedQueue) string {
	switch {
	case w.pop:
		return "(by POP)"
	case q.Owner != "" && v.pic.Scene.Watch.silent[q.Owner] != "":
		return "(its member is silent)"
	case q.Owner != "":
		return "(cache " + words.Unknown + ")"
	case w.finding != "", v.pic.Scene.Watch.Empty():
		return nobodyHolds
	}
	return "(owner " + words.Unknown + ")"
}

// watchStateText is the state of a row: findings before all else, then what a picture
// shows of the queue's work.
func (v *View) watchStateText(n, width int) (string, draw.Style) {
	th := v.env.Theme
	q, w := &v.pic.Scene.Queues[n], &v.pic.Scene.Watch.queues[n]
	word := q.State.String()
	switch {
	case v.pic.Scene.broker(q.BrokerName).Error != "": // what else is told of it is a member's word only
		return "broker silent", th.Bad
	case w.closed != "":
		return "NOT READABLE", th.Bad
	case w.finding != "":
		return findingText(w.finding, width), th.Bad
	case w.standing > 0:
		return "STANDS " + words.Age(w.standing), th.Bad
	case q.State == engine.QueueFlow:
		if text := word + " " + q.Detail; table.Width(text) <= width {
			return text, th.Warn
		}
		return word + " " + words.CauseWord(q.Flow), th.Warn
	case q.State == engine.QueuePaused:
		if text := word + " " + q.Detail; table.Width(text) <= width {
			return text, th.Accent
		}
		return word, th.Accent
	case q.State == engine.QueueUnlocked:
		return withDetail(word, q.Detail), th.Bad
	case w.pop && w.popAge > deadPull:
		return "NO POP " + words.Age(w.popAge), th.Warn
	case w.pop && w.popAge > 0:
		return "popped " + words.Age(w.popAge), th.Good
	case q.State == engine.QueueOther && q.Owner != "":
		return "silent", th.Warn
	case q.State == engine.QueueOther && v.pic.Scene.Watch.Empty():
		return "no member", th.Dim
	case q.State == engine.QueueOther:
		return "owner " + words.Unknown, th.Warn
	case w.expected != "" && q.Owner != "" && w.expected != q.Owner:
		return "due to " + words.OrUnknown(v.pic.Scene.letters[w.expected]), th.Warn
	case q.Own && w.pullAge > deadPull:
		return "NO PULL " + words.Age(w.pullAge), th.Warn
	case v.pic.Scene.Orderly && q.Locked:
		return word + " locked " + words.Age(w.lockAge), th.Good
	case q.State == engine.QueueIdle:
		return word, th.Text
	case q.State == engine.QueueRun && q.CachedCount > 0 && !w.limits.Count.Known():
		return word + ", flow " + words.Unknown, th.Text // it may be held back: nobody says by how much
	}
	return withDetail(word, q.Detail), th.Good
}
