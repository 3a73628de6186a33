package tui

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

// export is what a view shows, to be saved: rows of values by column. A value that is
// not known is nil.
type export struct {
	name    string // what it is, for the file's name
	columns []string
	rows    [][]any
}

// exporter is a page whose rows can be saved.
type exporter interface{ export() export }

// saved is what is written to a file.
type saved struct {
	what string
	path string
	make func() ([]byte, error) // called by a command
}

type (
	saveRequest struct {
		saved
		over bool // an existing file may be overwritten
	}
	// savedMsg: a file was written, or it exists already.
	savedMsg struct {
		saved
		n      int
		exists bool
		err    string
	}
)

// save writes a file that must not exist yet unless over is set.
func saveFile(c commands, s saved, over bool) tea.Cmd {
	return c.within(saveLimit, func(context.Context) tea.Msg {
		m := savedMsg{saved: s}
		data, err := s.make()
		if err == nil {
			err = writeFile(s.path, data, over)
		}
		m.n, m.exists, m.err = len(data), errors.Is(err, fs.ErrExist), errorText(err)
		return m
	})
}

// writeFile writes a file that only its owner may read: it may hold what messages do.
func writeFile(path string, data []byte, over bool) error {
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if over {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(home(path), flags, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// home replaces a leading ~ as a shell does.
func home(path string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	dir, err := os.UserHomeDir()
	if !ok || err != nil {
		return path
	}
	return filepath.Join(dir, rest)
}

// csvText writes an export as CSV; what is not known is empty. A text that a
// spreadsheet would take for a formula begins with an apostrophe.
func (x *export) csvText() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.Write(x.columns); err != nil {
		return nil, err
	}
	record := make([]string, len(x.columns))
	for _, row := range x.rows {
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

// jsonText writes an export as a list of objects, members in the columns' order.
func (x *export) jsonText() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("[")
	for n, row := range x.rows {
		b.WriteString(map[bool]string{true: "\n  ", false: ",\n  "}[n == 0])
		if err := x.appendObject(&b, row); err != nil {
			return nil, err
		}
	}
	b.WriteString("\n]\n")
	return b.Bytes(), nil
}

func (x *export) appendObject(b *bytes.Buffer, row []any) error {
	for i, column := range x.columns {
		b.WriteString(map[bool]string{true: "{", false: ", "}[i == 0])
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

// copied are the rows to be copied as JSON: one row is an object.
func (x export) copied(what string) copied {
	if len(x.rows) != 1 {
		what = words.Plural(len(x.rows), "row")
	}
	return copied{what + " as JSON", func() (string, error) {
		if len(x.rows) != 1 {
			text, err := x.jsonText()
			return strings.TrimSpace(string(text)), err
		}
		var b bytes.Buffer
		err := x.appendObject(&b, x.rows[0])
		return b.String(), err
	}}
}

// as makes an export's text by the ending of the path.
func (x *export) as(path string) (func() ([]byte, error), error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		return x.csvText, nil
	case ".json":
		return x.jsonText, nil
	}
	return nil, errors.New("the name must end in .csv or .json")
}

// askExport asks for the path of an export.
func askExport(e *env, x export) prompt {
	name := fileName(x.name, e.now.In(e.o.Location)) + ".csv"
	return newPrompt(e, "save to", ".csv or .json, "+words.Plural(len(x.rows), "row"), "SAVE", name, func(path string) (request, error) {
		text, err := x.as(path)
		if err != nil {
			return nil, err
		}
		return saveRequest{saved: saved{words.Plural(len(x.rows), "row"), path, text}}, nil
	})
}

// fileName makes a name without anything that a path or a shell gives a meaning to.
func fileName(what string, at time.Time) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}, what)
	return "eyeq-" + strings.Trim(clean[:min(len(clean), 80)], ".") + "-" + at.Format("20060102-150405")
}

// overwriteDialog asks before a file is written over.
type overwriteDialog struct {
	env   *env
	saved saved
	yes   bool
}

func (d overwriteDialog) update(msg tea.Msg) (dialog, request) {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return d, nil
	}
	switch k.String() {
	case "esc", "n", "q":
		return d, closeRequest{}
	case "tab", "shift+tab", "left", "right", "h", "l":
		d.yes = !d.yes
	case "enter":
		if d.yes {
			return d, saveRequest{d.saved, true}
		}
		return d, closeRequest{}
	}
	return d, nil
}

func (d overwriteDialog) view(w, h int) string {
	lines := [][]draw.Segment{
		line(d.env.plain(" " + draw.SafeText(d.saved.path) + " exists already")), line(),
		line(d.env.plain("  "), d.env.button("Keep it", !d.yes, true), d.env.plain("  "), d.env.button("Overwrite", d.yes, true)),
	}
	return drawBox(d.env, w, h, "OVERWRITE the file?", "", lines, len(lines)-1)
}

func (d overwriteDialog) hint(c *draw.Canvas) string {
	d.env.hints(c, "tab", "other button", d.env.enter(), "press", "esc", "keep it")
	return "DIALOG"
}
