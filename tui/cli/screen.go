package cli

import (
	"context"
	"errors"
	"strings"
	"syscall"

	"eyeq/tui"
)

// screenRun shows the screen over engines that run beside it: runs starts each
// of them and returns when ctx has ended and they have left. It returns when
// both have ended, or at once after a second ctrl-c.
func (e *env) screenRun(ctx context.Context, o tui.Options, runs func(ctx context.Context) error) error {
	e.logs.offScreen(e.getenv)
	e.saveTerminal()
	engines, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	left := make(chan error, 1)
	var ended error
	done := make(chan struct{})
	e.crew.start(func() {
		defer close(done)
		ended = runs(engines)
		if isType[*panicError](ended) {
			e.crew.cancel(ended) // the screen does not outlive a fault of ours
		}
		left <- ended
	})

	if e.beside != nil {
		e.crew.start(e.beside)
	}
	o.Leave = func() { leave(nil) }
	o.Left, o.LogTail = left, e.logs.tail
	o.Location = e.location
	o.NoColor = e.flags.noColor
	o.Input, o.Output = e.stdin, e.stdout
	err := tui.Run(ctx, o)
	leave(nil)
	if errors.Is(err, tui.ErrInterrupted) {
		err = &signalError{syscall.SIGINT}
		select {
		case <-done:
		default: // the second ctrl-c: at once
			e.exit(exitStatus(err, nil))
			return err
		}
	}
	<-done // bounded by the orderly leave
	if err == nil || isType[*signalError](err) && ended != nil {
		return ended
	}
	return err
}

// screenOptions are those that the configuration and the environment give.
func (e *env) screenOptions(c *config) tui.Options {
	return tui.Options{
		Operator: e.getenv("USER"), Refresh: c.screen.refresh, Keys: c.keys,
		ASCII: c.screen.glyphs == "ascii" || c.originOf("screen.glyphs") == "default" && asciiTerminal(e.getenv),
	}
}

// asciiTerminal reports whether the terminal has ASCII only: the Linux console, or
// a locale that names another encoding than UTF-8. No locale at all says nothing.
func asciiTerminal(getenv func(string) string) bool {
	if getenv("TERM") == "linux" {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return false
}

// consumeOnScreen shows the live screen of a member until the operator leaves.
func (e *env) consumeOnScreen(ctx context.Context, c *config, t *target, m *member, hold bool, run func(ctx context.Context) error) error {
	o := e.screenOptions(c)
	o.Hold = hold
	o.Engines = []tui.NamedEngine{{Engine: m.engine}}
	o.Cluster, o.Color, o.Mode, o.Member = t.name, t.cluster.color, t.mode.String(), true
	return e.screenRun(ctx, o, run)
}
