package inspect

import "time"

// seekTime finds the offset, within lo … hi, of a queue's first message stored at t
// or later; hi when all were stored before. stored tells when the first message at or
// after an offset was stored, and guess is where to begin.
//
// A broker's own search (29) is that guess and no more: 4.9 answers the message
// nearest to t, which may lie before it, and max − 1 for a time beyond the end; and
// among messages of one batch, which share their time, a binary search ends anywhere.
func seekTime(guess, lo, hi int64, t time.Time, stored func(offset int64) (time.Time, error)) (int64, error) {
	// All below lo were stored before t, hi and all above at t or later.
	reached := func(offset int64) (bool, error) {
		at, err := stored(offset)
		return !at.Before(t), err
	}
	probe := func(offset int64) error {
		ok, err := reached(offset)
		if err != nil {
			return err
		}
		if ok {
			hi = offset
		} else {
			lo = offset + 1
		}
		return nil
	}
	at := min(max(guess, lo), hi-1)
	// The answer is mostly next to the guess: steps from there grow until they pass it.
	for step, up := int64(1), false; lo < hi && at >= lo && at < hi; step *= 2 {
		before := lo
		if err := probe(at); err != nil {
			return 0, err
		}
		found := lo == before // a message at t or later
		if step > 1 && found == up {
			break // passed it: it lies between the last two
		}
		if up = !found; up {
			at = min(at+step, hi-1)
		} else {
			at = max(at-step, lo)
		}
	}
	for lo < hi {
		if err := probe(lo + (hi-lo)/2); err != nil {
			return 0, err
		}
	}
	return lo, nil
}
