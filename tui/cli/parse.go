package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/remoting/protocol"
	"eyeq/tui/page"
)

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

// starTags warns of tags that look like patterns; "" when there are none.
func starTags(flag, expression string) string {
	if strings.TrimSpace(expression) == "*" || !strings.Contains(expression, "*") {
		return ""
	}
	sub, err := protocol.NewSubscriptionData("t", expression)
	if err != nil {
		return "" // which is refused elsewhere
	}
	var stars []string
	for _, tag := range sub.TagsSet {
		if strings.Contains(tag, "*") {
			stars = append(stars, strconv.Quote(tag))
		}
	}
	return fmt.Sprintf("%s: a star stands for all tags only alone; here %s is read as a tag of exactly that name", flag, strings.Join(stars, ", "))
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
	t, err := page.ParseTime(s, now, loc)
	return position{kind: posTime, time: t}, err
}
