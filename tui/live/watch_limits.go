package live

import (
	"fmt"
	"slices"
	"strings"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/words"
)

// cacheLimits say what the limits of the queues that are told of add up to, each by its
// own holder's.
type cacheLimits struct {
	count, size sumOfLimits
	noFlow      int    // queues whose holder does not report what limits its pulls
	noFlowWhy   string // safe
}

// sumOfLimits is a limit a queue, added up over queues.
type sumOfLimits struct {
	sum      int64
	parts    []limitPart // by limit, the smallest first
	unknown  int         // queues of which neither limit nor default is known
	defaults bool        // some are the client's default, which need not be in force
}

// limitPart are the queues of one limit.
type limitPart struct{ limit, queues int64 }

func (s *sumOfLimits) add(l inspect.Limit) {
	n := l.Likely()
	if n == 0 {
		s.unknown++
		return
	}
	s.sum += n
	s.defaults = s.defaults || !l.Known()
	at, found := slices.BinarySearchFunc(s.parts, n, func(p limitPart, n int64) int { return int(p.limit - n) })
	if !found {
		s.parts = slices.Insert(s.parts, at, limitPart{limit: n})
	}
	s.parts[at].queues++
}

// add takes a queue whose holder tells what is inside.
func (c *cacheLimits) add(w *watchedQueue) {
	c.count.add(w.limits.Count)
	c.size.add(w.limits.SizeMiB)
	if !w.limits.Count.Known() {
		c.noFlow++
		c.noFlowWhy = draw.SafeText(w.limits.Count.Why.Text)
	}
}

// text writes the sum; unknown where a part of it is.
func (s *sumOfLimits) text(write func(int64) string) string {
	if s.unknown > 0 || len(s.parts) == 0 {
		return words.Unknown
	}
	return write(s.sum)
}

// of is the sum to compare with; 0 where a part is unknown.
func (s *sumOfLimits) of() int64 {
	if s.unknown > 0 {
		return 0
	}
	return s.sum
}

// madeUp says how the sum is made up: "3 × 100 + 2 × 1,000".
func (s *sumOfLimits) madeUp() string {
	const most = 3
	var parts []string
	for i, p := range s.parts {
		if i == most {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, fmt.Sprintf("%d × %s", p.queues, words.Grouped(p.limit)))
	}
	if s.unknown > 0 {
		parts = append(parts, fmt.Sprintf("%d × %s", s.unknown, words.Unknown))
	}
	text := strings.Join(parts, " + ")
	if s.defaults {
		text += " by default"
	}
	return text
}

// limitText is a limit, as a default where the member does not report its own, or
// unknown and why.
func limitText(l inspect.Limit) string {
	switch {
	case l.Known():
		return words.Grouped(l.Value)
	case l.Default > 0:
		return words.Grouped(l.Default) + " by default (" + draw.SafeText(l.Why.Text) + ")"
	}
	return words.Unknown + words.Because(draw.SafeText(l.Why.Text))
}

// threadsOf says how many threads members have for their listeners.
func threadsOf(members []inspect.Member) string {
	var texts []string
	for i := range members {
		if members[i].Info == nil {
			continue
		}
		l := members[i].Limits()
		text := words.Unknown
		switch least, most := l.ThreadsMin.Likely(), l.ThreadsMax.Likely(); {
		case most == 0:
		case least == most || least == 0:
			text = words.Grouped(most)
		default:
			text = words.Grouped(least) + "–" + words.Grouped(most)
		}
		if text != words.Unknown {
			text += " each"
		}
		if !l.ThreadsMax.Known() && text != words.Unknown {
			text += " by default"
		}
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return words.Unknown
	}
	return strings.Join(texts, " or ")
}
