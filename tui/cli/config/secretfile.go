package config

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

// InFolder resolves a path of the configuration: it counts from its file.
func InFolder(folder, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

// SecretFromFile reads a file that nobody else may read.
func SecretFromFile(path string) (Secret, error) {
	f, err := openSecret(path)
	if err != nil {
		return Secret{}, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxSecret+1))
	if err != nil {
		return Secret{}, err
	}
	s, err := AsSecret(text)
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

// AsSecret takes one line.
func AsSecret(text []byte) (Secret, error) {
	text = bytes.TrimSpace(text)
	switch {
	case len(text) == 0:
		return Secret{}, errors.New("is empty")
	case len(text) > MaxSecret:
		return Secret{}, fmt.Errorf("is longer than %d bytes, which is no secret key", MaxSecret)
	case bytes.ContainsAny(text, "\n\r\x00"):
		return Secret{}, errors.New("holds more than one line; only the secret key may be there")
	}
	return NewSecret(string(text)), nil
}

// MaxSecret is how many bytes a secret may have.
const MaxSecret = 4 << 10
