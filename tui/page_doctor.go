package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// doctorEvery is how often a group is examined again while its findings are shown;
// each visit asks every member and every queue.
const doctorEvery = 10 * time.Second

// doctorView lists what is wrong with a group: findings, the worst first, and the one
// under the cursor with its evidence and what to do.
type doctorView struct {
	blankPage
	split[string] // by code and summary
	w, h          int
	group         string // true name
	report        inspect.Report
	visit         question
}

func newDoctorView(e *env, group string) doctorView {
	return doctorView{split: newSplit[string](e), group: group, visit: question{kind: askDoctor, names: []string{group}, what: "findings of " + draw.SafeText(group), every: doctorEvery}}
}

func (v doctorView) subject() string { return draw.SafeText(v.group) }

func (v doctorView) narrow(string) (page, error) { return v, nil }

func findingKey(f *inspect.Finding) string { return f.Code + "\n" + f.Summary }

func (v doctorView) update(msg any) (page, request) {
	switch msg := msg.(type) {
	case sizeMsg:
		v.w, v.h = msg.w, msg.h
		v.list.Resize(max(v.listHeight()-tableFrame, 0))
	case dueMsg:
		r := v.env.askDue(&v.visit)
		return v, r
	case hurryMsg:
		v.visit.hurried = true
	case closedMsg:
		v.visit.drop()
	case answerMsg:
		if v.visit.answer(msg, v.env.now) {
			v.take(msg.safe.(inspect.Report))
		}
	case actionMsg:
		return v.act(msg.action)
	case clickMsg:
		v.click(msg.y)
	}
	return v, nil
}

// take shows a report; the worst comes first, else in the order in which it was found.
func (v *doctorView) take(r inspect.Report) {
	rank := []inspect.Severity{inspect.SeverityCritical, inspect.SeverityWarning, inspect.SeverityInfo}
	r.Findings = slices.Clone(r.Findings)
	slices.SortStableFunc(r.Findings, func(a, b inspect.Finding) int {
		return slices.Index(rank, a.Severity) - slices.Index(rank, b.Severity)
	})
	v.report = r
	v.renewed()
	keys := make([]string, len(r.Findings))
	for i := range r.Findings {
		keys[i] = findingKey(&r.Findings[i])
	}
	v.list.SetKeys(keys)
	v.list.Resize(max(v.listHeight()-tableFrame, 0))
}

func (v doctorView) act(a action) (page, request) {
	switch a {
	case "escape":
		return v, backRequest{}
	case "copy", "copy-json":
		f := v.current()
		if f == nil {
			return v, refuseRequest{"there is no finding to copy"}
		}
		if a == "copy-json" {
			return v, copyRequest{jsonText("the finding", f)}
		}
		return v, copyRequest{literal("the finding", strings.Join(slices.Concat([]string{f.Summary}, f.Evidence, []string{f.Next}), "\n"))}
	}
	v.split.act(a, len(v.finding(v.w-3)), v.h-v.listHeight()-2)
	return v, nil
}

func (v *doctorView) current() *inspect.Finding {
	if i := v.list.Cursor(); i < len(v.report.Findings) && v.list.Len() > 0 {
		return &v.report.Findings[i]
	}
	return nil
}

// counts are how many findings of each severity there are.
func (v *doctorView) counts() (bad, warn, info int) {
	for i := range v.report.Findings {
		switch v.report.Findings[i].Severity {
		case inspect.SeverityCritical:
			bad++
		case inspect.SeverityWarning:
			warn++
		default:
			info++
		}
	}
	return bad, warn, info
}

func (v doctorView) status() pageStatus {
	s := pageStatus{main: &v.visit}
	bad, warn, info := v.counts()
	th := v.env.th
	switch {
	case !v.visit.asked:
	case bad > 0:
		s.health = draw.Styled(th.Bad, fmt.Sprintf(" %s %d critical, %s", words.Failure.Sign(), bad, words.Plural(warn, "warning")))
	case warn > 0:
		s.health = draw.Styled(th.Warn, fmt.Sprintf(" %s %s", words.Warning.Sign(), words.Plural(warn, "warning")))
	case len(v.report.Unchecked) > 0:
		s.health = draw.Styled(th.Warn, fmt.Sprintf(" ! nothing wrong was found, but %s could not be checked", words.Plural(len(v.report.Unchecked), "rule")))
	}
	s.fine = "nothing wrong was found"
	if info > 0 {
		s.fine += fmt.Sprintf(", %d for information", info)
	}
	return s
}

func (v *doctorView) listHeight() int {
	return listHeight(len(v.report.Findings), v.h/2)
}

