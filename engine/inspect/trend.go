package inspect

import (
	"fmt"
	"time"
)

// LagSample is how far a group was at a moment.
type LagSample struct {
	At        time.Time
	Committed int64 // the sum over the queues that are known
	Max       int64
	Lag       int64
	Queues    int // so many: sums of others cannot be compared
}

// trendSpan is how far back rates look.
const trendSpan = 5 * time.Minute

// SampleOf makes a sample of what was seen, without the retry topics.
func SampleOf(l *GroupLag) LagSample {
	s := LagSample{At: l.At}
	for i := range l.Queues {
		q := &l.Queues[i]
		if q.Retry || !q.Lag.Known || !q.Max.Known {
			continue
		}
		s.Queues++
		s.Max += q.Max.Value
		s.Lag += max(q.Lag.Value, 0)
		s.Committed += q.Max.Value - q.Lag.Value
	}
	return s
}

// KeepSamples drops what is too old to matter, and what cannot be compared with the
// last: other queues were known then.
func KeepSamples(samples []LagSample) []LagSample {
	if len(samples) == 0 {
		return samples
	}
	last := samples[len(samples)-1]
	for i, s := range samples {
		if s.Queues == last.Queues && last.At.Sub(s.At) <= trendSpan {
			if !sameQueueCount(samples[i:], last.Queues) {
				continue
			}
			return samples[i:]
		}
	}
	return samples[len(samples)-1:]
}

func sameQueueCount(samples []LagSample, queues int) bool {
	for _, s := range samples {
		if s.Queues != queues {
			return false
		}
	}
	return true
}

// Trend is where a group's lag is going.
type Trend struct {
	Known    bool
	Consumed float64 // messages a second that were committed; negative after a reset
	Produced float64
	Word     string        // "caught up", "catching up", "steady", "falling behind", "not moving", "set back"
	CatchUp  time.Duration // until nothing waits at these rates; 0: it does not come to that
}

// steadyShare is how large a part of what is produced the difference must be to count.
const steadyShare = 0.02

// TrendOf computes rates from the first sample to the last; samples must be of the
// same queues. Commits come every five seconds, so it says nothing before two samples
// lie that far apart.
func TrendOf(samples []LagSample) Trend {
	if len(samples) < 2 {
		return Trend{Word: "not known yet"}
	}
	first, last := samples[0], samples[len(samples)-1]
	seconds := last.At.Sub(first.At).Seconds()
	if seconds < 5 {
		return Trend{Word: "not known yet"}
	}
	t := Trend{
		Known:    true,
		Consumed: float64(last.Committed-first.Committed) / seconds,
		Produced: float64(last.Max-first.Max) / seconds,
	}
	gain := t.Consumed - t.Produced
	switch {
	case t.Consumed < 0:
		t.Word = "set back"
	case last.Lag == 0:
		t.Word = "caught up"
	case t.Consumed == 0:
		t.Word = "not moving"
	case gain > steadyShare*t.Produced && gain > 0:
		t.Word = "catching up"
		t.CatchUp = time.Duration(float64(last.Lag) / gain * float64(time.Second)).Round(time.Second)
	case -gain > steadyShare*t.Produced:
		t.Word = "falling behind"
	default:
		t.Word = "steady"
	}
	return t
}

// String gives one line.
func (t Trend) String() string {
	if !t.Known {
		return "trend: " + t.Word
	}
	s := fmt.Sprintf("%s: %.1f/s consumed, %.1f/s produced", t.Word, t.Consumed, t.Produced)
	if t.CatchUp > 0 {
		s += fmt.Sprintf(", nothing waits in about %v", t.CatchUp)
	}
	return s
}
