package inspect

import (
	"math"
	"testing"
	"time"
)

func TestWords(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 7: "7", 999: "999", 1000: "1,000", -999: "-999", -1234567: "-1,234,567", math.MaxInt64: "9,223,372,036,854,775,807"} {
		if got := Grouped(n); got != want {
			t.Errorf("Grouped(%d) = %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 queues", 1: "1 queue", 2: "2 queues", 12345: "12,345 queues"} {
		if got := Plural(n, "queue"); got != want {
			t.Errorf("Plural(%d) = %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int]string{1: "1 try", 3: "3 tries"} {
		if got := Plurals(n, "try", "tries"); got != want {
			t.Errorf("Plurals(%d) = %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 9999: "9,999 B", 10_000: "9.8 KiB", 1 << 20: "1.0 MiB", 5 << 30: "5.0 GiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestLengthsOfTime(t *testing.T) {
	for d, want := range map[time.Duration]struct{ span, age string }{
		0:                        {"0ms", "0s"},
		40 * time.Microsecond:    {"40µs", "0s"},
		38 * time.Millisecond:    {"38ms", "0s"},
		-38 * time.Millisecond:   {"−38ms", "0s"},
		2400 * time.Millisecond:  {"2.4s", "2s"},
		12400 * time.Millisecond: {"12s", "12s"},
		-time.Minute:             {"−1m00s", "0s"},
		242 * time.Second:        {"4m02s", "4m02s"},
		70 * time.Minute:         {"1h10m", "1h10m"},
		76 * time.Hour:           {"3d4h", "3d4h"},
	} {
		if got := Span(d); got != want.span {
			t.Errorf("Span(%v) = %q, want %q", d, got, want.span)
		}
		if got := Age(d); got != want.age {
			t.Errorf("Age(%v) = %q, want %q", d, got, want.age)
		}
	}
}
