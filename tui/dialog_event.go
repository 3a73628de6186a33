package tui

import (
	"strings"

	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/words"
)

// eventDetails are all fields of an event.
func eventDetails(e *page.Env, r *words.EventRow) page.TextDialog {
	lines := []string{
		"time   " + r.At.In(e.Options.Location).Format("2006-01-02 15:04:05.000 -07:00") + "   " + words.Ago(r.At, e.Now),
		"event  " + r.Name,
	}
	if r.Queue != "" {
		lines = append(lines, "queue  "+strings.TrimSpace(r.Topic+" "+r.Queue))
	}
	lines = append(lines, "", r.Text, "")
	for _, f := range words.FieldsOf(r.Event) {
		name, value, _ := strings.Cut(f, "=")
		lines = append(lines, draw.Pad(name, 18)+" "+value)
	}
	return page.TextDialog{Env: e, Title: "Event " + r.Kind + " " + r.Cause, Lines: lines}
}
