package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/words"
)

// askSave asks where to save what the shown view shows.
func (a *app) askSave() tea.Cmd {
	if p := a.page(); p != nil {
		if x, ok := p.(page.Exporter); ok {
			return a.pushExport(x.Export())
		}
		return a.refuse("this page has no rows to save; :shot writes the screen")
	}
	switch a.shown {
	case page.ViewLive, page.ViewWatch:
		return a.pushExport(a.live[a.cur].Export())
	case page.ViewEvents:
		return a.pushExport(a.events[a.cur].Export())
	}
	return a.refuse("this view has no rows to save; :shot writes the screen")
}

func (a *app) pushExport(x page.Export) tea.Cmd {
	if len(x.Rows) == 0 {
		return a.refuse("there are no rows to save")
	}
	a.push(page.AskExport(a.env, x))
	return nil
}

// onSaved tells what became of a file, or asks whether it may be overwritten.
func (a *app) onSaved(msg page.SavedMsg) {
	switch {
	case msg.Exists:
		a.push(page.OverwriteDialog{Env: a.env, Saved: msg.Saved})
	case msg.Err != "":
		a.say("save "+draw.SafeText(msg.Path), msg.Err)
	default:
		a.say("saved "+msg.What+" to "+draw.SafeText(msg.Path)+", "+words.Size(int64(msg.N)), "")
	}
}

// shot writes the screen twice: as text, and with its colours.
func (a *app) shot(path string) tea.Cmd {
	frame, w := a.draw(), a.w
	if path == "" {
		path = page.FileName("shot", a.env.Now.In(a.env.Options.Location))
	}
	path = strings.TrimSuffix(strings.TrimSuffix(path, ".txt"), ".ansi")
	text := page.Saved{What: "the screen as text", Path: path + ".txt", Make: func() ([]byte, error) { return []byte(trimLines(ansi.Strip(frame)) + "\n"), nil }}
	ansi := page.Saved{What: "the screen", Path: path + ".ansi", Make: func() ([]byte, error) { return []byte(pinned(frame, w) + "\n"), nil }}
	return tea.Batch(page.SaveFile(a.cmds, text, false), page.SaveFile(a.cmds, ansi, false))
}

// trimLines takes the blanks from the ends of lines.
func trimLines(frame string) string {
	lines := strings.Split(frame, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
