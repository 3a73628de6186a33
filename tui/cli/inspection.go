package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"eyeq/engine/inspect"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/tui/cli/config"
	"eyeq/tui/draw"
)

// questionLimit is how long one question to a broker takes at most, as long as nobody
// asks for more: several of them must fit into --timeout.
const questionLimit = 3 * time.Second

// inspection is what a command that asks about a cluster works with.
type inspection struct {
	*inspect.Inspector
	client *remoting.Client
	target *target
}

// connect makes a client of the configured cluster, that the caller closes. Nothing is
// asked yet.
func (e *env) connect() (*remoting.Client, *target, error) {
	c, err := e.loadConfig()
	if err != nil {
		return nil, nil, err
	}
	t, err := e.target(c)
	if err != nil {
		return nil, nil, err
	}
	client, err := e.newClient(t, nil)
	return client, t, err
}

// inspection connects to the configured cluster. Nothing is asked yet but whether the
// keys are taken.
func (e *env) inspection() (*inspection, error) {
	client, t, err := e.connect()
	if err != nil {
		return nil, err
	}
	if err := e.checkKeys(e.command.Context(), client); err != nil {
		client.Close()
		return nil, err
	}
	e.asked = &inspection{e.inspector(client, t), client, t}
	return e.asked, nil
}

// keysFirst is how a command ends whose keys no broker has taken: no other error is
// nearer to the cause. checkKeys may have had no answer in time.
func (e *env) keysFirst(err error) error {
	if e.asked == nil || isType[*outputError](err) || isType[*usageError](err) || e.command.Context().Err() != nil {
		return err
	}
	return cmp.Or(e.asked.KeysRefused(), err)
}

// questionTime is how long one question may take: three tenths of a --timeout that is
// longer than usual, for members and brokers that are slow.
func questionTime(timeout time.Duration) time.Duration {
	return max(min(questionLimit, timeout), timeout*3/10)
}

// inspector asks through client, as long as --timeout lets it.
func (e *env) inspector(client *remoting.Client, t *target) *inspect.Inspector {
	o := inspect.Options{
		Client: client, Timeout: questionTime(e.flags.timeout), Now: e.now, SaveDir: config.SaveDir(e.getenv), Cluster: t.name, TargetFlags: t.flags,
	}
	t.cluster.AddressMap.ShowDialled(&o)
	return inspect.New(o)
}

func (x *inspection) close() { x.client.Close() }

// explain makes of what an Inspector returns what a command ends with.
func explain(err error) error {
	if e, ok := errors.AsType[*inspect.NotFoundError](err); ok {
		if e.Kind == "topic" && strings.HasPrefix(e.Name, protocol.DLQTopicPrefix) {
			return noTopic(e.Name)
		}
		return noSuch(e.Kind, e.Name)
	}
	if e, ok := errors.AsType[*inspect.ClosedQueueError](err); ok {
		return &notFoundError{What: e.Error()}
	}
	if e, ok := errors.AsType[*inspect.UnsureError](err); ok {
		return cmp.Or(unasked(e.What+" is not known", e.Problems), err)
	}
	if te := hopeless(err); te != nil {
		return te
	}
	if isType[*remoting.UnreachableError](err) || errors.Is(err, inspect.ErrNoBroker) {
		return &unreachableError{err}
	}
	return err
}

// unanswered is why nothing at all is known, if that is so: a command that has nothing
// to show must not look as if there were nothing.
func unanswered(what string, why inspect.Reason) error {
	switch why.Kind {
	case inspect.ReasonUnreachable:
		return &silentError{fmt.Sprintf("%s: no broker answers: %s", what, why.Text)}
	case inspect.ReasonDenied:
		return &deniedError{fmt.Sprintf("%s: the brokers refuse to tell: %s (check access_key and secret_key, and the rights that they have)", what, why.Text)}
	}
	return nil
}

// unasked is unanswered where others may have answered: it names those that have not.
func unasked(what string, problems []inspect.Problem) error {
	var where []string
	var first inspect.Reason
	for _, p := range problems {
		switch {
		case p.Why.Kind == inspect.ReasonDenied:
			return unanswered(what, p.Why)
		case p.Why.Kind == inspect.ReasonUnreachable && !slices.Contains(where, p.Where):
			where = append(where, p.Where)
			if first.Kind == inspect.ReasonNone {
				first = p.Why
			}
		}
	}
	if where == nil {
		return nil
	}
	return &silentError{fmt.Sprintf("%s: no answer from %s: %s", what, listText(where, 4), first.Text)}
}

