package tui

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine/inspect"
	"eyeq/tui/page"
	"eyeq/tui/pages"
)

func fixtureReport() inspect.Report {
	return inspect.Report{Group: "order-settle", At: fixtureNow, Findings: []inspect.Finding{
		{Code: "group_filtered", Severity: inspect.SeverityInfo, Summary: "members read only tags paid||refund: the lag counts others' messages too"},
		{Code: "more_members_than_queues", Severity: inspect.SeverityWarning, Summary: "3 members share 2 queues of orders-paid: 1 gets nothing",
			Evidence: []string{"10.0.4.23@9912#1 holds no queue"}, Next: "stop a member, or give the topic more queues"},
		{Code: "commit_stands_still", Severity: inspect.SeverityCritical, Summary: "broker-a/3 of orders-paid: the commit stands at 18,204,551 while the lag grows",
			Evidence: []string{"committed 18,204,551 for 4m12s", "lag 29,000 → 31,220 in 60s", "the message in front: 0A000415000078D9F3C1, key 订单-99, in the listener of 10.0.4.21@7181#1"},
			Next:     "look at the stack of 10.0.4.21@7181#1; tail the queue at 18,204,551 to see the message"},
	}, Unchecked: []inspect.Problem{{What: "locks", Where: "broker-c", Why: watchSilent}}}
}

func examining(t testing.TB, w, h int, r inspect.Report, err error) *driver {
	t.Helper()
	f := fixtureCluster()
	f.doctor = func(string) (inspect.Report, error) { return r, err }
	d := driveCluster(t, w, h, defaultOptions(), f)
	return d.keys(":").typing("findings order-settle").keys("enter")
}

func TestGoldenFindings(t *testing.T) {
	states := map[string]func(w, h int) *driver{
		"findings": func(w, h int) *driver { return examining(t, w, h, fixtureReport(), nil) },
		"findings-none": func(w, h int) *driver {
			return examining(t, w, h, inspect.Report{Group: "order-settle", At: fixtureNow}, nil)
		},
		"findings-error": func(w, h int) *driver {
			return examining(t, w, h, inspect.Report{}, errors.New("no name server answers: connection refused"))
		},
	}
	for name, start := range states {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			for _, size := range sizes {
				d := start(size[0], size[1])
				fmt.Fprintf(&got, "== %dx%d\n%s\n", size[0], size[1], trimLines(d.frame()))
			}
			compareGolden(t, name, got.String())
		})
	}
}

func TestMissingDataIsNeitherAFindingNorHealth(t *testing.T) {
	r := inspect.Report{Group: "order-settle", At: fixtureNow, Unchecked: []inspect.Problem{{What: "locks", Where: "broker-c", Why: watchSilent}}}
	examining(t, 120, 36, r, nil).see("1 rule could not be checked").see("locks from broker-c")
}

func TestFindingsAreReachedByAKeyFromTheGroup(t *testing.T) {
	d := watching(t, 120, 36, defaultOptions(), lives(2)...)
	d.keys("f").see("Findings").keys("q").see("Allocation")
}

// savedTo saves what is shown to path and gives what was written.
func savedTo(t *testing.T, d *driver, path string) string {
	t.Helper()
	d.keys("o", "ctrl+u").typing(path).keys("enter")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%s: %v, %s", path, err, d.a.note.text)
	}
	return string(b)
}

func TestViewsAreSavedAsCSVAndJSON(t *testing.T) {
	dir := t.TempDir()
	saveTo := func(d *driver, name string) string { return savedTo(t, d, filepath.Join(dir, name)) }
	d := watching(t, 120, 36, defaultOptions(), inTrouble()...)
	csv := saveTo(d, "live.csv")
	if !strings.HasPrefix(csv, "topic,broker,queue,client_id,state,") || strings.Count(csv, "\n") != 17 || !strings.Contains(csv, "TWO OWNERS") {
		t.Errorf("the live view as CSV:\n%s", csv)
	}
	json := saveTo(d, "live.json")
	if !strings.Contains(json, `"lag": null`) || !strings.Contains(json, `"lag": 31220`) {
		t.Errorf("the live view as JSON:\n%s", json)
	}
	d.keys("o").typing(".txt").keys("enter").see("must end in .csv or .json").keys("esc")
	if got := saveTo(d.keys("7"), "events.csv"); !strings.Contains(got, "member_left") {
		t.Errorf("events:\n%s", got)
	}
	if got := saveTo(examining(t, 120, 36, fixtureReport(), nil), "findings.json"); !strings.Contains(got, `"code": "commit_stands_still"`) {
		t.Errorf("findings:\n%s", got)
	}
	shot := filepath.Join(dir, "shot")
	d.keys("1", ":").typing("shot " + shot).keys("enter")
	text, err := os.ReadFile(shot + ".txt")
	if err != nil || strings.Contains(string(text), "\x1b") || !strings.Contains(string(text), "Allocation") && !strings.Contains(string(text), "Events") {
		t.Errorf("the shot: %v\n%s", err, text)
	}
	if _, err := os.Stat(shot + ".ansi"); err != nil {
		t.Error(err)
	}
}

