package config

import "golang.org/x/sys/unix"

// ConcealMemory keeps secrets that are in this process's memory out of core dumps,
// and away from other processes of the same user. It is best effort: where the kernel
// refuses, everything else goes on.
func ConcealMemory() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
