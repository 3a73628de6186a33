package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// rocketMQFixed is the length of a ROCKETMQ header without remark and ext fields:
// code 2, language 1, version 2, opaque 4, flag 4 and two lengths of 4.
const rocketMQFixed = 21

var errHeaderShort = errors.New("header ends inside a field")

// decodeRocketMQHeader reads the binary header. A value of no length is null in
// Java and "" here.
func decodeRocketMQHeader(c *Command, h []byte) error {
	if len(h) < rocketMQFixed {
		return fmt.Errorf("header of %d bytes is under %d", len(h), rocketMQFixed)
	}
	c.Code = int32(int16(binary.BigEndian.Uint16(h)))
	c.Language = LanguageCode(h[2])
	c.Version = int32(int16(binary.BigEndian.Uint16(h[3:])))
	c.Opaque = int32(binary.BigEndian.Uint32(h[5:]))
	c.Flag = int32(binary.BigEndian.Uint32(h[9:]))
	remark, rest, err := cut32(h[13:])
	if err != nil {
		return fmt.Errorf("remark: %w", err)
	}
	c.Remark = internRemark(view(remark))
	ext, rest, err := cut32(rest)
	if err != nil {
		return fmt.Errorf("ext fields: %w", err)
	}
	if len(rest) > 0 {
		return fmt.Errorf("%d bytes after the ext fields", len(rest))
	}
	if len(ext) == 0 {
		return nil
	}
	fields := make(ExtFields, 0, extFieldsHint)
	for len(ext) > 0 {
		var key, value []byte
		if key, ext, err = cut16(ext); err != nil {
			return fmt.Errorf("ext field %d: %w", len(fields), err)
		}
		if value, ext, err = cut32(ext); err != nil {
			return fmt.Errorf("ext field %q: %w", key, err)
		}
		if fields, err = fields.decoded(view(key), view(value)); err != nil {
			return err
		}
	}
	c.ExtFields = fields
	return nil
}

// cut32 cuts off a text that is preceded by its 4-byte length.
func cut32(b []byte) (text, rest []byte, err error) {
	if len(b) < 4 {
		return nil, nil, errHeaderShort
	}
	n := binary.BigEndian.Uint32(b)
	if b = b[4:]; uint64(n) > uint64(len(b)) {
		return nil, nil, errHeaderShort
	}
	return b[:n:n], b[n:], nil
}

// cut16 is cut32 for a 2-byte length; Java's is signed, so half of them are none.
func cut16(b []byte) (text, rest []byte, err error) {
	if len(b) < 2 {
		return nil, nil, errHeaderShort
	}
	n := int(binary.BigEndian.Uint16(b))
	if b = b[2:]; n > len(b) || n > math.MaxInt16 {
		return nil, nil, errHeaderShort
	}
	return b[:n:n], b[n:], nil
}

func appendRocketMQHeader(dst []byte, c *Command) ([]byte, error) {
	if int32(int16(c.Code)) != c.Code {
		return nil, fmt.Errorf("code %d does not fit a ROCKETMQ header", c.Code)
	}
	if int32(int16(c.Version)) != c.Version {
		return nil, fmt.Errorf("version %d does not fit a ROCKETMQ header", c.Version)
	}
	dst = binary.BigEndian.AppendUint16(dst, uint16(c.Code))
	dst = append(dst, byte(c.Language))
	dst = binary.BigEndian.AppendUint16(dst, uint16(c.Version))
	dst = binary.BigEndian.AppendUint32(dst, uint32(c.Opaque))
	dst = binary.BigEndian.AppendUint32(dst, uint32(c.Flag))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(c.Remark)))
	dst = append(dst, c.Remark...)
	lengthAt := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	for i := range c.ExtFields {
		f := &c.ExtFields[i]
		if len(f.Key) > math.MaxInt16 {
			return nil, fmt.Errorf("ext field name of %d bytes does not fit a ROCKETMQ header", len(f.Key))
		}
		dst = binary.BigEndian.AppendUint16(dst, uint16(len(f.Key)))
		dst = append(dst, f.Key...)
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(f.Value)))
		dst = append(dst, f.Value...)
	}
	binary.BigEndian.PutUint32(dst[lengthAt:], uint32(len(dst)-lengthAt-4))
	return dst, nil
}
