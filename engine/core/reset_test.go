package core

import (
	"math"
	"testing"
	"time"
)

func TestPlanReset(t *testing.T) {
	b := ResetBounds{Committed: 500, Min: 100, Max: 1000, ByTime: 450}
	with := func(change func(*ResetBounds)) ResetBounds {
		c := b
		change(&c)
		return c
	}
	none := with(func(b *ResetBounds) { b.Committed = -1 })
	expired := with(func(b *ResetBounds) { b.Committed = 40 })
	beyond := with(func(b *ResetBounds) { b.Committed = 2000 })
	empty := ResetBounds{Committed: 7, Min: 7, Max: 7, ByTime: 7}
	to := func(kind ResetKind, offset int64) ResetTarget { return ResetTarget{Kind: kind, Offset: offset} }

	tests := map[string]struct {
		b      ResetBounds
		t      ResetTarget
		after  int64
		effect ResetEffect
		count  int64
	}{
		"earliest":                    {b, to(ResetEarliest, 0), 100, EffectReplay, 400},
		"latest":                      {b, to(ResetLatest, 0), 1000, EffectSkip, 500},
		"time":                        {b, ResetTarget{Kind: ResetTime, Time: time.UnixMilli(1)}, 450, EffectReplay, 50},
		"offset":                      {b, to(ResetOffset, 501), 501, EffectSkip, 1},
		"offset where it is":          {b, to(ResetOffset, 500), 500, EffectNone, 0},
		"offset below the minimum":    {b, to(ResetOffset, 3), 100, EffectReplay, 400},
		"offset beyond the maximum":   {b, to(ResetOffset, 3000), 1000, EffectSkip, 500},
		"shift back":                  {b, to(ResetShift, -20), 480, EffectReplay, 20},
		"shift on":                    {b, to(ResetShift, 20), 520, EffectSkip, 20},
		"shift back beyond":           {b, to(ResetShift, math.MinInt64), 100, EffectReplay, 400},
		"shift on beyond":             {b, to(ResetShift, math.MaxInt64), 1000, EffectSkip, 500},
		"expired, to the minimum":     {expired, to(ResetEarliest, 0), 100, EffectGone, 60},
		"expired, back":               {expired, to(ResetShift, -10), 100, EffectGone, 60},
		"expired, beyond skips":       {expired, to(ResetOffset, 130), 130, EffectSkip, 30},
		"none, earliest":              {none, to(ResetEarliest, 0), 100, EffectNone, 0},
		"none, latest":                {none, to(ResetLatest, 0), 1000, EffectSkip, 900},
		"none, shift":                 {none, to(ResetShift, 5), 105, EffectSkip, 5},
		"beyond the end, latest":      {beyond, to(ResetLatest, 0), 1000, EffectNone, 0},
		"beyond the end, back":        {beyond, to(ResetOffset, 990), 990, EffectReplay, 10},
		"an empty queue":              {empty, to(ResetEarliest, 0), 7, EffectNone, 0},
		"an empty queue, to offset":   {empty, to(ResetOffset, 9), 7, EffectNone, 0},
		"an empty queue, time":        {ResetBounds{Committed: 48, Min: 48, Max: 48, ByTime: 0}, ResetTarget{Kind: ResetTime}, 48, EffectNone, 0}, // R057
		"no target stays where it is": {b, ResetTarget{}, 500, EffectNone, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			after, effect, count := PlanReset(tt.b, tt.t)
			if after != tt.after || effect != tt.effect || count != tt.count {
				t.Errorf("PlanReset(%+v, %+v) = %d, %v, %d, want %d, %v, %d",
					tt.b, tt.t, after, effect, count, tt.after, tt.effect, tt.count)
			}
		})
	}
}