// notAmong says that something is not there, or that those who have answered say so.
func notAmong(what string, problems []inspect.Problem) error {
	if err := unasked(what+", as far as is known", problems); err != nil {
		return err
	}
	if p := notIndexed(problems); p != nil {
		return fmt.Errorf("%s in the index of %s, but %s are %v", what, p.Where, p.What, p.Why)
	}
	return &notFoundError{What: what}
}

// notIndexed is the first problem that says so; nil: all is indexed, as far as is known.
func notIndexed(problems []inspect.Problem) *inspect.Problem {
	i := slices.IndexFunc(problems, func(p inspect.Problem) bool { return p.Why.Kind == inspect.ReasonNotIndexed })
	if i < 0 {
		return nil
	}
	return &problems[i]
}

// warn says on standard error what could not be learned.
func (e *env) warn(problems []inspect.Problem) {
	for i, p := range problems {
		if i == maxWarnings {
			e.say("… and %d more that could not be asked", len(problems)-i)
			return
		}
		e.say("%s", problemText(p))
	}
}

// problemText says what could not be learned. Only who could not be reached gave no
// answer: others did, and the answer says why.
func problemText(p inspect.Problem) string {
	switch p.Why.Kind {
	case inspect.ReasonUnreachable:
		return fmt.Sprintf("%s: no answer from %s: %v", p.What, p.Where, p.Why)
	case inspect.ReasonNotIndexed:
		return fmt.Sprintf("%s are %v", p.What, p.Why)
	}
	return p.String()
}

// onceEach tells one problem with each who was asked, where many questions had the same
// end. That somebody cannot be reached is one end, in whatever words.
func onceEach(problems []inspect.Problem) []inspect.Problem {
	type end struct {
		where string
		why   inspect.Reason
	}
	var first []inspect.Problem
	of := func(p inspect.Problem) end {
		if p.Why.Kind == inspect.ReasonUnreachable {
			return end{p.Where, inspect.Reason{Kind: p.Why.Kind}}
		}
		return end{p.Where, p.Why}
	}
	more := map[end]int{}
	for _, p := range problems {
		at := of(p)
		if more[at]++; more[at] == 1 {
			first = append(first, p)
		}
	}
	for i, p := range first {
		if n := more[of(p)]; n > 1 {
			first[i].What = fmt.Sprintf("%s and %d other questions", p.What, n-1)
		}
	}
	return first
}

// maxWarnings is how many problems are told one by one.
const maxWarnings = 8

// reading are the flags of a command that reads, and its output.
type reading struct {
	watch time.Duration
	check func() error // of the command's own flags, before anything is asked; nil: there are none to check
}

const defaultWatch = 2 * time.Second

func (r *reading) register(fl *pflag.FlagSet) {
	fl.DurationVar(&r.watch, "watch", 0, "ask again every so often until ctrl-c; --watch alone is every 2s")
	fl.Lookup("watch").NoOptDefVal = defaultWatch.String()
}

// minWatch keeps a slip of the pen from asking brokers without a pause.
const minWatch = 200 * time.Millisecond

