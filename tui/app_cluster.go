package tui

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/words"

	tea "github.com/charmbracelet/bubbletea"
)

// switchLimit bounds a look at another cluster: its secret key may be asked for.
const switchLimit = 90 * time.Second

// switchedMsg: another cluster can be shown, or not.
type switchedMsg struct {
	ticket int
	o      page.Options
	err    error
}

// switchCluster goes to another cluster: what is shown stays until that one can be.
func (a *app) switchCluster(name string) tea.Cmd {
	o := &a.env.Options
	switch {
	case o.Member:
		return a.refuse("cluster: this process is a member of a group here; leave first")
	case len(o.Clusters) == 0 || o.Switch == nil:
		return a.refuse("cluster: no other cluster is configured")
	case name == "":
		return a.refuse("which cluster? :cluster NAME; configured: " + draw.SafeText(strings.Join(o.Clusters, ", ")))
	case !slices.Contains(o.Clusters, name):
		return a.refuse(fmt.Sprintf("there is no cluster %q; configured: %s", draw.SafeText(name), draw.SafeText(strings.Join(o.Clusters, ", "))))
	case name == o.Cluster:
		return a.refuse("this is cluster " + draw.SafeText(name))
	case a.writing != "":
		return a.refuse("cluster: " + a.writing + " is still being written")
	}
	d := clusterDialog{env: a.env, name: draw.SafeText(name), ticket: a.env.NewTicket()}
	a.push(d)
	open := openCluster(a.cmds, o.Switch, name, d.ticket)
	if o.Asks == nil || !o.Asks(name) {
		return open
	}
	x := &onTerminal{open: open}
	return tea.Exec(x, func(error) tea.Msg { return x.msg })
}

func openCluster(c page.Commands, open func(context.Context, string) (page.Options, error), name string, ticket int) tea.Cmd {
	return c.Within(switchLimit, func(ctx context.Context) tea.Msg {
		o, err := open(ctx, name)
		return switchedMsg{ticket, o, err}
	})
}

// onTerminal runs a command while the terminal is as the shell left it, for programs
// that ask there.
type onTerminal struct {
	open tea.Cmd
	msg  tea.Msg
}

func (x *onTerminal) Run() error          { x.msg = x.open(); return nil }
func (x *onTerminal) SetStdin(io.Reader)  {}
func (x *onTerminal) SetStdout(io.Writer) {}
func (x *onTerminal) SetStderr(io.Writer) {}

// onSwitched begins anew on the other cluster. Who has turned back meanwhile stays.
func (a *app) onSwitched(msg switchedMsg) tea.Cmd {
	asked := slices.ContainsFunc(a.dialogs, func(d page.Dialog) bool {
		c, ok := d.(clusterDialog)
		return ok && c.ticket == msg.ticket
	})
	switch {
	case !asked || a.leave.on || a.leave.after:
		return closing(msg.o.Close)
	case msg.err != nil:
		return a.toDialogs(msg)
	}
	return a.begin(a.env.Options.OnCluster(&msg.o))
}

// begin begins anew with other options. Answers that the old cluster still owes are
// dropped; what the operator has set and typed stays.
func (a *app) begin(o page.Options) tea.Cmd {
	e, err := newEnv(o, a.env.Renderer)
	if err != nil {
		return a.refuse(err.Error()) // not reached: the keys are the same
	}
	e.Mode, e.Charset = a.env.Mode, a.env.Charset
	a.leavePage()
	old := *a
	*a = newApp(o, e, a.cmds.Renew())
	a.ctxDone, a.cause = old.ctxDone, old.cause
	a.w, a.h, a.mouse, a.refresh = old.w, old.h, old.mouse, old.refresh
	a.commands, a.filters = old.commands, old.filters
	a.resize()
	return tea.Batch(a.Init(), closing(old.env.Options.Close))
}

// closing ends what options asked through.
func closing(end func()) tea.Cmd {
	if end == nil {
		return nil
	}
	return func() tea.Msg { end(); return nil }
}

// clusterDialog waits for another cluster: no key may be meant for the one and reach
// the other. It covers nothing until there is something to read.
type clusterDialog struct {
	env    *page.Env
	name   string // safe to print
	ticket int
	err    string
}

func (d clusterDialog) Update(msg tea.Msg) (page.Dialog, page.Request) {
	switch msg := msg.(type) {
	case switchedMsg:
		if msg.ticket == d.ticket && msg.err != nil {
			d.err = page.ErrorText(msg.err)
		}
	case tea.KeyMsg:
		if k := msg.String(); k == "esc" || d.err != "" && (k == "enter" || k == "q") {
			return d, page.CloseRequest{}
		}
	}
	return d, nil
}

func (d clusterDialog) View(w, h int) string {
	if d.err == "" {
		return ""
	}
	var lines [][]draw.Segment
	before := " " + words.Failure.Sign() + " "
	for _, l := range draw.WrapText(d.err, max(w-6, 10)) {
		lines = append(lines, page.Line(draw.Styled(d.env.Theme.Bad, before), d.env.Plain(l)))
		before = "   "
	}
	lines = append(lines, page.Line(), page.Line(d.env.Plain("   "), d.env.Button("Stay on "+draw.SafeText(d.env.Options.Cluster), true, true)))
	return page.DrawBox(d.env, w, h, "CANNOT GO to cluster "+d.name, "", lines, len(lines)-1)
}

func (d clusterDialog) Hint(c *draw.Canvas) string {
	if d.err != "" {
		d.env.Hints(c, d.env.Enter(), "press", "esc", "stay")
		return "DIALOG"
	}
	c.Put(d.env.Theme.Text, " going to cluster "+d.name+" …  ")
	d.env.Hints(c, "esc", "stay")
	return "WAIT"
}
