package cli

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"syscall"
	"time"

	"eyeq/engine/audit"
)

// auditLine is one line of the audit file. A change has two with the same id: "begin"
// before it is made and "end" after it. The end repeats all, so that it stands for
// the change by itself; a begin without an end is one that was cut short. One of many
// messages has a "part" after each few, so that no line grows with their number and
// none is missing of one that was cut short: one of what is wanted before, and one of what
// became of it after them.
type auditLine struct {
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

// auditPath is the file that every change is noted in.
func (e *env) auditPath() string { return filepath.Join(stateDir(e.getenv), "audit.jsonl") }

// recorded makes a change between its two lines in the audit file: do is not called
// when the first cannot be written. do returns what was read back, for the second.
func (e *env) recorded(t *target, entry audit.Entry, do func() (after any, err error)) error {
	return e.recordedInParts(t, entry, func(audit.Part) (any, error) { return do() })
}

// recordedInParts is recorded for a change of many, which notes each of its parts.
func (e *env) recordedInParts(t *target, entry audit.Entry, do func(part audit.Part) (after any, err error)) error {
	record, err := e.audit(t)(entry)
	if err != nil {
		return err
	}
	after, err := do(record.Part)
	e.noted = e.auditPath()
	return errors.Join(err, record.Done(after, err))
}

// audit returns what notes the changes of a target: see tui.Audit.
func (e *env) audit(t *target) audit.Begin {
	return func(entry audit.Entry) (audit.Record, error) {
		line, err := e.auditLine(t, entry)
		if err == nil {
			err = e.appendAudit(line, auditLockLimit)
		}
		if err != nil {
			return audit.Record{}, fmt.Errorf("%s: nothing was changed, because it cannot be noted in the audit file: %w", entry.Command, err)
		}
		r := &auditRecord{env: e, line: line, written: make(chan struct{})}
		e.changes.begin(r)
		return audit.Record{Part: r.part, Done: r.done}, nil
	}
}

// auditLine makes the first line of a change.
func (e *env) auditLine(t *target, entry audit.Entry) (auditLine, error) {
	var id [8]byte
	rand.Read(id[:]) // never fails
	host, err := os.Hostname()
	if err != nil {
		host = "?"
	}
	line := auditLine{
		Time: jsonTime(e.now()), ID: hex.EncodeToString(id[:]), Phase: "begin",
		Operator: e.operator(), Host: host, PID: os.Getpid(),
		Cluster: t.name, Namesrv: t.namesrv, AccessKey: t.accessKey,
		Command: entry.Command, Group: entry.Group, Topic: entry.Topic, Reason: entry.Reason,
	}
	if line.Before, err = json.Marshal(entry.Before); err != nil {
		return line, err
	}
	line.Wanted, err = json.Marshal(entry.After)
	return line, err
}

// operator is who runs this program: behind sudo, who called it.
func (e *env) operator() string {
	for _, name := range []string{"SUDO_USER", "USER", "LOGNAME"} {
		if v := e.getenv(name); v != "" {
			return v
		}
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return fmt.Sprintf("uid %d", os.Getuid())
}

// appendAudit writes one line in one write, so that those of several processes do
// not mix, and waits until it is on the disk.
func (e *env) appendAudit(line auditLine, limit time.Duration) error {
	text, err := marshal(line)
	if err != nil {
		return err
	}
	path := e.auditPath()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	// Opening a pipe would wait for its reader.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	err = appendLine(f, text, limit)
	return errors.Join(err, f.Close())
}

// auditLockLimit is how long another process may keep the audit file: a line takes it
// milliseconds.
const auditLockLimit = 5 * time.Second

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

// jsonTime is a time as scripts get it.
func jsonTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
