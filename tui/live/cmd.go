package live

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
	"eyeq/tui/draw"
	"eyeq/tui/page"
)

// held reads the first n messages of a queue's cache. known are the rows of the
// last reading: what does not change of a message is made once.
func ReadHeldRows(c page.Commands, e page.Engine, mq engine.MessageQueue, n int, known []HeldRow, poll int) tea.Cmd {
	return c.Within(heldLimit, func(ctx context.Context) tea.Msg {
		messages, err := e.Held(ctx, mq, n)
		return HeldMsg{mq, HeldRows(messages, known), page.ErrorText(err), poll}
	})
}

// ReadLogLines reads the newest lines of the program's own log, made safe.
func ReadLogLines(c page.Commands, tail func(n int) []string, poll int) tea.Cmd {
	if tail == nil {
		return nil
	}
	return func() tea.Msg {
		lines := tail(logLines)
		safe := make([]string, len(lines))
		for i, l := range lines {
			safe[i] = draw.SafeText(l)
		}
		return LogMsg{safe, poll}
	}
}
