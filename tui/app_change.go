package tui

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/tui/change"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/words"
)

// openResetAny opens the reset dialog for any group.
func (a *app) openResetAny(r page.ResetAnyRequest) tea.Cmd {
	switch {
	case a.env.ReadOnly():
		return a.refuse(a.env.ReadOnlyText("reset"))
	case a.env.Options.Inspect == nil:
		return a.refuse("reset: there is no cluster to ask")
	}
	d, req := change.NewResetAnyDialog(a.env, r)
	a.push(d)
	return a.serve(req)
}

func resumeOrPause(resume bool) string {
	if resume {
		return "resume"
	}
	return "pause"
}

// askPauseGroup opens the dialog that pauses or resumes a whole group.
func (a *app) askPauseGroup(group string, resume bool) tea.Cmd {
	what := resumeOrPause(resume)
	switch {
	case group == "":
		return a.refuse(what + ": which group? " + a.env.Keys.First("groups") + " lists them")
	case a.env.ReadOnly():
		return a.refuse(a.env.ReadOnlyText(what))
	case a.env.Options.Inspect == nil:
		return a.refuse(what + ": there is no cluster to ask")
	}
	d, r := change.NewPauseGroupDialog(a.env, group, resume)
	a.push(d)
	return a.serve(r)
}

// serveChange does what the dialogs that change a group ask for.
func (a *app) serveChange(r page.Request) tea.Cmd {
	o := &a.env.Options
	switch r := r.(type) {
	case page.ResetAnyRequest:
		return a.openResetAny(r)
	case change.PlanResetRequest:
		return change.PlanReset(a.cmds, o.Inspect, r, o.Now)
	case change.ApplyResetRequest:
		a.writing = "a reset of " + words.Plural(len(r.Plan.Rows), "queue")
		return change.ApplyReset(a.cmds, o.Inspect, o.Audit, r)
	case change.PlanPauseRequest:
		return change.PlanPause(a.cmds, o.Inspect, r.PauseRequest, r.Ticket, o.Now)
	case change.ApplyPauseRequest:
		a.writing = "a change of group " + draw.SafeText(r.Plan.Request.Group)
		return change.ApplyPause(a.cmds, o.Inspect, o.Audit, r)
	}
	return nil
}

// onChanged tells what a change of a group came to, in the status line and in its
// dialog.
func (a *app) onChanged(msg tea.Msg) tea.Cmd {
	text, sev := "", words.Notice
	switch msg := msg.(type) {
	case change.ResetAnyDoneMsg:
		text = fmt.Sprintf("reset of %s: %d of %s verified", draw.SafeText(msg.Result.Plan.Request.Group), msg.Result.Done, words.Plural(len(msg.Result.Rows), "queue"))
		if msg.Err != "" || msg.Result.Done < len(msg.Result.Rows) {
			text, sev = text+words.Because(msg.Err), words.Failure
		}
	case change.PauseGroupDoneMsg:
		q, good, of := msg.Result.Plan.Request, 0, 0
		for i := range msg.Result.Rows {
			if msg.Result.Rows[i].Verified {
				good++
			}
			if !msg.Result.Rows[i].Missing {
				of++
			}
		}
		text = fmt.Sprintf("%s of %s: %d of %s verified", resumeOrPause(q.Resume), draw.SafeText(q.Group), good, words.Plural(of, "broker"))
		if msg.Err != "" || good < of {
			text, sev = text+words.Because(msg.Err), words.Failure
		}
	}
	cmd := tea.Batch(a.written(msg, text, sev), a.toPage(page.HurryMsg{}))
	a.hurryWatched()
	return cmd
}
