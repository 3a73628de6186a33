package cli

import (
	"context"
	"errors"
	"eyeq/tui/cli/config"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// asked runs confirm on a terminal where an operator types answer.
func asked(t *testing.T, tg *target, c confirmation, answer string) (screen string, err error) {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo terminal: %v", err)
	}
	seen := newBuffer()
	read := make(chan struct{})
	go func() {
		defer close(read)
		io.Copy(seen, master) // ends with an error when the terminal is closed
	}()
	if _, err := io.WriteString(master, answer); err != nil {
		t.Fatal(err)
	}
	e := &env{stdin: slave, stderr: slave}
	err = e.confirm(t.Context(), tg, c)
	slave.Close() // the other end reads what is left, then an error
	<-read
	master.Close()
	return seen.String(), err
}

func TestConfirmOnATerminal(t *testing.T) {
	const what = "resetting group orders"
	tests := map[string]struct {
		mode   config.Mode
		change confirmation
		answer string
		ok     bool
		asks   string // "" is that nothing is asked
		why    string
	}{
		"yes":              {config.ModeConfirm, confirmation{what: what}, "yes\n", true, "go on? [y/N]", ""},
		"y":                {config.ModeConfirm, confirmation{what: what}, "Y\n", true, "go on? [y/N]", ""},
		"enter":            {config.ModeConfirm, confirmation{what: what}, "\n", false, "go on? [y/N]", "was not confirmed"},
		"ctrl-d":           {config.ModeConfirm, confirmation{what: what}, "\x04", false, "go on? [y/N]", "was not confirmed"},
		"the name":         {config.ModeConfirm, confirmation{what: what, typed: "orders"}, "orders\n", true, "type orders to go on", ""},
		"another name":     {config.ModeConfirm, confirmation{what: what, typed: "orders"}, "order\n", false, "type orders to go on", "was not confirmed"},
		"y for a name":     {config.ModeConfirm, confirmation{what: what, typed: "orders"}, "y\n", false, "type orders to go on", "was not confirmed"},
		"--yes":            {config.ModeConfirm, confirmation{what: what, typed: "orders", flags: changeFlags{yes: true}}, "", true, "", ""},
		"open":             {config.ModeOpen, confirmation{what: what}, "", true, "", ""},
		"open with a name": {config.ModeOpen, confirmation{what: what, typed: "orders"}, "orders\n", true, "type orders to go on", ""},
		"read-only":        {config.ModeReadOnly, confirmation{what: what, flags: changeFlags{yes: true}}, "yes\n", false, "", "prod is read-only (file:3)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			screen, err := asked(t, &target{name: "prod", mode: tt.mode, modeFrom: "file:3", cluster: &config.Cluster{}}, tt.change, tt.answer)
			if (err == nil) != tt.ok {
				t.Fatalf("confirm = %v, want ok %v", err, tt.ok)
			}
			if err != nil && (exitStatus(err, nil) != statusRefused || !strings.Contains(err.Error(), tt.why)) {
				t.Errorf("error %v of status %d, want %q and status 4", err, exitStatus(err, nil), tt.why)
			}
			if strings.Contains(screen, "to go on") != strings.Contains(tt.asks, "to go on") || !strings.Contains(screen, tt.asks) ||
				tt.asks != "" && !strings.Contains(screen, what+" on prod") {
				t.Errorf("the terminal shows %q, want %q", screen, tt.asks)
			}
		})
	}
}

func TestConfirmMakesForeignNamesSafe(t *testing.T) {
	screen, err := asked(t, &target{name: "prod", mode: config.ModeConfirm, cluster: &config.Cluster{}}, confirmation{what: "deleting \x1b]0;x\x07", typed: "g"}, "g\n")
	if err != nil || strings.ContainsAny(screen, "\x1b\x07") {
		t.Errorf("the terminal got %q, %v", screen, err)
	}
}

func TestConfirmWithoutATerminal(t *testing.T) {
	e := &env{stdin: strings.NewReader("yes\n"), stderr: io.Discard}
	tg := &target{name: "dev", mode: config.ModeConfirm, cluster: &config.Cluster{}}
	err := e.confirm(t.Context(), tg, confirmation{what: "resetting"})
	if exitStatus(err, nil) != statusRefused || !strings.Contains(err.Error(), "needs --yes") {
		t.Errorf("without --yes: %v", err)
	}
	if err := e.confirm(t.Context(), tg, confirmation{what: "resetting", flags: changeFlags{yes: true}}); err != nil {
		t.Errorf("with --yes: %v", err)
	}
}

// A ctrl-c ends the question.
func TestConfirmEndsWithItsContext(t *testing.T) {
	master, slave, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo terminal: %v", err)
	}
	t.Cleanup(func() { slave.Close(); master.Close() })
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := &signalError{os.Interrupt}
	cancel(cause)
	e := &env{stdin: slave, stderr: slave}
	if err := e.confirm(ctx, &target{mode: config.ModeConfirm, cluster: &config.Cluster{}}, confirmation{what: "resetting"}); !errors.Is(err, cause) {
		t.Errorf("confirm = %v, want the signal", err)
	}
}
