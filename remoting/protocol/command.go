package protocol

import (
	"encoding/binary"
	"fmt"
)

// SerializeType tells the two header encodings apart; it is the top byte of the
// word before the header.
type SerializeType uint8

// The header encodings.
const (
	SerializeJSON     SerializeType = 0
	SerializeRocketMQ SerializeType = 1
)

// MaxFrameLength bounds a frame, its 4-byte length included: the limit that
// servers and Java clients apply (com.rocketmq.remoting.frameMaxLength).
const MaxFrameLength = 16 << 20

// maxExtFields bounds the list that a decoded header makes; real ones have under
// forty.
const maxExtFields = 1024

// The bits of Command.Flag.
const (
	FlagResponse = 1 << 0
	FlagOneway   = 1 << 1
)

// ExtField is one entry of a command's custom header.
type ExtField struct{ Key, Value string }

// ExtFields is a command's custom header in the order of the frame, where each
// key is once. Nil means that the frame had none; the wire tells that from an
// empty one.
type ExtFields []ExtField

// Command is one request or response (Java: RemotingCommand).
//
// A decoded Command is a view: its strings and Body point into the frame it was
// decoded from, which must not be changed afterwards and lives as long as any of
// them. Clone what is kept from a large frame.
type Command struct {
	Code      int32 // a RequestCode, or a ResponseCode when IsResponse
	Language  LanguageCode
	Version   int32
	Opaque    int32
	Flag      int32
	Remark    string
	ExtFields ExtFields
	Body      []byte
	// Serialize is the encoding of the frame it was decoded from.
	Serialize SerializeType
}

// IsResponse reports whether c answers a request.
func (c *Command) IsResponse() bool { return c.Flag&FlagResponse != 0 }

// IsOneway reports whether the sender of c wants no answer.
func (c *Command) IsOneway() bool { return c.Flag&FlagOneway != 0 }

// DecodeCommand decodes a frame without its 4-byte length: header word, header
// and body. It allocates nothing but the list of ext fields (and strings that
// hold escapes). It refuses what a server refuses: an unknown encoding, a header
// longer than the frame, text after a JSON header; and more than 1024 ext fields.
func DecodeCommand(frame []byte) (Command, error) {
	if len(frame) < 4 {
		return Command{}, fmt.Errorf("frame of %d bytes has no header word", len(frame))
	}
	word := binary.BigEndian.Uint32(frame)
	headerLen := int(word & 0xFFFFFF)
	if headerLen > len(frame)-4 {
		return Command{}, fmt.Errorf("header of %d bytes in a frame of %d", headerLen, len(frame))
	}
	header := frame[4 : 4+headerLen : 4+headerLen]
	c := Command{Serialize: SerializeType(word >> 24)}
	if body := frame[4+headerLen:]; len(body) > 0 {
		c.Body = body
	}
	var err error
	switch c.Serialize {
	case SerializeJSON:
		err = decodeJSONHeader(&c, header)
	case SerializeRocketMQ:
		err = decodeRocketMQHeader(&c, header)
	default:
		err = fmt.Errorf("unknown header encoding %d", c.Serialize)
	}
	if err != nil {
		return Command{}, fmt.Errorf("decode header: %w", err)
	}
	return c, nil
}

// AppendFrame appends c as a whole frame, length included, in the encoding t.
// It refuses a frame over MaxFrameLength, and in the ROCKETMQ encoding a code or
// version that does not fit 16 bits. dst is returned unchanged with an error.
func AppendFrame(dst []byte, c *Command, t SerializeType) ([]byte, error) {
	start := len(dst)
	out := append(dst, 0, 0, 0, 0, 0, 0, 0, 0)
	switch t {
	case SerializeJSON:
		out = appendJSONHeader(out, c)
	case SerializeRocketMQ:
		var err error
		if out, err = appendRocketMQHeader(out, c); err != nil {
			return dst, err
		}
	default:
		return dst, fmt.Errorf("unknown header encoding %d", t)
	}
	headerLen := len(out) - start - 8
	if length := len(out) - start + len(c.Body); length > MaxFrameLength {
		return dst, fmt.Errorf("frame of %d bytes is over the limit of %d", length, MaxFrameLength)
	}
	out = append(out, c.Body...)
	binary.BigEndian.PutUint32(out[start:], uint32(len(out)-start-4))
	binary.BigEndian.PutUint32(out[start+4:], uint32(t)<<24|uint32(headerLen))
	return out, nil
}

// Get returns the value of key; ok tells an empty value from none.
func (f ExtFields) Get(key string) (value string, ok bool) {
	for i := range f {
		if f[i].Key == key {
			return f[i].Value, true
		}
	}
	return "", false
}

// decoded adds a field of a frame. Of a repeated key the last value counts, as in
// Java's map: the 4.9 Java client signs a map and then writes the fields of its
// typed header twice into a ROCKETMQ header.
func (f ExtFields) decoded(key, value string) (ExtFields, error) {
	for i := range f {
		if f[i].Key == key {
			f[i].Value = value
			return f, nil
		}
	}
	if len(f) == maxExtFields {
		return nil, fmt.Errorf("more than %d ext fields", maxExtFields)
	}
	return append(f, ExtField{Key: key, Value: value}), nil
}

// internRemark shares the remarks that come with nearly every answer, so that
// one that is kept does not keep its frame.
func internRemark(remark string) string {
	switch remark {
	case "FOUND":
		return "FOUND"
	case "not set any response code":
		return "not set any response code"
	case "NO_MATCHED_MESSAGE":
		return "NO_MATCHED_MESSAGE"
	case "NO_MESSAGE_IN_QUEUE":
		return "NO_MESSAGE_IN_QUEUE"
	case "OFFSET_OVERFLOW_ONE":
		return "OFFSET_OVERFLOW_ONE"
	case "OFFSET_OVERFLOW_BADLY":
		return "OFFSET_OVERFLOW_BADLY"
	case "OFFSET_TOO_SMALL":
		return "OFFSET_TOO_SMALL"
	case "OFFSET_RESET":
		return "OFFSET_RESET"
	}
	return remark
}
