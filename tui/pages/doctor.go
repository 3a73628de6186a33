package pages

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// doctorEvery is how often a group is examined again while its findings are shown;
// each visit asks every member and every queue.
const doctorEvery = 10 * time.Second

// DoctorView lists what is wrong with a group: findings, the worst first, and the one
// under the cursor with its evidence and what to do.
type DoctorView struct {
	page.BlankPage
	page.Split[string] // by code and summary
	w, h               int
	Group              string // true name
	report             inspect.Report
	visit              page.Question[inspect.Report]
}

// NewDoctorView is the page of a group's findings.
func NewDoctorView(e *page.Env, group string) DoctorView {
	return DoctorView{Split: page.NewSplit[string](e), Group: group, visit: page.Question[inspect.Report]{Ask: page.About(page.Cluster.Doctor), Schedule: page.Schedule{Names: []string{group}, What: "findings of " + draw.SafeText(group), Every: doctorEvery}}}
}

// Subject implements page.Page.
func (v DoctorView) Subject() string { return draw.SafeText(v.Group) }

// Narrow implements page.Page.
func (v DoctorView) Narrow(string) (page.Page, error) { return v, nil }

func findingKey(f *inspect.Finding) string { return f.Code + "\n" + f.Summary }

// Update implements page.Page.
func (v DoctorView) Update(msg any) (page.Page, page.Request) {
	switch msg := msg.(type) {
	case page.SizeMsg:
		v.w, v.h = msg.W, msg.H
		v.List.Resize(max(v.listHeight()-page.TableFrame, 0))
	case page.DueMsg:
		r := v.Env.AskDue(&v.visit)
		return v, r
	case page.HurryMsg:
		v.visit.Hurried = true
	case page.ClosedMsg:
		v.visit.Drop()
	case page.AnswerMsg:
		if _, safe, ok := v.visit.Take(msg, v.Env.Now); ok {
			v.take(safe)
		}
	case page.ActionMsg:
		return v.act(msg.Action)
	case page.ClickMsg:
		v.Click(msg.Y)
	}
	return v, nil
}

// take shows a report; the worst comes first, else in the order in which it was found.
func (v *DoctorView) take(r inspect.Report) {
	rank := []inspect.Severity{inspect.SeverityCritical, inspect.SeverityWarning, inspect.SeverityInfo}
	r.Findings = slices.Clone(r.Findings)
	slices.SortStableFunc(r.Findings, func(a, b inspect.Finding) int {
		return slices.Index(rank, a.Severity) - slices.Index(rank, b.Severity)
	})
	v.report = r
	v.Renewed()
	keys := make([]string, len(r.Findings))
	for i := range r.Findings {
		keys[i] = findingKey(&r.Findings[i])
	}
	v.List.SetKeys(keys)
	v.List.Resize(max(v.listHeight()-page.TableFrame, 0))
}

func (v DoctorView) act(a page.Action) (page.Page, page.Request) {
	switch a {
	case "escape":
		return v, page.BackRequest{}
	case "copy", "copy-json":
		f := v.Current()
		if f == nil {
			return v, page.RefuseRequest{Text: "there is no finding to copy"}
		}
		if a == "copy-json" {
			return v, page.CopyRequest{Copied: page.JsonText("the finding", f)}
		}
		return v, page.CopyRequest{Copied: page.Literal("the finding", strings.Join(slices.Concat([]string{f.Summary}, f.Evidence, []string{f.Next}), "\n"))}
	}
	v.Split.Act(a, len(v.finding(v.w-3)), v.h-v.listHeight()-2)
	return v, nil
}

// Current is the finding under the cursor; nil: there is none.
func (v *DoctorView) Current() *inspect.Finding {
	if i := v.List.Cursor(); i < len(v.report.Findings) && v.List.Len() > 0 {
		return &v.report.Findings[i]
	}
	return nil
}

