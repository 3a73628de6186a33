package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"
)

// Action is the name of a binding: what the [keys] table of the configuration
// calls it and what a view is told.
type Action string

// Scope is where a binding works, a set of bits.
type Scope uint32

const (
	inLive Scope = 1 << iota
	inQueue
	inEvents
	inLog
	InHeld // the queue view of a consumer that leaves messages to the operator
	inGroups
	inGroup
	inLag
	inTopics
	inTopic
	inBrokers
	inWatch      // any group live
	InWatchQueue // a queue of it
	inTail
	inDoctor
	inStack
	Everywhere = inStack<<1 - 1
	inLists    = inGroups | inTopics | inBrokers
	inPages    = inLists | inGroup | inLag | inTopic
	inTables   = inAnyLive | inEvents | inPages
	inQueues   = inQueue | InHeld
	inAnyLive  = inLive | inWatch
)

// String names the views, for the help.
func (s Scope) String() string {
	if s == Everywhere {
		return "everywhere"
	}
	var names []string
	for i, name := range []string{"Live", "Queue", "Events", "Log", "Held", "Groups", "Group", "Lag", "Topics", "Topic", "Brokers", "Watch", "Watched queue", "Tail", "Findings", "Stack"} {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// Binding is one row of the key table. Help, hint line, documentation and the
// [keys] table of the configuration are all made from these rows.
type Binding struct {
	key.Binding
	Name  Action
	Where Scope
	Hint  string // a word for the hint line; "" keeps it out of there
	fixed bool   // cannot be overridden: the way out must stay
	// Write bindings change a cluster: they are left out in read-only mode.
	Write bool
	// cluster bindings need somebody to ask about other groups: there are none without
	// Options.Inspect.
	cluster bool
	// tail bindings read a topic: there are none without Options.OpenTail.
	tail bool
	// Hold bindings decide about held messages: there are none without
	// Options.Hold, nor in read-only mode.
	Hold bool
}

func bind(name Action, where Scope, keys, hint, help string) Binding {
	list := strings.Fields(keys)
	return Binding{
		Binding: key.NewBinding(key.WithKeys(list...), key.WithHelp(showKeys(list, false), help)),
		Name:    name, Where: where, Hint: hint,
	}
}

// DefaultKeys is the key table, in the order of the help view.
func DefaultKeys() []Binding {
	table := []Binding{
		bind("down", Everywhere, "j down", "move", "down"),
		bind("up", Everywhere, "k up", "", "up"),
		bind("top", Everywhere, "g home", "", "first row"),
		bind("bottom", Everywhere, "G end", "", "last row; follow the newest event"),
		bind("half-down", Everywhere, "ctrl+d", "", "half a page down"),
		bind("half-up", Everywhere, "ctrl+u", "", "half a page up"),
		bind("page-down", Everywhere, "ctrl+f pgdown", "", "a page down"),
		bind("page-up", Everywhere, "ctrl+b pgup", "", "a page up"),
		bind("left", Everywhere, "h left", "", "scroll columns to the left"),
		bind("right", Everywhere, "l right", "", "scroll columns to the right"),
		bind("far-left", Everywhere, "0", "", "first columns"),
		bind("far-right", Everywhere, "$", "", "last columns"),

		bind("acknowledge", inLive|InHeld, "a", "ack", "acknowledge the held message, the marked ones, or all of a queue (asks first)"),
		bind("refuse", inLive|InHeld, "x", "refuse", "refuse them: they come again later (asks first)"),
		bind("dead-letter", inLive|InHeld, "D", "dead letter", "send them to the dead letters (asks first)"),
		bind("mark", inAnyLive|inPages|inTail, "v", "mark", "mark the row, or take its mark away"),
		bind("mark-message", InHeld, "space v", "mark", "mark the message, or take its mark away"),
		bind("mark-range", inAnyLive|InHeld|inPages|inTail, "V", "", "mark from the last mark to here"),
		bind("mark-all", InHeld, "ctrl+a", "", "mark all held messages of the list"),
		bind("detail", inTables|inQueues|inTail, "enter", "detail", "details of the row"),
		bind("describe", inPages|inWatch, "d", "describe", "everything about the row, or the group of this view"),
		bind("show-system", inGroups|inTopics, "a", "", "show RocketMQ's own groups or topics too, or hide them"),
		bind("pause", inLive|inQueues, "p", "pause", "pause or resume the queue, or the marked ones (asks first)"),
		bind("pause-all", inLive|inQueues, "P", "pause all", "pause or resume the whole consumer (asks first)"),
		bind("reset", inLive|inQueues|inLag|inWatch, "R", "reset…", "reset offsets: opens a dialog, writes nothing yet"),
		bind("sort", inAnyLive|inLag|inLists, "s", "sort", "sort by the next column"),
		bind("sort-reverse", inAnyLive|inLag|inLists, "S", "", "reverse the order"),
		bind("next-topic", inAnyLive, "n", "topic", "next topic: all, each, the retry topic"),
		bind("previous-topic", inAnyLive, "N", "", "previous topic"),
		bind("tail-here", inAnyLive|inQueues|InWatchQueue|inLag|inTopics|inTopic|inGroup, "t", "tail", "read the topic, or the queue under the cursor, from here on"),
		bind("findings", inAnyLive|inGroups|inGroup|inLag|InWatchQueue, "f", "findings", "what is wrong with the group, and what to do"),
		bind("stack", inAnyLive|inGroup|InWatchQueue, "T", "threads", "what the member's threads do: the one under the cursor, or that holds the queue"),
		bind("follow", inTail, "f", "follow", "follow the newest message"),
		bind("seek-time", inTail, "T", "time", "read from a time"),
		bind("seek-offset", inTail, "O", "offset", "read from an offset"),
		bind("queues", inTail, "Q", "queues", "choose the queues that are read"),
		bind("wrap", inTail, "w", "", "wrap long lines of the body, or cut them"),
		bind("hex", inTail, "x", "hex", "the body's bytes"),
		bind("decoder", inTail, "d", "", "next decoder: auto, json, text, hex"),
		bind("body-down", inTail|inDoctor|inStack, "J", "body", "scroll the body down while the list keeps its cursor"),
		bind("body-up", inTail|inDoctor|inStack, "K", "", "scroll it up"),
		bind("next-match", inTail, "n", "match", "next place of the filter's text"),
		bind("previous-match", inTail, "N", "", "previous one"),
		bind("resend", inTail, "R", "resend…", "send the dead letter, or the marked ones, back to its group: opens a dialog, sends nothing yet"),
		bind("filter", inTables|inTail, "/", "filter", "filter rows: text, ~regexp, !without, >column number"),
		bind("freeze", inAnyLive|inTail|InWatchQueue|inQueue|inEvents|inLag, "space", "freeze", "freeze the screen; data keeps arriving"),
		bind("next-error", inEvents|inTail, "e", "error", "next failure"),
		bind("previous-error", inEvents|inTail, "E", "", "previous failure"),
		bind("next-pane", inAnyLive|inGroup|inTopic|inBrokers, "tab", "", "next pane"),
		bind("previous-pane", inAnyLive|inGroup|inTopic|inBrokers, "shift+tab", "", "previous pane"),
		bind("zoom", inAnyLive|inTail|inQueues|inGroup|inTopic|inBrokers, "z", "", "give the whole screen to the pane, or the messages"),

		bind("live", Everywhere, "1", "live", "Live"),
		bind("lag", Everywhere, "2", "lag", "Lag of the group"),
		bind("tail", Everywhere, "3", "tail", "Tail: messages of a topic"),
		bind("groups", Everywhere, "4", "groups", "Groups: all of the cluster"),
		bind("topics", Everywhere, "5", "topics", "Topics"),
		bind("brokers", Everywhere, "6", "brokers", "Brokers and name servers"),
		bind("events", Everywhere, "7", "events", "Events"),
		bind("last-view", Everywhere, "-", "", "the view before"),
		bind("history-back", Everywhere, "[", "", "back in the history of views"),
		bind("history-forward", Everywhere, "]", "", "forward in it"),
		bind("copy", Everywhere, "y", "", "copy the row, or the message's body, by the terminal (OSC 52)"),
		bind("copy-json", Everywhere, "Y", "", "copy the row as JSON"),
		bind("save", Everywhere, "o ctrl+s", "", "save the rows as CSV or JSON, or the body under the cursor (asks where)"),
		bind("mouse", Everywhere, "m", "", "mouse on or off: the wheel moves, a click selects"),
		bind("next-consumer", Everywhere, "ctrl+n", "consumer", "next consumer of this process"),
		bind("previous-consumer", Everywhere, "ctrl+p", "", "previous consumer of this process"),
		bind("log", Everywhere, "!", "", "the log of eyeq itself"),
		bind("command", Everywhere, ":", "command", "command bar"),
		bind("time", Everywhere, "ctrl+t", "", "times: absolute, relative, UTC"),
		bind("refresh", Everywhere, "ctrl+r", "", "refresh now"),
		bind("redraw", Everywhere, "ctrl+l", "", "draw the screen anew"),
		bind("help", Everywhere, "? f1", "help", "keys of this view; type to filter"),
		bind("escape", Everywhere, "esc", "", "close, clear filter, clear marks, back"),
		bind("back", Everywhere, "q", "back", "back; on the top view: leave"),
		bind("suspend", Everywhere, "ctrl+z", "", "suspend (refused as a member of a real group)"),
		bind("quit", Everywhere, "ctrl+c", "", "leave in order; again: at once"),
	}
	for i := range table {
		switch table[i].Name {
		case "quit", "escape":
			table[i].fixed = true
		case "reset", "resend":
			table[i].Write = true
		case "lag", "groups", "topics", "brokers", "findings", "stack":
			table[i].cluster = true
		case "tail", "tail-here":
			table[i].tail = true
		case "acknowledge", "refuse", "dead-letter", "mark-message", "mark-all":
			table[i].Hold = true
		}
	}
	return table
}

// Keymap is the key table with the operator's changes, ready to be looked up.
type Keymap struct {
	ascii    bool // arrows and enter are written as words
	Bindings []Binding
	lookup   map[Scope]map[string]int
}

// NewKeymap applies overrides: a binding's name to its keys, separated by blanks.
// Names that do not exist and keys that mean two things in one place are errors.
func NewKeymap(overrides map[string]string, ascii bool) (*Keymap, error) {
	m := &Keymap{ascii: ascii, Bindings: DefaultKeys(), lookup: make(map[Scope]map[string]int)}
	for _, name := range slices.Sorted(maps.Keys(overrides)) {
		i := slices.IndexFunc(m.Bindings, func(b Binding) bool { return string(b.Name) == name })
		if i < 0 {
			return nil, fmt.Errorf("keys: %q is no key binding; there are: %s", name, strings.Join(BindingNames(), ", "))
		}
		b := &m.Bindings[i]
		if b.fixed {
			return nil, fmt.Errorf("keys: %s cannot be changed, it is the way out", name)
		}
		keys, err := parseKeys(overrides[name])
		if err != nil {
			return nil, fmt.Errorf("keys: %s = %q: %w", name, overrides[name], err)
		}
		b.SetKeys(keys...)
	}
	for i := range m.Bindings {
		b := &m.Bindings[i]
		b.SetHelp(showKeys(b.Keys(), ascii), b.Help().Desc)
	}
	for s := inLive; s < Everywhere; s <<= 1 {
		m.lookup[s] = make(map[string]int)
		for i := range m.Bindings {
			b := &m.Bindings[i]
			if b.Where&s == 0 {
				continue
			}
			for _, k := range b.Keys() {
				if k == "space" {
					k = " "
				}
				if other, taken := m.lookup[s][k]; taken {
					return nil, fmt.Errorf("keys: %q means both %s and %s in %v", showKeys([]string{k}, false), m.Bindings[other].Name, b.Name, s)
				}
				m.lookup[s][k] = i
			}
		}
	}
	return m, nil
}

// parseKeys reads what the configuration says: "R", "ctrl-r", "f5 ctrl+r".
func parseKeys(text string) ([]string, error) {
	if text == " " {
		return []string{"space"}, nil
	}
	keys := strings.Fields(text)
	if len(keys) == 0 {
		return nil, fmt.Errorf("needs at least one key")
	}
	for i, k := range keys {
		for _, modifier := range []string{"ctrl", "shift", "alt"} {
			if rest, ok := strings.CutPrefix(k, modifier+"-"); ok && rest != "" {
				k = modifier + "+" + rest
			}
		}
		if len([]rune(k)) > 1 && !strings.Contains(k, "+") && !slices.Contains(namedKeys, k) && !strings.HasPrefix(k, "f") {
			return nil, fmt.Errorf("%q is no key: a character, ctrl-x, alt-x, f1…f12, or one of %s", k, strings.Join(namedKeys, ", "))
		}
		keys[i] = k
	}
	return keys, nil
}

var namedKeys = []string{"enter", "tab", "esc", "space", "up", "down", "left", "right", "home", "end", "pgup", "pgdown", "insert", "delete", "backspace"}

// Usable reports whether a binding means anything on this screen, and is allowed.
func (e *Env) Usable(b *Binding) bool {
	return e.Present(b) && !((b.Write || b.Hold) && e.ReadOnly())
}

// Present reports whether there is what a binding is about.
func (e *Env) Present(b *Binding) bool {
	if b.Name == "next-consumer" || b.Name == "previous-consumer" {
		return len(e.Options.Engines) > 1
	}
	return (!b.Hold || e.Options.Hold) && (!b.cluster || e.Options.Inspect != nil) && (!b.tail || e.Options.OpenTail != nil)
}

// Find gives the action of a key in a view.
func (m *Keymap) Find(s Scope, key string) (*Binding, bool) {
	i, ok := m.lookup[s][key]
	if !ok {
		return nil, false
	}
	return &m.Bindings[i], true
}

// Of gives a binding by its name.
func (m *Keymap) Of(name Action) *Binding {
	for i := range m.Bindings {
		if m.Bindings[i].Name == name {
			return &m.Bindings[i]
		}
	}
	return nil
}

// First is a binding's first key as people write it.
func (m *Keymap) First(name Action) string {
	b := m.Of(name)
	if b == nil || len(b.Keys()) == 0 {
		return ""
	}
	return showKeys(b.Keys()[:1], m.ascii)
}

// keySigns are keys that have a sign of their own.
var keySigns = map[string]string{"up": "↑", "down": "↓", "left": "←", "right": "→", "enter": "⏎"}

// showKeys writes keys as people do: "j/↓", "ctrl-d", "⏎"; with ascii in words.
func showKeys(keys []string, ascii bool) string {
	shown := make([]string, len(keys))
	for i, k := range keys {
		if sign, ok := keySigns[k]; ok && !ascii {
			k = sign
		}
		switch k {
		case " ":
			k = "space"
		case "f1":
			k = "F1"
		}
		if len(k) > 1 {
			k = strings.ReplaceAll(k, "+", "-")
		}
		shown[i] = k
	}
	return strings.Join(shown, "/")
}

// KeyRow is one row of the key table, for documentation.
type KeyRow struct{ Name, Keys, Where, Help string }

// Bindings is the key table as it is by default.
func Bindings() []KeyRow {
	var list []KeyRow
	for _, b := range DefaultKeys() {
		list = append(list, KeyRow{string(b.Name), b.Help().Key, b.Where.String(), b.Help().Desc})
	}
	return list
}

// BindingNames are the names that the [keys] table of a configuration may use.
func BindingNames() []string {
	var names []string
	for _, b := range DefaultKeys() {
		if !b.fixed {
			names = append(names, string(b.Name))
		}
	}
	slices.SortFunc(names, cmp.Compare[string])
	return names
}

// CheckKeys reports what is wrong with the [keys] table of a configuration.
func CheckKeys(overrides map[string]string) error {
	_, err := NewKeymap(overrides, false)
	return err
}
