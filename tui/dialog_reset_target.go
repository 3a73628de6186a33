package tui

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"eyeq/engine/core"
)

var resetKinds = []core.ResetKind{core.ResetEarliest, core.ResetLatest, core.ResetTime, core.ResetOffset, core.ResetShift, toFile}

func (d *resetDialog) hasValue() bool {
	return d.kind != core.ResetEarliest && d.kind != core.ResetLatest
}

// target reads the form.
func (d *resetDialog) target() (core.ResetTarget, error) {
	text := strings.TrimSpace(d.value.value())
	t := core.ResetTarget{Kind: d.kind}
	switch d.kind {
	case core.ResetTime:
		at, err := parseTime(text, d.env.now, d.env.o.Location)
		t.Time = at
		return t, err
	case core.ResetOffset, core.ResetShift:
		n, err := strconv.ParseInt(strings.ReplaceAll(strings.TrimPrefix(strings.ReplaceAll(text, "−", "-"), "+"), ",", ""), 10, 64)
		if err != nil {
			return t, fmt.Errorf("%q is no number", SafeText(text))
		}
		if d.kind == core.ResetOffset && n < 0 {
			return t, fmt.Errorf("an offset is not negative")
		}
		t.Offset = n
	case toFile:
		if text == "" {
			return t, errors.New("type the path of a file that a reset has saved")
		}
	}
	return t, nil
}

// parseTime reads -15m, RFC 3339, 2006-01-02 15:04[:05] or 15:04[:05] of today.
func parseTime(text string, now time.Time, loc *time.Location) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil {
		if d > 0 {
			return time.Time{}, fmt.Errorf("%s lies in the future; -%s is in the past", text, text)
		}
		return now.Add(d), nil
	}
	if t, err := time.Parse(time.RFC3339, strings.Replace(text, " ", "T", 1)); err == nil {
		return t, nil
	}
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(layout, text, loc); err == nil {
			return t, nil
		}
	}
	for _, layout := range []string{"15:04:05", "15:04"} {
		if t, err := time.ParseInLocation(layout, text, loc); err == nil {
			y, m, day := now.In(loc).Date()
			return time.Date(y, m, day, t.Hour(), t.Minute(), t.Second(), 0, loc), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time: -15m, 2026-11-29 13:30, 13:30, or RFC 3339", SafeText(text))
}
