package tui

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"eyeq/engine"
	"eyeq/tui/page"
	"eyeq/tui/table"
)

// fakeEngine is an Engine of function fields; those left out answer nothing.
type fakeEngine struct {
	snapshot func() *engine.Snapshot
	pause    func(r engine.PauseRequest) error
	resume   func(r engine.ResumeRequest) error
	preview  func(r engine.ResetRequest) ([]engine.ResetRow, error)
	reset    func(r engine.ResetRequest) ([]engine.ResetRow, error)
	settle   func(r engine.SettleRequest) ([]engine.SettleRow, error)
	held     func(mq engine.MessageQueue, n int) ([]engine.HeldMessage, error)
}

func (f *fakeEngine) Snapshot() *engine.Snapshot {
	if f.snapshot == nil {
		return nil
	}
	return f.snapshot()
}

func (f *fakeEngine) Subscribe(int) *engine.EventSubscription { return nil }

func (f *fakeEngine) Pause(_ context.Context, r engine.PauseRequest) error {
	if f.pause == nil {
		return nil
	}
	return f.pause(r)
}

func (f *fakeEngine) Resume(_ context.Context, r engine.ResumeRequest) error {
	if f.resume == nil {
		return nil
	}
	return f.resume(r)
}

func (f *fakeEngine) PreviewReset(_ context.Context, r engine.ResetRequest) ([]engine.ResetRow, error) {
	if f.preview == nil {
		return nil, nil
	}
	return f.preview(r)
}

func (f *fakeEngine) ResetOffset(_ context.Context, r engine.ResetRequest) ([]engine.ResetRow, error) {
	if f.reset == nil {
		return nil, nil
	}
	return f.reset(r)
}

func (f *fakeEngine) Held(_ context.Context, mq engine.MessageQueue, n int) ([]engine.HeldMessage, error) {
	if f.held == nil {
		return nil, nil
	}
	return f.held(mq, n)
}

func (f *fakeEngine) Settle(_ context.Context, r engine.SettleRequest) ([]engine.SettleRow, error) {
	if f.settle == nil {
		return nil, nil
	}
	return f.settle(r)
}

// driver runs the root model without a terminal: keys and messages go in, commands
// that call are carried out at once, those that wait are left out.
type driver struct {
	t         testing.TB
	a         app
	now       time.Time
	quit      bool
	suspended bool
	cleared   int
}

func defaultOptions() page.Options {
	return page.Options{Cluster: "prod-sh", Mode: "confirm", Operator: "wang", Location: fixtureZone}
}

// drive starts a screen of the size on the fixture's last 40 seconds.
func drive(t testing.TB, w, h int, o page.Options, e page.Engine) *driver {
	t.Helper()
	d := driveEmpty(t, w, h, o, e)
	for _, s := range fixtures(40) {
		d.send(snapshotsMsg{snapshots: []*engine.Snapshot{s}})
	}
	d.send(eventsMsg{events: fixtureEvents()})
	return d
}

// driveEmpty starts a screen that has not seen a snapshot.
func driveEmpty(t testing.TB, w, h int, o page.Options, e page.Engine) *driver {
	t.Helper()
	return driveOn(t, w, h, o, e, lipgloss.NewRenderer(io.Discard))
}

func driveOn(t testing.TB, w, h int, o page.Options, e page.Engine, r *lipgloss.Renderer) *driver {
	t.Helper()
	d := &driver{t: t, now: fixtureNow}
	o.Now = func() time.Time { return d.now }
	if e == nil {
		e = &fakeEngine{}
	}
	if o.Engines == nil {
		o.Engines = []page.NamedEngine{{Engine: e}}
	}
	o = o.WithDefaults()
	env, err := newEnv(o, r)
	if err != nil {
		t.Fatal(err)
	}
	cmds := page.Commands{Within: func(limit time.Duration, call func(ctx context.Context) tea.Msg) tea.Cmd {
		if limit == 0 {
			return nil // it waits
		}
		return func() tea.Msg { return call(context.Background()) }
	}}
	cmds.Renew = func() page.Commands { return cmds }
	d.a = newApp(o, env, cmds)
	d.send(tea.WindowSizeMsg{Width: w, Height: h})
	return d
}

// send gives one message and carries out what comes of it.
func (d *driver) send(msg tea.Msg) {
	m, cmd := d.a.Update(msg)
	d.a = m.(app)
	d.run(cmd)
}

