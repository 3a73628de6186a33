//go:build unix

package cli

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// wakable reports whether somebody would notice that this process was stopped, and
// wake it: a process group none of whose parents is in another group of the same
// session is never stopped by the terminal, and waiting for the end of that would be
// for ever.
func wakable() bool {
	session, err := unix.Getsid(0)
	if err != nil {
		return true
	}
	group := unix.Getpgrp()
	for pid, parent := os.Getpid(), os.Getppid(); ; {
		of, err := unix.Getsid(parent)
		if err != nil || of != session || parent <= 1 || parent == pid {
			return false
		}
		if g, err := unix.Getpgid(parent); err != nil || g != group {
			return err == nil
		}
		// The parent is of our group: whether the group can be woken is up to its parent.
		next, ok := parentOf(parent)
		if !ok {
			return true
		}
		pid, parent = parent, next
	}
}

// parentOf is the parent of a process, where the system tells it.
func parentOf(pid int) (int, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	var state string
	var parent int
	if _, err := fmt.Sscan(after, &state, &parent); err != nil {
		return 0, false
	}
	return parent, true
}