var findingColumns = []table.Column{
	{ID: "severity", Title: "severity", Width: 9, Fixed: true},
	{ID: "summary", Title: "what", Width: 20, Flex: 4},
	{ID: "code", Title: "code", Width: 16, Flex: 1, Max: 28, Rank: 2, From: 90},
}

func severityOf(s inspect.Severity) words.Severity {
	switch s {
	case inspect.SeverityCritical:
		return words.Failure
	case inspect.SeverityWarning:
		return words.Warning
	}
	return words.Info
}

func (v doctorView) view(w, h int) string {
	th, c := v.env.th, draw.NewCanvas(w, h)
	title := "Findings"
	if n := v.list.Len(); n > 0 {
		title = fmt.Sprintf("Findings  %d", n)
	}
	details := ""
	if !v.report.At.IsZero() {
		details = "examined " + v.env.clock(v.report.At, words.ClockSeconds)
	}
	v.drawList(c, v.listHeight(), title, details, findingColumns, func(i int, cells []table.Cell) table.Look {
		f := &v.report.Findings[i]
		sev := severityOf(f.Severity)
		look := v.env.look(i == v.list.Cursor(), false, true)
		look.Mark, look.Gutter = sev.Sign(), severityStyle(th, sev)
		cells[0], cells[1], cells[2] = table.Cell{Text: string(f.Severity), Style: look.Gutter}, table.Cell{Text: f.Summary}, table.Cell{Text: f.Code, Style: th.Dim}
		return look
	}, v.notes())
	v.drawFinding(c, h)
	c.Blank(h)
	return c.String()
}

func (v *doctorView) notes() []string {
	if lines := v.visit.lines(v.env); len(lines) > 0 {
		return lines
	}
	if !v.visit.asked {
		return nil
	}
	return []string{"", "nothing wrong was found"}
}

// drawFinding draws the finding under the cursor with all that is known of it, and
// what could not be judged.
func (v *doctorView) drawFinding(c *draw.Canvas, h int) {
	title := "Evidence"
	f := v.current()
	if f == nil && len(v.report.Unchecked) > 0 {
		title = "Not checked"
	}
	v.drawText(c, h, title, v.finding(c.W-3))
}

// finding is the text below the list in lines of w cells.
func (v *doctorView) finding(w int) []draw.Segment {
	return v.text(w, func() []draw.Segment { return v.findingLines(v.current(), w) })
}

func (v *doctorView) findingLines(f *inspect.Finding, w int) []draw.Segment {
	th := v.env.th
	var lines []draw.Segment
	add := func(st draw.Style, lead, text string) {
		for i, l := range draw.WrapText(text, max(w-table.Width(lead), 10)) {
			if i > 0 {
				lead = strings.Repeat(" ", table.Width(lead))
			}
			lines = append(lines, draw.Styled(st, " "+lead+l))
		}
	}
	if f != nil {
		add(severityStyle(th, severityOf(f.Severity)), "", f.Summary)
		for _, e := range f.Evidence {
			add(th.Text, "· ", e)
		}
		if f.Next != "" {
			lines = append(lines, draw.Segment{})
			add(th.Accent, "→ ", f.Next)
		}
	}
	if len(v.report.Unchecked) > 0 {
		lines = append(lines, draw.Segment{})
		add(th.Dim, "", "not checked, which is neither good nor bad:")
		for _, p := range v.report.Unchecked {
			add(th.Dim, "  ", p.String())
		}
	}
	return lines
}

// export are the findings as rows.
func (v doctorView) export() export {
	x := export{name: "findings-" + v.group, columns: []string{"code", "severity", "summary", "evidence", "next"}}
	for _, f := range v.report.Findings {
		x.rows = append(x.rows, []any{f.Code, string(f.Severity), f.Summary, strings.Join(f.Evidence, "; "), f.Next})
	}
	return x
}

// openDoctor shows what is wrong with a group.
func (a *app) openDoctor(group string) tea.Cmd {
	if a.env.o.Inspect == nil {
		return a.refuse("findings: there is no cluster to ask")
	}
	if v, ok := a.pages[viewDoctor].(doctorView); !ok || v.group != group {
		if a.shown == viewDoctor {
			a.leavePage()
		}
		a.setPage(viewDoctor, newDoctorView(a.env, group))
	}
	a.group = group
	return a.goTo(viewDoctor)
}

// showFindings examines the group that the operator means.
func (a *app) showFindings() tea.Cmd {
	if g := a.groupHere(); g != "" {
		return a.openDoctor(g)
	}
	return a.refuse("findings: which group? " + a.env.keys.first("groups") + " lists them, :findings GROUP names one")
}

func (a *app) commandFindings(group string) tea.Cmd {
	if group == "" {
		return a.showFindings()
	}
	return a.openDoctor(group)
}
