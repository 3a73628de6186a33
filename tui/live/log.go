package live

import (
	"fmt"

	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

const logLines = 1000

// LogView shows the end of the program's own log.
type LogView struct {
	env    *page.Env
	w, h   int
	List   table.State[int]
	Lines  []string
	read   bool
	scroll int
}

// NewLogView is a log that has no lines yet.
func NewLogView(e *page.Env) LogView {
	v := LogView{env: e}
	v.List.Follow = true
	return v
}

// Update takes a size, an action, a click or a picture.
func (v LogView) Update(msg any) LogView {
	switch msg := msg.(type) {
	case page.SizeMsg:
		v.w, v.h = msg.W, msg.H
		v.List.Resize(max(v.h-2, 0))
	case LogMsg:
		v.Lines, v.read = msg.lines, true
		keys := make([]int, len(v.Lines))
		for i := range keys {
			keys[i] = i
		}
		v.List.SetKeys(keys)
	case page.ActionMsg:
		switch msg.Action {
		case "left":
			v.scroll = max(v.scroll-16, 0)
		case "right":
			v.scroll += 16
		case "far-left":
			v.scroll = 0
		default:
			if page.MoveBy(&v.List, msg.Action) {
				v.List.Follow = v.List.Cursor() >= v.List.Len()-1 && msg.Action != "up" && msg.Action != "top"
			}
		}
	}
	return v
}

// View draws it in w by h cells.
func (v LogView) View(w, h int) string {
	th, c := v.env.Theme, draw.NewCanvas(w, h)
	c.Top(draw.ThinBox, th.Frame, th.Title, "Log of eyeq", fmt.Sprintf("last %s lines", words.Grouped(int64(len(v.Lines)))))
	first, end := v.List.Window()
	for i := first; i < end && c.Lines < h-1; i++ {
		mark := " "
		if i == v.List.Cursor() {
			mark = v.env.Glyphs.Cursor
		}
		c.Boxed(draw.ThinBox, th.Frame, draw.Styled(th.Mark, mark), draw.Styled(th.Text, table.Tail(v.Lines[i], v.scroll)))
	}
	note := ""
	switch {
	case v.env.Options.LogTail == nil:
		note = "  no log is kept"
	case !v.read:
		note = "  reading the log …"
	case len(v.Lines) == 0:
		note = "  the log is empty"
	}
	for c.Lines < h-1 {
		c.Boxed(draw.ThinBox, th.Frame, draw.Styled(th.Text, note))
		note = ""
	}
	c.Bottom(draw.ThinBox, th.Frame)
	return c.String()
}
