//go:build unix

package main

import (
	"errors"
	"io"
	"net"
	"syscall"
)

// readNow reads what has come, and waits for nothing: 0 and no error when nothing has.
func readNow(c *net.TCPConn, buf []byte) (n int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var readErr error
	if err := raw.Read(func(fd uintptr) bool {
		for {
			n, readErr = syscall.Read(int(fd), buf)
			if !errors.Is(readErr, syscall.EINTR) {
				return true
			}
		}
	}); err != nil {
		return 0, err
	}
	switch {
	case errors.Is(readErr, syscall.EAGAIN):
		return 0, nil
	case readErr == nil && n == 0:
		return 0, io.EOF
	}
	return n, readErr
}
