package tui

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
	"eyeq/tui/page"
)

// fullBatch is as many events as one answer holds; then more are waiting.
const fullBatch = 512

const pollEvery = time.Second

const pauseLimit = 5 * time.Second

const leaveLimit = 6 * time.Second // an engine leaves within 5 s

// eventRing is the ring of the screen's subscription: some seconds of a busy
// engine.
const eventRing = 4096

// eventStream is what the screen needs of a subscription.
type eventStream interface {
	Next(ctx context.Context) ([]engine.Event, int64, error)
}

// alive gives what a message says; nil when nobody waits for it any more. That the
// engines have ended is told once only.
func alive(msg tea.Msg) tea.Msg {
	m, ok := msg.(page.LivingMsg)
	if !ok {
		return msg
	}
	if _, left := m.Msg.(leftMsg); m.Life.Err() != nil && !left {
		return nil
	}
	return m.Msg
}

// tick reads the newest snapshots of all sources after the refresh time.
func tick(c page.Commands, d time.Duration, engines []page.Engine) tea.Cmd {
	return c.After(d, func() tea.Msg { return snapshotsMsg{readSnapshots(engines), true} })
}

// readNow reads them at once, beside the tick.
func readNow(c page.Commands, engines []page.Engine) tea.Cmd {
	return func() tea.Msg { return snapshotsMsg{readSnapshots(engines), false} }
}

func readSnapshots(engines []page.Engine) []*engine.Snapshot {
	snapshots := make([]*engine.Snapshot, len(engines))
	for i, e := range engines {
		if e != nil {
			snapshots[i] = e.Snapshot()
		}
	}
	return snapshots
}

// waitEvents waits for a source's next events. It is issued again after each answer,
// with the next tick unless the answer was full, so that a busy engine costs one
// message a tick.
func waitEvents(c page.Commands, source int, stream eventStream) tea.Cmd {
	return c.Within(0, func(ctx context.Context) tea.Msg {
		events, dropped, err := stream.Next(ctx)
		return eventsMsg{source, events, dropped, err}
	})
}

// pollLater asks for the next round of a view that polls.
func pollLater(c page.Commands, poll int) tea.Cmd {
	return c.After(pollEvery, func() tea.Msg { return pollDueMsg{poll} })
}

func pause(c page.Commands, e page.Engine, r engine.PauseRequest, what string) tea.Cmd {
	return c.Within(pauseLimit, func(ctx context.Context) tea.Msg {
		return pauseDoneMsg{what, page.ErrorText(e.Pause(ctx, r))}
	})
}

func resume(c page.Commands, e page.Engine, r engine.ResumeRequest, what string) tea.Cmd {
	return c.Within(pauseLimit, func(ctx context.Context) tea.Msg {
		return pauseDoneMsg{what, page.ErrorText(e.Resume(ctx, r))}
	})
}

// leave begins the orderly leave and gives it a limit.
func leaveEngines(c page.Commands, begin func()) tea.Cmd {
	return tea.Batch(
		func() tea.Msg { begin(); return nil },
		c.After(leaveLimit, func() tea.Msg { return leaveLateMsg{} }),
	)
}

// waitLeft waits for the engines' end.
func waitLeft(c page.Commands, left <-chan error) tea.Cmd {
	if left == nil {
		return nil
	}
	return c.Within(0, func(ctx context.Context) tea.Msg {
		select {
		case err := <-left:
			return leftMsg{err}
		case <-ctx.Done():
			return nil
		}
	})
}

// waitEnd waits for the end of the context that Run was given.
func waitEnd(c page.Commands, ended <-chan struct{}, cause func() error) tea.Cmd {
	return c.Within(0, func(ctx context.Context) tea.Msg {
		select {
		case <-ended:
			return endedMsg{cause()}
		case <-ctx.Done():
			return nil
		}
	})
}
