package tui

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine/inspect"
	"eyeq/tui/table"
)

// onDemand is how often something is asked again that costs whom it is asked of: only
// when the operator says so.
const onDemand = 24 * time.Hour

// stackView is what the threads of one member do: those that do the same in one row,
// those in the listener first, and the stack of the row under the cursor.
type stackView struct {
	blankPage
	split[int] // by place in data.Groups
	w, h       int
	group      string // true name
	client     string // true client id
	raw        takenStack
	data       takenStack // safe to print
	lines      []string   // safe to print: of a text in which there are no threads
	taken      question
}

// takenStack is a stack with its threads by what they do.
type takenStack struct {
	inspect.Stack
	Groups []inspect.ThreadGroup
}

func withGroups(s inspect.Stack, err error) (takenStack, error) {
	return takenStack{s, inspect.GroupThreads(s.Threads)}, err
}

func newStackView(e *env, group, client string) stackView {
	return stackView{split: split[int]{env: e}, group: group, client: client, taken: question{kind: askStack, names: []string{group, client}, what: "stack of " + SafeText(client), every: onDemand}}
}

func (v stackView) subject() string { return SafeText(v.group) }

func (v stackView) narrow(string) (page, error) { return v, nil }

func (v stackView) update(msg any) (page, request) {
	switch msg := msg.(type) {
	case sizeMsg:
		v.w, v.h = msg.w, msg.h
		v.list.Resize(max(v.listHeight()-tableFrame, 0))
	case dueMsg:
		r := v.env.askDue(&v.taken)
		return v, r
	case hurryMsg:
		v.taken.hurried = true
	case closedMsg:
		v.taken.drop()
	case answerMsg:
		if v.taken.answer(msg, v.env.now) {
			v.take(msg.raw.(takenStack), msg.safe.(takenStack))
		}
	case actionMsg:
		return v.act(msg.action)
	case clickMsg:
		v.click(msg.y)
	}
	return v, nil
}

func (v *stackView) take(raw, safe takenStack) {
	v.raw, v.data, v.lines, v.top = raw, safe, nil, 0
	if len(safe.Groups) == 0 && safe.Text != "" {
		v.lines = strings.Split(safe.Text, "⏎") // which newlines have become
	}
	keys := make([]int, len(safe.Groups))
	for i := range keys {
		keys[i] = i
	}
	v.list.SetKeys(keys)
	v.list.MoveTo(0)
	v.list.Resize(max(v.listHeight()-tableFrame, 0))
}

func (v stackView) act(a action) (page, request) {
	switch a {
	case "escape":
		return v, backRequest{}
	case "copy":
		if r := v.current(); r != nil {
			return v, copyRequest{literal("the stack of "+r.Label(), strings.Join(v.stackLines(r), "\n"))}
		}
		if v.raw.Text != "" {
			return v, copyRequest{literal("the stack", v.raw.Text)}
		}
		return v, refuseRequest{"there is no stack to copy"}
	case "copy-json":
		if v.list.Len() == 0 {
			return v, refuseRequest{"there is no stack to copy"}
		}
		x := v.export()
		i := v.list.Cursor()
		x.rows = x.rows[i : i+1]
		return v, copyRequest{x.copied("the threads")}
	case "save":
		return v.askSave()
	}
	lines := len(v.below())
	if v.list.Len() == 0 { // a text that is in no known form is scrolled as it is
		switch a {
		case "down":
			a = "body-down"
		case "up":
			a = "body-up"
		case "top":
			v.top = 0
		case "bottom":
			v.top = max(lines-1, 0)
		}
	}
	v.split.act(a, lines)
	return v, nil
}

func (v *stackView) current() *inspect.ThreadGroup {
	if i := v.list.Cursor(); i < len(v.data.Groups) && v.list.Len() > 0 {
		return &v.data.Groups[i]
	}
	return nil
}

