package tui

import (
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect"
)

// The messages that reach Update, named for what happened.
type (
	// snapshotsMsg are the newest snapshots, by source. next is set when the tick
	// goes on with it.
	snapshotsMsg struct {
		snapshots []*engine.Snapshot
		next      bool
	}
	// eventsMsg are events of one source that have piled up.
	eventsMsg struct {
		source  int
		events  []engine.Event
		dropped int64
		err     error // the subscription has ended
	}
	// heldMsg is the head of a queue's cache.
	heldMsg struct {
		mq   engine.MessageQueue
		rows []heldRow
		err  string
		poll int
	}
	// pollDueMsg asks to read again what a view polls, if that is still wanted.
	pollDueMsg struct{ poll int }
	// pauseDoneMsg is the answer to a pause or resume.
	pauseDoneMsg struct {
		what string // "paused broker-a/3"
		err  string
	}
	// resetPreviewMsg answers a preview; ticket tells which one.
	resetPreviewMsg struct {
		ticket int
		rows   []engine.ResetRow
		at     time.Time
		saved  savedFile
		err    string
	}
	// resetDoneMsg is what each queue's reset came to.
	resetDoneMsg struct {
		rows []engine.ResetRow
		err  string
	}
	// resetPlanMsg answers the plan of a reset of any group, raw as it came.
	resetPlanMsg struct {
		ticket    int
		raw, safe inspect.ResetPlan
		at        time.Time
		saved     savedFile
		err       string
	}
	// resetAnyDoneMsg is what it came to; safe to print.
	resetAnyDoneMsg struct {
		ticket int
		result inspect.ResetResult
		err    string
	}
	// pausePlanMsg and pauseGroupDoneMsg are theirs for the pause of a whole group.
	pausePlanMsg struct {
		ticket    int
		raw, safe inspect.PausePlan
		at        time.Time
		err       string
	}
	pauseGroupDoneMsg struct {
		ticket int
		result inspect.PauseResult
		err    string
	}
	// settleDoneMsg is what became of held messages.
	settleDoneMsg struct {
		ticket int
		rows   []settledRow
		err    string
	}
	// copiedMsg: n bytes of a text of so many went to the terminal's clipboard.
	copiedMsg struct {
		what  string
		n, of int
		err   string
	}
	// logMsg are lines of the program's log.
	logMsg struct {
		lines []string
		poll  int
	}
	// leftMsg: the engines have ended.
	leftMsg struct{ err error }
	// endedMsg: Run's context has ended.
	endedMsg struct{ cause error }
	// leaveLateMsg: the time for an orderly leave is over.
	leaveLateMsg struct{}

	// pictureMsg is what a view is to show from now on.
	pictureMsg struct{ picture }
)
