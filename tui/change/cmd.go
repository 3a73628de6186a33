package change

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
	"eyeq/engine/audit"
	"eyeq/engine/inspect"
	"eyeq/tui/page"
)

// PlanReset asks what a reset of any group would do.
func PlanReset(c page.Commands, cl page.Cluster, r PlanResetRequest, now func() time.Time) tea.Cmd {
	return c.Within(planLimit, func(ctx context.Context) tea.Msg {
		m := ResetPlanMsg{ticket: r.ticket}
		var err error
		if r.file != "" {
			m.saved, err = readSavedFile(r.file)
			r.Exact = m.saved.exact
		}
		if err == nil {
			m.raw, err = cl.PlanReset(ctx, r.ResetRequest)
		}
		m.safe, m.at, m.err = page.CleanCopy(m.raw), now(), page.ErrorText(err)
		return m
	})
}

// ApplyReset carries out a plan between its two lines in the audit file.
func ApplyReset(c page.Commands, cl page.Cluster, begin audit.Begin, r ApplyResetRequest) tea.Cmd {
	return c.Within(applyResetLimit, func(ctx context.Context) tea.Msg {
		var result inspect.ResetResult
		err := audit.Note(begin, audit.Reset(&r.Plan, r.reason), func() (after any, failed, err error) {
			if result, err = cl.ApplyReset(ctx, r.Plan); err != nil {
				return audit.ResetDone(&result), err, err
			}
			return audit.ResetDone(&result), result.Failed(), nil
		})
		return ResetAnyDoneMsg{r.ticket, page.CleanCopy(result), page.ErrorText(err)}
	})
}

// PlanPause asks what a pause or resume of a group would do.
func PlanPause(c page.Commands, cl page.Cluster, r inspect.PauseRequest, ticket int, now func() time.Time) tea.Cmd {
	return c.Within(planLimit, func(ctx context.Context) tea.Msg {
		p, err := cl.PlanPause(ctx, r)
		return PausePlanMsg{ticket, p, page.CleanCopy(p), now(), page.ErrorText(err)}
	})
}

// ApplyPause carries out a plan between its two lines in the audit file.
func ApplyPause(c page.Commands, cl page.Cluster, begin audit.Begin, r ApplyPauseRequest) tea.Cmd {
	return c.Within(applyPauseLimit, func(ctx context.Context) tea.Msg {
		var result inspect.PauseResult
		err := audit.Note(begin, audit.Pause(&r.Plan, r.reason), func() (after any, failed, err error) {
			if result, err = cl.ApplyPause(ctx, r.Plan); err != nil {
				return audit.PauseDone(&result), err, err
			}
			return audit.PauseDone(&result), result.Failed(), nil
		})
		return PauseGroupDoneMsg{r.ticket, page.CleanCopy(result), page.ErrorText(err)}
	})
}

const planLimit = 30 * time.Second

const applyResetLimit = 150 * time.Second

const applyPauseLimit = 120 * time.Second

// PreviewReset asks the engine what a reset of own queues would do.
func PreviewReset(c page.Commands, e page.Engine, r PreviewRequest, now func() time.Time) tea.Cmd {
	return c.Within(previewLimit, func(ctx context.Context) tea.Msg {
		m := ResetPreviewMsg{Ticket: r.ticket}
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
		m.at, m.Err = now(), page.ErrorText(err)
		return m
	})
}

// DoReset resets own queues to what was previewed.
func DoReset(c page.Commands, e page.Engine, r engine.ResetRequest) tea.Cmd {
	return c.Within(resetLimit, func(ctx context.Context) tea.Msg {
		rows, err := e.ResetOffset(ctx, r)
		return ResetDoneMsg{rows, page.ErrorText(err)}
	})
}

// Settle carries out a decision about held messages.
func Settle(c page.Commands, e page.Engine, r engine.SettleRequest, ticket int) tea.Cmd {
	return c.Within(settleLimit, func(ctx context.Context) tea.Msg {
		rows, err := e.Settle(ctx, r)
		return SettleDoneMsg{ticket, settledRows(rows), page.ErrorText(err)}
	})
}

const previewLimit = 20 * time.Second

const resetLimit = 60 * time.Second

const settleLimit = 60 * time.Second
