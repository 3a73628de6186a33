package page

import (
	"cmp"
	"context"
	"errors"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/tui/draw"
)

// Commands makes the commands: the only callers of an Engine. They change no model,
// each returns a message. within bounds a call by a time limit (0: none) and by the
// life of the screen on its cluster; renew ends that life and begins another.
type Commands struct {
	Within func(limit time.Duration, call func(ctx context.Context) tea.Msg) tea.Cmd
	Renew  func() Commands
}

// LivingMsg is a message of a life that may be over when it comes.
type LivingMsg struct {
	Life context.Context
	Msg  tea.Msg
}

// NewCommands makes commands that end with screen.
func NewCommands(screen context.Context) Commands {
	life, end := context.WithCancel(screen)
	within := func(limit time.Duration, call func(ctx context.Context) tea.Msg) tea.Cmd {
		return func() tea.Msg {
			ctx, cancel := life, context.CancelFunc(func() {})
			if limit > 0 {
				ctx, cancel = context.WithTimeout(life, limit)
			}
			defer cancel()
			return LivingMsg{life, call(ctx)}
		}
	}
	return Commands{within, func() Commands { end(); return NewCommands(screen) }}
}

// After waits, then calls: a timer that ends with the screen.
func (c Commands) After(d time.Duration, call func() tea.Msg) tea.Cmd {
	return c.Within(0, func(ctx context.Context) tea.Msg {
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

// ErrorText lets an error in: safe, and in words that say what to do.
func ErrorText(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time (" + draw.SafeText(err.Error()) + ")"
	}
	return cmp.Or(draw.SafeText(err.Error()), "an error without words")
}
