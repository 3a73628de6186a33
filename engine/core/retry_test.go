package core

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"eyeq/remoting/protocol"
)

// docs/conformance/concurrent.md 4.
func TestSplitAck(t *testing.T) {
	tests := map[string]struct {
		success         bool
		ackIndex, n, ok int
	}{
		"success, as it comes":        {true, math.MaxInt, 10, 10},
		"success, capped":             {true, 10, 10, 10},
		"success up to the third":     {true, 2, 10, 3},
		"success with -1: none":       {true, -1, 10, 0},
		"later, whatever the index":   {false, 5, 10, 0},
		"success of an empty batch":   {true, math.MaxInt, 0, 0},
		"success with the last index": {true, 9, 10, 10},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := SplitAck(tt.success, tt.ackIndex, tt.n); got != tt.ok {
				t.Errorf("SplitAck(%v, %d, %d) = %d, want %d", tt.success, tt.ackIndex, tt.n, got, tt.ok)
			}
		})
	}
}

func TestClassifyReturn(t *testing.T) {
	const timeout = 15 * time.Minute
	tests := map[string]struct {
		hasStatus, threw, failed bool
		rt                       time.Duration
		want                     ReturnType
	}{
		"no status, thrown":             {false, true, false, timeout, ReturnException},
		"no status":                     {false, false, false, timeout, ReturnNull},
		"slow success":                  {true, false, false, timeout, ReturnTimeout},
		"slow failure (T49)":            {true, false, true, timeout, ReturnTimeout},
		"failure":                       {true, false, true, timeout - 1, ReturnFailed},
		"success":                       {true, false, false, 0, ReturnSuccess},
		"status counts more than error": {true, true, false, 0, ReturnSuccess},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := ClassifyReturn(tt.hasStatus, tt.threw, tt.failed, tt.rt, timeout); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestEffectiveMaxReconsume(t *testing.T) {
	for _, tt := range []struct {
		max     int32
		orderly bool
		want    int32
	}{{-1, false, 16}, {-1, true, math.MaxInt32}, {0, false, 0}, {3, true, 3}, {3, false, 3}} {
		if got := EffectiveMaxReconsume(tt.max, tt.orderly); got != tt.want {
			t.Errorf("EffectiveMaxReconsume(%d, %v) = %d, want %d", tt.max, tt.orderly, got, tt.want)
		}
	}
}

// docs/conformance/concurrent.md 5.2, and the listener's intent is kept (trap T24).
func TestFallbackDelayLevel(t *testing.T) {
	tests := map[string]struct {
		asked, times, max int32
		level             int32
		dlq               bool
	}{
		"first retry":                  {0, 0, 16, 3, false},
		"second retry":                 {0, 1, 16, 4, false},
		"fourteenth":                   {0, 13, 16, 16, false},
		"sixteenth":                    {0, 15, 16, 18, false},
		"used up":                      {0, 16, 16, 0, true},
		"default limit used up":        {0, 16, -1, 0, true},
		"own level":                    {5, 7, 16, 5, false},
		"own level, used up":           {5, 16, 16, 0, true},
		"dead letters at once":         {-1, 0, 16, 0, true},
		"no retries at all":            {0, 0, 0, 0, true},
		"a broken number is bounded":   {0, math.MaxInt32 - 1, math.MaxInt32, 3 + math.MaxInt16, false},
		"a negative number is a first": {0, -5, 16, 3, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			level, dlq := FallbackDelayLevel(tt.asked, tt.times, tt.max)
			if level != tt.level || dlq != tt.dlq {
				t.Errorf("FallbackDelayLevel(%d, %d, %d) = %d, %v, want %d, %v", tt.asked, tt.times, tt.max, level, dlq, tt.level, tt.dlq)
			}
		})
	}
}

func TestSuspendTime(t *testing.T) {
	const option = time.Second
	for _, tt := range []struct{ asked, want time.Duration }{
		{-1, option}, {0, option}, {time.Millisecond, 10 * time.Millisecond}, {20 * time.Millisecond, 20 * time.Millisecond},
		{30 * time.Second, 30 * time.Second}, {time.Hour, 30 * time.Second},
	} {
		if got := SuspendTime(tt.asked, option); got != tt.want {
			t.Errorf("SuspendTime(%v) = %v, want %v", tt.asked, got, tt.want)
		}
	}
	if got := SuspendTime(-1, time.Hour); got != 30*time.Second {
		t.Errorf("SuspendTime of a huge option = %v, want 30s", got)
	}
}

// The table of docs/conformance/concurrent.md 5.2.
func TestRetryLevels(t *testing.T) {
	standard := protocol.ParseDelayLevels(protocol.StandardDelayLevels)
	for _, tt := range []struct {
		asked, times, level int32
		delay               time.Duration
	}{
		{0, 0, 3, 10 * time.Second}, {0, 1, 4, 30 * time.Second}, {0, 2, 5, time.Minute}, {0, 3, 6, 2 * time.Minute},
		{0, 13, 16, 30 * time.Minute}, {0, 14, 17, time.Hour}, {0, 15, 18, 2 * time.Hour}, {0, 99, 102, 2 * time.Hour},
		{1, 9, 1, time.Second}, {2, 0, 2, 5 * time.Second}, {30, 0, 30, 2 * time.Hour},
		{0, math.MaxInt32, 3 + math.MaxInt16, 2 * time.Hour}, {0, -7, 3, 10 * time.Second},
	} {
		if level := RetryLevel(tt.asked, tt.times); level != tt.level || LevelDelay(level, standard) != tt.delay {
			t.Errorf("RetryLevel(%d, %d) = %d, %v, want %d, %v", tt.asked, tt.times, level, LevelDelay(level, standard), tt.level, tt.delay)
		}
	}
	if d := LevelDelay(0, standard); d != 0 {
		t.Errorf("LevelDelay(0) = %v, want none", d)
	}
	for level, want := range map[int32]time.Duration{1: 3 * time.Second, 2: 48 * time.Hour, 3: 48 * time.Hour} {
		if d := LevelDelay(level, protocol.ParseDelayLevels("3s 2d")); d != want {
			t.Errorf("LevelDelay(%d) of a broker's own levels = %v, want %v", level, d, want)
		}
	}
}

func TestLockExpired(t *testing.T) {
	granted := time.UnixMilli(1_000_000)
	for _, tt := range []struct {
		age  time.Duration
		want bool
	}{{0, false}, {30 * time.Second, false}, {30*time.Second + 1, true}} {
		if got := LockExpired(granted, granted.Add(tt.age)); got != tt.want {
			t.Errorf("LockExpired after %v = %v, want %v", tt.age, got, tt.want)
		}
	}
}

// docs/conformance/orderly.md 3, steps 4a to 4c.
func TestDecideOrderly(t *testing.T) {
	now := time.UnixMilli(10_000_000)
	fresh := now.Add(-time.Second)
	tests := map[string]struct {
		s    OrderlyState
		want OrderlyDecision
	}{
		"4a dropped":               {OrderlyState{Dropped: true, Clustering: true}, OrderlyStop},
		"4b not locked":            {OrderlyState{Clustering: true, LockedAt: fresh}, OrderlyRelock},
		"4c expired":               {OrderlyState{Clustering: true, Locked: true, LockedAt: now.Add(-31 * time.Second)}, OrderlyRelock},
		"take at 30 s":             {OrderlyState{Clustering: true, Locked: true, LockedAt: now.Add(-30 * time.Second)}, OrderlyTake},
		"take":                     {OrderlyState{Clustering: true, Locked: true, LockedAt: fresh}, OrderlyTake},
		"broadcasting has no lock": {OrderlyState{}, OrderlyTake},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.s.Now = now
			if got := DecideOrderly(tt.s); got != tt.want {
				t.Errorf("DecideOrderly(%+v) = %v, want %v", tt.s, got, tt.want)
			}
		})
	}
}

