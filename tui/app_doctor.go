package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"eyeq/tui/page"
	"eyeq/tui/pages"
)

// openDoctor shows what is wrong with a group.
func (a *app) openDoctor(group string) tea.Cmd {
	if a.env.Options.Inspect == nil {
		return a.refuse("findings: there is no cluster to ask")
	}
	if v, ok := a.pages[page.ViewDoctor].(pages.DoctorView); !ok || v.Group != group {
		if a.shown == page.ViewDoctor {
			a.leavePage()
		}
		a.setPage(page.ViewDoctor, pages.NewDoctorView(a.env, group))
	}
	a.group = group
	return a.goTo(page.ViewDoctor)
}

// showFindings examines the group that the operator means.
func (a *app) showFindings() tea.Cmd {
	if g := a.groupHere(); g != "" {
		return a.openDoctor(g)
	}
	return a.refuse("findings: which group? " + a.env.Keys.First("groups") + " lists them, :findings GROUP names one")
}

func (a *app) commandFindings(group string) tea.Cmd {
	if group == "" {
		return a.showFindings()
	}
	return a.openDoctor(group)
}
