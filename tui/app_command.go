package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
	"eyeq/engine/inspect/message"
	"eyeq/tui/draw"
	"eyeq/tui/live"
	"eyeq/tui/page"
	"eyeq/tui/words"
)

// commandName is a command of the bar, with what follows it.
type commandName struct {
	name, args, help string
	cluster          bool // needs somebody to ask about other groups
}

// commandNames are what the command bar knows.
var commandNames = []commandName{
	{"live", "[GROUP]", "the live view, of any group", false},
	{"lag", "[GROUP]", "lag and offsets of a group", true},
	{"group", "[GROUP]", "members, subscriptions and configuration of a group", true},
	{"groups", "[/REGEXP]", "all groups", true},
	{"topics", "[/REGEXP]", "all topics", true},
	{"topic", "NAME|all", "one topic; in a live view one topic only", false},
	{"brokers", "", "brokers and name servers", true},
	{"tail", "TOPIC [@-15m] [q=BROKER/ID]", "messages of a topic as they come, or from a time, @earliest or @offset:N", true},
	{"dlq", "[GROUP]", "the dead letters of a group", true},
	{"consume", "[GROUP [CLIENT-ID]]", "have a running member consume the message under the cursor (asks first)", true},
	{"findings", "[GROUP]", "what is wrong with a group, and what to do", true},
	{"stack", "[CLIENT-ID]", "what the threads of a member do", true},
	{"cluster", "NAME", "another configured cluster", true},
	{"events", "", "all events", false},
	{"queue", "BROKER/ID", "one queue in detail", false},
	{"pause", "[BROKER/ID|GROUP]", "pause the queue or the consumer; elsewhere the whole group (asks first)", false},
	{"resume", "[BROKER/ID|GROUP]", "resume it (asks first)", false},
	{"reset", "", "open the reset dialog", false},
	{"sort", "COLUMN", "sort the rows", false},
	{"set", "refresh 2s | charset gb18030", "how often the screen is refreshed; in which charset bodies are read", false},
	{"save", "", "save the rows of this view as CSV or JSON", false},
	{"shot", "[FILE]", "write the screen as text and with its colours", false},
	{"log", "", "the log of eyeq itself", false},
	{"help", "", "the keys of this view", false},
	{"q", "", "leave", false},
}

// usable reports whether a command means anything on this screen.
func (a *app) usable(c *commandName) bool {
	return !c.cluster || a.env.Options.Inspect != nil && (c.name != "tail" && c.name != "dlq" || a.env.Options.OpenTail != nil)
}

// command does what was typed into the command bar.
func (a *app) command(text string) tea.Cmd {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return nil
	}
	arg := strings.Join(fields[1:], " ")
	if i := slices.IndexFunc(commandNames, func(c commandName) bool { return c.name == fields[0] }); i >= 0 && commandNames[i].cluster {
		if !a.usable(&commandNames[i]) {
			return a.refuse(fields[0] + ": nobody can be asked about other groups here")
		}
		return a.commandCluster(fields[0], arg)
	}
	switch fields[0] {
	case "live":
		return a.commandLive(arg)
	case "events":
		return a.goTo(page.ViewEvents)
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
	case "shot":
		return a.shot(arg)
	case "save":
		return a.act("save")
	case "reset":
		if a.env.ReadOnly() {
			return a.refuse(a.env.ReadOnlyText("reset"))
		}
		return a.act("reset")
	case "sort":
		if a.page() != nil {
			return a.toPage(page.OrderMsg{Column: arg})
		}
		if !slices.Contains(live.Sortable, arg) {
			return a.refuse("sort: columns are " + strings.Join(live.Sortable, ", "))
		}
		v := &a.live[a.cur]
		v.Queues.Order.Column = arg
		v.Refresh(true)
	case "set":
		return a.commandSet(fields[1:])
	case "log":
		return a.goTo(page.ViewLog)
	case "help":
		return a.act("help")
	case "q", "quit":
		return a.askLeave()
	default:
		return a.refuse(fmt.Sprintf("there is no command %q; %s lists keys, tab in the bar lists commands", draw.SafeText(fields[0]), a.env.Keys.First("help")))
	}
	return nil
}

func (a *app) commandLive(name string) tea.Cmd {
	if name == "" {
		return a.showLive()
	}
	for i := range a.consumers() {
		if a.sourceName(i) == name {
			return tea.Batch(a.look(i), a.goTo(page.ViewLive))
		}
	}
	if a.env.Options.Inspect != nil {
		return a.openWatch(name)
	}
	return a.refuse(fmt.Sprintf("no consumer %q in this process; there are: %s", draw.SafeText(name), strings.Join(a.sourceNames(), ", ")))
}

