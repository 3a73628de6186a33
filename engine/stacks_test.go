package engine

import (
	"fmt"
	"strings"
	"testing"
)

// A dump's goroutines with one stack are named once with their number, whatever
// they wait with and for how long, the most frequent first; a long text is cut.
func TestGroupStacks(t *testing.T) {
	var dump strings.Builder
	dump.WriteString("goroutine 1 [running]:\nmain.main()\n\t/src/main.go:7 +0x1d\n\n")
	for i := range 300 {
		fmt.Fprintf(&dump, "goroutine %d [select, %d minutes]:\neyeq/engine.(*queue).run(0xc%06x, {0x8b, 0x%x})\n\t/src/queue.go:%d +0x%x\n"+
			"created by eyeq/engine.(*Engine).guard in goroutine %d\n\t/src/engine.go:160 +0x66\n\n", i+10, i%4, i, i, 200+i%2, i, i)
	}
	got := groupStacks([]byte(dump.String()), 1<<20)
	for _, want := range []string{
		"301 goroutines in 3 different stacks\n", "\n150 times, one of them:\ngoroutine 10 [select", "\n150 times, one of them:\ngoroutine 11 [select", "main.main()",
	} {
		if strings.Count(got, want) != 1 {
			t.Errorf("want %q once in:\n%s", want, got)
		}
	}
	if !strings.HasSuffix(got, "main.go:7 +0x1d\n") {
		t.Errorf("want the rarest stack at the end of:\n%s", got)
	}

	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, "goroutine %d [select]:\nf%d()\n\t/src/f.go:%d +0x1\n\n", i, i, i)
	}
	got = groupStacks([]byte(many.String()), 4<<10)
	if len(got) > 5<<10 || !strings.Contains(got, "more stacks are left out: the limit is 4 KiB") {
		t.Errorf("%d bytes, the end of which is %q", len(got), got[len(got)-100:])
	}
}

// What the runtime says of a program with many goroutines is short.
func TestStacksOfManyGoroutines(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	for range 5000 {
		go func() { <-stop }()
	}
	got := stacks()
	if len(got) > maxStacks+1<<10 || !strings.Contains(got, " times, one of them:") {
		t.Errorf("%d bytes: %.200s", len(got), got)
	}
}
