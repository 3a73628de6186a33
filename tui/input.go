package tui

import (
	"bytes"
	"io"
	"os"
	"time"
	"unicode/utf8"
)

// escapeWait is how long the beginning of a key waits for its rest before it counts as
// what it is by itself: a lone ESC as the key escape.
const escapeWait = 50 * time.Millisecond

// wholeKeys hands keys on in one piece. A terminal writes a key that has no character of
// its own as several bytes, and a slow link may bring them one by one; bubbletea takes
// the end of a read for the end of a key, so that "\x1b", "[B" would be escape and two
// letters.
type wholeKeys struct {
	in   io.Reader
	more func(within time.Duration) bool // whether there will be something to read
}

func (k wholeKeys) Read(p []byte) (int, error) {
	n, err := k.in.Read(p)
	for err == nil && n > 0 && n < len(p) && isUnfinished(p[:n]) && k.more(escapeWait) {
		var m int
		m, err = k.in.Read(p[n:])
		n += m
	}
	if n > 0 {
		return n, nil // an error comes again
	}
	return n, err
}

// isUnfinished reports whether what a terminal wrote ends amid a key or a character.
func isUnfinished(b []byte) bool {
	if i := bytes.LastIndexByte(b, 0x1b); i >= 0 {
		switch seq := b[i+1:]; {
		case len(seq) == 0:
			return true
		case seq[0] == 'O':
			return len(seq) == 1
		case seq[0] == '[' && len(seq) > 1 && seq[1] == 'M': // the old form of mouse events
			return len(seq) < len("[Mbxy")
		case seq[0] == '[' && len(seq) > 1 && seq[1] == '[': // function keys of the Linux console
			return len(seq) == 2
		case seq[0] == '[':
			return bytes.IndexFunc(seq[1:], func(r rune) bool { return r >= '@' && r <= '~' }) < 0
		}
	}
	i := len(b) - 1
	for i > 0 && i > len(b)-utf8.UTFMax && !utf8.RuneStart(b[i]) {
		i--
	}
	return i >= 0 && !utf8.FullRune(b[i:])
}

// keyFile is wholeKeys of a file, of which bubbletea asks more than reading: only a file
// can be a terminal, and its reads can be ended.
type keyFile struct {
	wholeKeys
	file *os.File
}

func (k keyFile) Write(p []byte) (int, error) { return k.file.Write(p) }
func (k keyFile) Close() error                { return k.file.Close() }
func (k keyFile) Fd() uintptr                 { return k.file.Fd() }
func (k keyFile) Name() string                { return k.file.Name() }

// terminalInput is in with whole keys, where it is a file: nobody knows of others
// whether there is more to come.
func terminalInput(in io.Reader) io.Reader {
	if f, ok := in.(*os.File); ok && canWaitForInput {
		return keyFile{wholeKeys{f, func(within time.Duration) bool { return inputWithin(f, within) }}, f}
	}
	return in
}