func TestCSVIsNoFormula(t *testing.T) {
	x := page.Export{Columns: []string{"a", "b"}, Rows: [][]any{{"=cmd|' /C calc'!A0", nil}, {"a,\"b\"\n", 3}}}
	got, err := x.CsvText()
	if want := "a,b\n'=cmd|' /C calc'!A0,\n\"a,\"\"b\"\"\n\",3\n"; err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestTheMouseIsOffUntilItIsAskedFor(t *testing.T) {
	d := watching(t, 120, 36, defaultOptions(), lives(2)...)
	cursor := func() int { return d.a.live[d.a.cur].Queues.Cursor() }
	wheel := tea.MouseMsg{Button: tea.MouseButtonWheelDown, Action: tea.MouseActionPress}
	d.send(wheel)
	if cursor() != 0 {
		t.Errorf("the wheel moves to row %d although the mouse is off", cursor())
	}
	d.keys("m").see("mouse on")
	d.send(wheel)
	if cursor() != wheelRows {
		t.Errorf("the wheel moves to row %d, want %d", cursor(), wheelRows)
	}
	lines := d.lines()
	for y, l := range lines {
		if strings.Contains(l, "broker-b/2") {
			d.send(tea.MouseMsg{X: 10, Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
		}
	}
	if mq, _ := d.a.live[d.a.cur].Queues.Current(); mq.Short() != "broker-b/2" {
		t.Errorf("the click selected %v", mq)
	}
	d.keys("m")
	d.send(wheel)
	if mq, _ := d.a.live[d.a.cur].Queues.Current(); mq.Short() != "broker-b/2" {
		t.Errorf("the wheel moves to %v after the mouse was given back", mq)
	}
	d, _ = tailing(t, 120, 36, defaultOptions(), "orders-paid", nil, tailFixture(t))
	d.keys("m")
	for y, l := range d.lines() {
		if strings.Contains(l, "o-7781213") {
			d.send(tea.MouseMsg{X: 10, Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
		}
	}
	if got := d.tail().Current().Key; got != "o-7781213" {
		t.Errorf("the click selected %s", got)
	}
	d.later(time.Second)
}

// A text that had been scrolled used to stay so under the finding that was clicked on.
func TestAClickedFindingIsReadFromItsBeginning(t *testing.T) {
	d := examining(t, 60, 16, fixtureReport(), nil)
	d.keys("m", "J", "J")
	scrolled := d.a.page().(pages.DoctorView).Top
	for y, l := range d.lines() {
		if strings.Contains(l, "3 members share") {
			d.send(tea.MouseMsg{X: 10, Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
		}
	}
	v := d.a.page().(pages.DoctorView)
	if f := v.Current(); scrolled != 2 || f.Code != "more_members_than_queues" || v.Top != 0 {
		t.Errorf("after two lines (%d) and a click %s is shown from line %d, want the second finding from its first", scrolled, f.Code, v.Top)
	}
}

// Presses beyond the last line of the evidence used to be owed by as many back.
func TestEvidenceScrollsNoFurtherThanItsEnd(t *testing.T) {
	d := examining(t, 60, 16, fixtureReport(), nil)
	for range 50 {
		d.keys("J")
	}
	end := d.frame()
	if again := d.keys("J").frame(); again != end {
		t.Errorf("J at the end moves the evidence:\n%s", again)
	}
	if up := d.keys("K").frame(); up == end {
		t.Errorf("K at the end does not move the evidence:\n%s", up)
	}
}

// What is all on the screen stays where it is.
func TestEvidenceThatFitsDoesNotScroll(t *testing.T) {
	d := examining(t, 200, 60, fixtureReport(), nil)
	if before, after := d.frame(), d.keys("J").frame(); before != after {
		t.Errorf("J moves what is wholly seen:\n%s", after)
	}
}
