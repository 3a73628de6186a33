package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// maxConfig bounds a configuration file: what is larger is something else, such as a
// device without end.
const maxConfig = 1 << 20

// Read reads a file. One that is written while it is read, such as a pipe that a
// shell puts in its place, has so long to come to its end.
func Read(path string, limit time.Duration) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && info.Mode()&os.ModeNamedPipe != 0 {
		return readPipe(path, limit)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	_ = f.SetReadDeadline(time.Now().Add(limit)) // a plain file has none, and needs none
	return readBounded(f, limit)
}

// readPipe reads a pipe without waiting in the call that opens it, which lasts until
// somebody writes. Where nobody has yet, it ends at once, and is read again.
func readPipe(path string, limit time.Duration) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	_ = f.SetReadDeadline(time.Now().Add(limit))
	end := time.NewTimer(limit)
	defer end.Stop()
	again := time.NewTicker(pipePause)
	defer again.Stop()
	for {
		if text, err := readBounded(f, limit); err != nil || len(text) > 0 {
			return text, err
		}
		select {
		case <-again.C:
		case <-end.C:
			return nil, nothingWritten(limit)
		}
	}
}

// pipePause is how long after a pipe nobody writes to is looked at again.
const pipePause = 10 * time.Millisecond

func nothingWritten(limit time.Duration) error {
	return fmt.Errorf("nothing was written to this pipe within %v", limit)
}

func readBounded(f *os.File, limit time.Duration) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded) && len(text) == 0:
		err = nothingWritten(limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = fmt.Errorf("whoever writes it has not come to an end within %v", limit)
	case err == nil && len(text) > maxConfig:
		err = fmt.Errorf("is larger than %d bytes, so it is no configuration", maxConfig)
	}
	return text, err
}
