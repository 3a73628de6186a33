package change

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// toFile is the kind of target that is none of core's: the offsets in a file.
const toFile core.ResetKind = 0

// pathLimit is how long a path may be, as on most systems.
const pathLimit = 4096

// savedFile is what a preview has read of a file of saved offsets.
type savedFile struct {
	group, cluster string // safe to print
	at             time.Time
	none           int // queues that had no offset then, which cannot be brought back
	exact          map[engine.MessageQueue]int64
}

// readSavedFile reads a file; called by commands.
func readSavedFile(path string) (savedFile, error) {
	s, err := inspect.ReadSaved(page.HomeDir(path))
	if err != nil {
		return savedFile{}, err
	}
	f := savedFile{group: draw.SafeText(s.Group), cluster: draw.SafeText(s.Cluster), at: s.Time, exact: s.Exact()}
	f.none = len(s.Queues) - len(f.exact)
	if len(f.exact) == 0 {
		return f, fmt.Errorf("%s has no offset in it", path)
	}
	return f, nil
}

// of are the queues that a file has an offset of: the others stay as they are.
func (f *savedFile) of(queues []engine.MessageQueue) ([]engine.MessageQueue, error) {
	left := slices.DeleteFunc(slices.Clone(queues), func(mq engine.MessageQueue) bool {
		_, ok := f.exact[mq]
		return !ok
	})
	if len(left) == 0 {
		return nil, errors.New("the file has no offset of any of these queues")
	}
	return left, nil
}

// takeFile is what a fresh choice of the file target begins with: the offsets that the
// last reset of the group on this screen has saved.
func (d *ResetDialog) takeFile() {
	d.value.Input.CharLimit = pathLimit
	d.value.Set(d.Env.SavedTo[d.group])
}

// fileLines are the path and what was found there.
func (d *ResetDialog) fileLines(w int) [][]draw.Segment {
	e := d.Env
	lines := [][]draw.Segment{page.Line(d.label("", onValue), e.Plain("["+d.value.Text(&e.Glyphs, min(max(w-13, 10), 100), d.focus == onValue)+"]"))}
	if d.stale || d.loading || d.saved.exact == nil {
		text := "a file that a reset has saved; " + e.Enter() + " reads it"
		return append(lines, page.Line(draw.Styled(e.Theme.Dim, draw.Pad("", 8)+text)))
	}
	f, st := &d.saved, e.Theme.Dim
	text := "= " + words.Plural(len(f.exact), "queue")
	if f.group != draw.SafeText(d.group) || f.cluster != draw.SafeText(e.Options.Cluster) {
		st = e.Theme.Warn // the command line takes it, too
		text = words.Warning.Sign() + " of group " + f.group + " on " + f.cluster + ": " + words.Plural(len(f.exact), "queue")
	}
	layout, none := "2006-01-02 15:04:05 -07:00", "; %d had none and stay"
	if w < 100 {
		layout, none = "2006-01-02 15:04Z07:00", "; %d had none"
	}
	text += ", saved " + f.at.In(e.Options.Location).Format(layout) + " (" + words.Ago(f.at, e.Now) + ")"
	if f.none > 0 {
		text += fmt.Sprintf(none, f.none)
	}
	return append(lines, page.Line(draw.Styled(st, draw.Pad("", 8)+table.Cut(text, max(w-11, 10)))))
}
