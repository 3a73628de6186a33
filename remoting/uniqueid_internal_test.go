package remoting

import (
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"os"
	"regexp"
	"sync"
	"testing"
	"time"
)

// Two ids that Java clients made (MessageClientIDSetter).
func TestUniqueIDFormat(t *testing.T) {
	zone := time.FixedZone("UTC+8", 8*3600)
	tests := map[string]struct {
		ip      string
		pid     int
		number  uint32
		at      time.Time
		counter uint16
		want    string
	}{
		"IPv4": {"127.0.0.1", 0x0DFC, 0x1EB2C6F6, time.Date(2026, 11, 1, 0, 0, 0, 0, zone), 1, "7F0000010DFC1EB2C6F6000000000001"},
		"IPv6": {
			"fd00::2", 0x13B7, 0x5FFD2B27, time.Date(2026, 11, 1, 0, 0, 0, 0, zone).Add(2476053487 * time.Millisecond), 0,
			"FD00000000000000000000000000000213B75FFD2B27939593EF0000",
		},
		"long process id": {"10.0.0.1", 0x12345678, 0, time.Date(2026, 12, 1, 0, 0, 1, 0, zone), 0xFFFF, "0A000001567800000000000003E8FFFF"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			u := newUniqueIDs(netip.MustParseAddr(tt.ip), tt.pid, tt.number)
			u.counter = tt.counter
			if got := u.at(tt.at); got != tt.want {
				t.Errorf("id = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestUniqueIDCountsFromTheMonth(t *testing.T) {
	u := newUniqueIDs(netip.MustParseAddr("10.0.0.1"), 1, 1)
	millis := func(at time.Time) uint32 {
		b, err := hex.DecodeString(u.at(at))
		if err != nil {
			t.Fatal(err)
		}
		return binary.BigEndian.Uint32(b[10:])
	}
	end := time.Date(2026, 12, 31, 23, 59, 59, 999e6, time.UTC)
	if got, want := millis(end), uint32(31*24*3600*1000-1); got != want {
		t.Errorf("last millisecond of the month = %d, want %d", got, want)
	}
	if got := millis(end.Add(time.Millisecond)); got != 0 {
		t.Errorf("first millisecond of the next month = %d, want 0", got)
	}
	if got, want := millis(end), uint32(31*24*3600*1000-1); got != want {
		t.Errorf("after the clock was set back: %d, want %d", got, want)
	}
}

func TestUniqueIDsDiffer(t *testing.T) {
	a, b := NewUniqueIDs(), NewUniqueIDs()
	form := regexp.MustCompile(`^([0-9A-F]{32}|[0-9A-F]{56})$`)
	var mu sync.Mutex
	seen := map[string]bool{}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 1000 {
				x, y := a.Next(), b.Next()
				mu.Lock()
				if seen[x] || seen[y] || x == y || !form.MatchString(x) {
					t.Errorf("ids %s and %s", x, y)
				}
				seen[x], seen[y] = true, true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	id, err := hex.DecodeString(a.Next())
	if err != nil {
		t.Fatal(err)
	}
	if got := binary.BigEndian.Uint16(id[len(id)-12:]); got != uint16(os.Getpid()) {
		t.Errorf("process id %d in the id, want %d", got, uint16(os.Getpid()))
	}
}
