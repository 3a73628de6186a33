package core

// PullModeLimits are the thresholds of pull mode (docs/conformance/control.md 8).
type PullModeLimits struct {
	Limits
	All int64 // messages cached of all queues together
}

// PullModeState is what DecidePullMode looks at.
type PullModeState struct {
	Paused  bool
	Dropped bool
	All     int64 // messages cached of all queues
	Cache   CacheStats
}

// DecidePullMode applies the checks of lite pull in the Java client's order. The
// delays are Java's too; whoever can tell that a limit is passed no more need not
// wait for them.
func DecidePullMode(s PullModeState, l PullModeLimits) PullDecision {
	size := max(s.Cache.PinnedBytes, s.Cache.BodyBytes) >> 20
	switch {
	case s.Paused:
		return PullDecision{Reason: PullPaused, After: PullDelaySuspend}
	case s.Dropped:
		return PullDecision{Reason: PullDropped}
	case s.All > l.All:
		return flowControl(FlowCount, PullDelayFlowControl, l.All, s.All)
	case s.Cache.Count > l.Count:
		return flowControl(FlowCount, PullDelayFlowControl, l.Count, s.Cache.Count)
	case size > l.SizeMiB:
		return flowControl(FlowSize, PullDelayFlowControl, l.SizeMiB, size)
	case s.Cache.Span > l.Span:
		return flowControl(FlowSpan, PullDelayFlowControl, l.Span, s.Cache.Span)
	}
	return PullDecision{Reason: PullNow}
}

// FirstAtOrAfter finds the first of the offsets lo … hi-1 that is not before a
// time, hi when all are, beginning at a guess: before says so of one offset, and
// holds for all smaller ones too. It looks near the guess first, and in widening
// steps from there.
func FirstAtOrAfter(lo, hi, guess int64, before func(offset int64) (bool, error)) (int64, error) {
	// All up to and including early are before, late and all beyond are not.
	early, late := lo-1, hi
	at := min(max(guess, lo), hi)
	if at == hi {
		at--
	}
	for step := int64(1); early+1 < late; {
		if at <= early || at >= late {
			at = early + (late-early)/2
		}
		b, err := before(at)
		if err != nil {
			return 0, err
		}
		if b {
			early = at
			at += step
		} else {
			late = at
			at -= step
		}
		step *= 2
	}
	return late, nil
}
