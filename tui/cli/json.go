package cli

import (
	"bytes"
	"encoding/base64"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
)

// messageEncoder writes messages as JSON objects, one a line, with the fields that
// docs/scripting.md lists in fixed order. It keeps a scratch list, so one goroutine uses it
// at a time. The standard encoder takes five times as long.
type messageEncoder struct {
	properties []protocol.Property
	// head is how lines of the queue headOf begin: messages of one come together.
	headOf protocol.MessageQueue
	head   []byte
}

// append adds m as one line.
func (e *messageEncoder) append(dst []byte, m *engine.Message) []byte {
	e.properties = e.properties[:0]
	for name, value := range m.Properties {
		e.properties = append(e.properties, protocol.Property{Name: name, Value: value})
	}
	var tags, keys, unique, original string
	var hasTags bool
	for _, p := range e.properties { // the last one of a name counts
		switch p.Name {
		case protocol.PropertyTags:
			tags, hasTags = p.Value, true
		case protocol.PropertyKeys:
			keys = p.Value
		case protocol.PropertyUniqKey:
			unique = p.Value
		}
	}
	mq := m.MessageQueue()
	if original = m.OriginalTopic(); original != mq.Topic {
		dst = appendQueueHead(dst, mq, original)
	} else {
		if len(e.head) == 0 || e.headOf != mq {
			// A copy, since the names may point into an answer's buffer.
			e.headOf = protocol.MessageQueue{Topic: strings.Clone(mq.Topic), BrokerName: strings.Clone(mq.BrokerName), QueueID: mq.QueueID}
			e.head = appendQueueHead(e.head[:0], mq, "")
		}
		dst = append(dst, e.head...)
	}
	dst = appendIntField(dst, `,"offset":`, m.QueueOffset())
	dst = appendIntField(dst, `,"commitlog_offset":`, m.CommitLogOffset())
	dst = append(dst, `,"message_id":`...)
	if unique != "" {
		dst = appendJSONString(dst, unique)
	} else {
		dst = append(m.AppendOffsetMessageID(append(dst, '"')), '"')
	}
	dst = append(dst, `,"offset_message_id":"`...)
	dst = m.AppendOffsetMessageID(dst)
	dst = append(dst, `","born":`...)
	dst = appendJSONTime(dst, m.Born())
	dst = append(dst, `,"stored":`...)
	dst = appendJSONTime(dst, m.Stored())
	dst = append(dst, `,"born_host":`...)
	dst = appendJSONHost(dst, m.BornHost())
	dst = append(dst, `,"store_host":`...)
	dst = appendJSONHost(dst, m.StoreHost())
	dst = append(dst, `,"tags":`...)
	if hasTags {
		dst = appendJSONString(dst, tags)
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(dst, `,"keys":[`...)
	for first := true; keys != ""; {
		var key string
		key, keys, _ = strings.Cut(keys, " ")
		if key == "" {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		dst, first = appendJSONString(dst, key), false
	}
	dst = append(dst, ']')
	dst = appendIntField(dst, `,"reconsume_times":`, int64(m.ReconsumeTimes()))
	dst = appendIntField(dst, `,"sys_flag":`, int64(m.SysFlag()))
	dst = appendIntField(dst, `,"flag":`, int64(m.Flag()))
	dst = append(dst, `,"properties":{`...)
	dst = appendProperties(dst, e.properties)
	dst = append(dst, '}')
	dst = appendBody(dst, m)
	return append(dst, "}\n"...)
}

// appendQueueHead begins a line with what the messages of a queue have in common.
func appendQueueHead(dst []byte, mq protocol.MessageQueue, original string) []byte {
	dst = append(dst, `{"kind":"message","topic":`...)
	dst = appendJSONString(dst, mq.Topic)
	if original != "" {
		dst = append(dst, `,"original_topic":`...)
		dst = appendJSONString(dst, original)
	}
	dst = append(dst, `,"broker":`...)
	dst = appendJSONString(dst, mq.BrokerName)
	return appendIntField(dst, `,"queue":`, int64(mq.QueueID))
}

// appendProperties adds the members of the object; of a repeated name the last.
func appendProperties(dst []byte, properties []protocol.Property) []byte {
	first := true
	for i, p := range properties {
		if repeated(properties[i+1:], p.Name) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = appendJSONString(dst, p.Name)
		dst = append(dst, ':')
		dst = appendJSONString(dst, p.Value)
	}
	return dst
}

func repeated(later []protocol.Property, name string) bool {
	for i := range later {
		if later[i].Name == name {
			return true
		}
	}
	return false
}

// appendBody adds body, or body_base64 where it is not valid UTF-8, body_size,
// and body_error with the raw body where it cannot be decompressed.
func appendBody(dst []byte, m *engine.Message) []byte {
	body, err := m.Body()
	if err != nil {
		body = m.StoredBody()
	}
	if utf8.Valid(body) {
		dst = append(dst, `,"body":`...)
		dst = appendJSONString(dst, body)
	} else {
		dst = append(dst, `,"body_base64":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, body)
		dst = append(dst, '"')
	}
	dst = appendIntField(dst, `,"body_size":`, int64(len(body)))
	if err != nil {
		dst = append(dst, `,"body_error":`...)
		dst = appendJSONString(dst, err.Error())
	}
	return dst
}

func appendIntField(dst []byte, name string, v int64) []byte {
	return strconv.AppendInt(append(dst, name...), v, 10)
}

// appendJSONHost adds host:port; null when there is none.
func appendJSONHost(dst []byte, host netip.AddrPort) []byte {
	if !host.IsValid() {
		return append(dst, "null"...)
	}
	dst = append(dst, '"')
	dst = host.AppendTo(dst)
	return append(dst, '"')
}

// appendJSONTime adds a time in RFC 3339 with milliseconds, in UTC; null for
// none, and for what the format has no room for.
func appendJSONTime(dst []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(dst, "null"...)
	}
	t = t.UTC()
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return append(dst, "null"...)
	}
	hour, minute, second := t.Clock()
	ms := t.Nanosecond() / 1e6
	return append(dst, '"',
		byte('0'+year/1000), byte('0'+year/100%10), byte('0'+year/10%10), byte('0'+year%10), '-',
		byte('0'+month/10), byte('0'+month%10), '-', byte('0'+day/10), byte('0'+day%10), 'T',
		byte('0'+hour/10), byte('0'+hour%10), ':', byte('0'+minute/10), byte('0'+minute%10), ':',
		byte('0'+second/10), byte('0'+second%10), '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z', '"')
}

// plainJSON marks the ASCII bytes that stand for themselves in a JSON string.
var plainJSON = func() (t [256]bool) {
	for c := 0x20; c < 0x7F; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// appendJSONString adds s as a JSON string. Bytes that are not UTF-8 become
// U+FFFD. What would break a line or command a terminal is escaped, although
// JSON does not ask for it (inspect.PlainJSON).
func appendJSONString[T string | []byte](dst []byte, s T) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plainJSON[c] {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			dst = append(dst, s[start:i]...)
			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\n':
				dst = append(dst, `\n`...)
			case '\r':
				dst = append(dst, `\r`...)
			case '\t':
				dst = append(dst, `\t`...)
			default:
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
		switch {
		case r == utf8.RuneError && size == 1:
			dst = append(append(dst, s[start:i]...), `\ufffd`...)
			start = i + 1
		case inspect.Obeyed(r):
			dst = append(dst, s[start:i]...)
			dst = append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
			start = i + size
		}
		i += size
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// appendEvent adds an event as one line: the common fields, then its own.
func appendEvent(dst []byte, ev engine.Event, group string) []byte {
	dst = append(dst, `{"kind":"event","time":`...)
	dst = appendJSONTime(dst, ev.When())
	dst = append(dst, `,"event":`...)
	dst = appendJSONString(dst, ev.EventName())
	dst = append(dst, `,"group":`...)
	dst = appendJSONString(dst, group)
	if mq, ok := ev.About(); ok {
		dst = append(dst, `,"topic":`...)
		dst = appendJSONString(dst, mq.Topic)
		dst = append(dst, `,"broker":`...)
		dst = appendJSONString(dst, mq.BrokerName)
		dst = appendIntField(dst, `,"queue":`, int64(mq.QueueID))
	}
	own, err := marshal(ev)
	if err != nil {
		dst = append(dst, `,"encode_error":`...)
		dst = appendJSONString(dst, err.Error())
		return append(dst, "}\n"...)
	}
	if own = bytes.TrimSpace(own); len(own) > 2 {
		dst = append(dst, ',')
		dst = append(dst, own[1:len(own)-1]...)
	}
	return append(dst, "}\n"...)
}

// marshal is a value's JSON for a script, and a newline.
func marshal(v any) ([]byte, error) { return inspect.MarshalPlain(v) }

// summary is the last line of a headless consume.
type summary struct {
	Kind     string `json:"kind"`
	Messages int64  `json:"messages"`
	// MessagesError is why 0 messages do not mean that there were none; "" where they do.
	MessagesError string  `json:"messages_error,omitempty"`
	Duplicates    int64   `json:"duplicates"`
	Failed        int64   `json:"failed"`
	Seconds       float64 `json:"seconds"`
	Group         string  `json:"group"`
	ClientID      string  `json:"client_id"`
}
