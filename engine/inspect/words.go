package inspect

import (
	"fmt"
	"strconv"
	"time"
)

// How counts, sizes and lengths of time are written for people, everywhere. Numbers
// that are pasted into a command, such as offsets in a table, are written plain.

// Grouped writes a whole number with a comma between thousands.
func Grouped(n int64) string {
	var digits [20]byte
	raw := strconv.AppendInt(digits[:0], n, 10)
	sign := 0
	if n < 0 {
		sign = 1
	}
	if len(raw)-sign <= 3 {
		return string(raw)
	}
	var out [27]byte
	b := append(out[:0], raw[:sign]...)
	for i, c := range raw[sign:] {
		if i > 0 && (len(raw)-sign-i)%3 == 0 {
			b = append(b, ',')
		}
		b = append(b, c)
	}
	return string(b)
}

// Plural writes a count with its noun, whose plural is regular: "1 queue", "3,000 queues".
func Plural[N int | int64](n N, noun string) string { return Plurals(n, noun, noun+"s") }

// Plurals is Plural for a noun whose plural is not regular, or for a phrase.
func Plurals[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Grouped(int64(n)) + " " + many
}

// Bytes writes a size in the unit that fits.
func Bytes(n int64) string {
	switch {
	case n < 10_000:
		return Grouped(n) + " B"
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// Span writes a length of time in at most its two largest units: 38ms, 2.4s, 12s,
// 4m12s, 1h10m, 3d4h.
func Span(d time.Duration) string {
	sign := ""
	if d < 0 {
		sign, d = "−", -d
	}
	switch {
	case d < time.Millisecond && d > 0:
		return sign + strconv.FormatInt(int64(d/time.Microsecond), 10) + "µs"
	case d < time.Second:
		return sign + strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	case d < 10*time.Second:
		return sign + strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + "s"
	}
	return sign + Age(d)
}

// Age is Span in whole seconds, for what is counted from a moment on; it is never
// negative.
func Age(d time.Duration) string {
	s := int64(d / time.Second)
	switch {
	case s < 0:
		return "0s"
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	case s < 86400:
		return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
	}
	return fmt.Sprintf("%dd%dh", s/86400, s/3600%24)
}

// numberText writes a Number within a sentence.
func numberText(n Number) string {
	switch {
	case !n.Known:
		return "unknown"
	case n.AtLeast:
		return "at least " + Grouped(n.Value)
	}
	return Grouped(n.Value)
}

// howMany is numberText before a noun.
func howMany(n Number) string {
	if !n.Known {
		return "an unknown number of"
	}
	return numberText(n)
}
