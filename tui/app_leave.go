package tui

import (
	"context"
	"errors"
	"fmt"
	"time"

	"eyeq/tui/live"
	"eyeq/tui/page"
	"eyeq/tui/words"

	tea "github.com/charmbracelet/bubbletea"
)

// ErrInterrupted is what Run returns when the operator left by ctrl-c, in order or,
// by a second one, at once.
var ErrInterrupted = errors.New("interrupted")

// ErrLeaveTimeout is what Run returns when the engines did not end in time.
var ErrLeaveTimeout = errors.New("leaving in order took too long")

// written ends the write that was on its way: the status line tells what has come of it,
// the dialogs get msg, and whoever has wanted to leave meanwhile leaves.
func (a *app) written(msg tea.Msg, text string, sev words.Severity) tea.Cmd {
	a.writing, a.note = "", note{text, sev, a.env.Now}
	cmd := a.toDialogs(msg)
	if a.leave.after {
		return tea.Batch(cmd, a.beginLeave(a.leave.interrupted))
	}
	return cmd
}

// askLeave leaves, after one question as a member of a real group.
func (a *app) askLeave() tea.Cmd {
	if !a.env.Options.Member || a.ended {
		return a.beginLeave(false)
	}
	text := "This process is a member of a real group; other members, where there are any, take its queues over."
	if s := a.source().Scene; s != nil {
		own := 0
		for i := range s.Queues {
			if s.Queues[i].Own {
				own++
			}
		}
		text = fmt.Sprintf("This process is a member of %s and holds %s. %s", s.Group, words.Plural(own, "queue"), s.AfterLeave(own))
	}
	a.push(leaveDialog{env: a.env, text: text})
	return nil
}

// handover says, in the dialog that pauses, how a member's queues get to others.
func (a *app) handover(s *live.Scene) string {
	others, known := s.Others()
	switch {
	case !a.env.Options.Member || live.IsBroadcast(s):
		return ""
	case known && others == 0:
		return " Nobody else reads them meanwhile: there is no other member."
	}
	return " Nobody else reads them meanwhile. To hand them to the other members, leave (" + a.env.Keys.First("back") + ")."
}

// interrupt is ctrl-c: leave in order; again: at once.
func (a *app) interrupt() tea.Cmd {
	if a.leave.on || a.leave.after {
		a.exit = ErrInterrupted
		return tea.Quit
	}
	return a.beginLeave(true)
}

// beginLeave starts the orderly leave. A write that is on its way is waited for and
// named; a second ctrl-c does not wait.
func (a *app) beginLeave(interrupted bool) tea.Cmd {
	if a.leave.on {
		return nil
	}
	a.leave.interrupted = a.leave.interrupted || interrupted
	a.leave.began = a.env.Now
	if a.writing != "" {
		a.leave.after = true
		return nil
	}
	a.leave.on, a.leave.after = true, false
	a.dialogs = nil
	if a.env.Options.Leave == nil || a.env.Options.Left == nil || a.ended {
		quit := a.quit(nil)
		if leave := a.env.Options.Leave; leave != nil {
			return func() tea.Msg { leave(); return quit() }
		}
		return quit
	}
	return leaveEngines(a.cmds, a.env.Options.Leave)
}

func (a *app) quit(err error) tea.Cmd {
	a.exit = err
	if a.leave.interrupted {
		a.exit = ErrInterrupted
		if err != nil { // it was ctrl-c all the same
			a.exit = fmt.Errorf("%w: %w", ErrInterrupted, err)
		}
	}
	return tea.Quit
}

// onLeft: the engines have ended, because the operator left or by themselves.
func (a *app) onLeft(msg leftMsg) tea.Cmd {
	a.ended = true
	if a.leave.on || a.leave.after {
		return a.quit(msg.err)
	}
	if msg.err != nil {
		a.note = note{"the consumer has ended: " + page.ErrorText(msg.err), words.Failure, a.env.Now}
	} else {
		a.note = note{"the consumer has ended; " + a.env.Keys.First("back") + " leaves", words.Notice, a.env.Now}
	}
	a.exit = msg.err
	return nil
}

// onEnded: the context has ended (a signal, or a fault of the program).
func (a *app) onEnded(msg endedMsg) tea.Cmd {
	if msg.cause != nil && !errors.Is(msg.cause, context.Canceled) {
		a.exit = msg.cause
		return tea.Quit
	}
	return a.beginLeave(false)
}

func (a *app) onLeaveLate() tea.Cmd {
	if !a.leave.on {
		return nil
	}
	return a.quit(ErrLeaveTimeout)
}

// suspend stops the process for the shell, which a member must not do: it would keep
// its queues without consuming them.
func (a *app) suspend() tea.Cmd {
	if a.env.Options.Member {
		return a.refuse("ctrl-z: a stopped member of a real group would keep its queues")
	}
	if why := a.env.Options.NoSuspend; why != "" {
		return a.refuse("ctrl-z: " + why)
	}
	return tea.Suspend
}

// leaving is an orderly leave under way.
type leaving struct {
	on          bool
	began       time.Time
	interrupted bool // by ctrl-c
	after       bool // waits for the write that is on its way
}
