package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/tui/words"
)

// Unrepeated is an error text whose links say each address once: "connect to A: dial
// tcp A: connect: connection refused" is "connect to A: connection refused".
func Unrepeated(text string) string {
	links := strings.Split(text, ": ")
	kept := links[:0]
	for i, l := range links {
		last := i == len(links)-1
		switch before := strings.Join(kept, " "); {
		case last:
		case l == "connect", strings.HasPrefix(l, "dial tcp"):
			continue
		case strings.HasPrefix(l, "connect to ") && strings.Contains(before, strings.TrimPrefix(l, "connect to ")):
			continue
		}
		kept = append(kept, l)
	}
	return strings.Join(kept, ": ")
}

// PullsFail reports whether pulls of our queues on a broker fail now.
func (s *Scene) PullsFail(broker string) bool {
	return slices.ContainsFunc(s.Queues, func(q engine.QueueSnapshot) bool {
		return q.Own && q.BrokerName == broker && q.State == engine.QueueError
	})
}

// BrokerFails reports whether an error text says no more than that a broker is away,
// which the status line begins with.
func (s *Scene) BrokerFails(text string) bool {
	return slices.ContainsFunc(s.Brokers, func(b engine.BrokerSnapshot) bool {
		return b.Error != "" && words.Cause(b.Error) == words.Cause(text)
	})
}

// broker is what is known of a broker; the zero value when nothing is.
func (s *Scene) broker(name string) (b engine.BrokerSnapshot) {
	for i := range s.Brokers {
		if s.Brokers[i].Name == name {
			return s.Brokers[i]
		}
	}
	return b
}

// MuteText says which brokers do not answer, and since when; "" when all do.
func (s *Scene) MuteText(clock func(t time.Time) string, now time.Time) string {
	var names []string
	var first engine.BrokerSnapshot
	for i := range s.Brokers {
		b := &s.Brokers[i]
		if b.Error == "" {
			continue
		}
		if names = append(names, b.Name); first.Name == "" || b.ErrorSince.Before(first.ErrorSince) {
			first = *b
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s does not answer since %s (%s): %s", first.Name, clock(first.ErrorSince), words.Since(first.ErrorSince, now), words.Cause(first.Error))
	}
	return fmt.Sprintf("%d brokers do not answer, the first since %s (%s): %s", len(names), clock(first.ErrorSince), words.Since(first.ErrorSince, now), strings.Join(names, ", "))
}
