package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/tui"
	"eyeq/tui/page"
)

func newDemo(e *env) *cobra.Command {
	var limit time.Duration
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "The screen on an embedded sandbox, with everything moving",
		Long: `Starts a name server and two brokers in memory, producers, and groups with several members, and
shows the live screen of one of them; ctrl-n shows the next group, 4 all of them. Nothing outside this process
is touched. Without a terminal, on one of TERM=dumb, or with --plain, it prints the events of ten seconds (-o text or
json) and one picture.`,
		Args: noArgs,
	}
	cmd.Flags().DurationVar(&limit, "for", 0, "end after so long (default 10s without a screen)")
	cmd.RunE = e.cobraRun(func(ctx context.Context, e *env, _ []string) error { return runDemo(ctx, e, limit) })
	return cmd
}

// plainDemo is how long the demo runs without a screen.
const plainDemo = 10 * time.Second

func runDemo(ctx context.Context, e *env, limit time.Duration) error {
	format, err := e.format("text", "json")
	if err != nil {
		return err
	}
	if limit < 0 {
		return usagef("--for %v: must not be negative", limit)
	}
	c, err := e.loadConfig()
	if err != nil {
		return err
	}
	onScreen := !e.flags.plain && e.onTerminal()
	if !onScreen {
		e.sayDumb()
	}
	if !onScreen && limit == 0 {
		limit = plainDemo
	}
	d, err := e.newDemo(ctx, demoScenario())
	if err != nil {
		return err
	}
	defer d.close()
	run := func(ctx context.Context) error {
		if limit > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, limit)
			defer cancel()
		}
		return d.run(ctx)
	}
	o := e.screenOptions(c)
	o.Cluster, o.Mode, o.Title = "demo", "sandbox", "demo"
	if !onScreen {
		return d.print(ctx, o, format, run)
	}
	for _, m := range d.shown {
		o.Engines = append(o.Engines, page.NamedEngine{Engine: m.engine})
	}
	client, err := d.connect(nil)
	if err != nil {
		return err
	}
	defer client.Close()
	o.Namesrv = []string{d.sb.NamesrvAddr()}
	o.Inspect = inspect.New(inspect.Options{Client: client, Timeout: questionLimit, Now: e.now, Cluster: o.Cluster})
	o.OpenTail = (&tailOpener{client: client, crew: e.crew, timeout: e.flags.timeout, now: e.now}).open
	return e.screenRun(ctx, o, run)
}

// The picture of the demo without a screen.
const (
	pictureWidth, pictureHeight = 120, 36
	pictureEvery                = 250 * time.Millisecond
	pictureEvents               = 500
)

// print runs the demo without a screen: its events a line each, then one picture.
func (d *demo) print(ctx context.Context, o page.Options, format string, run func(context.Context) error) error {
	e, m := d.env, d.shown[0]
	p := &printer{env: e, group: m.engine.Snapshot().Group, format: format, out: newLineWriter(e.stdout), named: true}
	written := make(chan struct{})
	e.crew.start(func() { defer close(written); p.out.run() })
	sub := m.engine.Subscribe(m.options.EventBuffer)
	defer sub.Close()
	var last []engine.Event
	drained := make(chan struct{})
	runCtx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	e.crew.start(func() {
		defer close(drained)
		p.watchAll(context.WithoutCancel(ctx), sub, stop, func(events []engine.Event) {
			last = append(last, events...)
			last = last[max(0, len(last)-pictureEvents):]
		})
	})
	pictures := make(chan []*engine.Snapshot, 1)
	e.crew.start(func() { pictures <- snapshotsUntil(runCtx, m.engine) })
	err := run(runCtx)
	stop(nil)
	waitFor(drained, stuckLimit)
	snapshots := <-pictures
	if format == "text" && err == nil && len(snapshots) > 0 {
		o.Location = e.location
		end := snapshots[len(snapshots)-1].At // before the leave
		last = slices.DeleteFunc(last, func(ev engine.Event) bool { return ev.When().After(end) })
		p.out.add([]byte("\n" + strings.TrimRight(tui.Render(snapshots, last, o, pictureWidth, pictureHeight), "\n") + "\n"))
	}
	p.out.close()
	waitFor(written, stuckLimit)
	if werr := p.out.failure(); werr != nil && err == nil {
		err = &outputError{Err: werr}
	}
	return err
}

// snapshotsUntil collects the snapshots of an engine while it runs.
func snapshotsUntil(ctx context.Context, m *engine.Engine) (all []*engine.Snapshot) {
	tick := time.NewTicker(pictureEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if s := m.Snapshot(); s.State == engine.Running {
				all = append(all, s)
			}
		case <-ctx.Done():
			return all
		}
	}
}
