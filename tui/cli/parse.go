package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"eyeq/engine"
)

// parseTime reads a point in time as people write it: RFC 3339, or
// 2006-01-02 15:04[:05] in loc. now is for -10m, the time ten minutes ago.
func parseTime(s string, loc *time.Location, now time.Time) (time.Time, error) {
	if d, ok := strings.CutPrefix(s, "-"); ok {
		if ago, err := parseAgo(d); err == nil {
			return now.Add(-ago), nil
		}
	}
	if t, err := time.Parse(time.RFC3339, strings.Replace(s, " ", "T", 1)); err == nil {
		return t, nil
	}
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, s, loc); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time: write 2026-11-29T14:32:00Z, 2026-11-29 14:32[:05] or -10m", s)
}

// parseAgo reads a duration; besides Go's units it knows d, a day.
func parseAgo(s string) (time.Duration, error) {
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

// queueRef is a queue as a flag names it: BROKER:ID.
type queueRef struct {
	broker string
	id     int32
}

func (q queueRef) String() string { return fmt.Sprintf("%s:%d", q.broker, q.id) }

// parseQueueRef reads BROKER:ID, and BROKER/ID as eyeq shows it.
func parseQueueRef(s string) (queueRef, error) {
	at := strings.LastIndexAny(s, ":/")
	if at > 0 {
		if id, err := strconv.ParseInt(s[at+1:], 10, 32); err == nil && id >= 0 {
			return queueRef{s[:at], int32(id)}, nil
		}
	}
	return queueRef{}, fmt.Errorf("%q is no queue: write BROKER:ID, such as broker-a:3", s)
}

// parseSubscription reads TOPIC[:TAG1||TAG2].
func parseSubscription(s string) engine.Subscription {
	topic, expression, _ := strings.Cut(s, ":")
	return engine.Subscription{Topic: strings.TrimSpace(topic), Expression: strings.TrimSpace(expression)}
}

// parseThreads reads MIN:MAX, or one number for both.
func parseThreads(s string) (lo, hi int, err error) {
	a, b, two := strings.Cut(s, ":")
	if !two {
		b = a
	}
	if lo, err = strconv.Atoi(a); err == nil {
		hi, err = strconv.Atoi(b)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("%q: must be MIN:MAX, such as 5:20", s)
	}
	return lo, hi, nil
}

// positionKind says what a position is measured by.
type positionKind uint8

const (
	posEarliest positionKind = iota + 1
	posLatest                // now
	posTime
	posOffset
)

// position is where `tail` begins or ends in each queue.
type position struct {
	kind   positionKind
	time   time.Time
	offset int64
}

// parsePosition reads earliest, latest, now, offset:N or a time.
func parsePosition(s string, loc *time.Location, now time.Time) (position, error) {
	switch s {
	case "earliest", "first":
		return position{kind: posEarliest}, nil
	case "latest", "last", "now":
		return position{kind: posLatest}, nil
	}
	if n, ok := strings.CutPrefix(s, "offset:"); ok {
		offset, err := strconv.ParseInt(n, 10, 64)
		if err != nil || offset < 0 {
			return position{}, fmt.Errorf("%q: must be offset:N with N from 0", s)
		}
		return position{kind: posOffset, offset: offset}, nil
	}
	t, err := parseTime(s, loc, now)
	return position{kind: posTime, time: t}, err
}
