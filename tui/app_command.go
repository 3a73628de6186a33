package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
)

// commandNames are what the command bar knows, with what follows.
var commandNames = []struct{ name, args, help string }{
	{"live", "[GROUP]", "the live view, of any group"},
	{"events", "", "all events"},
	{"queue", "BROKER/ID", "one queue in detail"},
	{"topic", "NAME|all", "one topic only"},
	{"pause", "[BROKER/ID]", "pause the queue or the whole consumer (asks first)"},
	{"resume", "[BROKER/ID]", "resume it (asks first)"},
	{"reset", "", "open the reset dialog"},
	{"sort", "COLUMN", "sort the queues"},
	{"set", "refresh 2s", "how often the screen is refreshed"},
	{"tail", "TOPIC [@TIME]", "read a topic from the end, or from a time (-15m, 13:30, first)"},
	{"dlq", "[GROUP]", "the dead letters of a group"},
	{"findings", "[GROUP]", "what is wrong with a group, and what to do"},
	{"save", "", "save the rows of this view as CSV or JSON"},
	{"shot", "[FILE]", "write the screen as text and with its colours"},
	{"log", "", "the log of eyeq itself"},
	{"help", "", "the keys of this view"},
	{"q", "", "leave"},
}

// command does what was typed into the command bar.
func (a *app) command(text string) tea.Cmd {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return nil
	}
	arg := strings.Join(fields[1:], " ")
	switch fields[0] {
	case "live":
		return a.commandLive(arg)
	case "events":
		return a.goTo(viewEvents)
	case "queue":
		mq, err := a.findQueue(arg)
		if err != nil {
			return a.refuse(err.Error())
		}
		return a.openQueue(mq)
	case "topic":
		return a.commandTopic(arg)
	case "pause", "resume":
		return a.commandPause(arg, fields[0] == "resume")
	case "tail":
		return a.commandTail(arg)
	case "dlq":
		return a.commandDeadLetters(arg)
	case "findings", "doctor":
		return a.commandFindings(arg)
	case "shot":
		return a.shot(arg)
	case "save":
		return a.act("save")
	case "reset":
		if a.env.readOnly() {
			return a.refuse("reset: cluster " + SafeText(a.env.o.Cluster) + " is read-only, nothing sent")
		}
		return a.openReset()
	case "sort":
		if !slices.Contains(sortable, arg) {
			return a.refuse("sort: columns are " + strings.Join(sortable, ", "))
		}
		v := &a.live[a.cur]
		v.queues.Order.Column = arg
		v.refresh(true)
	case "set":
		return a.commandSet(fields[1:])
	case "log":
		return a.goTo(viewLog)
	case "help":
		return a.act("help")
	case "q", "quit":
		return a.askLeave()
	default:
		return a.refuse(fmt.Sprintf("there is no command %q; %s lists keys, tab in the bar lists commands", SafeText(fields[0]), a.env.keys.first("help")))
	}
	return nil
}

func (a *app) commandLive(name string) tea.Cmd {
	if name == "" {
		return a.goTo(viewLive)
	}
	for i := range a.consumers() {
		if a.sourceName(i) == name {
			return tea.Batch(a.look(i), a.goTo(viewLive))
		}
	}
	if a.env.o.Inspect != nil {
		return a.openWatch(name)
	}
	return a.refuse(fmt.Sprintf("no consumer %q in this process; there are: %s", SafeText(name), strings.Join(a.sourceNames(), ", ")))
}

// sourceName is how a consumer is called here, safe to print.
func (a *app) sourceName(i int) string {
	if a.sources[i].name != "" {
		return SafeText(a.sources[i].name)
	}
	if s := a.sources[i].scene; s != nil {
		return s.Group
	}
	return strconv.Itoa(i + 1)
}

func (a *app) sourceNames() []string {
	names := make([]string, a.consumers())
	for i := range names {
		names[i] = a.sourceName(i)
	}
	return names
}

