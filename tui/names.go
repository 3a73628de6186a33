package tui

import (
	"time"

	"eyeq/tui/draw"
	"eyeq/tui/words"
)

func orUnknown(s string) string {
	if s == "" {
		return words.Unknown
	}
	return s
}

func groupedWidth(n int64) int {
	digits := 1
	for n >= 10 {
		n /= 10
		digits++
	}
	return digits + (digits-1)/3
}

// sinceText says how long ago something was, for columns.
func sinceText(t, now time.Time) string {
	if t.IsZero() {
		return words.None
	}
	return words.Age(now.Sub(t)) + " ago"
}

// topicLabel is how a topic is called: the retry topic of the group needs no name.
func topicLabel(group, topic string) string {
	if topic == "%RETRY%"+group {
		return "(retry)"
	}
	return draw.SafeText(topic)
}

func severityStyle(th *draw.Theme, s words.Severity) draw.Style {
	switch s {
	case words.Failure:
		return th.Bad
	case words.Warning:
		return th.Warn
	case words.Notice:
		return th.Accent
	}
	return th.Text
}

// letter names the n-th member: A … Z, a … z, then #52.
func letter(n int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	if n < len(letters) {
		return letters[n : n+1]
	}
	return "#" + words.Grouped(int64(n))
}

// broadcasting is the message model of that name, which the screen may not import.
const broadcasting = 2

// millis is a time on the wire; 0 is none.
func millis(n int64) time.Time {
	if n <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(n)
}
