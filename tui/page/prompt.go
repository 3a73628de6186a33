package page

import (
	tea "github.com/charmbracelet/bubbletea"

	"eyeq/tui/draw"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// Prompt asks for one line in place of the hint line. accept reads what was typed: an
// error keeps the prompt open.
type Prompt struct {
	env    *Env
	label  string
	help   string
	mode   string // for the status line
	input  Field
	err    string
	accept func(text string) (Request, error)
}

// NewPrompt asks for one line with a label. accept says what comes of it, or why it cannot
// be.
func NewPrompt(e *Env, label, help, mode, text string, accept func(string) (Request, error)) Prompt {
	return Prompt{env: e, label: label, help: help, mode: mode, input: NewField(text), accept: accept}
}

// Update implements Dialog.
func (p Prompt) Update(msg tea.Msg) (Dialog, Request) {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return p, nil
	}
	switch k.String() {
	case "esc":
		return p, CloseRequest{}
	case "enter":
		r, err := p.accept(p.input.Value())
		if err != nil {
			p.err = draw.SafeText(err.Error())
			return p, nil
		}
		return p, r
	}
	p.err = ""
	p.input.Key(k)
	return p, nil
}

// View implements Dialog: a prompt stands in the bar.
func (p Prompt) View(int, int) string { return "" }

// Hint implements Dialog.
func (p Prompt) Hint(c *draw.Canvas) string {
	th := p.env.Theme
	c.Put(th.Key, " "+p.label+" ")
	most := min(max(c.Room()*3/5, 16), c.Room())
	c.Put(th.Text, p.input.Text(&p.env.Glyphs, min(max(table.Width(p.input.Value())+2, 16), most), true)) // what is not typed yet leaves room for the rest
	if p.err != "" {
		c.Put(th.Bad, " "+words.Failure.Sign()+" "+p.err)
	} else {
		c.Put(th.Dim, " "+p.help+"  "+p.env.Enter()+" do  esc leave")
	}
	c.End()
	return p.mode
}

// The requests by which a dialog or a page has the root do something for it.
type (
	// RunRequest runs a command.
	RunRequest struct {
		Cmd     tea.Cmd
		Writing string // what is written by it, which leaving waits for; "" nothing
	}
	// PushRequest opens a dialog.
	PushRequest struct{ Dialog }
	// ToPageRequest closes the dialog and hands a message to the shown page.
	ToPageRequest struct{ Msg any }
)
