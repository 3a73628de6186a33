package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// inFolder resolves a path of the configuration: it counts from its file.
func inFolder(folder, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

// secretFromFile reads a file that nobody else may read.
func secretFromFile(path string) (secret, error) {
	f, err := openSecret(path)
	if err != nil {
		return secret{}, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	if err != nil {
		return secret{}, err
	}
	s, err := asSecret(text)
	if err != nil {
		return s, fmt.Errorf("%s (auth.secret_key_file) %w", path, err)
	}
	return s, nil
}

// openSecret opens a file after it has looked at who may read it.
func openSecret(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // of a pipe it would wait for the writer
	if err != nil {
		return nil, err
	}
	s, err := f.Stat()
	switch {
	case err != nil:
	case !s.Mode().IsRegular():
		err = fmt.Errorf("%s is not a regular file", path)
	case runtime.GOOS != "windows" && s.Mode().Perm()&0o007 != 0:
		err = fmt.Errorf("%s can be read or written by everybody (mode %04o): chmod 600 it, and change the key if others were on this machine", path, s.Mode().Perm())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// asSecret takes one line.
func asSecret(text []byte) (secret, error) {
	text = bytes.TrimSpace(text)
	switch {
	case len(text) == 0:
		return secret{}, errors.New("is empty")
	case len(text) > maxSecret:
		return secret{}, fmt.Errorf("is longer than %d bytes, which is no secret key", maxSecret)
	case bytes.ContainsAny(text, "\n\r\x00"):
		return secret{}, errors.New("holds more than one line; only the secret key may be there")
	}
	return newSecret(string(text)), nil
}

const maxSecret = 4 << 10
