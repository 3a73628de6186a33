package tui

import (
	"strings"
	"testing"

	"eyeq/engine"
	"eyeq/engine/core"
)

const dialRefused = "pull orders-paid broker-a/0 at 20: connect to 10.0.4.1:10911: dial tcp 10.0.4.1:10911: connect: connection refused"

// outage is the fixture while broker-a cannot be reached: with the ends that were
// heard last, or without them.
func outage(maxOffsets bool) *engine.Snapshot {
	s := fixture(0)
	b := &s.Brokers[0]
	b.Connected, b.Error, b.ErrorSince = false, strings.TrimPrefix(dialRefused, "pull orders-paid broker-a/0 at 20: "), fixtureNow.Add(-14e9)
	for i := range s.Queues {
		q := &s.Queues[i]
		switch {
		case q.BrokerName == "broker-b":
			q.CommittedOffset = q.MaxOffset // nothing to do there
		case q.Own:
			q.State, q.Detail, q.LastError, q.StateSince = engine.QueueError, dialRefused, dialRefused, fixtureNow.Add(-14e9)
			q.Flow, q.Pause, q.LastConsume = core.FlowNone, nil, fixtureNow.Add(-60e9)
			if !maxOffsets {
				q.MinOffset, q.MaxOffset = engine.Unknown, engine.Unknown
			}
		default:
			q.MinOffset, q.MaxOffset = engine.Unknown, engine.Unknown
		}
	}
	return s
}

func TestLagIsUnknownInAnOutage(t *testing.T) {
	for name, heard := range map[string]bool{"ends heard before": true, "ends unknown": false} {
		for _, size := range sizes {
			d := withSnapshot(t, size[0], size[1], outage(heard)).miss("caught up").see("≥ 0 · 8 unknown")
			for _, l := range d.lines() {
				if strings.Contains(l, "ERROR") && strings.Contains(l, "broker-a/") && !strings.Contains(l, "? ERROR") {
					t.Errorf("%s: a lag in %q", name, l)
				}
			}
		}
	}
	s := outage(false)
	for i := range s.Queues {
		s.Queues[i].MaxOffset = engine.Unknown
	}
	withSnapshot(t, 120, 36, s).see(" lag          ? ").see("oldest ≥ 4m12s").miss("unknown,")
	withSnapshot(t, 120, 36, outage(false)).see("14.0s        ? ERROR") // idle since it went wrong, not since the last try
}

func TestTrendIsBlankWhereOtherQueuesWereKnown(t *testing.T) {
	d := drive(t, 120, 36, defaultOptions(), nil)
	d.send(snapshotsMsg{snapshots: []*engine.Snapshot{outage(false)}})
	d.miss("▁▁▂▂▂▃▃").miss("/s rising").miss("/s falling")
}

func TestResetTellsAnUnknownLag(t *testing.T) {
	e := resetEngine()
	known := e.preview
	e.preview = func(r engine.ResetRequest) ([]engine.ResetRow, error) {
		rows, err := known(r)
		rows[0].MaxOffset = engine.Unknown
		return rows, err
	}
	drive(t, 120, 36, defaultOptions(), e).keys("R").see(" Lag    ?   preview").miss(" → -")
}
