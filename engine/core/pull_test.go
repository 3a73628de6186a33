package core

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"eyeq/remoting/protocol"
)

const mib = 1 << 20

// The pre-checks of docs/conformance/pull.md 3. Each case fails its check and all
// later ones, so the order is tested too.
func TestDecidePullOrder(t *testing.T) {
	limits := Limits{Count: 1000, SizeMiB: 100, Span: 2000}
	full := CacheStats{Count: 1001, PinnedBytes: 101 * mib, Span: 2001}
	tests := map[string]struct {
		s    PullState
		want PullDecision
	}{
		"1 dropped": {PullState{Dropped: true, Paused: true, Cache: full},
			PullDecision{Reason: PullDropped}},
		"3 not running": {PullState{Paused: true, Cache: full},
			PullDecision{Reason: PullNotRunning, After: time.Second}},
		"4 paused": {PullState{Running: true, Paused: true, Cache: full},
			PullDecision{Reason: PullPaused, After: time.Second}},
		"5 count": {PullState{Running: true, Cache: full},
			PullDecision{Reason: PullFlow, After: 50 * time.Millisecond, Cause: FlowCount, Limit: 1000, Value: 1001}},
		"6 size": {PullState{Running: true, Cache: CacheStats{Count: 1000, PinnedBytes: 101 * mib, Span: 2001}},
			PullDecision{Reason: PullFlow, After: 50 * time.Millisecond, Cause: FlowSize, Limit: 100, Value: 101}},
		"7a span": {PullState{Running: true, Cache: CacheStats{Count: 1000, PinnedBytes: 100 * mib, Span: 2001}},
			PullDecision{Reason: PullFlow, After: 50 * time.Millisecond, Cause: FlowSpan, Limit: 2000, Value: 2001}},
		"7b unlocked": {PullState{Running: true, Orderly: true, Clustering: true, Cache: CacheStats{Span: 2001}},
			PullDecision{Reason: PullFlow, After: time.Second, Cause: FlowOrderlyUnlocked}},
		"7c locked, offset not read": {PullState{Running: true, Orderly: true, Clustering: true, Locked: true},
			PullDecision{Reason: PullReadOffset}},
		"7c broadcasting needs no lock": {PullState{Running: true, Orderly: true},
			PullDecision{Reason: PullReadOffset}},
		"8 no subscription": {PullState{Running: true, Clustering: true},
			PullDecision{Reason: PullNoSubscription, After: time.Second}},
		"8 no subscription, orderly": {PullState{Running: true, Orderly: true, Clustering: true, Locked: true, OffsetKnown: true},
			PullDecision{Reason: PullNoSubscription, After: time.Second}},
		"all pass": {PullState{Running: true, Clustering: true, Subscribed: true}, PullDecision{}},
		"all pass, orderly, whatever the span": {PullState{Running: true, Orderly: true, Clustering: true, Locked: true,
			OffsetKnown: true, Subscribed: true, Cache: CacheStats{Span: 1 << 40}}, PullDecision{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, DecidePull(tt.s, limits)); diff != "" {
				t.Errorf("DecidePull(%+v) (-want +got):\n%s", tt.s, diff)
			}
		})
	}
}

// Limits are strictly greater, the size after integer division.
func TestDecidePullBounds(t *testing.T) {
	limits := Limits{Count: 1000, SizeMiB: 100, Span: 2000}
	tests := map[string]struct {
		cache CacheStats
		want  FlowCause
	}{
		"count at the limit":       {CacheStats{Count: 1000}, FlowNone},
		"count beyond":             {CacheStats{Count: 1001}, FlowCount},
		"100.99 MiB":               {CacheStats{PinnedBytes: 101*mib - 1}, FlowNone},
		"101 MiB":                  {CacheStats{PinnedBytes: 101 * mib}, FlowSize},
		"101 MiB of bodies":        {CacheStats{PinnedBytes: mib, BodyBytes: 101 * mib}, FlowSize},
		"not the sum of the sizes": {CacheStats{PinnedBytes: 60 * mib, BodyBytes: 60 * mib}, FlowNone},
		"span at the limit":        {CacheStats{Span: 2000}, FlowNone},
		"span beyond":              {CacheStats{Span: 2001}, FlowSpan},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := PullState{Running: true, Subscribed: true, Cache: tt.cache}
			if got := DecidePull(s, limits).Cause; got != tt.want {
				t.Errorf("DecidePull(%+v) cause = %v, want %v", tt.cache, got, tt.want)
			}
		})
	}
}

