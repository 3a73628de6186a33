package protocol

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"net/netip"
)

// OffsetMessageID makes the id of a stored message: store host, port and commit
// log offset in upper-case hex, 32 characters for IPv4 and 56 for IPv6.
func OffsetMessageID(storeHost netip.AddrPort, commitLogOffset int64) string {
	var b [2 * (hostV6 + 8)]byte
	return string(appendOffsetMessageID(b[:0], storeHost, commitLogOffset))
}

func appendOffsetMessageID(dst []byte, storeHost netip.AddrPort, commitLogOffset int64) []byte {
	const digits = "0123456789ABCDEF"
	var b [hostV6 + 8]byte
	for _, c := range binary.BigEndian.AppendUint64(appendHost(b[:0], storeHost), uint64(commitLogOffset)) {
		dst = append(dst, digits[c>>4], digits[c&15])
	}
	return dst
}

// ParseOffsetMessageID takes such an id apart. It refuses a port of 0 or over
// 65535 and a negative offset, which tells most unique ids apart.
func ParseOffsetMessageID(id string) (storeHost netip.AddrPort, commitLogOffset int64, err error) {
	if len(id) != 2*(hostV4+8) && len(id) != 2*(hostV6+8) {
		return netip.AddrPort{}, 0, fmt.Errorf("message id %.60q has %d characters, not 32 or 56", id, len(id))
	}
	b, err := hex.DecodeString(id)
	if err != nil {
		return netip.AddrPort{}, 0, fmt.Errorf("message id %q: %w", id, err)
	}
	host, offset := b[:len(b)-8], int64(binary.BigEndian.Uint64(b[len(b)-8:]))
	if port := binary.BigEndian.Uint32(host[len(host)-4:]); port == 0 || port > math.MaxUint16 {
		return netip.AddrPort{}, 0, fmt.Errorf("message id %s is no offset id: it has port %d", id, port)
	}
	if offset < 0 {
		return netip.AddrPort{}, 0, fmt.Errorf("message id %s is no offset id: it has offset %d", id, offset)
	}
	return hostOf(host), offset, nil
}
