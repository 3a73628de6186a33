package tui

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

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
	d, req := newResetAnyDialog(a.env, r)
	a.push(d)
	return a.serve(req)
}

// askPauseGroup opens the dialog that pauses or resumes a whole group.
func (a *app) askPauseGroup(group string, resume bool) tea.Cmd {
	what := map[bool]string{true: "resume", false: "pause"}[resume]
	switch {
	case group == "":
		return a.refuse(what + ": which group? " + a.env.Keys.First("groups") + " lists them")
	case a.env.ReadOnly():
		return a.refuse(a.env.ReadOnlyText(what))
	case a.env.Options.Inspect == nil:
		return a.refuse(what + ": there is no cluster to ask")
	}
	d, r := newPauseGroupDialog(a.env, group, resume)
	a.push(d)
	return a.serve(r)
}

// serveChange does what the dialogs that change a group ask for.
func (a *app) serveChange(r page.Request) tea.Cmd {
	o := &a.env.Options
	switch r := r.(type) {
	case page.ResetAnyRequest:
		return a.openResetAny(r)
	case planResetRequest:
		return planReset(a.cmds, o.Inspect, r, o.Now)
	case applyResetRequest:
		a.writing = "a reset of " + words.Plural(len(r.plan.Rows), "queue")
		return applyReset(a.cmds, o.Inspect, o.Audit, r)
	case planPauseRequest:
		return planPause(a.cmds, o.Inspect, r.PauseRequest, r.ticket, o.Now)
	case applyPauseRequest:
		a.writing = "a change of group " + draw.SafeText(r.plan.Request.Group)
		return applyPause(a.cmds, o.Inspect, o.Audit, r)
	}
	return nil
}

// onChanged tells what a change of a group came to, in the status line and in its
// dialog.
func (a *app) onChanged(msg tea.Msg) tea.Cmd {
	text, sev := "", words.Notice
	switch msg := msg.(type) {
	case resetAnyDoneMsg:
		text = fmt.Sprintf("reset of %s: %d of %s verified", draw.SafeText(msg.result.Plan.Request.Group), msg.result.Done, words.Plural(len(msg.result.Rows), "queue"))
		if msg.err != "" || msg.result.Done < len(msg.result.Rows) {
			text, sev = text+words.Because(msg.err), words.Failure
		}
	case pauseGroupDoneMsg:
		q, good, of := msg.result.Plan.Request, 0, 0
		for i := range msg.result.Rows {
			if msg.result.Rows[i].Verified {
				good++
			}
			if !msg.result.Rows[i].Missing {
				of++
			}
		}
		text = fmt.Sprintf("%s of %s: %d of %s verified", map[bool]string{true: "resume", false: "pause"}[q.Resume], draw.SafeText(q.Group), good, words.Plural(of, "broker"))
		if msg.err != "" || good < of {
			text, sev = text+words.Because(msg.err), words.Failure
		}
	}
	cmd := tea.Batch(a.written(msg, text, sev), a.toPage(page.HurryMsg{}))
	a.hurryWatched()
	return cmd
}
