package cli

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/engine/inspect/message"
	"eyeq/remoting/protocol"
	"eyeq/tui/draw"
)

// textTime is how text output shows a time, in the zone of --tz, which stands with it
// and without a blank: the columns of a line stay what they are.
const textTime = "2006-01-02 15:04:05.000Z07:00"

// appendMessageText adds m as one line: when it was stored, where it lies, tag
// and keys, how often it was tried, and its body, which is read in charset. Foreign
// text is made safe.
func appendMessageText(dst []byte, m *engine.Message, loc *time.Location, charset message.Charset) []byte {
	dst = appendMessageHead(dst, m, loc)
	dst = append(dst, "  "...)
	dst = append(dst, bodyText(m, charset)...)
	return append(dst, '\n')
}

// appendMessageHead adds all of that line but the body.
func appendMessageHead(dst []byte, m *engine.Message, loc *time.Location) []byte {
	dst = m.Stored().In(loc).AppendFormat(dst, textTime)
	mq := m.MessageQueue()
	dst = append(dst, "  "...)
	dst = append(dst, draw.SafeText(mq.String())...)
	dst = append(dst, "  "...)
	dst = strconv.AppendInt(dst, m.QueueOffset(), 10)
	if original := m.OriginalTopic(); original != mq.Topic {
		dst = append(dst, "  of "...)
		dst = append(dst, draw.SafeText(original)...)
	}
	if tags := m.Tags(); tags != "" {
		dst = append(dst, "  ["...)
		dst = append(dst, draw.SafeText(tags)...)
		dst = append(dst, ']')
	}
	if keys, _ := m.Property(protocol.PropertyKeys); keys != "" {
		dst = append(dst, "  "...)
		dst = append(dst, draw.SafeText(keys)...)
	}
	if n := m.ReconsumeTimes(); n > 0 {
		dst = append(dst, "  retry "...)
		dst = strconv.AppendInt(dst, int64(n), 10)
	}
	return dst
}

// maxLineBody is how much of a body one line shows: who wants all of a larger one
// asks for JSON or the bytes.
const maxLineBody = 16 << 10

// maxHexText is how much of a body that is no text one line shows.
const maxHexText = 32

func bodyText(m *engine.Message, charset message.Charset) string {
	body, whyRaw := message.Body(m)
	if whyRaw != "" {
		return fmt.Sprintf("‹%d B, %s: %s›", len(body), draw.SafeText(whyRaw), hexStart(body))
	}
	size := len(body)
	body, _ = charset.Text(body)
	if !utf8.Valid(body) {
		return fmt.Sprintf("‹%d B: %s›", len(body), hexStart(body))
	}
	if len(body) > maxLineBody {
		cut := maxLineBody
		for !utf8.RuneStart(body[cut]) {
			cut--
		}
		return fmt.Sprintf("%s… ‹%d B›", draw.SafeText(string(body[:cut])), size)
	}
	return draw.SafeText(string(body))
}

func hexStart(b []byte) string {
	if len(b) > maxHexText {
		return hex.EncodeToString(b[:maxHexText]) + "…"
	}
	return hex.EncodeToString(b)
}

// appendMessageHex adds a header line and the body as a hex dump.
func appendMessageHex(dst []byte, m *engine.Message, loc *time.Location) []byte {
	body, _ := message.Body(m)
	dst = appendMessageHead(dst, m, loc)
	dst = fmt.Appendf(dst, "  %d B\n", len(body))
	return append(dst, hex.Dump(body)...)
}

// String is the summary for people.
func (s summary) String() string {
	return fmt.Sprintf("%s, %s, %s failed in %.3f s; group %s, client id %s",
		inspect.Plural(s.Messages, "message"), inspect.Plural(s.Duplicates, "duplicate"), inspect.Grouped(s.Failed), s.Seconds, draw.SafeText(s.Group), draw.SafeText(s.ClientID))
}

// headLine is one line of a table's head, with what there is to say.
func headLine(format string, args ...any) []byte {
	return []byte(safe(fmt.Sprintf(format, args...)) + "\n") // there are foreign names in most of them
}

// safe makes foreign text safe to print.
func safe(s string) string { return draw.SafeText(s) }

// sortedKeys are the keys of a map; never nil, which JSON would tell as null.
func sortedKeys[V any](m map[string]V) []string {
	keys := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	return keys
}
