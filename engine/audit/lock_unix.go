//go:build unix

package audit

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lockPause is how often a lock that another process holds is tried again.
const lockPause = 10 * time.Millisecond

// lockFile keeps other processes from writing f until it is closed. It waits for one
// that writes now, but not for ever: a stopped process keeps its lock. Where the file
// system knows no locks a line is still written at once.
func lockFile(f *os.File, limit time.Duration) error {
	end := time.NewTimer(limit)
	defer end.Stop()
	pause := time.NewTicker(lockPause)
	defer pause.Stop()
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case errors.Is(err, unix.EINTR):
			continue
		case !errors.Is(err, unix.EWOULDBLOCK):
			return nil
		}
		select {
		case <-pause.C:
		case <-end.C:
			return fmt.Errorf("%s has been locked by another process for %v: end it, or try again", f.Name(), limit)
		}
	}
}
