package page

import (
	"errors"
	"eyeq/tui/draw"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ErrNoTime says that a text is no time in any of the forms that ParseTime reads.
var ErrNoTime = errors.New("no time")

// ParseTime reads a point in time as people and programs write it: RFC 3339, 2006-01-02
// [15:04[:05]] or 15:04[:05] of today in loc, -15m or -2d before now, or milliseconds of
// the epoch. What a clock in loc shows twice, or never, when it is put back or forward is
// an error that names what it may mean: nobody can tell which is meant.
func ParseTime(text string, now time.Time, loc *time.Location) (time.Time, error) {
	if d, ok := strings.CutPrefix(text, "-"); ok {
		if ago, err := ParseAgo(d); err == nil {
			return now.Add(-ago), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return time.Time{}, fmt.Errorf("%s lies in the future; -%s is in the past", text, text)
	}
	if n, err := strconv.ParseUint(text, 10, 63); err == nil {
		switch len(text) {
		case 12, 13, 14:
			return time.UnixMilli(int64(n)), nil
		case 9, 10, 11:
			return time.Time{}, fmt.Errorf("%s is taken for seconds of the epoch: write milliseconds, %s000", text, text)
		}
	}
	if t, err := time.Parse(time.RFC3339, strings.Replace(text, " ", "T", 1)); err == nil {
		return t, nil
	}
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.Parse(layout, text); err == nil {
			return onClock(t, loc)
		}
	}
	for _, layout := range []string{"15:04:05", "15:04"} {
		if t, err := time.Parse(layout, text); err == nil {
			y, m, day := now.In(loc).Date()
			return onClock(time.Date(y, m, day, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC), loc)
		}
	}
	return time.Time{}, fmt.Errorf("%q is %w: write 2026-11-29T14:32:00Z, 2026-11-29 14:32[:05], 14:32, -15m or epoch milliseconds", draw.SafeText(text), ErrNoTime)
}

// onClock is when a clock in loc shows what wall shows in UTC.
func onClock(wall time.Time, loc *time.Location) (time.Time, error) {
	var found []time.Time
	for _, near := range []time.Duration{-24 * time.Hour, 24 * time.Hour} { // no clock is changed twice within two days
		_, offset := wall.Add(near).In(loc).Zone()
		t := wall.Add(-time.Duration(offset) * time.Second).In(loc)
		if _, real := t.Zone(); real == offset && (len(found) == 0 || !found[0].Equal(t)) {
			found = append(found, t)
		}
	}
	shown := wall.Format("2006-01-02 15:04:05")
	switch len(found) {
	case 0:
		return time.Time{}, fmt.Errorf("%s is skipped in %v: clocks are put forward over it", shown, loc)
	case 1:
		return found[0], nil
	}
	return time.Time{}, fmt.Errorf("%s comes twice in %v, clocks are put back: write %s for the first or %s for the second", shown, loc,
		found[0].Format(time.RFC3339), found[1].Format(time.RFC3339))
}

// ParseAgo reads a length of time; besides Go's units it knows d, a day.
func ParseAgo(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < 36500 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(s)
	if err == nil && d < 0 {
		err = fmt.Errorf("%q is negative", s)
	}
	return d, err
}
