package engine

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"time"

	"eyeq/remoting/protocol"
)

// makeClientID builds the Java form of a client id (docs/conformance/client.md 2.5): the
// address and pid#nanoseconds when clustering, so that each engine is a member
// of its own, and a stable ip@DEFAULT when broadcasting, so that the local
// offset file is found again.
func makeClientID(o *Options, now time.Time, rnd *rand.Rand) string {
	if o.ClientID != "" {
		return o.ClientID
	}
	name := o.InstanceName
	if name == "" {
		name = "DEFAULT"
		if o.MessageModel == protocol.Clustering {
			// The clock alone is the same for two engines made in one bubble of a test.
			nano := now.UnixNano() + rnd.Int64N(1_000_000)
			name = strconv.Itoa(os.Getpid()) + "#" + strconv.FormatInt(nano, 10)
		}
	}
	return fmt.Sprintf("%s@%s", localIP(), name)
}

// localIP is the first usable address of this host, an IPv4 one if there is
// any, as Java's NetworkUtil chooses; loopback only when there is nothing else.
func localIP() string {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return "127.0.0.1"
	}
	v6 := ""
	for _, a := range addrs {
		n, ok := a.(*net.IPNet)
		if !ok || n.IP.IsLoopback() || n.IP.IsLinkLocalUnicast() {
			continue
		}
		if v4 := n.IP.To4(); v4 != nil {
			return v4.String()
		}
		if v6 == "" {
			v6 = n.IP.String()
		}
	}
	if v6 != "" {
		return v6
	}
	return "127.0.0.1"
}
