package cli

import (
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
	fl.StringVar(&l.listener, "listener", listenAck, "what becomes of messages: ack, fail (come again later), hold (you decide, on the screen) or exec")
	fl.StringVar(&l.exec, "exec", "", "run this command once a batch with its messages as JSON lines on standard input; exit status 0 acknowledges, any other refuses")
	fl.DurationVar(&l.timeout, "exec-timeout", 0, "kill the command and what it started, and refuse the batch, after so long (default consume_timeout, 15m)")
	_ = cmd.RegisterFlagCompletionFunc("listener", cobra.FixedCompletions([]string{ // fails for a flag that is not there only
		listenAck + "\tacknowledge all", listenHold + "\tdecide on the screen",
		listenFail + "\trefuse all, they come again later", listenExec + "\trun a command, see --exec",
	}, cobra.ShellCompDirectiveNoFileComp))
}

// resolve lays the flags over the configuration and refuses what does not go together.
func (l *listenerFlags) resolve(f *consumeFlags, c *config, onScreen bool) (listening, error) {
	r := c.listen
	if f.changed("listener") {
		if r.name = l.listener; !slices.Contains(listenerNames, r.name) {
			return r, usagef("--listener %s: must be %s", r.name, orList(listenerNames))
		}
	}
	if f.changed("exec") {
		switch {
		case strings.TrimSpace(l.exec) == "": // the shell takes it as done, which acknowledges
			return r, usagef("--exec %q: needs a command", l.exec)
		case f.changed("listener") && r.name != listenExec:
			return r, usagef("--exec goes with --listener exec, not with --listener %s", r.name)
		}
		r.name, r.command = listenExec, l.exec
	}
	if f.changed("exec-timeout") {
		switch {
		case r.name != listenExec:
			return r, usagef("--exec-timeout %v: there is no command, give it by --exec", l.timeout)
		case l.timeout <= 0:
			return r, usagef("--exec-timeout %v: must be positive", l.timeout)
		}
		r.timeout = l.timeout
	}
	switch {
	case r.name == listenExec && strings.TrimSpace(r.command) == "":
		return r, usagef("--listener exec: which command? --exec CMD")
	case r.name == listenHold && !onScreen:
		return r, usagef("--listener hold: you decide about the messages on the screen, which takes a terminal and neither --headless nor --plain nor -o")
	case r.name == listenHold && f.max > 0:
		return r, usagef("--max %d: with --listener hold it is you who decides when it is enough", f.max)
	}
	return r, nil
}
