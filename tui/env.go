package tui

import (
	"time"

	"github.com/charmbracelet/lipgloss"

	"eyeq/engine/inspect"
	"eyeq/engine/inspect/message"
	"eyeq/tui/draw"
	"eyeq/tui/words"
)

// env is what views and dialogs share. bubbletea's loop owns it, as all view state;
// views read it.
type env struct {
	o        Options
	th       *draw.Theme
	g        draw.Glyphs
	keys     *keymap
	renderer *lipgloss.Renderer // of the styles
	mode     words.TimeMode
	now      time.Time // of the message that is handled
	// began is when the screen did.
	began time.Time
	// tickets counts the questions to the cluster: an answer belongs to one.
	tickets int
	width   int // of the screen
	room    int // lines that a dialog may have
	known   knownNames
	charset message.Charset // in which bodies are read
	// savedTo are the offsets that resets on this screen have saved, by group (true name).
	savedTo map[string]string
}

// newTicket is the number of a question, by which its answer is known.
func (e *env) newTicket() int {
	e.tickets++
	return e.tickets
}

// loadingAfter keeps "loading" from flashing up when the answer is there at once.
const loadingAfter = 150 * time.Millisecond

// young reports whether it is too early to say that something is missing.
func (e *env) young() bool { return e.now.Sub(e.began) < loadingAfter }

// clock writes a time of day as the operator wants it.
func (e *env) clock(t time.Time, style words.ClockStyle) string {
	return e.mode.Clock(t, e.now, e.o.Location, style)
}

func (e *env) readOnly() bool { return e.o.Mode == modeReadOnly }

// modeWord is the cluster's mode for line 1.
func (e *env) modeWord() string {
	switch e.o.Mode {
	case modeReadOnly:
		return "READ-ONLY"
	case modeConfirm:
		return "RW-CONFIRM"
	case modeOpen:
		return "RW"
	case modeSandbox:
		return "SANDBOX"
	}
	return ""
}

// knownNames are the names that the command bar completes. Only those that are safe
// to print are in it: another could not be read in the bar.
type knownNames struct{ groups, topics []string }

// learn keeps the names of an answer.
func (k *knownNames) learn(msg answerMsg) {
	switch list := msg.raw.(type) {
	case inspect.GroupList:
		k.groups = k.groups[:0:0]
		for i := range list.Groups {
			if g := &list.Groups[i]; draw.IsSafe(g.Group) && !g.System {
				k.groups = append(k.groups, g.Group)
			}
		}
	case inspect.TopicList:
		k.topics = k.topics[:0:0]
		for i := range list.Topics {
			if t := &list.Topics[i]; draw.IsSafe(t.Topic) && !t.System {
				k.topics = append(k.topics, t.Topic)
			}
		}
	}
}

// namesMsg asks a list for an asksRequest about its names, when it has none.
type namesMsg struct{}

// readOnlyText says why nothing can be changed here.
func (e *env) readOnlyText(what string) string {
	text := what + ": cluster " + draw.SafeText(e.o.Cluster) + " is read-only"
	if why := e.o.ModeWhy; why != "" {
		text += " (" + draw.SafeText(why) + ")"
	}
	return text + ", nothing sent"
}
