//go:build unix

package remoting_test

import (
	"syscall"
	"time"
)

// cpu is the processor time of this process, both ends of a benchmark together.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
