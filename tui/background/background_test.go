package background_test

import (
	"bytes"
	"os"
	"os/exec"
	"testing"

	_ "github.com/charmbracelet/bubbletea" // its init is what must not ask
	"github.com/creack/pty"

	_ "eyeq/tui/background"
)

// The test lies outside its package: a package that imports bubbletea itself is
// initialised after it, which is what must not happen.

// TestTheTerminalIsAskedNothing starts this very program on a terminal. Had
// bubbletea asked, it would wait 5 s for an answer.
func TestTheTerminalIsAskedNothing(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "TERM=xterm-256color")
	terminal, err := pty.Start(cmd)
	if err != nil {
		t.Skipf("no pseudo terminal here: %v", err)
	}
	defer terminal.Close()
	var out bytes.Buffer
	out.ReadFrom(terminal) // until it ends: reading from a closed terminal is an error
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if bytes.ContainsRune(out.Bytes(), '\x1b') {
		t.Errorf("the terminal was asked before eyeq/tui/background had answered: %q", out.String())
	}
}
