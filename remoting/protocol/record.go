package protocol

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"net/netip"
	"time"
)

// The layout of a stored record (MessageDecoder): a part whose places are
// fixed, then hosts of 8 or 20 bytes and what follows them.
const (
	magicV1 = 0xDAA320A7
	magicV2 = 0xDAA320AB

	crcAt             = 8
	queueIDAt         = 12
	flagAt            = 16
	queueOffsetAt     = 20
	commitLogOffsetAt = 28
	sysFlagAt         = 36
	bornAt            = 40
	bornHostAt        = 48

	hostV4 = 8
	hostV6 = 20
	// afterHosts is what stands between the store host and the body: reconsume
	// times 4, prepared offset 8, body length 4.
	afterHosts = 16
	// minRecord is a record without body, topic and properties: IPv4 hosts,
	// store time 8, a topic length of 1 and a properties length of 2.
	minRecord = bornHostAt + hostV4 + 8 + hostV4 + afterHosts + 1 + 2

	maxTopicV1    = math.MaxInt8
	maxTopicV2    = math.MaxInt16
	maxProperties = math.MaxInt16
)

// Record is a stored message with every field laid open: what the sandbox
// stores, tests build and AppendRecord writes. A consumer reads MessageExt.
type Record struct {
	MagicV2           bool // written with a two-byte topic length
	BodyCRC           uint32
	QueueID           int32
	Flag              int32
	QueueOffset       int64
	CommitLogOffset   int64
	SysFlag           SysFlag
	Born              time.Time
	BornHost          netip.AddrPort
	Stored            time.Time
	StoreHost         netip.AddrPort
	ReconsumeTimes    int32
	PreparedOffset    int64
	Body              []byte // as stored: compressed when SysFlag says so
	Topic             string
	Properties        []Property // in stored order; a repeated name: the last one counts
	TrailingSeparator bool       // 5.x ends the properties with 0x02, 4.9 does not
}

// AppendRecord appends r in its stored form (MessageDecoder). BodyCRC is
// written as given; ComputeBodyCRC gives the right one. The two host bits of
// SysFlag are set as the hosts are; an invalid address is written as 0.0.0.0. It
// refuses a topic or properties too long for their length field, and then
// returns dst unchanged.
func AppendRecord(dst []byte, r *Record) ([]byte, error) {
	start := len(dst)
	sysFlag := r.SysFlag &^ (SysFlagBornHostV6 | SysFlagStoreHostV6)
	if isV6(r.BornHost) {
		sysFlag |= SysFlagBornHostV6
	}
	if isV6(r.StoreHost) {
		sysFlag |= SysFlagStoreHostV6
	}
	be := binary.BigEndian
	out := append(dst, 0, 0, 0, 0)
	if r.MagicV2 {
		out = be.AppendUint32(out, magicV2)
	} else {
		out = be.AppendUint32(out, magicV1)
	}
	out = be.AppendUint32(out, r.BodyCRC)
	out = be.AppendUint32(out, uint32(r.QueueID))
	out = be.AppendUint32(out, uint32(r.Flag))
	out = be.AppendUint64(out, uint64(r.QueueOffset))
	out = be.AppendUint64(out, uint64(r.CommitLogOffset))
	out = be.AppendUint32(out, uint32(sysFlag))
	out = be.AppendUint64(out, uint64(millis(r.Born)))
	out = appendHost(out, r.BornHost)
	out = be.AppendUint64(out, uint64(millis(r.Stored)))
	out = appendHost(out, r.StoreHost)
	out = be.AppendUint32(out, uint32(r.ReconsumeTimes))
	out = be.AppendUint64(out, uint64(r.PreparedOffset))
	out = be.AppendUint32(out, uint32(len(r.Body)))
	out = append(out, r.Body...)
	if r.MagicV2 {
		if len(r.Topic) > maxTopicV2 {
			return dst, fmt.Errorf("topic of %d bytes is over %d", len(r.Topic), maxTopicV2)
		}
		out = be.AppendUint16(out, uint16(len(r.Topic)))
	} else {
		if len(r.Topic) > maxTopicV1 {
			return dst, fmt.Errorf("topic of %d bytes is over %d", len(r.Topic), maxTopicV1)
		}
		out = append(out, byte(len(r.Topic)))
	}
	out = append(out, r.Topic...)
	lengthAt := len(out)
	out = AppendProperties(append(out, 0, 0), r.Properties, r.TrailingSeparator)
	length := len(out) - lengthAt - 2
	if length > maxProperties {
		return dst, fmt.Errorf("properties of %d bytes are over %d", length, maxProperties)
	}
	be.PutUint16(out[lengthAt:], uint16(length))
	if len(out)-start > math.MaxInt32 {
		return dst, fmt.Errorf("record of %d bytes is too long", len(out)-start)
	}
	be.PutUint32(out[start:], uint32(len(out)-start))
	return out, nil
}

func isV6(host netip.AddrPort) bool { return host.Addr().Is6() }

func appendHost(dst []byte, host netip.AddrPort) []byte {
	addr := host.Addr()
	if addr.Is6() {
		b := addr.As16()
		dst = append(dst, b[:]...)
	} else {
		var b [4]byte
		if addr.Is4() {
			b = addr.As4()
		}
		dst = append(dst, b[:]...)
	}
	return binary.BigEndian.AppendUint32(dst, uint32(host.Port()))
}

// hostOf reads what appendHost wrote; of the four bytes of a port two count.
func hostOf(b []byte) netip.AddrPort {
	port := uint16(binary.BigEndian.Uint32(b[len(b)-4:]))
	addr, _ := netip.AddrFromSlice(b[:len(b)-4])
	return netip.AddrPortFrom(addr, port)
}

// ComputeBodyCRC is the CRC-32 (IEEE) of a stored body without its top bit.
func ComputeBodyCRC(body []byte) uint32 { return crc32.ChecksumIEEE(body) & math.MaxInt32 }
