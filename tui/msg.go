package tui

import (
	"eyeq/engine"
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

	// pollDueMsg asks to read again what a view polls, if that is still wanted.
	pollDueMsg struct{ poll int }
	// pauseDoneMsg is the answer to a pause or resume.
	pauseDoneMsg struct {
		what string // "paused broker-a/3"
		err  string
	}

	// copiedMsg: n bytes of a text of so many went to the terminal's clipboard.
	copiedMsg struct {
		what  string
		n, of int
		err   string
	}

	// leftMsg: the engines have ended.
	leftMsg struct{ err error }
	// endedMsg: Run's context has ended.
	endedMsg struct{ cause error }
	// leaveLateMsg: the time for an orderly leave is over.
	leaveLateMsg struct{}
)
