package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"eyeq/engine"
	"eyeq/tui/draw"
	"eyeq/tui/page"
)

// fps bounds how often the terminal is written to. A key is seen within 1/30 s.
const fps = 30

// Run shows the screen until the operator leaves or ctx ends; the terminal is
// restored on every way out, a panic in the screen included.
//
// It returns nil after leaving in order, ErrInterrupted after ctrl-c, the engines'
// error from Options.Left, ErrLeaveTimeout, or the cause of ctx when that is more
// than its cancellation. A fault in the options (keys that clash, nothing to show) is
// returned before anything is drawn.
func Run(ctx context.Context, o page.Options) error {
	if len(o.Engines) == 0 && o.Inspect == nil {
		return errors.New("the screen needs an engine, or a cluster to ask")
	}
	o = o.WithDefaults()
	if o.Input == nil {
		o.Input = os.Stdin
	}
	if o.Output == nil {
		o.Output = os.Stdout
	}
	e, err := newEnv(o, newRenderer(o.Output, o.NoColor))
	if err != nil {
		return err
	}
	// Commands outlive ctx, so that an orderly leave is still shown after a signal.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	a := newApp(o, e, page.NewCommands(life))
	a.ctxDone, a.cause = ctx.Done(), func() error { return context.Cause(ctx) }
	for i, n := range o.Engines {
		if sub := n.Engine.Subscribe(eventRing); sub != nil {
			defer sub.Close()
			a.streams[i] = sub
		}
	}
	return runProgram(a, o.Input, o.Output)
}

// runProgram gives the terminal to a until it quits.
func runProgram(a app, in io.Reader, out io.Writer) error {
	if _, isFile := out.(*os.File); !isFile {
		a.w, a.h = 80, 24 // nobody will tell
		a.resize()
	}
	p := tea.NewProgram(a, tea.WithInput(terminalInput(in)), tea.WithOutput(terminalOutput(out)), tea.WithAltScreen(), tea.WithoutSignalHandler(), tea.WithFPS(fps))
	last, err := p.Run()
	if err != nil {
		return fmt.Errorf("screen: %w", err)
	}
	if a, ok := last.(app); ok {
		return a.exit
	}
	return nil
}

// newRenderer makes a renderer that asks the terminal nothing: 16 colours or none.
func newRenderer(out io.Writer, noColor bool) *lipgloss.Renderer {
	r := lipgloss.NewRenderer(out)
	r.SetHasDarkBackground(true)
	r.SetColorProfile(termenv.ANSI)
	if noColor {
		r.SetColorProfile(termenv.Ascii)
	}
	return r
}

// newEnv makes what views share; the options have their defaults.
func newEnv(o page.Options, r *lipgloss.Renderer) (*page.Env, error) {
	keys, err := page.NewKeymap(o.Keys, o.ASCII)
	if err != nil {
		return nil, err
	}
	e := &page.Env{Options: o, Renderer: r, Theme: draw.NewTheme(r, o.Color), Glyphs: draw.NewGlyphs(o.ASCII), Keys: keys, Now: o.Now(), SavedTo: map[string]string{}}
	e.Began = e.Now
	return e, nil
}

// Render draws one live picture of snapshots of one engine, oldest first, without a
// terminal: plain text of exactly h lines of at most w cells. Rates and trends come
// from the differences of the snapshots; one alone has none. Without Options.Now the
// picture is of the last snapshot's time. Engines of the options are not called.
func Render(snapshots []*engine.Snapshot, events []engine.Event, o page.Options, w, h int) string {
	if o.Now == nil && len(snapshots) > 0 {
		at := snapshots[len(snapshots)-1].At
		o.Now = func() time.Time { return at }
	}
	o.Keys = nil
	name := ""
	if len(o.Engines) > 0 {
		name = o.Engines[0].Name
	}
	o.Engines = []page.NamedEngine{{Name: name}}
	o = o.WithDefaults()
	e, err := newEnv(o, newRenderer(io.Discard, true))
	if err != nil {
		return err.Error() // not reached: the default keys do not clash
	}
	a := newApp(o, e, page.Commands{})
	a.w, a.h = w, h
	a.resize()
	for _, s := range snapshots {
		a.sources[0].Add(s)
	}
	a.sources[0].Log.Add(events, 0)
	a.show(0)
	return trimLines(a.draw())
}
