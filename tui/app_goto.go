package tui

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/tail"
)

// commandCluster does what was typed about the cluster.
func (a *app) commandCluster(name, arg string) tea.Cmd {
	switch name {
	case "groups":
		return a.openFiltered(page.ViewGroups, arg)
	case "topics":
		return a.openFiltered(page.ViewTopics, arg)
	case "brokers":
		return a.open(page.Place{View: page.ViewBrokers})
	case "lag":
		if arg == "" {
			return a.showLag()
		}
		return a.open(page.Place{View: page.ViewLag, Group: arg})
	case "group":
		if g := cmp.Or(arg, a.groupHere()); g != "" {
			return a.open(page.Place{View: page.ViewGroup, Group: g})
		}
		return a.refuse("group: which one? :group GROUP")
	case "tail":
		r, err := a.parseTail(strings.Fields(arg))
		if err != nil {
			return a.refuse("tail: " + err.Error())
		}
		return a.openTail(r)
	case "dlq":
		return a.commandDeadLetters(arg)
	case "consume":
		if fields := strings.Fields(arg); a.shown == page.ViewTail && len(fields) < 3 {
			fields = append(fields, "", "")
			return a.toPage(tail.ConsumeHereMsg{Group: fields[0], Client: fields[1]})
		}
		return a.refuse("consume [GROUP [CLIENT-ID]]: for the message under the cursor of a tail")
	case "findings":
		return a.commandFindings(arg)
	case "stack":
		return a.commandStack(arg)
	case "cluster":
		return a.switchCluster(arg)
	}
	return nil
}

// openFiltered opens a list with a filter: /re is a regular expression, anything else a
// text.
func (a *app) openFiltered(v page.ViewID, text string) tea.Cmd {
	cmd := a.open(page.Place{View: v})
	if text == "" || a.shown != v {
		return cmd
	}
	if re, ok := strings.CutPrefix(text, "/"); ok {
		text = "~" + re
	}
	if err := a.setFilter(text); err != nil {
		return tea.Batch(cmd, a.refuse(err.Error()))
	}
	return cmd
}

func (a *app) openTopic(name string) tea.Cmd {
	if name == "" || name == "all" {
		return a.open(page.Place{View: page.ViewTopics})
	}
	return a.open(page.Place{View: page.ViewTopic, Topic: name})
}

// parseTail reads TOPIC [@POSITION] [q=BROKER/ID]….
func (a *app) parseTail(fields []string) (r page.TailRequest, err error) {
	if len(fields) == 0 {
		if r.Topic = a.topic; r.Topic == "" {
			return r, fmt.Errorf("which topic? :tail TOPIC")
		}
		return r, nil
	}
	r.Topic = fields[0]
	for i := 1; i < len(fields); i++ {
		f := fields[i]
		switch {
		case strings.HasPrefix(f, "@"):
			text := f[1:]
			if i+1 < len(fields) && strings.Count(text, "-") == 2 && strings.Contains(fields[i+1], ":") { // a date and its time
				i++
				text += " " + fields[i]
			}
			if r.From, err = tail.ParsePosition(a.env, text); err != nil {
				return r, err
			}
		case strings.HasPrefix(f, "q="):
			mq, err := parseQueue(r.Topic, f[2:])
			if err != nil {
				return r, err
			}
			r.Queues = append(r.Queues, mq)
		default:
			return r, fmt.Errorf("%q is neither @-15m nor q=BROKER/ID", draw.SafeText(f))
		}
	}
	return r, nil
}

// parseQueue reads BROKER/ID or BROKER:ID.
func parseQueue(topic, text string) (engine.MessageQueue, error) {
	i := strings.LastIndexAny(text, "/:")
	if i > 0 {
		if id, err := strconv.ParseInt(text[i+1:], 10, 32); err == nil && id >= 0 {
			return engine.MessageQueue{Topic: topic, BrokerName: text[:i], QueueID: int32(id)}, nil
		}
	}
	return engine.MessageQueue{}, fmt.Errorf("%q is no queue: BROKER/ID", draw.SafeText(text))
}
