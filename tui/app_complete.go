package tui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine/inspect/message"
	"eyeq/tui/live"
	"eyeq/tui/page"
)

// mostCompletions are as many as one line can be about.
const mostCompletions = 50

// askNames reads names for the command bar, where no list has been opened yet.
func (a *app) askNames() tea.Cmd {
	if a.env.Options.Inspect == nil {
		return nil
	}
	var cmds []tea.Cmd
	for _, v := range []page.ViewID{page.ViewGroups, page.ViewTopics} {
		a.makePage(page.Place{View: v})
		p, r := a.pages[v].Update(page.NamesMsg{})
		a.pages[v] = p
		if asks, ok := r.(page.AsksRequest); ok {
			cmds = append(cmds, page.AskCluster(a.cmds, a.env.Options.Inspect, asks.Asks[0]))
		}
	}
	return tea.Batch(cmds...)
}

// complete gives what the command line may become: what begins like it, then what
// holds it.
func (a *app) complete(text string) []string {
	word, rest, more := strings.Cut(strings.TrimLeft(text, " "), " ")
	rest = strings.TrimLeft(rest, " ") // a completed word has one behind it already
	var options []string
	if !more {
		for i := range commandNames {
			c := &commandNames[i]
			if !strings.HasPrefix(c.name, word) || !a.usable(c) {
				continue
			}
			if c.args != "" {
				options = append(options, c.name+" ")
			} else {
				options = append(options, c.name)
			}
		}
		return options
	}
	all := a.arguments(word)
	for _, fits := range []func(s, part string) bool{strings.HasPrefix, strings.Contains} {
		for _, o := range all {
			if line := word + " " + o; len(options) < mostCompletions && fits(o, rest) && !slices.Contains(options, line) {
				options = append(options, line)
			}
		}
	}
	return options
}

// arguments are what may follow a command.
func (a *app) arguments(command string) []string {
	s := a.source().Scene
	var list []string
	switch command {
	case "live":
		return append(a.ownNames(), a.env.Known.Groups...)
	case "lag", "group", "dlq", "findings":
		return a.env.Known.Groups
	case "stack":
		return a.memberIDs()
	case "tail":
		return a.env.Known.Topics
	case "cluster":
		return a.env.Options.Clusters
	case "sort":
		return live.Sortable
	case "set":
		list = []string{"refresh 100ms", "refresh 250ms", "refresh 1s", "refresh 2s"}
		for _, name := range message.Charsets() {
			list = append(list, "charset "+name)
		}
		return list
	case "topic":
		list = append(list, "all")
		for i := 0; s != nil && i < len(s.Topics); i++ {
			list = append(list, s.Topics[i].Topic)
		}
		return append(list, a.env.Known.Topics...)
	case "queue", "pause", "resume":
		for i := 0; s != nil && i < len(s.Queues); i++ {
			if q := &s.Queues[i]; (command == "queue" || q.Own) && !slices.Contains(list, q.Short()) {
				list = append(list, q.Short())
			}
		}
		if command != "queue" {
			list = append(list, a.env.Known.Groups...)
		}
	}
	return list
}