// run shows what once gives, again and again with --watch. once gets the cluster and
// returns the whole output.
func (r *reading) run(ctx context.Context, e *env, cmd *cobra.Command, once func(ctx context.Context, x *inspection, format string) ([]byte, error)) error {
	format, err := e.format("table", "json")
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("watch") && r.watch < minWatch {
		return usagef("--watch %v: at least %v", r.watch, minWatch)
	}
	if r.check != nil {
		if err := r.check(); err != nil {
			return err
		}
	}
	x, err := e.inspection()
	if err != nil {
		return err
	}
	defer x.close()
	if r.watch == 0 {
		return r.show(ctx, e, x, format, once)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	e.watchReader(ctx, stop)
	tick := time.NewTicker(r.watch)
	defer tick.Stop()
	for first := true; ; first = false {
		if format == "table" {
			if err := r.page(e, first); err != nil {
				return err
			}
		}
		err := r.again(ctx, e, x, format, once, first)
		switch cause := context.Cause(ctx); {
		case isType[*outputError](cause):
			return cause
		case err != nil && (first || isType[*outputError](err) || isType[*keysError](err) || isType[*deniedError](err) || ctx.Err() != nil):
			return err
		case err != nil: // it may answer again
			e.say("%s", reasonText(err))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if cause := context.Cause(ctx); isType[*outputError](cause) {
				return cause
			}
			return nil
		}
	}
}

// again is show for a refresh: where only some answers refuse the keys, brokers are asked
// whether they take them any more.
func (r *reading) again(ctx context.Context, e *env, x *inspection, format string, once func(ctx context.Context, x *inspection, format string) ([]byte, error), first bool) error {
	if first {
		return r.show(ctx, e, x, format, once)
	}
	refusals := x.Refusals()
	return r.showUnless(ctx, e, x, format, once, func() error {
		if x.Refusals() > refusals {
			return e.checkKeys(ctx, x.client)
		}
		return nil
	})
}

func (r *reading) show(ctx context.Context, e *env, x *inspection, format string, once func(ctx context.Context, x *inspection, format string) ([]byte, error)) error {
	return r.showUnless(ctx, e, x, format, once, func() error { return nil })
}

// showUnless shows what once gives. Keys that brokers do not take are told instead of
// what they keep from us, row by row and at each refresh.
func (r *reading) showUnless(ctx context.Context, e *env, x *inspection, format string, once func(ctx context.Context, x *inspection, format string) ([]byte, error), denied func() error) error {
	var words bytes.Buffer
	e.held = &words
	out, err := once(ctx, x, format)
	e.held = nil
	if denied := cmp.Or(x.KeysRefused(), denied()); denied != nil && ctx.Err() == nil {
		return &keysError{denied}
	}
	e.stderr.Write(words.Bytes()) // nothing can be done without it
	if err != nil {
		return explain(err)
	}
	return e.write(out)
}

// page begins a new page: on a terminal in the place of the old one, elsewhere after
// a blank line.
func (r *reading) page(e *env, first bool) error {
	var head string
	if _, terminal := terminalOf(e.stdout); terminal && !e.flags.plain && !e.dumb() {
		head = "\x1b[H\x1b[2J"
	} else if !first {
		head = "\n"
	}
	head += e.now().In(e.location).Format(textTime) + ", every " + r.watch.String() + ", ctrl-c ends\n"
	if _, err := e.stdout.Write([]byte(head)); err != nil {
		return &outputError{Err: err}
	}
	return nil
}

// oneName wants one argument of a kind.
func oneName(kind string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0 || args[0] == "":
			return usagef("which %s? %s", kind, cmd.UseLine())
		case len(args) > 1:
			return usagef("%q is one argument too many: %s", args[1], cmd.UseLine())
		}
		return nil
	}
}

// completion gives the names that begin an argument. It asks the cluster for a
// moment only: a shell waits for it.
func (e *env) completion(first bool, names func(ctx context.Context, x *inspection) []string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if first && len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		e.command = cmd
		if err := e.prepare(cmd); err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		x, err := e.inspection()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer x.close()
		ctx, cancel := context.WithTimeout(cmd.Context(), completionLimit)
		defer cancel()
		return typable(names(ctx, x)), cobra.ShellCompDirectiveNoFileComp
	}
}

// typable are the names that can be typed.
func typable(names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return draw.SafeText(name) != name })
}

const completionLimit = 2 * time.Second

func groupNames(ctx context.Context, x *inspection) []string {
	list, _ := x.Groups(ctx) // without an answer there is nothing to complete
	var names []string
	for _, g := range list.Groups {
		if !g.System {
			names = append(names, g.Group)
		}
	}
	return names
}

func topicNames(ctx context.Context, x *inspection) []string {
	list, _ := x.Topics(ctx)
	var names []string
	for _, t := range list.Topics {
		if !t.System && !t.Retry {
			names = append(names, t.Topic)
		}
	}
	return names
}

// completeNames completes the names of groups and topics in the flags and arguments of
// all commands.
func (e *env) completeNames(root *cobra.Command) {
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Flags().Lookup("topic") != nil {
			e.completeFlagBy(cmd, "topic", e.completion(false, topicNames))
		}
		if cmd.Flags().Lookup("group") != nil {
			e.completeFlagBy(cmd, "group", e.completion(false, groupNames))
		}
		if cmd.ValidArgsFunction == nil && strings.Contains(cmd.Use, " TOPIC") {
			cmd.ValidArgsFunction = e.completion(true, topicNames)
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root)
}

// completeFlagBy completes a flag by asking, unless that is done already.
func (e *env) completeFlagBy(cmd *cobra.Command, flag string, names func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)) {
	if _, done := cmd.GetFlagCompletionFunc(flag); done {
		return
	}
	if err := cmd.RegisterFlagCompletionFunc(flag, names); err != nil {
		panic(err) // there is no such flag
	}
}

// groupReader is a command about one group.
func (e *env) groupReader(cmd *cobra.Command, r *reading, once func(ctx context.Context, x *inspection, group, format string) ([]byte, error)) *cobra.Command {
	cmd.Args = oneName("group")
	cmd.ValidArgsFunction = e.completion(true, groupNames)
	r.register(cmd.Flags())
	cmd.RunE = e.cobraRun(func(ctx context.Context, e *env, args []string) error {
		return r.run(ctx, e, cmd, func(ctx context.Context, x *inspection, format string) ([]byte, error) {
			return once(ctx, x, args[0], format)
		})
	})
	return cmd
}
