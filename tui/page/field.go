package page

import (
	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"eyeq/tui/draw"
	"eyeq/tui/table"
)

// Field is one line of text to be typed. bubbles' textinput edits it; it is drawn
// here, since textinput marks its cursor by colour alone, which NO_COLOR takes away.
type Field struct{ Input textinput.Model }

// FieldLimit is how many characters a field takes.
const FieldLimit = 256

// NewField is a field with a text in it.
func NewField(value string) Field {
	input := textinput.New()
	input.Prompt = ""
	input.CharLimit = FieldLimit
	input.KeyMap.Paste.SetEnabled(false) // it would start a clipboard program
	input.KeyMap.NextSuggestion.SetEnabled(false)
	input.KeyMap.PrevSuggestion.SetEnabled(false)
	input.KeyMap.AcceptSuggestion.SetEnabled(false)
	input.Focus()
	f := Field{input}
	f.Set(value)
	return f
}

// Value is what is in it.
func (f *Field) Value() string { return f.Input.Value() }

// Set puts another text in its place.
func (f *Field) Set(value string) {
	f.Input.SetValue(value)
	f.Input.CursorEnd()
}

// Key edits. The only command an edit could give is the cursor's blinking.
func (f *Field) Key(msg tea.KeyMsg) { f.Input, _ = f.Input.Update(msg) }

// Text gives what is seen in width cells: the part round the cursor, with the
// cursor as a sign when it is focused.
func (f *Field) Text(g *draw.Glyphs, width int, focused bool) string {
	runes := []rune(f.Input.Value())
	at := min(f.Input.Position(), len(runes))
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