// The table of docs/conformance/orderly.md 5.
func TestApplyOrderly(t *testing.T) {
	success := OrderlyAction{Commit: true, Continue: true, OK: true}
	again := OrderlyAction{Again: true, Suspend: true, Failed: true}
	given := OrderlyAction{Commit: true, Continue: true, Failed: true}
	tests := map[string]struct {
		v                     OrderlyVerdict
		autoCommit, exhausted bool
		want                  OrderlyAction
	}{
		"on, success":               {OrderlySuccess, true, false, success},
		"on, commit":                {OrderlyCommit, true, false, success},
		"on, rollback":              {OrderlyRollback, true, false, success},
		"on, suspend":               {OrderlySuspend, true, false, again},
		"on, suspend, used up":      {OrderlySuspend, true, true, given},
		"on, no verdict":            {0, true, false, again},
		"off, success":              {OrderlySuccess, false, false, OrderlyAction{Continue: true, OK: true}},
		"off, commit":               {OrderlyCommit, false, false, OrderlyAction{Commit: true, Continue: true, OK: true}},
		"off, rollback":             {OrderlyRollback, false, false, OrderlyAction{Rollback: true, Suspend: true}},
		"off, suspend":              {OrderlySuspend, false, false, again},
		"off, suspend, used up T28": {OrderlySuspend, false, true, given},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, ApplyOrderly(tt.v, tt.autoCommit, tt.exhausted)); diff != "" {
				t.Errorf("ApplyOrderly (-want +got):\n%s", diff)
			}
		})
	}
}
