package tui

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"eyeq/engine/inspect"
)

// What stands where something is not known, or there is none.
const (
	unknown = "?"
	none    = "–"
)

// The forms of counts, sizes and lengths of time are those of package inspect, so
// that the screen and the commands write the same.
func grouped(n int64) string      { return inspect.Grouped(n) }
func size(bytes int64) string     { return inspect.Bytes(bytes) }
func span(d time.Duration) string { return inspect.Span(d) }
func age(d time.Duration) string  { return inspect.Age(d) }

func plural[N int | int64](n N, noun string) string { return inspect.Plural(n, noun) }

// offset writes an offset that may be unknown.
func offset(n int64) string {
	if n < 0 {
		return unknown
	}
	return grouped(n)
}

// signed writes a difference with its sign, the true minus included.
func signed(n int64) string {
	switch {
	case n > 0:
		return "+" + grouped(n)
	case n < 0:
		return "−" + grouped(-n)
	}
	return "0"
}

// short writes a number in about four cells: 987, 4.8k, 128k, 3.2M.
func short(f float64) string {
	sign := ""
	if f < 0 {
		sign, f = "−", -f
	}
	switch {
	case f < 9.95 && f != math.Trunc(f):
		return sign + strconv.FormatFloat(f, 'f', 1, 64)
	case f < 999.5:
		return sign + strconv.FormatFloat(f, 'f', 0, 64)
	}
	for _, unit := range "kMGT" {
		f /= 1000
		if f < 9.95 {
			return sign + strconv.FormatFloat(f, 'f', 1, 64) + string(unit)
		}
		if f < 999.5 || unit == 'T' {
			return sign + strconv.FormatFloat(f, 'f', 0, 64) + string(unit)
		}
	}
	return sign
}

// rate writes a number a second.
func rate(f float64, ok bool) string {
	switch {
	case !ok:
		return unknown + "/s"
	case f > 0 && f < 9.95:
		return strconv.FormatFloat(f, 'f', 1, 64) + "/s"
	}
	return grouped(int64(math.Round(f))) + "/s"
}

// shortRate is rate in few cells.
func shortRate(f float64, ok bool) string {
	if !ok {
		return unknown + "/s"
	}
	return short(f) + "/s"
}

// percent writes a share.
func percent(part, whole float64) string {
	if whole <= 0 {
		return none
	}
	p := 100 * part / whole
	if p > 0 && p < 9.95 {
		return strconv.FormatFloat(p, 'f', 1, 64) + "%"
	}
	return strconv.FormatFloat(p, 'f', 0, 64) + "%"
}

// mib writes bytes as MiB with one decimal.
func mib(bytes int64) string {
	return strconv.FormatFloat(float64(bytes)/(1<<20), 'f', 1, 64)
}

// signedSpan is span with its sign, also a plus.
func signedSpan(d time.Duration) string {
	if d >= 0 {
		return "+" + span(d)
	}
	return span(d)
}

// since is the age of a time that may be unknown.
func since(t, now time.Time) string {
	if t.IsZero() {
		return unknown
	}
	return age(now.Sub(t))
}

// ago is since with the word.
func ago(t, now time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return age(now.Sub(t)) + " ago"
}

// shortener gives brokers short names: without their common beginning up to the
// last dash or underscore, "broker-a" and "broker-b" are "a" and "b".
type shortener int

func newShortener(brokers []string) shortener {
	if len(brokers) == 0 {
		return 0
	}
	prefix := brokers[0]
	for _, b := range brokers[1:] {
		for !strings.HasPrefix(b, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	cut := strings.LastIndexAny(prefix, "-_") + 1
	for _, b := range brokers {
		if len(b) == cut {
			return 0
		}
	}
	return shortener(cut)
}

func (s shortener) name(broker string) string {
	if int(s) >= len(broker) {
		return broker
	}
	return broker[s:]
}

// role is what a broker id means.
func role(id int64) string {
	if id == 0 {
		return "master"
	}
	return fmt.Sprintf("slave %d", id)
}

// timeMode is how times of day are shown.
type timeMode uint8

const (
	timeAbsolute timeMode = iota
	timeRelative
	timeUTC
)

func (m timeMode) String() string { return [...]string{"absolute", "relative", "UTC"}[m] }

// clockStyle says how exact a time of day is written.
type clockStyle string

const (
	clockSeconds clockStyle = "15:04:05"
	clockCents   clockStyle = "15:04:05.00"
	clockMillis  clockStyle = "15:04:05.000"
)

// clock writes a time of day in the operator's mode; the width depends on the mode
// and style only, but for relative ages, which are padded by their reader.
func (m timeMode) clock(t, now time.Time, loc *time.Location, style clockStyle) string {
	switch {
	case t.IsZero():
		return none
	case m == timeRelative:
		return relative(now.Sub(t))
	case m == timeUTC:
		return t.UTC().Format(string(style)) + "Z"
	}
	return t.In(loc).Format(string(style))
}

// relative is how long ago something was, in a word or with its sign: a clock that is
// ahead of ours gives times to come.
func relative(d time.Duration) string {
	switch {
	case d >= time.Millisecond:
		return "-" + span(d)
	case d <= -time.Millisecond:
		return "+" + span(-d)
	}
	return "now"
}

// idleText is how long nothing happened, in tenths below a minute.
func idleText(d time.Duration) string {
	if d < time.Minute {
		return strconv.FormatFloat(max(d, 0).Seconds(), 'f', 1, 64) + "s"
	}
	return age(d)
}
