package tui

import (
	"strings"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/tui/live"
	"eyeq/tui/words"
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

func TestCauses(t *testing.T) {
	tests := map[string]struct{ text, cause, short, unrepeated string }{
		"refused":   {dialRefused, "connection refused", "refused", "pull orders-paid broker-a/0 at 20: connect to 10.0.4.1:10911: connection refused"},
		"code":      {"PULL_MESSAGE to 10.0.4.1:10911 answered SYSTEM_BUSY: too many: 5", "SYSTEM_BUSY: too many: 5", "SYSTEM_BUSY", "PULL_MESSAGE to 10.0.4.1:10911 answered SYSTEM_BUSY: too many: 5"},
		"no remark": {"PULL_MESSAGE to a:1 answered SYSTEM_BUSY: ", "SYSTEM_BUSY", "SYSTEM_BUSY", "PULL_MESSAGE to a:1 answered SYSTEM_BUSY: "},
		"timeout":   {"pull x at 3: PULL_MESSAGE to a:1: context deadline exceeded", "context deadline exceeded", "timeout", "pull x at 3: PULL_MESSAGE to a:1: context deadline exceeded"},
		"closed":    {"connection to a:1 closed: EOF", "connection closed: EOF", "closed", "connection to a:1 closed: EOF"},
		"several":   {"a:1: connect: connection refused; b:1: connect: connection refused", "connection refused", "refused", "a:1: connection refused; b:1: connection refused"},
		"plain":     {"broker busy", "broker busy", "broker busy", "broker busy"},
		"named":     {"broker x at a:1: connect to a:1: dial tcp a:1: connect: connection refused", "connection refused", "refused", "broker x at a:1: connection refused"},
		"nothing":   {"", "", "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := words.Cause(tt.text); got != tt.cause {
				t.Errorf("cause %q, want %q", got, tt.cause)
			}
			if got := words.ShortCause(tt.text); got != tt.short {
				t.Errorf("shortCause %q, want %q", got, tt.short)
			}
			if got := live.Unrepeated(tt.text); got != tt.unrepeated {
				t.Errorf("unrepeated %q, want %q", got, tt.unrepeated)
			}
		})
	}
}

func TestAnOutageSaysWhy(t *testing.T) {
	s := outage(false)
	s.LastError, s.LastErrorAt = dialRefused, fixtureNow
	d := withSnapshot(t, 120, 36, s)
	d.see(" ✗ broker-a 10.0.4.1:10911: connection refused, since 14s, trying each second ").see("ERROR refused")
	withSnapshot(t, 80, 24, s).see("ERROR refused").see("connection refused, since 14s")
	withSnapshot(t, 200, 60, s).see("ERROR connection refused")
}

func TestOneBrokersPullErrorsAreOneLine(t *testing.T) {
	d := withSnapshot(t, 120, 36, outage(false))
	var events []engine.Event
	for round := range 3 {
		for id := range 4 {
			events = append(events, engine.PullError{At: at(time.Duration(9-round)*time.Second, mq("orders-paid", "broker-a", id)), Offset: int64(id), Error: dialRefused, DelayMS: 1000})
		}
	}
	events = append(events, engine.PullError{At: at(0, mq("orders-paid", "broker-b", 0)), Offset: 7, Error: "PULL_MESSAGE to b:1 answered SYSTEM_BUSY: ", Code: 2, DelayMS: 1000})
	d.send(eventsMsg{events: events})
	if n := len(d.a.sources[0].Log.Folds); n != 2 {
		t.Errorf("%d lines", n)
	}
	d.see("error    broker-a    4 queues: connection refused · again in 1.0s").see("×12 in 2s").see("broker-b/0  offset 7: SYSTEM_BUSY (code 2) · again in 1.0s")
}

// The first line says how many brokers are away, whatever the status line tells.
func TestHeaderCountsBrokersThatAreAway(t *testing.T) {
	for _, size := range sizes {
		withSnapshot(t, size[0], size[1], outage(true)).see("brokers ✗ down 1/2")
		withSnapshot(t, size[0], size[1], fixture(0)).miss("brokers ✗")
	}
}

func TestQueueViewSaysWhoServes(t *testing.T) {
	s := fixture(0)
	for i := range s.Queues {
		s.Queues[i].BrokerID, s.Queues[i].OffsetsFrom = 1, 1
	}
	d := withSnapshot(t, 120, 36, s)
	d.keys("enter").see("slave 1 has").see("from slave 1,")
}
