package page

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/words"
)

const saveLimit = 30 * time.Second

// Export is what a view shows, to be saved: rows of values by column. A value that is
// not known is nil.
type Export struct {
	Name    string // what it is, for the file's name
	Columns []string
	Rows    [][]any
}

// Exporter is a page whose rows can be saved.
type Exporter interface{ Export() Export }

// Saved is what is written to a file.
type Saved struct {
	What string
	Path string
	Make func() ([]byte, error) // called by a command
}

type (
	SaveRequest struct {
		Saved
		Over bool // an existing file may be overwritten
	}
	// SavedMsg: a file was written, or it exists already.
	SavedMsg struct {
		Saved
		N      int
		Exists bool
		Err    string
	}
)

// save writes a file that must not exist yet unless over is set.
func SaveFile(c Commands, s Saved, over bool) tea.Cmd {
	return c.Within(saveLimit, func(context.Context) tea.Msg {
		m := SavedMsg{Saved: s}
		data, err := s.Make()
		if err == nil {
			err = writeFile(s.Path, data, over)
		}
		m.N, m.Exists, m.Err = len(data), errors.Is(err, fs.ErrExist), ErrorText(err)
		return m
	})
}

// writeFile writes a file that only its owner may read: it may hold what messages do.
func writeFile(path string, data []byte, over bool) error {
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if over {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(HomeDir(path), flags, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// HomeDir replaces a leading ~ as a shell does.
func HomeDir(path string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	dir, err := os.UserHomeDir()
	if !ok || err != nil {
		return path
	}
	return filepath.Join(dir, rest)
}

// CsvText writes an export as CSV; what is not known is empty. A text that a
// spreadsheet would take for a formula begins with an apostrophe.
func (x *Export) CsvText() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.Write(x.Columns); err != nil {
		return nil, err
	}
	record := make([]string, len(x.Columns))
	for _, row := range x.Rows {
		for i := range record {
			record[i] = ""
			switch v := row[i].(type) {
			case nil:
			case string:
				record[i] = v
				if v != "" && strings.ContainsRune("=+-@\t\r", rune(v[0])) {
					record[i] = "'" + v
				}
			case time.Time:
				if !v.IsZero() {
					record[i] = v.Format(time.RFC3339Nano)
				}
			default:
				record[i] = fmt.Sprint(v)
			}
		}
		if err := w.Write(record); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// JsonText writes an export as a list of objects, members in the columns' order.
func (x *Export) JsonText() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("[")
	for n, row := range x.Rows {
		if n > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n  ")
		if err := x.appendObject(&b, row); err != nil {
			return nil, err
		}
	}
	b.WriteString("\n]\n")
	return b.Bytes(), nil
}

func (x *Export) appendObject(b *bytes.Buffer, row []any) error {
	for i, column := range x.Columns {
		if i == 0 {
			b.WriteString("{")
		} else {
			b.WriteString(", ")
		}
		value := row[i]
		if t, ok := value.(time.Time); ok && t.IsZero() {
			value = nil
		}
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "%q: %s", column, inspect.PlainJSON(text))
	}
	b.WriteString("}")
	return nil
}

// Copied are the rows to be copied as JSON: one row is an object.
func (x Export) Copied(what string) Copied {
	if len(x.Rows) != 1 {
		what = words.Plural(len(x.Rows), "row")
	}
	return Copied{what + " as JSON", func() (string, error) {
		if len(x.Rows) != 1 {
			text, err := x.JsonText()
			return strings.TrimSpace(string(text)), err
		}
		var b bytes.Buffer
		err := x.appendObject(&b, x.Rows[0])
		return b.String(), err
	}}
}

// As makes an export's text by the ending of the path.
func (x *Export) As(path string) (func() ([]byte, error), error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		return x.CsvText, nil
	case ".json":
		return x.JsonText, nil
	}
	return nil, errors.New("the name must end in .csv or .json")
}

// AskExport asks for the path of an export.
func AskExport(e *Env, x Export) Prompt {
	name := FileName(x.Name, e.Now.In(e.Options.Location)) + ".csv"
	return NewPrompt(e, "save to", ".csv or .json, "+words.Plural(len(x.Rows), "row"), "SAVE", name, func(path string) (Request, error) {
		text, err := x.As(path)
		if err != nil {
			return nil, err
		}
		return SaveRequest{Saved: Saved{words.Plural(len(x.Rows), "row"), path, text}}, nil
	})
}

// FileName makes a name without anything that a path or a shell gives a meaning to.
func FileName(what string, at time.Time) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}, what)
	return "eyeq-" + strings.Trim(clean[:min(len(clean), 80)], ".") + "-" + at.Format("20060102-150405")
}

// OverwriteDialog asks before a file is written over.
type OverwriteDialog struct {
	Env   *Env
	Saved Saved
	yes   bool
}

// Update implements Dialog.
func (d OverwriteDialog) Update(msg tea.Msg) (Dialog, Request) {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return d, nil
	}
	switch k.String() {
	case "esc", "n", "q":
		return d, CloseRequest{}
	case "tab", "shift+tab", "left", "right", "h", "l":
		d.yes = !d.yes
	case "enter":
		if d.yes {
			return d, SaveRequest{d.Saved, true}
		}
		return d, CloseRequest{}
	}
	return d, nil
}

// View implements Dialog.
func (d OverwriteDialog) View(w, h int) string {
	lines := [][]draw.Segment{
		Line(d.Env.Plain(" " + draw.SafeText(d.Saved.Path) + " exists already")), Line(),
		Line(d.Env.Plain("  "), d.Env.Button("Keep it", !d.yes, true), d.Env.Plain("  "), d.Env.Button("Overwrite", d.yes, true)),
	}
	return DrawBox(d.Env, w, h, "OVERWRITE the file?", "", lines, len(lines)-1)
}

// Hint implements Dialog.
func (d OverwriteDialog) Hint(c *draw.Canvas) string {
	d.Env.Hints(c, "tab", "other button", d.Env.Enter(), "press", "esc", "keep it")
	return "DIALOG"
}
