package tui

import (
	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"eyeq/tui/draw"
	"eyeq/tui/table"
)

// field is one line of text to be typed. bubbles' textinput edits it; it is drawn
// here, since textinput marks its cursor by colour alone, which NO_COLOR takes away.
type field struct{ input textinput.Model }

const fieldLimit = 256

func newField(value string) field {
	input := textinput.New()
	input.Prompt = ""
	input.CharLimit = fieldLimit
	input.KeyMap.Paste.SetEnabled(false) // it would start a clipboard program
	input.KeyMap.NextSuggestion.SetEnabled(false)
	input.KeyMap.PrevSuggestion.SetEnabled(false)
	input.KeyMap.AcceptSuggestion.SetEnabled(false)
	input.Focus()
	f := field{input}
	f.set(value)
	return f
}

func (f *field) value() string { return f.input.Value() }

func (f *field) set(value string) {
	f.input.SetValue(value)
	f.input.CursorEnd()
}

// key edits. The only command an edit could give is the cursor's blinking.
func (f *field) key(msg tea.KeyMsg) { f.input, _ = f.input.Update(msg) }

// text gives what is seen in width cells: the part round the cursor, with the
// cursor as a sign when it is focused.
func (f *field) text(g *draw.Glyphs, width int, focused bool) string {
	runes := []rune(f.input.Value())
	at := min(f.input.Position(), len(runes))
	before, after := draw.SafeText(string(runes[:at])), draw.SafeText(string(runes[at:]))
	sign := ""
	if focused {
		sign = g.Input
	}
	if room := width - table.Width(sign) - min(table.Width(after), width/3); table.Width(before) > room {
		before = table.Tail(before, table.Width(before)-max(room, 0))
	}
	return draw.Pad(table.Head(before+sign+after, width), width)
}
