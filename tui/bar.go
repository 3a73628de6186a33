package tui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// bar is the one-line input in place of the hint line: the command bar and the
// filter.
type bar struct {
	env    *page.Env
	sign   string // ":" or "/"
	input  page.Field
	past   page.Typed
	back   int    // how far back in past
	draft  string // what was typed before going back
	help   string // of the filter; "" what tables take
	err    string // why the input is not taken
	finder func(line string) []string
	matches
}

// matches are the completions being gone through.
type matches struct {
	list []string
	nth  int
}

func newCommandBar(e *page.Env, past page.Typed, complete func(string) []string) bar {
	return bar{env: e, sign: ":", input: page.NewField(""), past: past, finder: complete}
}

func newFilterBar(e *page.Env, past page.Typed, text string) bar {
	return bar{env: e, sign: "/", input: page.NewField(text), past: past}
}

func (b bar) Update(msg tea.Msg) (page.Dialog, page.Request) {
	if refused, ok := msg.(filterRefused); ok {
		b.err = refused.err
		return b, nil
	}
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return b, nil
	}
	switch k.String() {
	case "esc":
		if b.sign == "/" {
			return b, page.FilterRequest{Text: "", Done: true}
		}
		return b, page.CloseRequest{}
	case "enter":
		if b.sign == "/" {
			if b.err != "" {
				return b, nil
			}
			return b, page.FilterRequest{Text: b.input.Value(), Done: true}
		}
		return b, page.CommandRequest{Line: b.input.Value()}
	case "up", "ctrl+p":
		b.recall(1)
	case "down", "ctrl+n":
		b.recall(-1)
	case "tab":
		b.complete(1)
		return b, nil
	case "shift+tab":
		b.complete(-1)
		return b, nil
	case "backspace":
		if b.input.Value() == "" {
			return b, page.CloseRequest{}
		}
		b.input.Key(k)
	default:
		b.input.Key(k)
	}
	b.list = nil
	b.err = ""
	if b.sign == "/" {
		return b, page.FilterRequest{Text: b.input.Value(), Done: false}
	}
	return b, nil
}

// filterRefused tells a filter bar what is wrong with its text.
type filterRefused struct{ err string }

func (b *bar) recall(step int) {
	if b.back == 0 {
		b.draft = b.input.Value()
	}
	n := b.back + step
	if n <= 0 {
		b.back = 0
		b.input.Set(b.draft)
		return
	}
	if text, ok := b.past.Back(n); ok {
		b.back = n
		b.input.Set(text)
	}
}

// complete goes through what the input may become.
func (b *bar) complete(step int) {
	if b.finder == nil {
		return
	}
	if len(b.list) == 0 {
		b.list = b.finder(b.input.Value())
		b.nth = -1
		if step < 0 {
			b.nth = 0
		}
	}
	if len(b.list) == 0 {
		return
	}
	b.nth = (b.nth + step + len(b.list)) % len(b.list)
	b.input.Set(b.list[b.nth])
	if len(b.list) == 1 { // what may follow it is next
		b.list = nil
	}
}

func (b bar) View(int, int) string { return "" }

func (b bar) Hint(c *draw.Canvas) string {
	th := b.env.Theme
	c.Put(th.Key, " "+b.sign)
	width := max(c.Room()/2, 20)
	if b.err != "" { // it needs the room more
		width = min(width, max(table.Width(b.input.Value())+2, 16))
	}
	c.Put(th.Text, b.input.Text(&b.env.Glyphs, min(width, c.Room()), true))
	switch {
	case b.err != "":
		c.Put(th.Bad, " "+words.Failure.Sign()+" "+b.err)
		if b.sign == "/" {
			c.Put(th.Dim, " · rows as before")
		}
	case b.sign == "/":
		help := b.help
		if help == "" {
			help = "text  ~regexp  !without  >lag 100 "
		}
		c.Put(th.Dim, " "+help+"  "+b.env.Enter()+" keep  esc no filter")
	default:
		list := b.list
		if list == nil && b.finder != nil {
			list = b.finder(b.input.Value())
		}
		c.Put(th.Dim, " "+strings.Join(lastWords(list), "  "))
	}
	c.End()
	if b.sign == "/" {
		return "FILTER"
	}
	return "COMMAND"
}

// lastWords are completions without what they share.
func lastWords(lines []string) []string {
	short := slices.Clone(lines)
	for i, l := range short {
		if n := strings.LastIndexByte(strings.TrimRight(l, " "), ' '); n >= 0 {
			short[i] = l[n+1:]
		}
	}
	return short
}
