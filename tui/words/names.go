package words

import (
	"time"

	"eyeq/tui/draw"
)

func OrUnknown(s string) string {
	if s == "" {
		return Unknown
	}
	return s
}

func GroupedWidth(n int64) int {
	digits := 1
	for n >= 10 {
		n /= 10
		digits++
	}
	return digits + (digits-1)/3
}

// SinceText says how long ago something was, for columns.
func SinceText(t, now time.Time) string {
	if t.IsZero() {
		return None
	}
	return Age(now.Sub(t)) + " ago"
}

// TopicLabel is how a topic is called: the retry topic of the group needs no name.
func TopicLabel(group, topic string) string {
	if topic == "%RETRY%"+group {
		return "(retry)"
	}
	return draw.SafeText(topic)
}

func SeverityStyle(th *draw.Theme, s Severity) draw.Style {
	switch s {
	case Failure:
		return th.Bad
	case Warning:
		return th.Warn
	case Notice:
		return th.Accent
	}
	return th.Text
}

// Letter names the n-th member: A … Z, a … z, then #52.
func Letter(n int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	if n < len(letters) {
		return letters[n : n+1]
	}
	return "#" + Grouped(int64(n))
}

// Broadcasting is the message model of that name, which the screen may not import.
const Broadcasting = 2

// Millis is a time on the wire; 0 is none.
func Millis(n int64) time.Time {
	if n <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(n)
}
