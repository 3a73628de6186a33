package words

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
	Unknown = "?"
	None    = "–"
)

// The forms of counts, sizes and lengths of time are those of package inspect, so
// that the screen and the commands write the same.
func Grouped(n int64) string      { return inspect.Grouped(n) }
func Size(bytes int64) string     { return inspect.Bytes(bytes) }
func Span(d time.Duration) string { return inspect.Span(d) }
func Age(d time.Duration) string  { return inspect.Age(d) }

// Plural is a number with its noun.
func Plural[N int | int64](n N, noun string) string { return inspect.Plural(n, noun) }

// Offset writes an offset that may be unknown.
func Offset(n int64) string {
	if n < 0 {
		return Unknown
	}
	return Grouped(n)
}

// Signed writes a difference with its sign, the true minus included.
func Signed(n int64) string {
	switch {
	case n > 0:
		return "+" + Grouped(n)
	case n < 0:
		return "−" + Grouped(-n)
	}
	return "0"
}

// Short writes a number in about four cells: 987, 4.8k, 128k, 3.2M.
func Short(f float64) string {
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

// Rate writes a number a second.
func Rate(f float64, ok bool) string {
	switch {
	case !ok:
		return Unknown + "/s"
	case f > 0 && f < 9.95:
		return strconv.FormatFloat(f, 'f', 1, 64) + "/s"
	}
	return Grouped(int64(math.Round(f))) + "/s"
}

// ShortRate is rate in few cells.
func ShortRate(f float64, ok bool) string {
	if !ok {
		return Unknown + "/s"
	}
	return Short(f) + "/s"
}

// Percent writes a share.
func Percent(part, whole float64) string {
	if whole <= 0 {
		return None
	}
	p := 100 * part / whole
	if p > 0 && p < 9.95 {
		return strconv.FormatFloat(p, 'f', 1, 64) + "%"
	}
	return strconv.FormatFloat(p, 'f', 0, 64) + "%"
}

// MiB writes bytes as MiB with one decimal.
func MiB(bytes int64) string {
	return strconv.FormatFloat(float64(bytes)/(1<<20), 'f', 1, 64)
}

// SignedSpan is span with its sign, also a plus.
func SignedSpan(d time.Duration) string {
	if d >= 0 {
		return "+" + Span(d)
	}
	return Span(d)
}

// Since is the age of a time that may be unknown.
func Since(t, now time.Time) string {
	if t.IsZero() {
		return Unknown
	}
	return Age(now.Sub(t))
}

// Ago is since with the word.
func Ago(t, now time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return Age(now.Sub(t)) + " ago"
}

// Shortener gives brokers short names: without their common beginning up to the
// last dash or underscore, "broker-a" and "broker-b" are "a" and "b".
type Shortener int

// NewShortener shortens the names of these brokers.
func NewShortener(brokers []string) Shortener {
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
	return Shortener(cut)
}

// Name is the short name of a broker.
func (s Shortener) Name(broker string) string {
	if int(s) >= len(broker) {
		return broker
	}
	return broker[s:]
}

// Role is what a broker id means.
func Role(id int64) string {
	if id == 0 {
		return "master"
	}
	return fmt.Sprintf("slave %d", id)
}

// TimeMode is how times of day are shown.
type TimeMode uint8

const (
	TimeAbsolute TimeMode = iota
	TimeRelative
	TimeUTC
)

func (m TimeMode) String() string { return [...]string{"absolute", "relative", "UTC"}[m] }

// ClockStyle says how exact a time of day is written.
type ClockStyle string

const (
	ClockSeconds ClockStyle = "15:04:05"
	ClockCents   ClockStyle = "15:04:05.00"
	ClockMillis  ClockStyle = "15:04:05.000"
)

// Clock writes a time of day in the operator's mode; the width depends on the mode
// and style only, but for relative ages, which are padded by their reader.
func (m TimeMode) Clock(t, now time.Time, loc *time.Location, style ClockStyle) string {
	switch {
	case t.IsZero():
		return None
	case m == TimeRelative:
		return relative(now.Sub(t))
	case m == TimeUTC:
		return t.UTC().Format(string(style)) + "Z"
	}
	return t.In(loc).Format(string(style))
}

// relative is how long ago something was, in a word or with its sign: a clock that is
// ahead of ours gives times to come.
func relative(d time.Duration) string {
	switch {
	case d >= time.Millisecond:
		return "-" + Span(d)
	case d <= -time.Millisecond:
		return "+" + Span(-d)
	}
	return "now"
}

// IdleText is how long nothing happened, in tenths below a minute.
func IdleText(d time.Duration) string {
	if d < time.Minute {
		return strconv.FormatFloat(max(d, 0).Seconds(), 'f', 1, 64) + "s"
	}
	return Age(d)
}
