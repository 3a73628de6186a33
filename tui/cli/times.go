package cli

import (
	"time"

	"eyeq/engine/inspect"
)

// bothTimes is a time in the zone of --tz and in UTC, so that no zone is in doubt.
func bothTimes(t time.Time, loc *time.Location) string {
	return t.In(loc).Format(textTime) + " (" + inspect.JSONTime(t) + ")"
}

func (e *env) bothTimes(t time.Time) string { return bothTimes(t, e.location) }
