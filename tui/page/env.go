package page

import (
	"time"

	"github.com/charmbracelet/lipgloss"

	"eyeq/engine/inspect"
	"eyeq/engine/inspect/message"
	"eyeq/tui/draw"
	"eyeq/tui/words"
)

// Env is what views and dialogs share. bubbletea's loop owns it, as all view state;
// views read it.
type Env struct {
	Options  Options
	Theme    *draw.Theme
	Glyphs   draw.Glyphs
	Keys     *Keymap
	Renderer *lipgloss.Renderer // of the styles
	Mode     words.TimeMode
	Now      time.Time // of the message that is handled
	// Began is when the screen did.
	Began time.Time
	// Tickets counts the questions to the cluster: an answer belongs to one.
	Tickets int
	Width   int // of the screen
	Room    int // lines that a dialog may have
	Known   knownNames
	Charset message.Charset // in which bodies are read
	// SavedTo are the offsets that resets on this screen have saved, by group (true name).
	SavedTo map[string]string
}

// NewTicket is the number of a question, by which its answer is known.
func (e *Env) NewTicket() int {
	e.Tickets++
	return e.Tickets
}

// LoadingAfter keeps "loading" from flashing up when the answer is there at once.
const LoadingAfter = 150 * time.Millisecond

// Young reports whether it is too early to say that something is missing.
func (e *Env) Young() bool { return e.Now.Sub(e.Began) < LoadingAfter }

// Clock writes a time of day as the operator wants it.
func (e *Env) Clock(t time.Time, style words.ClockStyle) string {
	return e.Mode.Clock(t, e.Now, e.Options.Location, style)
}

// ReadOnly reports whether nothing may be changed on this cluster.
func (e *Env) ReadOnly() bool { return e.Options.Mode == ModeReadOnly }

// ModeWord is the cluster's mode for line 1.
func (e *Env) ModeWord() string {
	switch e.Options.Mode {
	case ModeReadOnly:
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
type knownNames struct{ Groups, Topics []string }

// Learn keeps the names of an answer.
func (k *knownNames) Learn(msg AnswerMsg) {
	switch list := msg.Raw.(type) {
	case inspect.GroupList:
		k.Groups = k.Groups[:0:0]
		for i := range list.Groups {
			if g := &list.Groups[i]; draw.IsSafe(g.Group) && !g.System {
				k.Groups = append(k.Groups, g.Group)
			}
		}
	case inspect.TopicList:
		k.Topics = k.Topics[:0:0]
		for i := range list.Topics {
			if t := &list.Topics[i]; draw.IsSafe(t.Topic) && !t.System {
				k.Topics = append(k.Topics, t.Topic)
			}
		}
	}
}

// NamesMsg asks a list for an asksRequest about its names, when it has none.
type NamesMsg struct{}

// ReadOnlyText says why nothing can be changed here.
func (e *Env) ReadOnlyText(what string) string {
	text := what + ": cluster " + draw.SafeText(e.Options.Cluster) + " is read-only"
	if why := e.Options.ModeWhy; why != "" {
		text += " (" + draw.SafeText(why) + ")"
	}
	return text + ", nothing sent"
}
