package pages

import (
	"errors"
	"path/filepath"
	"strings"
	"time"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/words"
)

// onDemand is how often something is asked again that costs whom it is asked of: only
// when the operator says so.
const onDemand = 24 * time.Hour

// StackView is what the threads of one member do: those that do the same in one row,
// those in the listener first, and the stack of the row under the cursor.
type StackView struct {
	page.BlankPage
	page.Split[int] // by place in data.Groups
	w, h            int
	Group           string // true name
	Client          string // true client id
	raw             page.TakenStack
	data            page.TakenStack // safe to print
	lines           []string        // safe to print: of a text in which there are no threads
	taken           page.Question[page.TakenStack]
}

// NewStackView is the page of a member's threads.
func NewStackView(e *page.Env, group, client string) StackView {
	return StackView{Split: page.NewSplit[int](e), Group: group, Client: client, taken: page.Question[page.TakenStack]{Ask: page.AboutOneOf(page.TakeStack), Schedule: page.Schedule{Names: []string{group, client}, What: "stack of " + draw.SafeText(client), Every: onDemand}}}
}

// Subject implements page.Page.
func (v StackView) Subject() string { return draw.SafeText(v.Group) }

// Narrow implements page.Page.
func (v StackView) Narrow(string) (page.Page, error) { return v, nil }

// Update implements page.Page.
func (v StackView) Update(msg any) (page.Page, page.Request) {
	switch msg := msg.(type) {
	case page.SizeMsg:
		v.w, v.h = msg.W, msg.H
		v.List.Resize(max(v.listHeight()-page.TableFrame, 0))
	case page.DueMsg:
		r := v.Env.AskDue(&v.taken)
		return v, r
	case page.HurryMsg:
		v.taken.Hurried = true
	case page.ClosedMsg:
		v.taken.Drop()
	case page.AnswerMsg:
		if raw, safe, ok := v.taken.Take(msg, v.Env.Now); ok {
			v.take(raw, safe)
		}
	case page.ActionMsg:
		return v.act(msg.Action)
	case page.ClickMsg:
		v.Click(msg.Y)
	}
	return v, nil
}

func (v *StackView) take(raw, safe page.TakenStack) {
	v.raw, v.data, v.lines, v.Top = raw, safe, nil, 0
	v.Renewed()
	if len(safe.Groups) == 0 && safe.Text != "" {
		v.lines = strings.Split(safe.Text, "⏎") // which newlines have become
	}
	keys := make([]int, len(safe.Groups))
	for i := range keys {
		keys[i] = i
	}
	v.List.SetKeys(keys)
	v.List.MoveTo(0)
	v.List.Resize(max(v.listHeight()-page.TableFrame, 0))
}

func (v StackView) act(a page.Action) (page.Page, page.Request) {
	switch a {
	case "escape":
		return v, page.BackRequest{}
	case "copy":
		if r := v.current(); r != nil {
			return v, page.CopyRequest{Copied: page.Literal("the stack of "+r.Label(), strings.Join(v.stackLines(r), "\n"))}
		}
		if v.raw.Text != "" {
			return v, page.CopyRequest{Copied: page.Literal("the stack", v.raw.Text)}
		}
		return v, page.RefuseRequest{Text: "there is no stack to copy"}
	case "copy-json":
		if v.List.Len() == 0 {
			return v, page.RefuseRequest{Text: "there is no stack to copy"}
		}
		x := v.Export()
		i := v.List.Cursor()
		x.Rows = x.Rows[i : i+1]
		return v, page.CopyRequest{Copied: x.Copied("the threads")}
	case "save":
		return v.askSave()
	}
	lines, shown := len(v.below()), v.h-v.listHeight()-2
	if v.List.Len() == 0 { // a text that is in no known form is scrolled as it is
		switch a {
		case "down":
			a = "body-down"
		case "up":
			a = "body-up"
		case "top":
			v.Top = 0
		case "bottom":
			v.Top = max(lines-shown, 0)
		}
	}
	v.Split.Act(a, lines, shown)
	return v, nil
}

func (v *StackView) current() *inspect.ThreadGroup {
	if i := v.List.Cursor(); i < len(v.data.Groups) && v.List.Len() > 0 {
		return &v.data.Groups[i]
	}
	return nil
}

// Export are the threads as rows, by what they do.
func (v StackView) Export() page.Export {
	x := page.Export{Name: "stack-" + v.Client, Columns: []string{"group", "client_id", "role", "count", "state", "names", "frames"}}
	for _, r := range v.raw.Groups {
		x.Rows = append(x.Rows, []any{v.Group, v.Client, r.Role.String(), r.Count, r.State, strings.Join(r.Names, "\n"), strings.Join(r.Frames, "\n")})
	}
	return x
}

// askSave asks where to save: by the name's ending as rows, or the text as the client
// sent it.
func (v StackView) askSave() (page.Page, page.Request) {
	if v.raw.Text == "" {
		return v, page.RefuseRequest{Text: "there is no stack to save"}
	}
	e, x := v.Env, v.Export()
	name := page.FileName(x.Name, e.Now.In(e.Options.Location)) + ".txt"
	return v, page.PushRequest{Dialog: page.NewPrompt(e, "save to", ".txt: as the client sent it; .json or .csv: "+words.Plural(len(x.Rows), "row"), "SAVE", name, func(path string) (page.Request, error) {
		if strings.EqualFold(filepath.Ext(path), ".txt") {
			text := v.raw.Text
			return page.SaveRequest{Saved: page.Saved{What: "the stack", Path: path, Make: func() ([]byte, error) { return []byte(text), nil }}}, nil
		}
		text, err := x.As(path)
		if err != nil {
			return nil, errors.New("the name must end in .txt, .csv or .json")
		}
		return page.SaveRequest{Saved: page.Saved{What: words.Plural(len(x.Rows), "row"), Path: path, Make: text}}, nil
	})}
}

// Under is the text below the list.
func (v StackView) Under(_, y int) page.Under { return page.BelowList(y, v.listHeight(), v.List.Len()) }
