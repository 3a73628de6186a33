package tui

import (
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect"
)

type pauseRequest struct{ engine.PauseRequest }

type resumeRequest struct{ engine.ResumeRequest }

// previewRequest and applyRequest of the reset dialog.
type previewRequest struct {
	ticket int
	file   string // path of the offsets to go to, instead of a target
	engine.ResetRequest
}

type applyRequest struct{ engine.ResetRequest }

// planResetRequest and applyResetRequest are theirs for any group.
type planResetRequest struct {
	ticket int
	file   string // likewise
	inspect.ResetRequest
}

type applyResetRequest struct {
	ticket int
	plan   inspect.ResetPlan
	reason string
}

// planPauseRequest and applyPauseRequest of the dialog that pauses a whole group.
type planPauseRequest struct {
	ticket int
	inspect.PauseRequest
}

type applyPauseRequest struct {
	ticket int
	plan   inspect.PausePlan
	reason string
}

// settleRequest of the dialog about held messages.
type settleRequest struct {
	ticket, count int
	engine.SettleRequest
}

// resetPreviewMsg answers a preview; ticket tells which one.
type resetPreviewMsg struct {
	ticket int
	rows   []engine.ResetRow
	at     time.Time
	saved  savedFile
	err    string
}

// resetDoneMsg is what each queue's reset came to.
type resetDoneMsg struct {
	rows []engine.ResetRow
	err  string
}

// resetPlanMsg answers the plan of a reset of any group, raw as it came.
type resetPlanMsg struct {
	ticket    int
	raw, safe inspect.ResetPlan
	at        time.Time
	saved     savedFile
	err       string
}

// resetAnyDoneMsg is what it came to; safe to print.
type resetAnyDoneMsg struct {
	ticket int
	result inspect.ResetResult
	err    string
}

// pausePlanMsg and pauseGroupDoneMsg are theirs for the pause of a whole group.
type pausePlanMsg struct {
	ticket    int
	raw, safe inspect.PausePlan
	at        time.Time
	err       string
}

type pauseGroupDoneMsg struct {
	ticket int
	result inspect.PauseResult
	err    string
}

// settleDoneMsg is what became of held messages.
type settleDoneMsg struct {
	ticket int
	rows   []settledRow
	err    string
}