func TestApplyPull(t *testing.T) {
	const interval = 7 * time.Millisecond
	const far = 100 + farBeyond
	tests := map[string]struct {
		a    PullAnswer
		want PullAction
	}{
		"0 messages": {PullAnswer{Code: protocol.Success, Next: 132, First: 100, Last: 131, Messages: 32, CacheEmpty: true, Unfiltered: true},
			PullAction{Put: true, Next: 132, After: interval}},
		"0 all filtered out, cache empty (T20)": {PullAnswer{Code: protocol.Success, Next: 132, First: 101, Last: 131, CacheEmpty: true},
			PullAction{Next: 132, Correct: true}},
		"0 all filtered out, cache not empty": {PullAnswer{Code: protocol.Success, Next: 132, First: 100, Last: 100},
			PullAction{Next: 132}},
		"0 regressed": {PullAnswer{Code: protocol.Success, Next: 90, First: 89, Last: 89, Messages: 1},
			PullAction{Put: true, Next: 90, Regressed: true, After: time.Second}},
		"0 first message regressed": {PullAnswer{Code: protocol.Success, Next: 103, First: 98, Last: 102, Messages: 5},
			PullAction{Put: true, Next: 103, Regressed: true, After: time.Second}},
		"21 too small, messages cached": {PullAnswer{Code: protocol.PullOffsetMoved, Next: 500, TooSmall: true},
			PullAction{Next: 500, ExpiredTo: 500}},
		"21 too small, nothing cached": {PullAnswer{Code: protocol.PullOffsetMoved, Next: 500, TooSmall: true, CacheEmpty: true},
			PullAction{Next: 500, Illegal: true}},
		"0 begins later, by a filter": {PullAnswer{Code: protocol.Success, Next: 132, First: 120, Last: 131, Messages: 12},
			PullAction{Put: true, Next: 132, After: interval}},
		"19 nothing new": {PullAnswer{Code: protocol.PullNotFound, Next: 100, CacheEmpty: true},
			PullAction{Next: 100, Correct: true}},
		"19 cache not empty": {PullAnswer{Code: protocol.PullNotFound, Next: 101},
			PullAction{Next: 101}},
		"19 regressed": {PullAnswer{Code: protocol.PullNotFound, Next: 99, CacheEmpty: true},
			PullAction{Next: 99, Correct: true, Regressed: true, After: time.Second}},
		"20 nothing matched": {PullAnswer{Code: protocol.PullRetryImmediately, Next: 900, CacheEmpty: true},
			PullAction{Next: 900, Correct: true}},
		"20 without a filter: expired": {PullAnswer{Code: protocol.PullRetryImmediately, Next: 900, CacheEmpty: true, Unfiltered: true},
			PullAction{Next: 900, Correct: true, ExpiredTo: 900}},
		"20 from a slave that may not correct": {PullAnswer{Code: protocol.PullRetryImmediately, Next: 100, Unfiltered: true},
			PullAction{Next: 100, After: PullDelayException}},
		"21 offset moved up": {PullAnswer{Code: protocol.PullOffsetMoved, Next: 5000, CacheEmpty: true},
			PullAction{Next: 5000, Illegal: true}},
		"21 offset moved down": {PullAnswer{Code: protocol.PullOffsetMoved, Next: 5},
			PullAction{Next: 5, Illegal: true, Regressed: true}},
		"0 without an offset": {PullAnswer{Code: protocol.Success, Next: -1, First: 100, Last: 102, Messages: 3},
			PullAction{Next: 100, Broken: "the next offset is -1", After: time.Second}},
		"0 without a message": {PullAnswer{Code: protocol.Success, Next: 132},
			PullAction{Next: 100, Broken: "it is FOUND and has no message", After: time.Second}},
		"0 with a message beyond": {PullAnswer{Code: protocol.Success, Next: 132, First: 100, Last: 132, Messages: 33},
			PullAction{Next: 100, Broken: "a message has the offset 132, where the next one is said to have 132", After: time.Second}},
		"0 with a negative message": {PullAnswer{Code: protocol.Success, Next: 132, First: -3, Last: 131, Messages: 33},
			PullAction{Next: 100, Broken: "a message has the offset -3", After: time.Second}},
		"0 far beyond the end": {PullAnswer{Code: protocol.Success, Next: 1000 + farBeyond + 1, First: 100, Last: 131, Messages: 32},
			PullAction{Next: 100, Broken: "the next offset is 1049577, where the queue ends at 1000", After: time.Second}},
		"19 beyond the end, not far": {PullAnswer{Code: protocol.PullNotFound, Next: far},
			PullAction{Next: far}},
		"20 far beyond the end": {PullAnswer{Code: protocol.PullRetryImmediately, Next: 1 << 60, CacheEmpty: true},
			PullAction{Next: 100, Broken: "the next offset is 1152921504606846976, where the queue ends at 1000", After: time.Second}},
		"21 without an offset": {PullAnswer{Code: protocol.PullOffsetMoved, Next: -1},
			PullAction{Next: 100, Broken: "the next offset is -1", After: time.Second}},
		"21 far beyond the end": {PullAnswer{Code: protocol.PullOffsetMoved, Next: 1 << 40},
			PullAction{Next: 100, Broken: "the next offset is 1099511627776, where the queue ends at 1000", After: time.Second}},
		"215 flow control": {PullAnswer{Code: protocol.FlowControl, Next: 0},
			PullAction{Next: 100, After: 20 * time.Millisecond, Cause: FlowBroker}},
		"2 busy is any error": {PullAnswer{Code: protocol.SystemBusy},
			PullAction{Next: 100, After: time.Second}},
		"1 error": {PullAnswer{Code: protocol.SystemError},
			PullAction{Next: 100, After: time.Second}},
		"16 no permission": {PullAnswer{Code: protocol.NoPermission},
			PullAction{Next: 100, After: time.Second}},
		"17 topic missing": {PullAnswer{Code: protocol.TopicNotExist},
			PullAction{Next: 100, After: time.Second, RefreshRoute: true}},
		"24 subscription missing": {PullAnswer{Code: protocol.SubscriptionNotExist},
			PullAction{Next: 100, After: time.Second, Heartbeat: true}},
		"25 subscription not latest": {PullAnswer{Code: protocol.SubscriptionNotLatest},
			PullAction{Next: 100, After: time.Second, Heartbeat: true}},
		"26 group missing": {PullAnswer{Code: protocol.SubscriptionGroupNotExist},
			PullAction{Next: 100, After: time.Second}},
		"27 filter data missing": {PullAnswer{Code: protocol.FilterDataNotExist},
			PullAction{Next: 100, After: time.Second, Heartbeat: true}},
		"28 filter data not latest": {PullAnswer{Code: protocol.FilterDataNotLatest},
			PullAction{Next: 100, After: time.Second, Heartbeat: true}},
		"transport error": {PullAnswer{Err: true, CacheEmpty: true},
			PullAction{Next: 100, After: time.Second, RefreshRoute: true}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.a.Requested, tt.a.PullInterval, tt.a.Max = 100, interval, 1000
			if tt.a.First == 0 && tt.a.Last == 0 {
				tt.a.First, tt.a.Last = 0, -1
			}
			if diff := cmp.Diff(tt.want, ApplyPull(tt.a)); diff != "" {
				t.Errorf("ApplyPull(%+v) (-want +got):\n%s", tt.a, diff)
			}
		})
	}
}

