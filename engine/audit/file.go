package audit

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"eyeq/engine/inspect"
)

// Line is one line of the audit file. A change has two with the same id: "begin"
// before it is made and "end" after it. The end repeats all, so that it stands for
// the change by itself; a begin without an end is one that was cut short. One of many
// messages has a "part" after each few, so that no line grows with their number and
// none is missing of one that was cut short: one of what is wanted before, and one of what
// became of it after them.
type Line struct {
	Time      string          `json:"time"`
	ID        string          `json:"id"`
	Phase     string          `json:"phase"`
	Operator  string          `json:"operator"`
	Host      string          `json:"host"`
	PID       int             `json:"pid"`
	Cluster   string          `json:"cluster"`
	Namesrv   []string        `json:"namesrv"`
	AccessKey string          `json:"access_key,omitempty"`
	Command   string          `json:"command"`
	Group     string          `json:"group,omitempty"`
	Topic     string          `json:"topic,omitempty"`
	Reason    string          `json:"reason"`
	Before    json.RawMessage `json:"before"`
	Wanted    json.RawMessage `json:"wanted"`
	After     json.RawMessage `json:"after"`            // what was read back
	Result    string          `json:"result,omitempty"` // of an end: "done", "failed" or "interrupted"
	Error     string          `json:"error,omitempty"`
}

// File is the audit file of this program. Its methods may be called by many at once.
type File struct {
	Path string
	Now  func() time.Time

	mu   sync.Mutex // guards open
	open []*record  // whose last line is not written
}

// Origin says of a change who makes it, and where.
type Origin struct {
	Operator  string
	Cluster   string
	Namesrv   []string
	AccessKey string
}

// Begin returns what notes the changes that come from o. It fails, and nothing may be
// changed, when the first line cannot be written within some seconds.
func (f *File) Begin(o Origin) Begin {
	return func(e Entry) (Record, error) {
		first, err := f.firstLine(o, e)
		if err == nil {
			err = f.append(first, lockLimit)
		}
		if err != nil {
			return Record{}, fmt.Errorf("%s: nothing was changed, because it cannot be noted in the audit file: %w", e.Command, err)
		}
		r := &record{file: f, line: first, written: make(chan struct{})}
		f.begin(r)
		return Record{Part: r.part, Done: r.done}, nil
	}
}

func (f *File) firstLine(o Origin, e Entry) (Line, error) {
	var id [8]byte
	rand.Read(id[:]) // never fails
	host, err := os.Hostname()
	if err != nil {
		host = "?"
	}
	l := Line{
		Time: inspect.JSONTime(f.Now()), ID: hex.EncodeToString(id[:]), Phase: "begin",
		Operator: o.Operator, Host: host, PID: os.Getpid(),
		Cluster: o.Cluster, Namesrv: o.Namesrv, AccessKey: o.AccessKey,
		Command: e.Command, Group: e.Group, Topic: e.Topic, Reason: e.Reason,
	}
	if l.Before, err = json.Marshal(e.Before); err != nil {
		return l, err
	}
	l.Wanted, err = json.Marshal(e.After)
	return l, err
}

// append writes one line in one write, so that those of several processes do
// not mix, and waits until it is on the disk.
func (f *File) append(l Line, limit time.Duration) error {
	text, err := inspect.MarshalPlain(l)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		return err
	}
	// Opening a pipe would wait for its reader.
	file, err := os.OpenFile(f.Path, os.O_CREATE|os.O_RDWR|os.O_APPEND|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	err = appendLine(file, text, limit)
	return errors.Join(err, file.Close())
}

// lockLimit is how long another process may keep the audit file: a line takes it
// milliseconds.
const lockLimit = 5 * time.Second

// appendLine adds a line and syncs. What a crash left of a line before is ended first.
func appendLine(f *os.File, text []byte, limit time.Duration) error {
	s, err := f.Stat()
	if err != nil {
		return err
	}
	if !s.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", f.Name())
	}
	if err := lockFile(f, limit); err != nil {
		return err
	}
	if s, err = f.Stat(); err != nil { // what it is now that nobody else writes
		return err
	}
	if s.Size() > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, s.Size()-1); err != nil && err != io.EOF {
			return err
		}
		if last[0] != '\n' {
			text = append([]byte{'\n'}, text...)
		}
	}
	if _, err := f.Write(text); err != nil {
		return err
	}
	return f.Sync()
}