// counts are how many findings of each severity there are.
func (v *DoctorView) counts() (bad, warn, info int) {
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

// Status implements page.Page.
func (v DoctorView) Status() page.Status {
	s := page.Status{Main: &v.visit.Schedule}
	bad, warn, info := v.counts()
	th := v.Env.Theme
	switch {
	case !v.visit.Asked:
	case bad > 0:
		s.Health = draw.Styled(th.Bad, fmt.Sprintf(" %s %d critical, %s", words.Failure.Sign(), bad, words.Plural(warn, "warning")))
	case warn > 0:
		s.Health = draw.Styled(th.Warn, fmt.Sprintf(" %s %s", words.Warning.Sign(), words.Plural(warn, "warning")))
	case len(v.report.Unchecked) > 0:
		s.Health = draw.Styled(th.Warn, fmt.Sprintf(" ! nothing wrong was found, but %s could not be checked", words.Plural(len(v.report.Unchecked), "rule")))
	}
	s.Fine = "nothing wrong was found"
	if info > 0 {
		s.Fine += fmt.Sprintf(", %d for information", info)
	}
	return s
}

func (v *DoctorView) listHeight() int {
	return page.ListHeight(len(v.report.Findings), v.h/2)
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

// View implements page.Page.
func (v DoctorView) View(w, h int) string {
	th, c := v.Env.Theme, draw.NewCanvas(w, h)
	title := "Findings"
	if n := v.List.Len(); n > 0 {
		title = fmt.Sprintf("Findings  %d", n)
	}
	details := ""
	if !v.report.At.IsZero() {
		details = "examined " + v.Env.Clock(v.report.At, words.ClockSeconds)
	}
	v.DrawList(c, v.listHeight(), title, details, findingColumns, func(i int, cells []table.Cell) table.Look {
		f := &v.report.Findings[i]
		sev := severityOf(f.Severity)
		look := v.Env.Look(i == v.List.Cursor(), false, true)
		look.Mark, look.Gutter = sev.Sign(), words.SeverityStyle(th, sev)
		cells[0], cells[1], cells[2] = table.Cell{Text: string(f.Severity), Style: look.Gutter}, table.Cell{Text: f.Summary}, table.Cell{Text: f.Code, Style: th.Dim}
		return look
	}, v.notes())
	v.drawFinding(c, h)
	c.Blank(h)
	return c.String()
}

func (v *DoctorView) notes() []string {
	if lines := v.visit.Lines(v.Env); len(lines) > 0 {
		return lines
	}
	if !v.visit.Asked {
		return nil
	}
	return []string{"", "nothing wrong was found"}
}

// drawFinding draws the finding under the cursor with all that is known of it, and
// what could not be judged.
func (v *DoctorView) drawFinding(c *draw.Canvas, h int) {
	title := "Evidence"
	f := v.Current()
	if f == nil && len(v.report.Unchecked) > 0 {
		title = "Not checked"
	}
	v.DrawText(c, h, title, v.finding(c.W-3))
}

// finding is the text below the list in lines of w cells.
func (v *DoctorView) finding(w int) []draw.Segment {
	return v.Text(w, func() []draw.Segment { return v.findingLines(v.Current(), w) })
}

func (v *DoctorView) findingLines(f *inspect.Finding, w int) []draw.Segment {
	th := v.Env.Theme
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
		add(words.SeverityStyle(th, severityOf(f.Severity)), "", f.Summary)
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

// Export are the findings as rows.
func (v DoctorView) Export() page.Export {
	x := page.Export{Name: "findings-" + v.Group, Columns: []string{"code", "severity", "summary", "evidence", "next"}}
	for _, f := range v.report.Findings {
		x.Rows = append(x.Rows, []any{f.Code, string(f.Severity), f.Summary, strings.Join(f.Evidence, "; "), f.Next})
	}
	return x
}

// Under implements page.Page.
func (v DoctorView) Under(_, y int) page.Under {
	return page.BelowList(y, v.listHeight(), v.List.Len())
}
