package tui

import (
	"io"
	"os"

	"github.com/charmbracelet/x/ansi"
)

// unwrapped is the way to the terminal, which goes into the alternate screen without
// automatic wrapping and comes back with it: a row that a terminal draws wider than any
// that we know ends at the edge then, where it would push the frame up by a line. It
// hangs on the two sequences that switch, so that it is so on every way in and out.
type unwrapped struct{ out io.Writer }

func (u unwrapped) Write(p []byte) (int, error) {
	switch string(p) { // bubbletea writes each by itself
	case ansi.SetAltScreenSaveCursorMode:
		return u.with(p, string(p)+ansi.ResetModeAutoWrap)
	case ansi.ResetAltScreenSaveCursorMode:
		return u.with(p, ansi.SetModeAutoWrap+string(p))
	}
	return u.out.Write(p)
}

func (u unwrapped) with(p []byte, text string) (int, error) {
	if _, err := io.WriteString(u.out, text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// unwrappedFile is unwrapped for a file, of which bubbletea asks more than writing: only
// a file can be a terminal.
type unwrappedFile struct {
	unwrapped
	file *os.File
}

func (u unwrappedFile) Read(p []byte) (int, error) { return u.file.Read(p) }
func (u unwrappedFile) Close() error               { return u.file.Close() }
func (u unwrappedFile) Fd() uintptr                { return u.file.Fd() }

// terminalOutput is out without automatic wrapping.
func terminalOutput(out io.Writer) io.Writer {
	if f, ok := out.(*os.File); ok {
		return unwrappedFile{unwrapped{f}, f}
	}
	return unwrapped{out}
}
