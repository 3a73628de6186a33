//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFile keeps other processes from writing f until it is closed. Where the file
// system knows no locks a line is still written at once.
func lockFile(f *os.File) { _ = unix.Flock(int(f.Fd()), unix.LOCK_EX) }
