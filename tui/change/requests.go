package change

import (
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect"
)

// PauseRequest pauses own queues.
type PauseRequest struct{ engine.PauseRequest }

// ResumeRequest lets them go on.
type ResumeRequest struct{ engine.ResumeRequest }

// PreviewRequest and applyRequest of the reset dialog.
type PreviewRequest struct {
	ticket int
	file   string // path of the offsets to go to, instead of a target
	engine.ResetRequest
}

// ApplyRequest resets own queues.
type ApplyRequest struct{ engine.ResetRequest }

// PlanResetRequest and applyResetRequest are theirs for any group.
type PlanResetRequest struct {
	ticket int
	file   string // likewise
	inspect.ResetRequest
}

// ApplyResetRequest carries out the plan of a reset of any group.
type ApplyResetRequest struct {
	ticket int
	Plan   inspect.ResetPlan
	reason string
}

// PlanPauseRequest and applyPauseRequest of the dialog that pauses a whole group.
type PlanPauseRequest struct {
	Ticket int
	inspect.PauseRequest
}

// ApplyPauseRequest carries out the plan of a pause.
type ApplyPauseRequest struct {
	ticket int
	Plan   inspect.PausePlan
	reason string
}

// SettleRequest of the dialog about held messages.
type SettleRequest struct {
	Ticket, Count int
	engine.SettleRequest
}

// ResetPreviewMsg answers a preview; ticket tells which one.
type ResetPreviewMsg struct {
	Ticket int
	rows   []engine.ResetRow
	at     time.Time
	saved  savedFile
	Err    string
}

// ResetDoneMsg is what each queue's reset came to.
type ResetDoneMsg struct {
	Rows []engine.ResetRow
	Err  string
}

// ResetPlanMsg answers the plan of a reset of any group, raw as it came.
type ResetPlanMsg struct {
	ticket    int
	raw, safe inspect.ResetPlan
	at        time.Time
	saved     savedFile
	err       string
}

// ResetAnyDoneMsg is what it came to; safe to print.
type ResetAnyDoneMsg struct {
	ticket int
	Result inspect.ResetResult
	Err    string
}

// PausePlanMsg and pauseGroupDoneMsg are theirs for the pause of a whole group.
type PausePlanMsg struct {
	ticket    int
	raw, safe inspect.PausePlan
	at        time.Time
	err       string
}

// PauseGroupDoneMsg is what a pause of a whole group came to; safe to print.
type PauseGroupDoneMsg struct {
	ticket int
	Result inspect.PauseResult
	Err    string
}

// SettleDoneMsg is what became of held messages.
type SettleDoneMsg struct {
	Ticket int
	Rows   []settledRow
	Err    string
}
