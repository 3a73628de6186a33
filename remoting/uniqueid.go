package remoting

import (
	"encoding/binary"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"
)

// UniqueIDs makes unique client message ids in the Java client's format. Any
// goroutine may use one.
type UniqueIDs struct {
	prefix []byte // address, process id, and a number of this generator

	mu      sync.Mutex // guards what follows
	month   time.Time  // the beginning of the current month, local time
	next    time.Time  // of the next
	counter uint16
}

// NewUniqueIDs makes a generator for this process (ip, pid, start time).
func NewUniqueIDs() *UniqueIDs {
	return newUniqueIDs(localIP(), os.Getpid(), rand.Uint32())
}

// newUniqueIDs takes the parts of the prefix. Where Java has the hash of a class
// loader, which keeps two of them in one process apart, number does the same.
func newUniqueIDs(ip netip.Addr, pid int, number uint32) *UniqueIDs {
	prefix := ip.AsSlice()
	prefix = binary.BigEndian.AppendUint16(prefix, uint16(pid))
	prefix = binary.BigEndian.AppendUint32(prefix, number)
	return &UniqueIDs{prefix: prefix}
}

// Next returns the next id: 32 or 56 upper-case hex characters.
func (u *UniqueIDs) Next() string {
	return u.at(time.Now())
}

func (u *UniqueIDs) at(now time.Time) string {
	u.mu.Lock()
	if !now.Before(u.next) || now.Before(u.month) {
		u.month = time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, now.Location())
		u.next = u.month.AddDate(0, 1, 0)
	}
	millis := uint32(now.Sub(u.month).Milliseconds())
	counter := u.counter
	u.counter++
	u.mu.Unlock()

	id := make([]byte, 0, 28)
	id = append(id, u.prefix...)
	id = binary.BigEndian.AppendUint32(id, millis)
	id = binary.BigEndian.AppendUint16(id, counter)
	return upperHex(id)
}

func upperHex(b []byte) string {
	const digits = "0123456789ABCDEF"
	text := make([]byte, 0, 2*len(b))
	for _, c := range b {
		text = append(text, digits[c>>4], digits[c&15])
	}
	return string(text)
}

// localIP is an address by which others may know this machine, in the Java
// client's order of preference: public IPv4, private IPv4, IPv6. Without any it
// is a random one, as the ids only need to differ.
func localIP() netip.Addr {
	addrs, _ := net.InterfaceAddrs()
	var best netip.Addr
	rank := 0
	for _, a := range addrs {
		prefix, err := netip.ParsePrefix(a.String())
		if err != nil {
			continue
		}
		ip := prefix.Addr().Unmap()
		if r := rankIP(ip); r > rank {
			best, rank = ip, r
		}
	}
	if rank == 0 {
		var random [4]byte
		binary.BigEndian.PutUint32(random[:], rand.Uint32())
		return netip.AddrFrom4(random)
	}
	return best
}

func rankIP(ip netip.Addr) int {
	switch {
	case !ip.IsGlobalUnicast():
		return 0
	case ip.Is6():
		return 1
	case ip.IsPrivate():
		return 2
	}
	return 3
}
