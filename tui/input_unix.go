//go:build unix

package tui

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const canWaitForInput = true

// inputWithin waits until there is something to read, or the time is over.
func inputWithin(f *os.File, within time.Duration) bool {
	until := time.Now().Add(within)
	for {
		fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, max(int(time.Until(until).Milliseconds()), 0))
		if err != unix.EINTR {
			return err == nil && n > 0 && fds[0].Revents&unix.POLLIN != 0
		}
	}
}
