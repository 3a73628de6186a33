package tui

import (
	"testing"
	"time"

	"eyeq/engine/inspect"
)

// How long ago something was consumed is shown whole, up to months.
func TestLagPageShowsTimesWhole(t *testing.T) {
	for _, old := range []time.Duration{54*time.Minute + 4*time.Second, 23*time.Hour + 59*time.Minute, 30*24*time.Hour + 11*time.Hour} {
		f := fullCluster()
		lag := f.lag
		f.lag = func(group string) (inspect.GroupLag, error) {
			l, err := lag(group)
			for i := range l.Queues {
				l.Queues[i].LastConsumed = fixtureNow.Add(-old)
			}
			return l, err
		}
		d := driveCluster(t, 80, 24, defaultOptions(), f)
		d.keys(":").typing("lag order-settle").keys("enter").see(age(old) + " ago")
	}
}
