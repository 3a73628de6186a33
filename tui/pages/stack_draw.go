package pages

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// stackLines are a row's threads with their stack.
func (v *StackView) stackLines(r *inspect.ThreadGroup) []string {
	lines := []string{fmt.Sprintf("%s  %s  %s", words.Plural(r.Count, "thread"), r.State, namesText(r.Names))}
	top, marked := r.Top(), false
	for _, f := range r.Frames {
		lead, text := "    at ", inspect.FrameText(f)
		if text == top && !marked {
			lead, marked = ownFrame, true
		}
		lines = append(lines, lead+text)
	}
	return lines
}

// ownFrame is before the frame that a reader looks for.
const ownFrame = "  → at "

// placeText is a frame without the packages of its class, for a column.
func placeText(frame string) string {
	name, place, _ := strings.Cut(frame, "(")
	name = name[strings.LastIndexByte(name, '/')+1:]
	for rest := name; ; {
		segment, more, ok := strings.Cut(rest, ".")
		if !ok || segment == "" {
			break // nothing in it looks like a class
		}
		if segment[0] >= 'A' && segment[0] <= 'Z' {
			name = rest
			break
		}
		rest = more
	}
	if place == "" {
		return name
	}
	return name + "(" + place
}

// Status implements page.Page.
func (v StackView) Status() page.Status {
	s := page.Status{Main: &v.taken.Schedule}
	if !v.taken.Asked {
		return s
	}
	th := v.Env.Theme
	if v.taken.Tries == 0 {
		s.State = []draw.Segment{draw.Styled(th.Dim, "taken "+words.Ago(v.taken.At, v.Env.Now)+"  "), draw.Styled(th.Key, v.Env.Keys.First("refresh")), draw.Styled(th.Dim, " again ")}
		if v.taken.Asking {
			s.State = []draw.Segment{draw.Styled(th.Dim, "reading … ")}
		}
	}
	if why := v.data.Why; why.Kind != inspect.ReasonNone {
		s.Health = draw.Styled(th.Warn, " "+words.Warning.Sign()+" no stack: "+why.String())
		return s
	}
	threads, listening := v.data.Count()
	if s.Fine = "the client's own words"; threads > 0 {
		s.Fine = fmt.Sprintf("%s, %d in the listener", words.Plural(threads, "thread"), listening)
	}
	if v.w < 100 { // nothing above says how old it is
		s.Fine += " · taken " + words.Ago(v.taken.At, v.Env.Now) + ", " + v.Env.Keys.First("refresh") + " again"
	}
	return s
}

func (v *StackView) listHeight() int {
	return page.ListHeight(len(v.data.Groups), v.h*2/5) // the stack is longer
}

var stackColumns = []table.Column{
	{ID: "role", Title: "does", Width: 9, Fixed: true},
	{ID: "count", Title: "threads", Width: 7, Right: true},
	{ID: "state", Title: "state", Width: 13, Gap: 2, Rank: 1},
	{ID: "at", Title: "where", Width: 20, Flex: 4, Gap: 2},
	{ID: "name", Title: "names", Width: 16, Flex: 3, Max: 60, Rank: 2, From: 100},
}

// View implements page.Page.
func (v StackView) View(w, h int) string {
	th, c := v.Env.Theme, draw.NewCanvas(w, h)
	first, end := v.List.Window()
	title := "Threads of " + draw.SafeText(v.Client)
	details := strings.TrimSpace(strings.ToLower(v.data.Language) + " " + versionText(v.data.Version))
	if n := v.List.Len(); n > v.listHeight()-page.TableFrame {
		details = strings.TrimSpace(fmt.Sprintf("%d-%d of %d · %s", first+1, end, n, details))
	}
	v.DrawList(c, v.listHeight(), title, details, stackColumns, func(i int, cells []table.Cell) table.Look {
		r := &v.data.Groups[i]
		st := th.Text
		switch r.Role {
		case inspect.RoleListening:
			st = th.Warn
		case inspect.RoleClient, inspect.RoleOther:
			st = th.Dim
		}
		for n, text := range [...]string{r.Role.String(), strconv.Itoa(r.Count), r.State, placeText(r.Top())} {
			cells[n] = table.Cell{Text: text, Style: st}
		}
		cells[4] = table.Cell{Text: r.Label(), Style: th.Dim}
		return v.Env.Look(i == v.List.Cursor(), false, true)
	}, v.notes())
	v.drawStack(c, h)
	c.Blank(h)
	return c.String()
}

func (v *StackView) notes() []string {
	if lines := v.taken.Lines(v.Env); len(lines) > 0 {
		return lines
	}
	switch {
	case !v.taken.Asked:
		return nil
	case v.data.Why.Kind != inspect.ReasonNone:
		lines := []string{""}
		return append(lines, draw.WrapText("no stack: "+v.data.Why.String(), max(v.w-6, 20))...)
	}
	return []string{"", "the text of this client is in no form that is known: it is shown as it came"}
}

// below is the lower box: what the row's threads do and their names, or a text without
// threads, in lines that fit.
func (v *StackView) below() []draw.Segment { return v.Text(v.w, v.layBelow) }

func (v *StackView) layBelow() []draw.Segment {
	lines := v.lines
	if r := v.current(); r != nil {
		lines = v.stackLines(r)[1:]
		if len(r.Names) > 1 {
			lines = append(lines, "", namesText(r.Names))
		}
	}
	var shown []draw.Segment
	for _, line := range lines {
		st, lead := v.Env.Theme.Text, " "
		if strings.HasPrefix(line, ownFrame) {
			st = v.Env.Theme.Accent
		}
		room := v.w - 3
		if table.Width(line) > room {
			room -= 8 // for what leads the lines that follow
		}
		for _, part := range draw.WrapText(line, max(room, 10)) {
			shown = append(shown, draw.Styled(st, lead+part))
			if strings.HasPrefix(part, "  ") {
				lead = "         " // below what a frame's line begins with
			}
		}
	}
	return shown
}

// namesText lists names of threads; one with a comma in it is quoted, as it would look
// like two.
func namesText(names []string) string {
	list := slices.Clone(names)
	for i, name := range list {
		if strings.ContainsAny(name, `,"`) {
			list[i] = `"` + strings.ReplaceAll(name, `"`, `\"`) + `"`
		}
	}
	return strings.Join(list, ", ")
}

func (v *StackView) drawStack(c *draw.Canvas, h int) {
	title := "Stack"
	if r := v.current(); r != nil {
		title = fmt.Sprintf("Stack of %s", words.Plural(r.Count, "thread")) + "  " + r.State
	}
	v.DrawText(c, h, title, v.below())
}
