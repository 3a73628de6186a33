package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"syscall"

	"eyeq/engine"
	"eyeq/remoting"
	"eyeq/tui"
	"eyeq/tui/cli/config"
	"eyeq/tui/page"
)

// screenRun shows the screen over engines that run beside it: runs starts each
// of them and returns when ctx has ended and they have left. It returns when
// both have ended, or at once after a second ctrl-c.
func (e *env) screenRun(ctx context.Context, o page.Options, runs func(ctx context.Context) error) error {
	e.logs.offScreen(e.getenv)
	e.saveTerminal()
	engines, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	left := make(chan error, 1)
	var ended error
	done := make(chan struct{})
	e.crew.start(func() {
		ended = runs(engines)
		if isType[*panicError](ended) {
			e.crew.cancel(ended) // the screen does not outlive a fault of ours
		}
		close(done) // before the screen hears of it and ends
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
		late := errors.Is(err, tui.ErrLeaveTimeout)
		signal := &signalError{syscall.SIGINT}
		select {
		case <-done:
		default: // the second ctrl-c, or the leave takes too long: at once
			if late {
				e.say("%v", tui.ErrLeaveTimeout)
			}
			e.exitNow(exitStatus(signal, nil))
			return signal
		}
		if ended != nil {
			return &interruptedError{signal, ended}
		}
		return signal
	}
	<-done // bounded by the orderly leave
	if err == nil {
		return ended
	}
	return err
}

// screenOptions are those that the configuration and the environment give.
func (e *env) screenOptions(c *config.Config) page.Options {
	return page.Options{
		Operator: e.operator(), Refresh: c.Screen.Refresh, Keys: c.Keys,
		Multiplexer: multiplexer(e.getenv), NoSuspend: noSuspend(),
		MessageJSON: func(m *engine.Message) []byte { return bytes.TrimRight(new(messageEncoder).append(nil, m), "\n") },
		EventJSON:   func(ev engine.Event, group string) []byte { return bytes.TrimRight(appendEvent(nil, ev, group), "\n") },
		ASCII:       c.Screen.Glyphs == "ascii" || c.OriginOf("screen.glyphs") == "default" && asciiTerminal(e.getenv),
	}
}

// targetOptions are screenOptions for a target: its name, its mode, its audit file.
func (e *env) targetOptions(c *config.Config, t *target) page.Options {
	o := e.screenOptions(c)
	o.Cluster, o.Color, o.Mode, o.TargetFlags = t.name, t.cluster.Color, t.mode.String(), t.flags
	o.Audit, o.AuditPath = e.audit(t), e.auditPath()
	if tls := &t.cluster.TLS; tls.Enable && tls.InsecureSkipVerify {
		o.Title = "TLS not verified"
	}
	return o
}

// multiplexer names the program between us and the terminal.
func multiplexer(getenv func(string) string) string {
	switch {
	case getenv("TMUX") != "":
		return "tmux"
	case strings.HasPrefix(getenv("TERM"), "screen"):
		return "screen"
	}
	return ""
}

// noSuspend says why ctrl-z cannot be: "" when it can.
func noSuspend() string {
	if wakable() {
		return ""
	}
	return "there is no shell here that could wake this process again"
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
func (e *env) consumeOnScreen(ctx context.Context, c *config.Config, t *target, m *member, hold bool, run func(ctx context.Context) error) error {
	o := e.targetOptions(c, t)
	o.Hold, o.Member = hold, true
	o.Engines = []page.NamedEngine{{Engine: &auditedEngine{m.engine, m.options.Group, o.Audit}}}
	e.inspectOn(&o, c, t, m.client)
	o.Clusters = nil // a member stays where it is
	return e.screenRun(ctx, o, run)
}

// inspectOn lets a screen ask about any group, topic and broker of a target.
func (e *env) inspectOn(o *page.Options, c *config.Config, t *target, client *remoting.Client) {
	o.Inspect = e.inspector(client, t)
	o.OpenTail = (&tailOpener{client: client, crew: e.crew, timeout: e.flags.timeout, now: e.now}).open
	o.Namesrv, o.Clusters, o.ModeWhy = t.namesrv, c.ClusterNames(), string(t.modeFrom)
}
