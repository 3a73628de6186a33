package cli

import (
	"eyeq/tui/cli/config"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// listenerFlags are the flags that choose it.
type listenerFlags struct {
	listener, exec string
	timeout        time.Duration
}

func (l *listenerFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&l.listener, "listener", config.Ack, "what becomes of messages: ack, fail (come again later), hold (you decide, on the screen) or exec")
	fl.StringVar(&l.exec, "exec", "", "run this command once a batch with its messages as JSON lines on standard input; exit status 0 acknowledges, any other refuses")
	fl.DurationVar(&l.timeout, "exec-timeout", 0, "kill the command and what it started, and refuse the batch, after so long (default consume_timeout, 15m)")
	_ = cmd.RegisterFlagCompletionFunc("listener", cobra.FixedCompletions([]string{ // fails for a flag that is not there only
		config.Ack + "\tacknowledge all", config.Hold + "\tdecide on the screen",
		config.Fail + "\trefuse all, they come again later", config.Exec + "\trun a command, see --exec",
	}, cobra.ShellCompDirectiveNoFileComp))
}

// resolve lays the flags over the configuration and refuses what does not go together.
func (l *listenerFlags) resolve(f *consumeFlags, c *config.Config, onScreen bool) (config.Listener, error) {
	r := c.Listen
	if f.changed("listener") {
		if r.Name = l.listener; !slices.Contains(config.Listeners, r.Name) {
			return r, usagef("--listener %s: must be %s", r.Name, config.OrList(config.Listeners))
		}
	}
	if f.changed("exec") {
		switch {
		case strings.TrimSpace(l.exec) == "": // the shell takes it as done, which acknowledges
			return r, usagef("--exec %q: needs a command", l.exec)
		case f.changed("listener") && r.Name != config.Exec:
			return r, usagef("--exec goes with --listener exec, not with --listener %s", r.Name)
		}
		r.Name, r.Command = config.Exec, l.exec
	}
	if f.changed("exec-timeout") {
		switch {
		case r.Name != config.Exec:
			return r, usagef("--exec-timeout %v: there is no command, give it by --exec", l.timeout)
		case l.timeout <= 0:
			return r, usagef("--exec-timeout %v: must be positive", l.timeout)
		}
		r.Timeout = l.timeout
	}
	switch {
	case r.Name == config.Exec && strings.TrimSpace(r.Command) == "":
		return r, usagef("--listener exec: which command? --exec CMD")
	case r.Name == config.Hold && !onScreen:
		return r, usagef("--listener hold: you decide about the messages on the screen, which takes a terminal and neither --headless nor --plain nor -o")
	case r.Name == config.Hold && f.max > 0:
		return r, usagef("--max %d: with --listener hold it is you who decides when it is enough", f.max)
	}
	return r, nil
}
