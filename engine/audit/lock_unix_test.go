//go:build unix

package audit

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// makePipe makes a pipe that has a name.
func makePipe(path string) error { return syscall.Mkfifo(path, 0o600) }

func TestAuditLockIsNotWaitedForForEver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		must(t, err)
		t.Cleanup(func() { f.Close() })
		return f
	}
	held, late, next := open(), open(), open()
	must(t, lockFile(held, time.Minute))
	want := path + " has been locked by another process for 50ms: end it, or try again"
	if err := lockFile(late, 50*time.Millisecond); err == nil || err.Error() != want {
		t.Errorf("a lock that is held: %v, want %s", err, want)
	}
	must(t, held.Close())
	if err := lockFile(next, time.Minute); err != nil {
		t.Errorf("a lock that was given up: %v", err)
	}
}
