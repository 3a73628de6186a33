package cli

import (
	"bytes"
	"eyeq/tui/cli/config"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// logTailLines is how much of its own log eyeq keeps for the screen's log view.
const logTailLines = 500

// logs is eyeq's own log: its writer, and the last lines in memory. The logger
// exists from the beginning; where it writes may change once.
type logs struct {
	logger *slog.Logger
	level  slog.LevelVar

	mu    sync.Mutex // guards all below
	out   io.Writer
	file  *os.File
	lines []string // a ring
	next  int
	fixed bool // --log-file was given
}

// newLogs logs warnings to stderr until it is told otherwise.
func newLogs(stderr io.Writer) *logs {
	l := &logs{out: stderr}
	l.level.Set(slog.LevelWarn)
	l.logger = slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: &l.level}))
	return l
}

// Write takes one line of the handler.
func (l *logs) Write(p []byte) (int, error) {
	line := string(bytes.TrimRight(p, "\n"))
	l.mu.Lock()
	if len(l.lines) < logTailLines {
		l.lines = append(l.lines, line)
	} else {
		l.lines[l.next] = line
		l.next = (l.next + 1) % logTailLines
	}
	out := l.out
	l.mu.Unlock()
	return out.Write(p)
}

// tail returns the last n lines, oldest first.
func (l *logs) tail(n int) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := append(append([]string(nil), l.lines[l.next:]...), l.lines[:l.next]...)
	return all[max(0, len(all)-n):]
}

// toFile sends the log to a file, as --log-file asks, from level info on.
func (l *logs) toFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the log file: %w", err)
	}
	l.level.Set(slog.LevelInfo)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out, l.file, l.fixed = f, f, true
	return nil
}

// offScreen keeps the log away from a terminal that shows the screen: it goes to
// the file of --log-file, else to one under the state directory, else nowhere
// but the memory.
func (l *logs) offScreen(getenv func(string) string) {
	l.mu.Lock()
	fixed := l.fixed
	l.mu.Unlock()
	if fixed {
		return
	}
	l.level.Set(slog.LevelInfo)
	var out io.Writer = io.Discard
	f, err := openStateLog(config.StateDir(getenv))
	if err == nil {
		out = f
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out, l.file = out, f
}

// maxStateLog is the size at which the log under the state directory begins anew.
const maxStateLog = 4 << 20

func openStateLog(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "eyeq.log")
	if s, err := os.Stat(path); err == nil && s.Size() > maxStateLog {
		if err := os.Rename(path, path+".old"); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(f, "--- eyeq %d at %s\n", os.Getpid(), time.Now().Format(time.RFC3339))
	return f, nil
}

// close ends the file; later lines stay in memory only.
func (l *logs) close() {
	l.mu.Lock()
	f := l.file
	if f != nil {
		l.out, l.file = io.Discard, nil
	}
	l.mu.Unlock()
	if f != nil {
		f.Close() // nothing is lost: a log line is written at once
	}
}
