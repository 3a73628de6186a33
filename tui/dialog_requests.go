package tui

import (
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
