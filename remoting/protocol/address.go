package protocol

import (
	"net"
	"net/netip"
	"strings"
)

// Address makes an address that can be dialled, and compared with Go's, of what brokers
// say: they announce an IPv6 host before the port as it is (::1:10911) and write those
// of clients at full length ([0:0:0:0:0:0:0:1]:4321). Anything else stays as it is.
func Address(announced string) string {
	at := strings.LastIndexByte(announced, ':')
	if at < 0 || strings.IndexByte(announced, ':') == at {
		return announced
	}
	text := announced[:at]
	if inner, ok := strings.CutPrefix(text, "["); ok {
		text = strings.TrimSuffix(inner, "]")
	}
	host, err := netip.ParseAddr(text)
	if err != nil || !host.Is6() {
		return announced
	}
	return net.JoinHostPort(host.String(), announced[at+1:])
}

// dialable is Address of all members of a broker name.
func (b *BrokerData) dialable() {
	for id, addr := range b.BrokerAddrs {
		b.BrokerAddrs[id] = Address(addr)
	}
}