// sourceName is how a consumer is called here, safe to print.
func (a *app) sourceName(i int) string {
	if a.sources[i].Name != "" {
		return draw.SafeText(a.sources[i].Name)
	}
	if s := a.sources[i].Scene; s != nil {
		return s.Group
	}
	return strconv.Itoa(i + 1)
}

// ownNames are the consumers of this process; none when the screen is without any.
func (a *app) ownNames() []string {
	if len(a.engines) == 0 {
		return nil
	}
	return a.sourceNames()
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
	if a.env.Options.Inspect != nil && a.shown != page.ViewLive && a.shown != page.ViewWatch {
		return a.openTopic(name)
	}
	if name == "all" {
		name = ""
	}
	known := name == ""
	if s := a.source().Scene; s != nil {
		for i := range s.Raw.Topics {
			known = known || s.Raw.Topics[i].Topic == name
		}
	}
	if !known && a.env.Options.Inspect != nil {
		return a.openTopic(name)
	}
	if !known {
		return a.refuse(fmt.Sprintf("topic %q is not subscribed", draw.SafeText(name)))
	}
	v.Topic = name
	v.Refresh(true)
	if a.shown == page.ViewWatch {
		return nil
	}
	return a.goTo(page.ViewLive)
}

func (a *app) commandPause(arg string, resume bool) tea.Cmd {
	if a.page() != nil || a.shown == page.ViewWatch || a.watchedNow() != nil {
		return a.askPauseGroup(cmp.Or(arg, a.groupHere()), resume)
	}
	if arg != "" {
		mq, err := a.findQueue(arg)
		if err != nil {
			return a.refuse(err.Error())
		}
		if s := a.source().Scene; resume != s.PausedAlone(s.Queue(mq)) {
			q := s.Queue(mq)
			if resume {
				return a.refuse(q.Short() + " is not paused")
			}
			return a.refuse(q.Short() + " is paused already")
		}
		return a.askPause([]engine.MessageQueue{mq})
	}
	s := a.source().Scene
	if s != nil && resume && s.Pause == nil {
		return a.refuse("the consumer is not paused as a whole; :resume BROKER/ID for one queue")
	}
	if s != nil && !resume && s.Pause != nil {
		return a.refuse("the consumer is paused already, by " + s.Pause.By)
	}
	return a.askPauseAll()
}

func (a *app) commandSet(fields []string) tea.Cmd {
	if len(fields) == 2 {
		switch fields[0] {
		case "refresh":
			return a.commandRefresh(fields[1])
		case "charset":
			return a.commandCharset(fields[1])
		}
	}
	return a.refuse("set: there are `set refresh 2s` and `set charset gb18030`")
}

func (a *app) commandCharset(name string) tea.Cmd {
	c, err := message.ParseCharset(name)
	if err != nil {
		return a.refuse("set charset: " + draw.SafeText(err.Error()))
	}
	a.env.Charset = c
	a.note = note{"bodies are read in " + c.String(), words.Notice, a.env.Now}
	return nil
}

func (a *app) commandRefresh(every string) tea.Cmd {
	d, err := time.ParseDuration(every)
	if err != nil || d < page.MinRefresh || d > page.MaxRefresh {
		return a.refuse(fmt.Sprintf("set refresh: %s to %s", words.Span(page.MinRefresh), words.Age(page.MaxRefresh)))
	}
	return a.setRefresh(d)
}

// findQueue finds a queue by "broker/id", "id" when there is one broker, or
// "topic broker/id".
func (a *app) findQueue(text string) (engine.MessageQueue, error) {
	s := a.source().Scene
	if s == nil || text == "" {
		return engine.MessageQueue{}, fmt.Errorf("queue: needs BROKER/ID")
	}
	var found []engine.MessageQueue
	for i := range s.Queues {
		q := &s.Queues[i]
		brief := s.Short.Name(q.BrokerName) + "/" + strconv.Itoa(int(q.QueueID))
		if text == q.Short() || text == brief || text == q.MessageQueue.String() {
			found = append(found, s.Raw.Queues[i].MessageQueue)
		}
	}
	v := &a.live[a.cur]
	switch {
	case len(found) == 0:
		return engine.MessageQueue{}, fmt.Errorf("no queue %s", draw.SafeText(text))
	case len(found) > 1 && v.Topic != "":
		for _, mq := range found {
			if mq.Topic == v.Topic {
				return mq, nil
			}
		}
	}
	return found[0], nil // topics come in order, the retry topic last
}