func (a *app) commandTopic(name string) tea.Cmd {
	v := &a.live[a.cur]
	if name == "all" {
		name = ""
	}
	known := name == ""
	if s := a.source().scene; s != nil {
		for i := range s.raw.Topics {
			known = known || s.raw.Topics[i].Topic == name
		}
	}
	if !known {
		return a.refuse(fmt.Sprintf("topic %q is not subscribed", SafeText(name)))
	}
	v.topic = name
	v.refresh(true)
	return a.goTo(viewLive)
}

func (a *app) commandPause(arg string, resume bool) tea.Cmd {
	if arg != "" {
		mq, err := a.findQueue(arg)
		if err != nil {
			return a.refuse(err.Error())
		}
		if s := a.source().scene; resume != s.pausedAlone(s.queue(mq)) {
			q := s.queue(mq)
			if resume {
				return a.refuse(q.Short() + " is not paused")
			}
			return a.refuse(q.Short() + " is paused already")
		}
		return a.askPause([]engine.MessageQueue{mq})
	}
	s := a.source().scene
	if s != nil && resume && s.Pause == nil {
		return a.refuse("the consumer is not paused as a whole; :resume BROKER/ID for one queue")
	}
	if s != nil && !resume && s.Pause != nil {
		return a.refuse("the consumer is paused already, by " + s.Pause.By)
	}
	return a.askPauseAll()
}

func (a *app) commandSet(fields []string) tea.Cmd {
	if len(fields) != 2 || fields[0] != "refresh" {
		return a.refuse("set: there is `set refresh 2s`")
	}
	d, err := time.ParseDuration(fields[1])
	if err != nil || d < minRefresh || d > maxRefresh {
		return a.refuse(fmt.Sprintf("set refresh: %s to %s", span(minRefresh), age(maxRefresh)))
	}
	return a.setRefresh(d)
}

// findQueue finds a queue by "broker/id", "id" when there is one broker, or
// "topic broker/id".
func (a *app) findQueue(text string) (engine.MessageQueue, error) {
	s := a.source().scene
	if s == nil || text == "" {
		return engine.MessageQueue{}, fmt.Errorf("queue: needs BROKER/ID")
	}
	var found []engine.MessageQueue
	for i := range s.Queues {
		q := &s.Queues[i]
		brief := s.brokers.name(q.BrokerName) + "/" + strconv.Itoa(int(q.QueueID))
		if text == q.Short() || text == brief || text == q.MessageQueue.String() {
			found = append(found, s.raw.Queues[i].MessageQueue)
		}
	}
	v := &a.live[a.cur]
	switch {
	case len(found) == 0:
		return engine.MessageQueue{}, fmt.Errorf("no queue %s", SafeText(text))
	case len(found) > 1 && v.topic != "":
		for _, mq := range found {
			if mq.Topic == v.topic {
				return mq, nil
			}
		}
	}
	return found[0], nil // topics come in order, the retry topic last
}

// complete gives what the command line may become.
func (a *app) complete(text string) []string {
	word, rest, more := strings.Cut(text, " ")
	var options []string
	if !more {
		for _, c := range commandNames {
			if strings.HasPrefix(c.name, word) {
				if c.args != "" {
					options = append(options, c.name+" ")
				} else {
					options = append(options, c.name)
				}
			}
		}
		return options
	}
	for _, o := range a.arguments(word) {
		if strings.HasPrefix(o, rest) {
			options = append(options, word+" "+o)
		}
	}
	return options
}

// arguments are what may follow a command.
func (a *app) arguments(command string) []string {
	s := a.source().scene
	var list []string
	switch command {
	case "live":
		return a.sourceNames()
	case "sort":
		return sortable
	case "set":
		return []string{"refresh 100ms", "refresh 250ms", "refresh 1s", "refresh 2s"}
	case "topic":
		list = append(list, "all")
		for i := 0; s != nil && i < len(s.Topics); i++ {
			list = append(list, s.Topics[i].Topic)
		}
	case "queue", "pause", "resume":
		for i := 0; s != nil && i < len(s.Queues); i++ {
			if q := &s.Queues[i]; (command == "queue" || q.Own) && !slices.Contains(list, q.Short()) {
				list = append(list, q.Short())
			}
		}
	}
	return list
}
