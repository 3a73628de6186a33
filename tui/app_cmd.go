package tui

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
	"eyeq/tui/draw"
)

// fullBatch is as many events as one answer holds; then more are waiting.
const fullBatch = 512

const pollEvery = time.Second

const pauseLimit = 5 * time.Second

const previewLimit = 20 * time.Second

const resetLimit = 60 * time.Second

const settleLimit = 60 * time.Second

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
	m, ok := msg.(livingMsg)
	if !ok {
		return msg
	}
	if _, left := m.msg.(leftMsg); m.life.Err() != nil && !left {
		return nil
	}
	return m.msg
}

// tick reads the newest snapshots of all sources after the refresh time.
func tick(c commands, d time.Duration, engines []Engine) tea.Cmd {
	return c.after(d, func() tea.Msg { return snapshotsMsg{readSnapshots(engines), true} })
}

// readNow reads them at once, beside the tick.
func readNow(c commands, engines []Engine) tea.Cmd {
	return func() tea.Msg { return snapshotsMsg{readSnapshots(engines), false} }
}

func readSnapshots(engines []Engine) []*engine.Snapshot {
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
func waitEvents(c commands, source int, stream eventStream) tea.Cmd {
	return c.within(0, func(ctx context.Context) tea.Msg {
		events, dropped, err := stream.Next(ctx)
		return eventsMsg{source, events, dropped, err}
	})
}

// held reads the first n messages of a queue's cache. known are the rows of the
// last reading: what does not change of a message is made once.
func readHeldRows(c commands, e Engine, mq engine.MessageQueue, n int, known []heldRow, poll int) tea.Cmd {
	return c.within(heldLimit, func(ctx context.Context) tea.Msg {
		messages, err := e.Held(ctx, mq, n)
		return heldMsg{mq, heldRows(messages, known), errorText(err), poll}
	})
}

// settle carries out a decision about held messages.
func settle(c commands, e Engine, r engine.SettleRequest, ticket int) tea.Cmd {
	return c.within(settleLimit, func(ctx context.Context) tea.Msg {
		rows, err := e.Settle(ctx, r)
		return settleDoneMsg{ticket, settledRows(rows), errorText(err)}
	})
}

// pollLater asks for the next round of a view that polls.
func pollLater(c commands, poll int) tea.Cmd {
	return c.after(pollEvery, func() tea.Msg { return pollDueMsg{poll} })
}

func pause(c commands, e Engine, r engine.PauseRequest, what string) tea.Cmd {
	return c.within(pauseLimit, func(ctx context.Context) tea.Msg {
		return pauseDoneMsg{what, errorText(e.Pause(ctx, r))}
	})
}

func resume(c commands, e Engine, r engine.ResumeRequest, what string) tea.Cmd {
	return c.within(pauseLimit, func(ctx context.Context) tea.Msg {
		return pauseDoneMsg{what, errorText(e.Resume(ctx, r))}
	})
}

func previewReset(c commands, e Engine, r previewRequest, now func() time.Time) tea.Cmd {
	return c.within(previewLimit, func(ctx context.Context) tea.Msg {
		m := resetPreviewMsg{ticket: r.ticket}
		var err error
		if r.file != "" {
			if m.saved, err = readSavedFile(r.file); err == nil {
				r.Exact = m.saved.exact
				r.Queues, err = m.saved.of(r.Queues)
			}
		}
		if err == nil {
			m.rows, err = e.PreviewReset(ctx, r.ResetRequest)
		}
		m.at, m.err = now(), errorText(err)
		return m
	})
}

func doReset(c commands, e Engine, r engine.ResetRequest) tea.Cmd {
	return c.within(resetLimit, func(ctx context.Context) tea.Msg {
		rows, err := e.ResetOffset(ctx, r)
		return resetDoneMsg{rows, errorText(err)}
	})
}

func readLogLines(c commands, tail func(n int) []string, poll int) tea.Cmd {
	if tail == nil {
		return nil
	}
	return func() tea.Msg {
		lines := tail(logLines)
		safe := make([]string, len(lines))
		for i, l := range lines {
			safe[i] = draw.SafeText(l)
		}
		return logMsg{safe, poll}
	}
}

// leave begins the orderly leave and gives it a limit.
func leaveEngines(c commands, begin func()) tea.Cmd {
	return tea.Batch(
		func() tea.Msg { begin(); return nil },
		c.after(leaveLimit, func() tea.Msg { return leaveLateMsg{} }),
	)
}

// waitLeft waits for the engines' end.
func waitLeft(c commands, left <-chan error) tea.Cmd {
	if left == nil {
		return nil
	}
	return c.within(0, func(ctx context.Context) tea.Msg {
		select {
		case err := <-left:
			return leftMsg{err}
		case <-ctx.Done():
			return nil
		}
	})
}

// waitEnd waits for the end of the context that Run was given.
func waitEnd(c commands, ended <-chan struct{}, cause func() error) tea.Cmd {
	return c.within(0, func(ctx context.Context) tea.Msg {
		select {
		case <-ended:
			return endedMsg{cause()}
		case <-ctx.Done():
			return nil
		}
	})
}
