package engine

import (
	"errors"
	"testing"
)

// A reader that is slow makes nobody wait: the newest events are dropped, those
// that it gets are in order, and the number missing comes with them, once.
func TestSlowReaderIsToldWhatItMissed(t *testing.T) {
	var h hub
	slow, quick := h.subscribe(16, false), h.subscribe(1024, false)
	for i := range 1000 {
		h.publish(RebalanceBegin{Seq: int64(i)})
	}
	events, dropped, err := slow.Next(t.Context())
	if err != nil || len(events) != 16 || dropped != 984 {
		t.Fatalf("%d events, %d dropped, %v, want 16 and 984", len(events), dropped, err)
	}
	for i, e := range events {
		if e.(RebalanceBegin).Seq != int64(i) {
			t.Errorf("event %d is %v", i, e)
		}
	}
	h.publish(RebalanceBegin{Seq: 1000})
	if events, dropped, err = slow.Next(t.Context()); err != nil || len(events) != 1 || dropped != 0 {
		t.Errorf("then %d events, %d dropped, %v, want the new one alone", len(events), dropped, err)
	}
	n := 0
	for n < 1001 {
		events, dropped, err := quick.Next(t.Context())
		if err != nil || dropped != 0 || len(events) > eventsAtOnce {
			t.Fatalf("%d events at once, %d dropped, %v", len(events), dropped, err)
		}
		n += len(events)
	}
	h.publish(RebalanceBegin{})
	h.end()
	if events, _, err := slow.Next(t.Context()); err != nil || len(events) != 1 {
		t.Errorf("the last event before the end: %d, %v", len(events), err)
	}
	if _, _, err := slow.Next(t.Context()); !errors.Is(err, ErrEnded) {
		t.Errorf("behind the end: %v", err)
	}
}
