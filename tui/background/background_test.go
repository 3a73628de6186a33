package background_test

import (
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	_ "github.com/charmbracelet/bubbletea" // its init is what must not ask
	"github.com/creack/pty"

	_ "eyeq/tui/background"
)

// The test lies outside its package: a package that imports bubbletea itself is
// initialised after it, which is what must not happen.

// TestASilentTerminalDoesNotStall starts this very program on a terminal that
// answers nothing. bubbletea waits 5 s for an answer when it has asked.
func TestASilentTerminalDoesNotStall(t *testing.T) {
	const stall = 4 * time.Second
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "TERM=xterm-256color")
	began := time.Now()
	terminal, err := pty.Start(cmd)
	if err != nil {
		t.Skipf("no pseudo terminal here: %v", err)
	}
	defer terminal.Close()
	io.Copy(io.Discard, terminal) // until it ends: reading from a closed terminal is an error
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > stall {
		t.Errorf("starting took %v: something asked the terminal before eyeq/tui/background answered", took)
	}
}
