package tui

import (
	"slices"

	"eyeq/tui/draw"
	"eyeq/tui/live"
	"eyeq/tui/page"
	"eyeq/tui/pages"

	tea "github.com/charmbracelet/bubbletea"
)

// openStack shows what the threads of a member do.
func (a *app) openStack(group, client string) tea.Cmd {
	if a.env.Options.Inspect == nil {
		return a.refuse("stack: there is no cluster to ask")
	}
	if v, ok := a.pages[page.ViewStack].(pages.StackView); !ok || v.Group != group || v.Client != client {
		if a.shown == page.ViewStack {
			a.leavePage()
		}
		a.setPage(page.ViewStack, pages.NewStackView(a.env, group, client))
	} else {
		a.pages[page.ViewStack], _ = v.Update(page.HurryMsg{}) // whoever comes again wants to know what it does now
	}
	a.group, a.client = group, client
	cmd := a.goTo(page.ViewStack)
	a.visited()
	return cmd
}

// showStack shows the stack of the member that the operator means: under the cursor, or
// the one that holds the queue under it.
func (a *app) showStack() tea.Cmd {
	group, client := a.memberHere()
	switch {
	case group == "":
		return a.refuse("stack: of which member? " + a.env.Keys.First("groups") + " lists the groups, enter shows one live with its members")
	case client == "":
		return a.refuse("stack: there is no member under the cursor; :stack CLIENT-ID names one")
	}
	return a.openStack(group, client)
}

// memberHere is the member that the operator means, by true names; client is "" where
// none is under the cursor.
func (a *app) memberHere() (group, client string) {
	switch p := a.page().(type) {
	case pages.GroupView:
		if pane, key, ok := p.Panes.Current(); ok && pane == pages.GroupMembers {
			return p.Name, p.TrueID(key)
		}
		return p.Name, ""
	case pages.StackView:
		return p.Group, p.Client
	}
	s := a.source().Scene
	if a.page() != nil || s == nil {
		return a.groupHere(), ""
	}
	mq, ok := a.queue.MQ, a.shown == page.ViewQueue
	v := &a.live[a.cur]
	if !ok && v.Focus == live.PaneAlloc {
		if id, ok := v.Members.Current(); ok {
			return s.Raw.Group, s.TrueMember(id)
		}
	}
	if !ok {
		mq, ok = v.Queues.Current()
	}
	if i, known := s.Index[mq]; ok && known {
		return s.Raw.Group, s.Raw.Queues[i].Owner
	}
	return s.Raw.Group, ""
}

// commandStack does `:stack [CLIENT-ID]`.
func (a *app) commandStack(client string) tea.Cmd {
	if client == "" {
		return a.showStack()
	}
	g := a.groupHere()
	if g == "" {
		return a.refuse("stack: of which group's member? " + a.env.Keys.First("groups") + " lists them")
	}
	return a.openStack(g, client)
}

// memberIDs are the client ids that can be named, safe to print.
func (a *app) memberIDs() []string {
	var ids []string
	if p, ok := a.page().(pages.GroupView); ok {
		for i := range p.Who.Members {
			ids = append(ids, p.Who.Members[i].ClientID)
		}
	} else if s := a.source().Scene; s != nil {
		for _, t := range s.Raw.Topics {
			for _, m := range t.Members {
				ids = append(ids, m.ClientID)
			}
		}
	}
	slices.Sort(ids)
	return slices.DeleteFunc(slices.Compact(ids), func(id string) bool { return !draw.IsSafe(id) })
}
