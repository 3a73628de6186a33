package pages

import (
	"fmt"
	"strings"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/words"
)

func orDash(s string) string {
	if s == "" {
		return words.None
	}
	return s
}

// pauseText is how far a group is paused; "" when it is not.
func pauseText(p inspect.Pause) string {
	switch {
	case p.All():
		return "PAUSED"
	case len(p.Brokers) > 0:
		return fmt.Sprintf("PAUSED %d/%d", len(p.Brokers), p.Of)
	case len(p.Topics) > 0:
		return "PAUSED topic"
	}
	return ""
}

// versionText is a client's version as people write it.
func versionText(v string) string {
	fields := strings.Fields(v)
	for i := range fields {
		fields[i] = strings.ReplaceAll(strings.TrimPrefix(fields[i], "V"), "_", ".")
	}
	return strings.Join(fields, " ")
}

// groupKind is how a group consumes.
func groupKind(r *inspect.GroupRow) string {
	text := string(r.Kind)
	if r.Kind == inspect.KindUnknown || text == "" {
		return words.None
	}
	if share := inspect.PopShare(r.Modes); r.Kind == inspect.KindPop && share != "" {
		text += " " + share
	}
	if r.Model == words.Broadcasting {
		text += " broadcast"
	}
	if r.Orderly {
		text += " orderly"
	}
	return text
}

// groupState is the one word of the list; a pause is said before anything else.
func groupState(r *inspect.GroupRow) string {
	if text := pauseText(r.Paused); text != "" {
		return text
	}
	return words.OrUnknown(r.State)
}

func groupStyle(th *draw.Theme, state string) draw.Style {
	switch {
	case strings.HasPrefix(state, "PAUSED"):
		return th.Accent
	case state == inspect.StateOnline:
		return th.Good
	case lostState(state), state == words.Unknown:
		return th.Bad
	case state == "…":
		return th.Dim
	}
	return th.Warn
}

// TopicType is a topic's type. Where a broker has told what it knows of the topic and no
// type is in it, as on 4.x, there is none.
func TopicType(r *inspect.TopicRow) string {
	if t := r.TypeText(); t != "" || r.Perm == "" {
		return words.OrUnknown(t)
	}
	return words.None
}
