package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"eyeq/engine/audit"
	"eyeq/tui/draw"
)

// env is what a command works with besides its own flags: the streams, the
// environment and the flags that all commands share.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	signals        <-chan os.Signal
	exit           func(status int)
	now            func() time.Time
	beside         func() // tests: runs on a goroutine beside the screen

	crew     *crew
	commands commandRuns    // of the listener exec
	changes  audit.File     // notes those of a cluster
	command  *cobra.Command // the one that ran
	cluster  string         // its name, for the log
	noted    string         // the audit file, once a change was made and noted there
	asked    *inspection    // what it asked through; nil: nothing
	held     io.Writer      // takes what is said while it is not known whether it is to be; nil: say it
	entered  bool           // a command's function was entered: its errors are not wrong use
	modes    atomic.Pointer[term.State]

	flags    commonFlags
	location *time.Location
	logs     *logs
}

// commonFlags are the flags of every command.
type commonFlags struct {
	cluster, namesrv, config string
	readOnly                 bool
	output                   string
	timeout                  time.Duration
	zone                     string
	logFile                  string
	plain, noColor           bool
}

// commandFunc is a command: it gets the context that signals end, the env and the
// arguments.
type commandFunc func(ctx context.Context, e *env, args []string) error

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

// flagError says what a flag's value must be, where the library says which function
// of Go refused it.
func flagError(err error) error {
	bad, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	rule := ""
	switch bad.GetFlag().Value.Type() {
	case "int", "int64":
		rule = "a whole number"
	case "int32":
		rule = fmt.Sprintf("a whole number, at most %d", math.MaxInt32)
	case "bool":
		rule = "true or false"
	case "duration":
		rule = "a time with its unit, such as 500ms, 10s or 5m"
	default:
		return fmt.Errorf("--%s: %w", bad.GetFlag().Name, bad.Unwrap())
	}
	return fmt.Errorf("--%s %q: must be %s", bad.GetFlag().Name, bad.GetValue(), rule)
}

// cobraRun makes a cobra function of a command.
func (e *env) cobraRun(f commandFunc) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		e.command = cmd
		if err := e.prepare(cmd); err != nil {
			return err
		}
		e.entered = true
		return e.guide(cmd.Context(), e.keysFirst(f(cmd.Context(), e, args)))
	}
}

// prepare reads what flags and environment say of all commands.
func (e *env) prepare(cmd *cobra.Command) error {
	e.location = time.Local
	if zone := e.flags.zone; zone != "" {
		l, err := time.LoadLocation(zone)
		if err != nil {
			return usagef("--tz %q: no such time zone", zone)
		}
		e.location = l
	}
	if err := checkEmpty(cmd); err != nil {
		return err
	}
	if e.flags.timeout <= 0 {
		return usagef("--timeout %v: must be positive", e.flags.timeout)
	}
	if !cmd.Flags().Changed("plain") {
		e.flags.plain = truthy(e.getenv("EYEQ_PLAIN"))
	}
	if !cmd.Flags().Changed("no-color") {
		e.flags.noColor = e.getenv("NO_COLOR") != ""
	}
	e.logs = newLogs(e.stderr)
	if e.flags.logFile != "" {
		if err := e.logs.toFile(e.flags.logFile); err != nil {
			return err
		}
	}
	return nil
}

// emptyMeant are the flags of which an empty value says something, or is refused in
// words of their own.
var emptyMeant = []string{"client-id", "filter", "reason", "sql"}

// checkEmpty refuses an empty value of a command's own flag. It comes from a variable of
// a script that is not set, and leaving the flag out would change more than was meant.
func checkEmpty(cmd *cobra.Command) (err error) {
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		empty := f.Changed && f.Value.Type() == "string" && f.Value.String() == ""
		if list, ok := f.Value.(pflag.SliceValue); ok {
			empty = slices.Contains(list.GetSlice(), "")
		}
		if empty && err == nil && !slices.Contains(emptyMeant, f.Name) {
			err = usagef("--%s \"\": give a value, or leave --%s out", f.Name, f.Name)
		}
	})
	return err
}

// close frees what prepare made, and ends the commands that are left running.
func (e *env) close() {
	e.commands.end()
	if e.logs != nil {
		e.logs.close()
	}
}

func (e *env) log() *slog.Logger { return e.logs.logger }

// format returns the -o value, the first of allowed when none was given.
func (e *env) format(allowed ...string) (string, error) {
	if e.flags.output == "" {
		return allowed[0], nil
	}
	if !slices.Contains(allowed, e.flags.output) {
		return "", usagef("-o %s: must be %s", e.flags.output, orList(allowed))
	}
	return e.flags.output, nil
}

// onTerminal reports whether a screen can be shown.
func (e *env) onTerminal() bool { return e.interactive() && !e.dumb() }

// interactive reports whether somebody types and reads.
func (e *env) interactive() bool {
	_, in := terminalOf(e.stdin)
	_, out := terminalOf(e.stdout)
	return in && out
}

// dumb reports whether the terminal has nothing but lines: the shell of an editor says
// so. What draws behaves as without a terminal on it.
func (e *env) dumb() bool { return e.getenv("TERM") == "dumb" }

// sayDumb says why there is no screen where a terminal is.
func (e *env) sayDumb() {
	if !e.flags.plain && e.interactive() && e.dumb() {
		e.say("TERM=dumb: this terminal cannot show the screen, so this prints as without a terminal")
	}
}

// say writes one line of progress to standard error.
func (e *env) say(format string, args ...any) {
	to := e.stderr
	if e.held != nil {
		to = e.held
	}
	fmt.Fprintln(to, "eyeq: "+draw.SafeText(cutText(fmt.Sprintf(format, args...)))) // it may hold a broker's words
}

// truthy reads an environment switch: set, and not switched off.
func truthy(v string) bool {
	return v != "" && v != "0" && !strings.EqualFold(v, "false") && !strings.EqualFold(v, "no")
}

// orList joins words as people do: "a, b or c".
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
