package cli

import "golang.org/x/sys/unix"

// concealMemory keeps secrets that are in this process's memory out of core dumps,
// and away from other processes of the same user. It is best effort: where the kernel
// refuses, everything else goes on.
func concealMemory() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
