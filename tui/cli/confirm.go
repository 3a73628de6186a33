package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"eyeq/tui/cli/config"
	"eyeq/tui/draw"
)

// changeFlags are the flags of every command that changes a cluster.
type changeFlags struct {
	yes, dryRun bool
	reason      string
}

// register adds --yes, --dry-run and --reason to a command.
func (f *changeFlags) register(fl *pflag.FlagSet) {
	fl.BoolVar(&f.yes, "yes", false, "do it without asking; needed where there is no terminal to ask on")
	fl.BoolVar(&f.dryRun, "dry-run", false, "say what would be done, and change nothing")
	fl.StringVar(&f.reason, "reason", "", "why, for the audit file")
}

// confirmation is something that a command is about to do to a cluster.
type confirmation struct {
	// what says it in a few words, such as "resetting group orders to earliest": the
	// question and the refusals are made of it.
	what string
	// typed is what an operator at a terminal types to confirm, the name of what is
	// changed; "" is a plain yes.
	typed string
	flags changeFlags
}

// confirm asks whether a change may be made, or says that nobody can be asked. Nil
// means go on. It refuses under read-only, whatever else is given. In mode open
// nothing is asked but a name to be typed.
//
// A command shows what it is going to do first, returns when dryRun is set, and calls
// confirm when nothing but the change itself is left to do. One whose preview takes
// long calls allowChange at its beginning too, unless dryRun is set.
func (e *env) confirm(ctx context.Context, t *target, c confirmation) error {
	if err := t.allowChange(c.what); err != nil {
		return err
	}
	if c.flags.yes || t.mode == config.ModeOpen && c.typed == "" {
		return nil
	}
	if !e.canAsk() {
		return &refusedError{c.what + " needs --yes, since there is no terminal to ask on: nothing was changed"}
	}
	question, want := "go on? [y/N] ", "yes"
	if c.typed != "" {
		question, want = "type "+draw.SafeText(c.typed)+" to go on: ", c.typed
	}
	fmt.Fprintf(e.stderr, "%s on %s: %s", draw.SafeText(c.what), draw.SafeText(t.name), question)
	answer, err := e.readAnswer(ctx)
	if err != nil {
		fmt.Fprintln(e.stderr)
		return err
	}
	if answer == want || c.typed == "" && strings.EqualFold(answer, "y") {
		return nil
	}
	return &refusedError{c.what + " was not confirmed: nothing was changed"}
}

// canAsk reports whether somebody sees a question and can answer it.
func (e *env) canAsk() bool {
	_, in := terminalOf(e.stdin)
	_, out := terminalOf(e.stderr)
	return in && out
}

// maxAnswer bounds a line that is typed.
const maxAnswer = 4 << 10

// readAnswer reads one line; the end of the input is an empty one.
func (e *env) readAnswer(ctx context.Context) (string, error) {
	type read struct {
		line string
		err  error
	}
	lines := make(chan read, 1)
	// A read of a terminal cannot be called back, so after ctrl-c this goroutine is
	// left behind: the program ends.
	go func() {
		line, err := bufio.NewReader(io.LimitReader(e.stdin, maxAnswer)).ReadString('\n')
		lines <- read{strings.TrimSpace(line), err}
	}()
	select {
	case r := <-lines:
		if r.err != nil && r.err != io.EOF {
			return "", fmt.Errorf("read the answer: %w", r.err)
		}
		return r.line, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
