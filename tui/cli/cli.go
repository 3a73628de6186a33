package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
	_ "time/tzdata" // --tz works on a host without zone files

	"github.com/spf13/cobra"

	"eyeq/engine"
	_ "eyeq/tui/background" // before bubbletea: keeps it from asking the terminal
)

// Main runs one command line and returns its exit status. The first ctrl-c,
// SIGTERM or SIGHUP ends the command in order, the second one at once.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	defer engine.TuneProcess()()
	signal.Ignore(syscall.SIGPIPE) // so that a closed pipe is an error of Write, not our end
	signals := make(chan os.Signal, 2)
	wanted := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		wanted = append(wanted, syscall.SIGHUP)
	}
	signal.Notify(signals, wanted...)
	defer signal.Stop(signals)

	e := &env{
		stdin: stdin, stdout: stdout, stderr: stderr,
		getenv: os.Getenv, signals: signals, exit: os.Exit, now: time.Now,
	}
	return run(context.Background(), e, args)
}

// run executes one command line under parent: the part of Main that tests call.
func run(parent context.Context, e *env, args []string) int {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	e.crew = &crew{cancel: cancel}
	e.changes.Path, e.changes.Now = e.auditPath(), e.now
	defer e.close()

	finished := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() { e.watchSignals(ctx, cancel, finished) })

	root := newRoot(e)
	root.SetArgs(append([]string{}, args...)) // of nil cobra would make os.Args
	err := e.execute(ctx, root)
	cause := context.Cause(ctx)
	cancel(nil)
	e.crew.waitFor(stuckLimit)
	close(finished)
	watcher.Wait()
	if c := context.Cause(ctx); isType[*panicError](c) {
		cause = c
	}
	return e.report(err, cause)
}

// newRoot builds the command tree.
func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:   "eyeq",
		Short: "A terminal inspector for Apache RocketMQ consumers",
		Long: `eyeq shows what an Apache RocketMQ consumer does while it does it: allocation, queues,
flow control, offsets, and the same of any group of a cluster. Begin with one of these:

  eyeq demo                                            everything moving, with nothing else installed
  eyeq --namesrv HOST:PORT                             the screen: all groups of a cluster, their lag, members and topics
  eyeq consume --namesrv HOST:PORT -g GROUP -t TOPIC   join a group and watch its inside

'eyeq config init' writes a configuration file for your clusters.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       versionText(),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				return usagef("there is no command %q; did you mean %s?", args[0], strings.Join(near, " or "))
			}
			return usagef("there is no command %q", args[0])
		},
		RunE: e.cobraRun(runScreen),
	}
	root.SuggestionsMinimumDistance = 2
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{Err: flagError(err)} })

	f := root.PersistentFlags()
	f.StringVar(&e.flags.cluster, "cluster", "", "the configured cluster to work with (EYEQ_CLUSTER)")
	f.StringVar(&e.flags.namesrv, "namesrv", "", "name servers, HOST:PORT[;HOST:PORT] (EYEQ_NAMESRV, NAMESRV_ADDR)")
	f.StringVar(&e.flags.config, "config", "", "the configuration file (default $XDG_CONFIG_HOME/eyeq/config.toml)")
	f.BoolVar(&e.flags.readOnly, "read-only", false, "refuse whatever changes the cluster")
	f.StringVarP(&e.flags.output, "output", "o", "", "output format; each command's help names its own")
	f.DurationVar(&e.flags.timeout, "timeout", 10*time.Second, "how long to try to reach the cluster")
	f.StringVar(&e.flags.zone, "tz", "", "time zone for reading and showing times, such as Asia/Shanghai (JSON is always UTC)")
	f.StringVar(&e.flags.logFile, "log-file", "", "write eyeq's own log to this file")
	f.BoolVar(&e.flags.plain, "plain", false, "no screen: one line a change (EYEQ_PLAIN)")
	f.BoolVar(&e.flags.noColor, "no-color", false, "no colours (NO_COLOR)")

	_ = root.RegisterFlagCompletionFunc("cluster", e.completeCluster) // fails for a flag that is not there only

	root.AddCommand(
		newConsume(e), newTail(e), newGroup(e), newTopic(e), newBroker(e), newMessage(e), newSend(e), newAllocate(e), newDemo(e), newSandbox(e),
		newConfig(e), newCompletion(e), newVersion(e),
	)
	e.completeNames(root)
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() == "help" {
			c.Run, c.RunE = nil, helpOf
		}
	}
	return root
}
