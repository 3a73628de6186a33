package tui

import (
	"fmt"

	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

const logLines = 1000

// logView shows the end of the program's own log.
type logView struct {
	env    *page.Env
	w, h   int
	list   table.State[int]
	lines  []string
	read   bool
	scroll int
}

func newLogView(e *page.Env) logView {
	v := logView{env: e}
	v.list.Follow = true
	return v
}

func (v logView) update(msg any) logView {
	switch msg := msg.(type) {
	case page.SizeMsg:
		v.w, v.h = msg.W, msg.H
		v.list.Resize(max(v.h-2, 0))
	case logMsg:
		v.lines, v.read = msg.lines, true
		keys := make([]int, len(v.lines))
		for i := range keys {
			keys[i] = i
		}
		v.list.SetKeys(keys)
	case page.ActionMsg:
		switch msg.Action {
		case "left":
			v.scroll = max(v.scroll-16, 0)
		case "right":
			v.scroll += 16
		case "far-left":
			v.scroll = 0
		default:
			if page.MoveBy(&v.list, msg.Action) {
				v.list.Follow = v.list.Cursor() >= v.list.Len()-1 && msg.Action != "up" && msg.Action != "top"
			}
		}
	}
	return v
}

func (v logView) view(w, h int) string {
	th, c := v.env.Theme, draw.NewCanvas(w, h)
	c.Top(draw.ThinBox, th.Frame, th.Title, "Log of eyeq", fmt.Sprintf("last %s lines", words.Grouped(int64(len(v.lines)))))
	first, end := v.list.Window()
	for i := first; i < end && c.Lines < h-1; i++ {
		mark := " "
		if i == v.list.Cursor() {
			mark = v.env.Glyphs.Cursor
		}
		c.Boxed(draw.ThinBox, th.Frame, draw.Styled(th.Mark, mark), draw.Styled(th.Text, table.Tail(v.lines[i], v.scroll)))
	}
	note := ""
	switch {
	case v.env.Options.LogTail == nil:
		note = "  no log is kept"
	case !v.read:
		note = "  reading the log …"
	case len(v.lines) == 0:
		note = "  the log is empty"
	}
	for c.Lines < h-1 {
		c.Boxed(draw.ThinBox, th.Frame, draw.Styled(th.Text, note))
		note = ""
	}
	c.Bottom(draw.ThinBox, th.Frame)
	return c.String()
}
