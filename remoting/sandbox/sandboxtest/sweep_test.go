package sandboxtest

import (
	"fmt"
	"testing"
	"time"

	"eyeq/remoting/sandbox"
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

func TestSince(t *testing.T) {
	tests := []struct {
		target Target
		since  string
		want   bool
	}{
		{Target{Name: "5.5.0"}, "5.4.0", true}, {Target{Name: "5.4.0"}, "5.4.0", true}, {Target{Name: "5.10.0"}, "5.4.0", true},
		{Target{Name: "5.3.3"}, "5.4.0", false}, {Target{Name: "4.9.7"}, "5.4.0", false},
		{Target{Name: "sandbox", Line: "5", Sandbox: new(sandbox.Sandbox)}, "5.4.0", false},
		{Target{Name: "sandbox", Line: "5", Sandbox: new(sandbox.Sandbox)}, "5.3.3", true},
		{Target{Name: "sandbox-4", Line: "4", Sandbox: new(sandbox.Sandbox)}, "5.0.0", false},
	}
	for _, tt := range tests {
		if got := tt.target.Since(tt.since); got != tt.want {
			t.Errorf("%s: Since(%s) = %v, want %v", tt.target.Name, tt.since, got, tt.want)
		}
	}
}
