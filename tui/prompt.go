package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"eyeq/tui/draw"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// prompt asks for one line in place of the hint line. accept reads what was typed: an
// error keeps the prompt open.
type prompt struct {
	env    *env
	label  string
	help   string
	mode   string // for the status line
	input  field
	err    string
	accept func(text string) (request, error)
}

func newPrompt(e *env, label, help, mode, text string, accept func(string) (request, error)) prompt {
	return prompt{env: e, label: label, help: help, mode: mode, input: newField(text), accept: accept}
}

func (p prompt) update(msg tea.Msg) (dialog, request) {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return p, nil
	}
	switch k.String() {
	case "esc":
		return p, closeRequest{}
	case "enter":
		r, err := p.accept(p.input.value())
		if err != nil {
			p.err = draw.SafeText(err.Error())
			return p, nil
		}
		return p, r
	}
	p.err = ""
	p.input.key(k)
	return p, nil
}

func (p prompt) view(int, int) string { return "" }

func (p prompt) hint(c *draw.Canvas) string {
	th := p.env.th
	c.Put(th.Key, " "+p.label+" ")
	most := min(max(c.Room()*3/5, 16), c.Room())
	c.Put(th.Text, p.input.text(&p.env.g, min(max(table.Width(p.input.value())+2, 16), most), true)) // what is not typed yet leaves room for the rest
	if p.err != "" {
		c.Put(th.Bad, " "+words.Failure.Sign()+" "+p.err)
	} else {
		c.Put(th.Dim, " "+p.help+"  "+p.env.enter()+" do  esc leave")
	}
	c.End()
	return p.mode
}

// The requests by which a dialog or a page has the root do something for it.
type (
	// runRequest runs a command.
	runRequest struct {
		cmd     tea.Cmd
		writing string // what is written by it, which leaving waits for; "" nothing
	}
	// pushRequest opens a dialog.
	pushRequest struct{ dialog }
	// toPageRequest closes the dialog and hands a message to the shown page.
	toPageRequest struct{ msg any }
)
