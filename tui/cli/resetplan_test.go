package cli

import (
	"testing"

	"eyeq/engine/core"
	"eyeq/engine/inspect"
)

// A plan that skips says so in its first line, and how much.
func TestAPlanThatSkipsSaysSoInItsTitle(t *testing.T) {
	for name, tt := range map[string]struct {
		rows []inspect.ResetRow
		want string
	}{
		"replay":  {[]inspect.ResetRow{{Effect: core.EffectReplay, Count: 7}}, ""},
		"one":     {[]inspect.ResetRow{{Effect: core.EffectSkip, Count: 1}, {Effect: core.EffectReplay, Count: 7}}, ": SKIPS 1 message in 1 queue"},
		"several": {[]inspect.ResetRow{{Effect: core.EffectSkip, Count: 22_000}, {Effect: core.EffectSkip, Count: 10}}, ": SKIPS 22,010 messages in 2 queues"},
		"unknown": {[]inspect.ResetRow{{Effect: core.EffectSkip, Count: 7, Unknown: true}}, ""},
	} {
		if got := skipsText(tt.rows); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
