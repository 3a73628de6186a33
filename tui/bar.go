package tui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/tui/draw"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// bar is the one-line input in place of the hint line: the command bar and the
// filter.
type bar struct {
	env    *env
	sign   string // ":" or "/"
	input  field
	past   typed
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

func newCommandBar(e *env, past typed, complete func(string) []string) bar {
	return bar{env: e, sign: ":", input: newField(""), past: past, finder: complete}
}

func newFilterBar(e *env, past typed, text string) bar {
	return bar{env: e, sign: "/", input: newField(text), past: past}
}

func (b bar) update(msg tea.Msg) (dialog, request) {
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
			return b, filterRequest{"", true}
		}
		return b, closeRequest{}
	case "enter":
		if b.sign == "/" {
			if b.err != "" {
				return b, nil
			}
			return b, filterRequest{b.input.value(), true}
		}
		return b, commandRequest{b.input.value()}
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
		if b.input.value() == "" {
			return b, closeRequest{}
		}
		b.input.key(k)
	default:
		b.input.key(k)
	}
	b.list = nil
	b.err = ""
	if b.sign == "/" {
		return b, filterRequest{b.input.value(), false}
	}
	return b, nil
}

// filterRefused tells a filter bar what is wrong with its text.
type filterRefused struct{ err string }

func (b *bar) recall(step int) {
	if b.back == 0 {
		b.draft = b.input.value()
	}
	n := b.back + step
	if n <= 0 {
		b.back = 0
		b.input.set(b.draft)
		return
	}
	if text, ok := b.past.back(n); ok {
		b.back = n
		b.input.set(text)
	}
}

// complete goes through what the input may become.
func (b *bar) complete(step int) {
	if b.finder == nil {
		return
	}
	if len(b.list) == 0 {
		b.list = b.finder(b.input.value())
		b.nth = -1
		if step < 0 {
			b.nth = 0
		}
	}
	if len(b.list) == 0 {
		return
	}
	b.nth = (b.nth + step + len(b.list)) % len(b.list)
	b.input.set(b.list[b.nth])
	if len(b.list) == 1 { // what may follow it is next
		b.list = nil
	}
}

func (b bar) view(int, int) string { return "" }

func (b bar) hint(c *draw.Canvas) string {
	th := b.env.th
	c.Put(th.Key, " "+b.sign)
	width := max(c.Room()/2, 20)
	if b.err != "" { // it needs the room more
		width = min(width, max(table.Width(b.input.value())+2, 16))
	}
	c.Put(th.Text, b.input.text(&b.env.g, min(width, c.Room()), true))
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
		c.Put(th.Dim, " "+help+"  "+b.env.enter()+" keep  esc no filter")
	default:
		list := b.list
		if list == nil && b.finder != nil {
			list = b.finder(b.input.value())
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