func TestGaps(t *testing.T) {
	of := func(offsets ...int64) (ms []protocol.MessageExt) {
		for _, o := range offsets {
			record, err := protocol.AppendRecord(nil, &protocol.Record{Topic: "t", QueueOffset: o})
			if err != nil {
				t.Fatal(err)
			}
			if ms, err = protocol.AppendMessages(ms, record, nil); err != nil {
				t.Fatal(err)
			}
		}
		return ms
	}
	for name, tt := range map[string]struct {
		next int64
		ms   []protocol.MessageExt
		want []Gap
	}{
		"none":          {13, of(10, 11, 12), nil},
		"before":        {13, of(12), []Gap{{10, 12}}},
		"within":        {15, of(10, 12, 14), []Gap{{11, 12}, {13, 14}}},
		"behind":        {20, of(10, 11), []Gap{{12, 20}}},
		"everywhere":    {20, of(12, 15), []Gap{{10, 12}, {13, 15}, {16, 20}}},
		"of regression": {12, of(8, 9, 10, 11), nil},
	} {
		if diff := cmp.Diff(tt.want, Gaps(10, tt.next, tt.ms)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestFlowTracker(t *testing.T) {
	t0 := time.UnixMilli(1_000_000)
	at := func(ms int) time.Time { return t0.Add(time.Duration(ms) * time.Millisecond) }
	var f FlowTracker
	if _, ok := f.Current(); ok || !f.EndsAt().IsZero() {
		t.Fatal("the zero value has a condition in force")
	}

	began, ended := f.Hit(at(0), FlowSpan, 2000, 2040)
	want := FlowCondition{Cause: FlowSpan, Limit: 2000, Value: 2040, Times: 1, Since: at(0), Last: at(0)}
	if began == nil || *began != want || ended != nil {
		t.Fatalf("first hit = %+v, %+v, want %+v, nil", began, ended, want)
	}
	if began, ended = f.Hit(at(50), FlowSpan, 2000, 2100); began != nil || ended != nil {
		t.Errorf("second hit = %+v, %+v, want nil, nil", began, ended)
	}
	f.Hit(at(100), FlowSpan, 2000, 2010)
	if got := f.Tick(at(1099)); got != nil {
		t.Errorf("ended %+v before the quiet time", got)
	}
	if got := f.EndsAt(); !got.Equal(at(1100)) {
		t.Errorf("EndsAt() = %v, want %v", got, at(1100))
	}
	want = FlowCondition{Cause: FlowSpan, Limit: 2000, Value: 2100, Times: 3, Since: at(0), Last: at(100)}
	if got := f.Tick(at(1100)); got == nil || *got != want {
		t.Errorf("Tick() = %+v, want %+v", got, want)
	}
	if got := f.Tick(at(1200)); got != nil {
		t.Errorf("ended twice: %+v", got)
	}

	f.Hit(at(2000), FlowCount, 1000, 1001)
	began, ended = f.Hit(at(2050), FlowSpan, 2000, 2001)
	if began == nil || began.Cause != FlowSpan || ended == nil || ended.Cause != FlowCount {
		t.Errorf("hit of another cause = %+v, %+v, want span began, count ended", began, ended)
	}
	// Nobody ticked, and the next hit comes after the quiet time.
	began, ended = f.Hit(at(5000), FlowSpan, 2000, 2002)
	if began == nil || began.Since != at(5000) || ended == nil || ended.Since != at(2050) {
		t.Errorf("late hit = %+v, %+v, want a new condition and the end of the old", began, ended)
	}
}

// An unlocked orderly queue is looked at once a second: that is one condition.
func TestFlowTrackerUnlockedDoesNotFlap(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	var f FlowTracker
	f.Hit(now, FlowOrderlyUnlocked, 0, 0)
	for range 5 {
		now = now.Add(PullDelayException + 30*time.Millisecond)
		if ended := f.Tick(now); ended != nil {
			t.Errorf("ended between two looks: %+v", ended)
		}
		if began, ended := f.Hit(now, FlowOrderlyUnlocked, 0, 0); began != nil || ended != nil {
			t.Errorf("Hit = %+v, %+v, want nil, nil", began, ended)
		}
	}
}
