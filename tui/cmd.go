package tui

import (
	"context"
	"errors"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/tui/draw"
)

// commands makes the commands: the only callers of an Engine. They change no model,
// each returns a message. within bounds a call by a time limit (0: none) and by the
// life of the screen on its cluster; renew ends that life and begins another.
type commands struct {
	within func(limit time.Duration, call func(ctx context.Context) tea.Msg) tea.Cmd
	renew  func() commands
}

// livingMsg is a message of a life that may be over when it comes.
type livingMsg struct {
	life context.Context
	msg  tea.Msg
}

// newCommands makes commands that end with screen.
func newCommands(screen context.Context) commands {
	life, end := context.WithCancel(screen)
	within := func(limit time.Duration, call func(ctx context.Context) tea.Msg) tea.Cmd {
		return func() tea.Msg {
			ctx, cancel := life, context.CancelFunc(func() {})
			if limit > 0 {
				ctx, cancel = context.WithTimeout(life, limit)
			}
			defer cancel()
			return livingMsg{life, call(ctx)}
		}
	}
	return commands{within, func() commands { end(); return newCommands(screen) }}
}

// after waits, then calls: a timer that ends with the screen.
func (c commands) after(d time.Duration, call func() tea.Msg) tea.Cmd {
	return c.within(0, func(ctx context.Context) tea.Msg {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return call()
		case <-ctx.Done():
			return nil
		}
	})
}

// errorText lets an error in: safe, and in words that say what to do.
func errorText(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time (" + draw.SafeText(err.Error()) + ")"
	}
	return draw.SafeText(err.Error())
}