// stackLines are a row's threads with their stack.
func (v *stackView) stackLines(r *inspect.ThreadGroup) []string {
	lines := []string{fmt.Sprintf("%s  %s  %s", plural(r.Count, "thread"), r.State, namesText(r.Names))}
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

func (v stackView) status() pageStatus {
	s := pageStatus{main: &v.taken}
	if !v.taken.asked {
		return s
	}
	th := v.env.th
	if v.taken.tries == 0 {
		s.state = []segment{{th.dim, "taken " + ago(v.taken.at, v.env.now) + "  "}, {th.key, v.env.keys.first("refresh")}, {th.dim, " again "}}
		if v.taken.asking {
			s.state = []segment{{th.dim, "reading … "}}
		}
	}
	if why := v.data.Why; why.Kind != inspect.ReasonNone {
		s.health = segment{th.warn, " " + warning.sign() + " no stack: " + why.String()}
		return s
	}
	threads, listening := v.data.Count()
	if s.fine = "the client's own words"; threads > 0 {
		s.fine = fmt.Sprintf("%s, %d in the listener", plural(threads, "thread"), listening)
	}
	if v.w < 100 { // nothing above says how old it is
		s.fine += " · taken " + ago(v.taken.at, v.env.now) + ", " + v.env.keys.first("refresh") + " again"
	}
	return s
}

func (v *stackView) listHeight() int {
	return listHeight(len(v.data.Groups), v.h*2/5) // the stack is longer
}

var stackColumns = []table.Column{
	{ID: "role", Title: "does", Width: 9, Fixed: true},
	{ID: "count", Title: "threads", Width: 7, Right: true},
	{ID: "state", Title: "state", Width: 13, Gap: 2, Rank: 1},
	{ID: "at", Title: "where", Width: 20, Flex: 4, Gap: 2},
	{ID: "name", Title: "names", Width: 16, Flex: 3, Max: 60, Rank: 2, From: 100},
}

func (v stackView) view(w, h int) string {
	th, c := v.env.th, newCanvas(w, h)
	first, end := v.list.Window()
	title := "Threads of " + SafeText(v.client)
	details := strings.TrimSpace(strings.ToLower(v.data.Language) + " " + versionText(v.data.Version))
	if n := v.list.Len(); n > v.listHeight()-tableFrame {
		details = strings.TrimSpace(fmt.Sprintf("%d-%d of %d · %s", first+1, end, n, details))
	}
	v.drawList(c, v.listHeight(), title, details, stackColumns, func(i int, cells []table.Cell) table.Look {
		r := &v.data.Groups[i]
		st := th.text
		switch r.Role {
		case inspect.RoleListening:
			st = th.warn
		case inspect.RoleClient, inspect.RoleOther:
			st = th.dim
		}
		for n, text := range [...]string{r.Role.String(), strconv.Itoa(r.Count), r.State, placeText(r.Top())} {
			cells[n] = table.Cell{Text: text, Style: st}
		}
		cells[4] = table.Cell{Text: r.Label(), Style: th.dim}
		return v.env.look(i == v.list.Cursor(), false, true)
	}, v.notes())
	v.drawStack(c, h)
	c.blank(h)
	return c.String()
}

func (v *stackView) notes() []string {
	if lines := v.taken.lines(v.env); len(lines) > 0 {
		return lines
	}
	switch {
	case !v.taken.asked:
		return nil
	case v.data.Why.Kind != inspect.ReasonNone:
		lines := []string{""}
		return append(lines, wrapText("no stack: "+v.data.Why.String(), max(v.w-6, 20))...)
	}
	return []string{"", "the text of this client is in no form that is known: it is shown as it came"}
}

// below is the lower box: what the row's threads do and their names, or a text without
// threads, in lines that fit.
func (v *stackView) below() []segment {
	lines := v.lines
	if r := v.current(); r != nil {
		lines = v.stackLines(r)[1:]
		if len(r.Names) > 1 {
			lines = append(lines, "", namesText(r.Names))
		}
	}
	var shown []segment
	for _, line := range lines {
		st, lead := v.env.th.text, " "
		if strings.HasPrefix(line, ownFrame) {
			st = v.env.th.accent
		}
		room := v.w - 3
		if table.Width(line) > room {
			room -= 8 // for what leads the lines that follow
		}
		for _, part := range wrapText(line, max(room, 10)) {
			shown = append(shown, segment{st, lead + part})
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

func (v *stackView) drawStack(c *canvas, h int) {
	title := "Stack"
	if r := v.current(); r != nil {
		title = fmt.Sprintf("Stack of %s", plural(r.Count, "thread")) + "  " + r.State
	}
	v.drawText(c, h, title, v.below())
}

// export are the threads as rows, by what they do.
func (v stackView) export() export {
	x := export{name: "stack-" + v.client, columns: []string{"group", "client_id", "role", "count", "state", "names", "frames"}}
	for _, r := range v.raw.Groups {
		x.rows = append(x.rows, []any{v.group, v.client, r.Role.String(), r.Count, r.State, strings.Join(r.Names, "\n"), strings.Join(r.Frames, "\n")})
	}
	return x
}

// askSave asks where to save: by the name's ending as rows, or the text as the client
// sent it.
func (v stackView) askSave() (page, request) {
	if v.raw.Text == "" {
		return v, refuseRequest{"there is no stack to save"}
	}
	e, x := v.env, v.export()
	name := fileName(x.name, e.now.In(e.o.Location)) + ".txt"
	return v, pushRequest{newPrompt(e, "save to", ".txt: as the client sent it; .json or .csv: "+plural(len(x.rows), "row"), "SAVE", name, func(path string) (request, error) {
		if strings.EqualFold(filepath.Ext(path), ".txt") {
			text := v.raw.Text
			return saveRequest{saved: saved{"the stack", path, func() ([]byte, error) { return []byte(text), nil }}}, nil
		}
		text, err := x.as(path)
		if err != nil {
			return nil, errors.New("the name must end in .txt, .csv or .json")
		}
		return saveRequest{saved: saved{plural(len(x.rows), "row"), path, text}}, nil
	})}
}

// openStack shows what the threads of a member do.
func (a *app) openStack(group, client string) tea.Cmd {
	if a.env.o.Inspect == nil {
		return a.refuse("stack: there is no cluster to ask")
	}
	if v, ok := a.pages[viewStack].(stackView); !ok || v.group != group || v.client != client {
		if a.shown == viewStack {
			a.leavePage()
		}
		a.setPage(viewStack, newStackView(a.env, group, client))
	} else {
		a.pages[viewStack], _ = v.update(hurryMsg{}) // whoever comes again wants to know what it does now
	}
	a.group, a.client = group, client
	cmd := a.goTo(viewStack)
	a.visited()
	return cmd
}

// showStack shows the stack of the member that the operator means: under the cursor, or
// the one that holds the queue under it.
func (a *app) showStack() tea.Cmd {
	group, client := a.memberHere()
	switch {
	case group == "":
		return a.refuse("stack: of which member? " + a.env.keys.first("groups") + " lists the groups, enter shows one live with its members")
	case client == "":
		return a.refuse("stack: there is no member under the cursor; :stack CLIENT-ID names one")
	}
	return a.openStack(group, client)
}

// memberHere is the member that the operator means, by true names; client is "" where
// none is under the cursor.
func (a *app) memberHere() (group, client string) {
	switch p := a.page().(type) {
	case groupView:
		if pane, key, ok := p.panes.current(); ok && pane == groupMembers {
			return p.name, p.trueID(key)
		}
		return p.name, ""
	case stackView:
		return p.group, p.client
	}
	s := a.source().scene
	if a.page() != nil || s == nil {
		return a.groupHere(), ""
	}
	mq, ok := a.queue.mq, a.shown == viewQueue
	v := &a.live[a.cur]
	if !ok && v.focus == paneAlloc {
		if id, ok := v.members.Current(); ok {
			return s.raw.Group, s.trueMember(id)
		}
	}
	if !ok {
		mq, ok = v.queues.Current()
	}
	if i, known := s.index[mq]; ok && known {
		return s.raw.Group, s.raw.Queues[i].Owner
	}
	return s.raw.Group, ""
}

// commandStack does `:stack [CLIENT-ID]`.
func (a *app) commandStack(client string) tea.Cmd {
	if client == "" {
		return a.showStack()
	}
	g := a.groupHere()
	if g == "" {
		return a.refuse("stack: of which group's member? " + a.env.keys.first("groups") + " lists them")
	}
	return a.openStack(g, client)
}

// memberIDs are the client ids that can be named, safe to print.
func (a *app) memberIDs() []string {
	var ids []string
	if p, ok := a.page().(groupView); ok {
		for i := range p.who.Members {
			ids = append(ids, p.who.Members[i].ClientID)
		}
	} else if s := a.source().scene; s != nil {
		for _, t := range s.raw.Topics {
			for _, m := range t.Members {
				ids = append(ids, m.ClientID)
			}
		}
	}
	slices.Sort(ids)
	return slices.DeleteFunc(slices.Compact(ids), func(id string) bool { return !isSafe(id) })
}

// trueMember is the client id of a member that is shown as id.
func (s *scene) trueMember(id string) string {
	for i := range s.Topics {
		for j := range s.Topics[i].Members {
			if s.Topics[i].Members[j].ClientID == id {
				return s.raw.Topics[i].Members[j].ClientID
			}
		}
	}
	return ""
}