func (d *driver) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			d.run(c)
		}
	case tea.QuitMsg:
		d.quit = true
	case tea.SuspendMsg:
		d.suspended = true
	case snapshotsMsg:
		if len(msg.snapshots) > 0 && msg.snapshots[0] != nil {
			d.send(msg)
		}
	default:
		if msg == tea.ClearScreen() {
			d.cleared++
			return
		}
		d.send(msg)
	}
}

// keys presses keys: names like "enter" or "ctrl+d", anything else is typed.
func (d *driver) keys(keys ...string) *driver {
	for _, k := range keys {
		d.send(keyMsg(k))
	}
	return d
}

// typing presses each character on its own.
func (d *driver) typing(text string) *driver {
	for _, r := range text {
		d.send(keyMsg(string(r)))
	}
	return d
}

var keyTypes = map[string]tea.KeyType{
	"enter": tea.KeyEnter, "esc": tea.KeyEsc, "tab": tea.KeyTab, "shift+tab": tea.KeyShiftTab, "up": tea.KeyUp, "down": tea.KeyDown,
	"left": tea.KeyLeft, "right": tea.KeyRight, "space": tea.KeySpace, " ": tea.KeySpace, "backspace": tea.KeyBackspace, "f1": tea.KeyF1,
	"home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
	"ctrl+a": tea.KeyCtrlA, "ctrl+c": tea.KeyCtrlC, "ctrl+d": tea.KeyCtrlD, "ctrl+u": tea.KeyCtrlU, "ctrl+f": tea.KeyCtrlF, "ctrl+b": tea.KeyCtrlB,
	"ctrl+l": tea.KeyCtrlL, "ctrl+n": tea.KeyCtrlN, "ctrl+p": tea.KeyCtrlP, "ctrl+r": tea.KeyCtrlR, "ctrl+t": tea.KeyCtrlT, "ctrl+z": tea.KeyCtrlZ,
}

func keyMsg(k string) tea.KeyMsg {
	if t, ok := keyTypes[k]; ok {
		m := tea.KeyMsg{Type: t}
		if t == tea.KeySpace {
			m.Runes = []rune{' '}
		}
		return m
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(k)}
}

// lines is the frame, checked: exactly h lines, none wider than w, no control bytes
// but our own colours.
func (d *driver) lines() []string {
	d.t.Helper()
	lines := strings.Split(d.a.View(), "\n")
	if len(lines) != d.a.h {
		d.t.Errorf("%dx%d: the frame has %d lines", d.a.w, d.a.h, len(lines))
	}
	for i, l := range lines {
		if !isSettled(l) {
			checkPinned(d.t, l, d.a.w)
			l = unpinned(l)
			lines[i] = l
		}
		if got := table.Width(ansi.Strip(l)); got > d.a.w {
			d.t.Errorf("%dx%d: line %d is %d cells wide: %q", d.a.w, d.a.h, i+1, got, l)
		}
		if bad := foreignControls(l); bad != "" {
			d.t.Errorf("%dx%d: line %d has %s: %q", d.a.w, d.a.h, i+1, bad, l)
		}
	}
	return lines
}

func (d *driver) frame() string { return strings.Join(d.lines(), "\n") }

// foreignControls names the first byte or character that must not reach a terminal:
// anything but printable text and SGR sequences.
func foreignControls(s string) string {
	for i := 0; i < len(s); {
		if s[i] == 0x1b {
			end := i + 2
			for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == ';') {
				end++
			}
			if i+1 >= len(s) || s[i+1] != '[' || end >= len(s) || s[end] != 'm' {
				return "an escape sequence that is no colour"
			}
			i = end + 1
			continue
		}
		r, n := rune(s[i]), 1
		if s[i] >= 0x80 {
			for _, x := range s[i:] {
				r = x
				break
			}
			n = len(string(r))
			if r == 0xfffd && !strings.HasPrefix(s[i:], "\uFFFD") {
				return "invalid UTF-8"
			}
		}
		switch {
		case r < ' ', r == 0x7f, r >= 0x80 && r < 0xa0:
			return "a control character"
		case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x61c:
			return "a bidi control"
		case r == 0x2028, r == 0x2029, r == 0x200b, r == 0xfeff:
			return "a separator or zero-width character"
		}
		i += n
	}
	return ""
}

// see fails unless the frame contains text.
func (d *driver) see(text string) *driver {
	d.t.Helper()
	if frame := d.frame(); !strings.Contains(frame, text) {
		d.t.Errorf("no %q on the screen:\n%s", text, frame)
	}
	return d
}

// miss fails if the frame contains text.
func (d *driver) miss(text string) *driver {
	d.t.Helper()
	if frame := d.frame(); strings.Contains(frame, text) {
		d.t.Errorf("%q is on the screen:\n%s", text, frame)
	}
	return d
}
