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
	"eyeq/tui/cli/config"
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
		return "", usagef("-o %s: must be %s", e.flags.output, config.OrList(allowed))
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

// commandFunc is a command: it gets the context that signals end, the env and the
// arguments.
type commandFunc func(ctx context.Context, e *env, args []string) error

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
