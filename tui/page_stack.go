package tui

import (
	"errors"
	"path/filepath"
	"strings"
	"time"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/words"
)

// onDemand is how often something is asked again that costs whom it is asked of: only
// when the operator says so.
const onDemand = 24 * time.Hour

// stackView is what the threads of one member do: those that do the same in one row,
// those in the listener first, and the stack of the row under the cursor.
type stackView struct {
	blankPage
	split[int] // by place in data.Groups
	w, h       int
	group      string // true name
	client     string // true client id
	raw        takenStack
	data       takenStack // safe to print
	lines      []string   // safe to print: of a text in which there are no threads
	taken      question
}

func newStackView(e *env, group, client string) stackView {
	return stackView{split: newSplit[int](e), group: group, client: client, taken: question{kind: askStack, names: []string{group, client}, what: "stack of " + draw.SafeText(client), every: onDemand}}
}

func (v stackView) subject() string { return draw.SafeText(v.group) }

func (v stackView) narrow(string) (page, error) { return v, nil }

func (v stackView) update(msg any) (page, request) {
	switch msg := msg.(type) {
	case sizeMsg:
		v.w, v.h = msg.w, msg.h
		v.list.Resize(max(v.listHeight()-tableFrame, 0))
	case dueMsg:
		r := v.env.askDue(&v.taken)
		return v, r
	case hurryMsg:
		v.taken.hurried = true
	case closedMsg:
		v.taken.drop()
	case answerMsg:
		if v.taken.answer(msg, v.env.now) {
			v.take(msg.raw.(takenStack), msg.safe.(takenStack))
		}
	case actionMsg:
		return v.act(msg.action)
	case clickMsg:
		v.click(msg.y)
	}
	return v, nil
}

func (v *stackView) take(raw, safe takenStack) {
	v.raw, v.data, v.lines, v.top = raw, safe, nil, 0
	v.renewed()
	if len(safe.Groups) == 0 && safe.Text != "" {
		v.lines = strings.Split(safe.Text, "⏎") // which newlines have become
	}
	keys := make([]int, len(safe.Groups))
	for i := range keys {
		keys[i] = i
	}
	v.list.SetKeys(keys)
	v.list.MoveTo(0)
	v.list.Resize(max(v.listHeight()-tableFrame, 0))
}

func (v stackView) act(a action) (page, request) {
	switch a {
	case "escape":
		return v, backRequest{}
	case "copy":
		if r := v.current(); r != nil {
			return v, copyRequest{literal("the stack of "+r.Label(), strings.Join(v.stackLines(r), "\n"))}
		}
		if v.raw.Text != "" {
			return v, copyRequest{literal("the stack", v.raw.Text)}
		}
		return v, refuseRequest{"there is no stack to copy"}
	case "copy-json":
		if v.list.Len() == 0 {
			return v, refuseRequest{"there is no stack to copy"}
		}
		x := v.export()
		i := v.list.Cursor()
		x.rows = x.rows[i : i+1]
		return v, copyRequest{x.copied("the threads")}
	case "save":
		return v.askSave()
	}
	lines, shown := len(v.below()), v.h-v.listHeight()-2
	if v.list.Len() == 0 { // a text that is in no known form is scrolled as it is
		switch a {
		case "down":
			a = "body-down"
		case "up":
			a = "body-up"
		case "top":
			v.top = 0
		case "bottom":
			v.top = max(lines-shown, 0)
		}
	}
	v.split.act(a, lines, shown)
	return v, nil
}

func (v *stackView) current() *inspect.ThreadGroup {
	if i := v.list.Cursor(); i < len(v.data.Groups) && v.list.Len() > 0 {
		return &v.data.Groups[i]
	}
	return nil
}

// export are the threads as rows, by what they do.
func (v stackView) export() export {
	x := export{name: "stack-" + v.client, columns: []string{"group", "client_id", "role", "count", "state", "names", "frames"}}
	for _, r := range v.raw.Groups {
		x.rows = append(x.rows, []any{v.group, v.client, r.Role.String(), r.Count, r.State, strings.Join(r.Names, "\n"), strings.Join(r.Frames, "\n")})
	}
	return x
}

// askSave asks where to save: by the name's ending as rows, or the text as the client
// sent it.
func (v stackView) askSave() (page, request) {
	if v.raw.Text == "" {
		return v, refuseRequest{"there is no stack to save"}
	}
	e, x := v.env, v.export()
	name := fileName(x.name, e.now.In(e.o.Location)) + ".txt"
	return v, pushRequest{newPrompt(e, "save to", ".txt: as the client sent it; .json or .csv: "+words.Plural(len(x.rows), "row"), "SAVE", name, func(path string) (request, error) {
		if strings.EqualFold(filepath.Ext(path), ".txt") {
			text := v.raw.Text
			return saveRequest{saved: saved{"the stack", path, func() ([]byte, error) { return []byte(text), nil }}}, nil
		}
		text, err := x.as(path)
		if err != nil {
			return nil, errors.New("the name must end in .txt, .csv or .json")
		}
		return saveRequest{saved: saved{words.Plural(len(x.rows), "row"), path, text}}, nil
	})}
}
