package sandbox

import (
	"slices"
	"testing"
	"time"
)

// An alarm that sets itself anew for a little later is not run again by the same
// ring, however much time passes meanwhile.
func TestAlarmRingsUpToNowOnly(t *testing.T) {
	a := newAlarms()
	now := time.Now()
	ran := 0
	var again func()
	again = func() {
		ran++
		a.at(now.Add(1), again)
		for !time.Now().After(now.Add(1)) { // the clock goes on
		}
	}
	a.at(now, again)
	a.ring(now)
	if ran != 1 {
		t.Errorf("ran %d times, want 1", ran)
	}
}

func TestAlarmsRingInOrder(t *testing.T) {
	a := newAlarms()
	now := time.Now()
	var rang []int
	for i, after := range []time.Duration{3, 1, 2, 1, 9} {
		a.at(now.Add(after), func() { rang = append(rang, i) })
	}
	a.ring(now.Add(5))
	if want := []int{1, 3, 2, 0}; !slices.Equal(rang, want) {
		t.Errorf("rang %v, want %v", rang, want)
	}
}
