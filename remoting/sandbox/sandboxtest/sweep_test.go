package sandboxtest

import (
	"fmt"
	"testing"
	"time"
)

func TestLeftover(t *testing.T) {
	at := func(age time.Duration) string {
		return fmt.Sprintf("eyeq-TestX-5-3-3-%08x-0123abcd", time.Now().Add(-age).Unix())
	}
	old := at(leftoverAge + time.Minute)
	tests := map[string]bool{
		old: true, "%RETRY%" + old: true, "%DLQ%" + old: true, old + "-absent": true,
		at(leftoverAge - time.Minute): false, uniqueName(t): false, "x" + old: false,
		"eyeq-orders": false, "%RETRY%orders": false, "TopicTest": false,
	}
	for name, want := range tests {
		if got := leftover(name); got != want {
			t.Errorf("leftover(%q) = %v, want %v", name, got, want)
		}
	}
}
