package protocol

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string in the way RocketMQ's library does:
// quotes, backslashes and control characters are escaped, the rest stays UTF-8.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscaped(dst, c)
		start = i + 1
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

func appendEscaped(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
}

// appendASCIIString escapes what is not ASCII too, as the strict form of code
// 105 does.
func appendASCIIString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		if r < utf8.RuneSelf {
			if c := byte(r); c < ' ' || c == '"' || c == '\\' {
				dst = appendEscaped(dst, c)
			} else {
				dst = append(dst, c)
			}
			continue
		}
		var units [2]uint16
		for _, u := range utf16.AppendRune(units[:0], r) {
			dst = append(dst, '\\', 'u', hexDigits[u>>12], hexDigits[u>>8&0xF], hexDigits[u>>4&0xF], hexDigits[u&0xF])
		}
	}
	return append(dst, '"')
}

// appendDouble appends f as Java's Double.toString does: always with a decimal,
// with an exponent from ten million up and below a thousandth. JSON has no name
// for what is not a number; Java's library writes null.
func appendDouble(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	if a := math.Abs(f); a != 0 && (a < 1e-3 || a >= 1e7) {
		return appendExponent(dst, f)
	}
	return appendDecimal(dst, strconv.AppendFloat(nil, f, 'f', -1, 64))
}

func appendExponent(dst []byte, f float64) []byte {
	text := strconv.AppendFloat(nil, f, 'e', -1, 64)
	for i, c := range text {
		if c == 'e' {
			exponent, _ := strconv.Atoi(string(text[i+1:]))
			dst = appendDecimal(dst, text[:i])
			return strconv.AppendInt(append(dst, 'E'), int64(exponent), 10)
		}
	}
	return append(dst, text...)
}

func appendDecimal(dst, digits []byte) []byte {
	dst = append(dst, digits...)
	for _, c := range digits {
		if c == '.' {
			return dst
		}
	}
	return append(dst, ".0"...)
}

// object writes one JSON object; its methods keep the commas.
type object struct {
	dst  []byte
	some bool
}

func beginObject(dst []byte) object { return object{dst: append(dst, '{')} }

func (o *object) end() []byte { return append(o.dst, '}') }

// name writes a member's name; names are constants that need no escaping.
func (o *object) name(name string) {
	o.comma()
	o.dst = append(o.dst, '"')
	o.dst = append(o.dst, name...)
	o.dst = append(o.dst, `":`...)
}

// textName writes a name that may need escaping.
func (o *object) textName(name string) {
	o.comma()
	o.dst = append(appendString(o.dst, name), ':')
}

// bareName writes an integer as Java's library does: without quotes.
func (o *object) bareName(number string) {
	o.comma()
	o.dst = append(append(o.dst, number...), ':')
}

// queueName writes a queue as Java's library does: as an object.
func (o *object) queueName(mq MessageQueue) {
	o.comma()
	o.dst = append(appendQueue(o.dst, mq), ':')
}

func (o *object) comma() {
	if o.some {
		o.dst = append(o.dst, ',')
	}
	o.some = true
}

func (o *object) text(name, value string) {
	o.name(name)
	o.dst = appendString(o.dst, value)
}

func (o *object) number(name string, value int64) {
	o.name(name)
	o.dst = strconv.AppendInt(o.dst, value, 10)
}

func (o *object) bool(name string, value bool) {
	o.name(name)
	o.dst = strconv.AppendBool(o.dst, value)
}

// appendArray appends items as a JSON array, nil as an empty one.
func appendArray[T any](dst []byte, items []T, item func([]byte, T) []byte) []byte {
	dst = append(dst, '[')
	for i, it := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = item(dst, it)
	}
	return append(dst, ']')
}

// appendQueue appends mq with its members in Java's order.
func appendQueue(dst []byte, mq MessageQueue) []byte {
	o := beginObject(dst)
	o.text("brokerName", mq.BrokerName)
	o.number("queueId", int64(mq.QueueID))
	o.text("topic", mq.Topic)
	return o.end()
}

// sortedQueues returns the keys of m in their one order.
func sortedQueues[V any, M ~map[MessageQueue]V](m M) []MessageQueue {
	return slices.SortedFunc(maps.Keys(m), CompareMessageQueues)
}

func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

func appendInt32(dst []byte, n int32) []byte { return strconv.AppendInt(dst, int64(n), 10) }

// dataVersion stands where a broker counts the changes of a table.
const dataVersion = `{"counter":1,"stateVersion":0,"timestamp":0}`

// appendTable appends a map by text as an object, in order of its keys.
func appendTable[V any](dst []byte, table map[string]V, value func([]byte, V) []byte) []byte {
	o := beginObject(dst)
	for _, name := range slices.Sorted(maps.Keys(table)) {
		o.textName(name)
		o.dst = value(o.dst, table[name])
	}
	return o.end()
}
