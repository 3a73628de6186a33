package message

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	"eyeq/remoting/protocol"
)

// The decoders of Decode.
const (
	DecoderAuto = "auto" // JSON, else text, else hex
	DecoderJSON = "json"
	DecoderText = "text"
	DecoderHex  = "hex"
)

// Decoders are the names that Decode takes, in the order in which a screen offers them.
func Decoders() []string { return []string{DecoderAuto, DecoderJSON, DecoderText, DecoderHex} }

const (
	// maxShown bounds the text of a Decoded: few read more, and each line of it is
	// laid out for a screen.
	maxShown = 256 << 10
	hexLine  = 79 // characters that a dump takes for 16 bytes
)

// Decoded is a body made readable.
type Decoded struct {
	Decoder string // text, json, hex
	Charset Charset
	Text    string // foreign text
	Failed  string // why Decoder is hex although another was asked for, or the bytes are raw
	Size    int    // of the whole body
	Cut     bool   // Text shows only its beginning
}

// Reader says how the body was read: json, text in gbk, hex.
func (d *Decoded) Reader() string {
	if d.Charset == "" {
		return d.Decoder
	}
	return d.Decoder + " in " + d.Charset.String()
}

// Body is the body of a message as far as it can be had: inflated, or as it is
// stored, with the reason. Nothing is copied.
func Body(m *protocol.MessageExt) (body []byte, whyRaw string) {
	body, err := m.Body()
	if err != nil {
		return m.StoredBody(), err.Error()
	}
	return body, ""
}

// Compression names how the body of a message was compressed; "" it is not.
func Compression(m *protocol.MessageExt) string {
	if m.SysFlag()&protocol.SysFlagCompressed == 0 {
		return ""
	}
	switch m.SysFlag() & protocol.SysFlagCompressionMask {
	case protocol.SysFlagLZ4:
		return "lz4"
	case protocol.SysFlagZSTD:
		return "zstd"
	}
	return "zlib"
}

// Decode makes a body readable by the decoder of that name; "" is DecoderAuto. What
// the decoder cannot read comes out by another one, and Failed says why: no byte is
// lost but by Cut. A charset other than UTF-8 is believed: DecoderAuto takes no body for
// bytes because of its characters, and what cannot be one is replaced, which Failed
// says. Text holds what the message holds: it must be made safe before it is shown.
func Decode(m *protocol.MessageExt, decoder string, charset Charset) Decoded {
	return DecodeMore(m, decoder, charset, 0)
}

// MaxDoublings is how often the text of a DecodeMore gets longer: 64 MiB are more than
// anybody reads.
const MaxDoublings = 8

// DecodeMore is Decode of a text twice as long for each of at most MaxDoublings doublings,
// for who reads on.
func DecodeMore(m *protocol.MessageExt, decoder string, charset Charset, doublings int) Decoded {
	body, whyRaw := Body(m)
	d := decodeBody(body, decoder, charset, maxShown<<min(doublings, MaxDoublings))
	if whyRaw != "" {
		if d.Failed != "" {
			d.Failed = "; " + d.Failed
		}
		d.Failed = "shown as it is stored: " + whyRaw + d.Failed
	}
	return d
}

// decodeBody decodes what a charset makes of body. A dump shows the body's own bytes.
func decodeBody(body []byte, decoder string, charset Charset, limit int) Decoded {
	if charset == "" || decoder == DecoderHex {
		return decodeBytes(body, decoder, limit)
	}
	text, bad := charset.Text(body)
	d := decodeBytes(text, decoder, limit)
	if d.Decoder == DecoderHex { // too many controls for a text
		d = decodeBytes(body, DecoderHex, limit)
		d.Failed = fmt.Sprintf("no text in %v: mostly control characters", charset)
		return d
	}
	d.Size, d.Charset = len(body), charset
	if failed := charset.failure(bad); failed != "" {
		if d.Failed != "" {
			failed += "; "
		}
		d.Failed = failed + d.Failed
	}
	return d
}

func decodeBytes(body []byte, decoder string, limit int) Decoded {
	switch decoder {
	case "", DecoderAuto:
		return decodeAuto(body, limit)
	case DecoderJSON:
		if err := checkJSON(body); err != nil {
			d := decodeAuto(body, limit)
			d.Failed = "no JSON: " + err.Error()
			return d
		}
		return decodeJSON(body, limit)
	case DecoderText:
		if at := badUTF8(body); at >= 0 {
			d := decodeHex(body, limit)
			d.Failed = fmt.Sprintf("no UTF-8 text: byte %#02x at %d", body[at], at)
			return d
		}
		return decodeText(body, limit)
	case DecoderHex:
		return decodeHex(body, limit)
	}
	d := decodeAuto(body, limit)
	d.Failed = fmt.Sprintf("there is no decoder %q", decoder)
	return d
}

// decodeAuto chooses by the bytes. JSON that is a bare word or number is text.
func decodeAuto(body []byte, limit int) Decoded {
	switch {
	case badUTF8(body) >= 0 || mostlyControls(body):
		return decodeHex(body, limit)
	case looksLikeJSON(body) && slices.Contains([]byte("{["), firstByte(body)) && json.Valid(body):
		return decodeJSON(body, limit)
	}
	return decodeText(body, limit)
}

func firstByte(body []byte) byte {
	for _, c := range body {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c
		}
	}
	return 0
}

// badUTF8 is the place of the first byte that is no UTF-8; -1 when there is none.
func badUTF8(body []byte) int {
	if utf8.Valid(body) {
		return -1
	}
	for at := 0; ; {
		r, size := utf8.DecodeRune(body[at:])
		if r == utf8.RuneError && size <= 1 {
			return at
		}
		at += size
	}
}

// mostlyControls reports whether the beginning of a body is UTF-8 only by chance.
func mostlyControls(body []byte) bool {
	head := body[:min(len(body), 1024)]
	controls := 0
	for _, c := range head {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != 0x1b || c == 0x7f {
			controls++
		}
	}
	return controls*4 > len(head)
}

func decodeText(body []byte, limit int) Decoded {
	shown, cut := cutText(body, limit)
	return Decoded{Decoder: DecoderText, Text: string(shown), Size: len(body), Cut: cut}
}

// cutText cuts between characters.
func cutText(body []byte, limit int) (shown []byte, cut bool) {
	if len(body) <= limit {
		return body, false
	}
	for limit > 0 && !utf8.RuneStart(body[limit]) {
		limit--
	}
	return body[:limit], true
}

func decodeHex(body []byte, limit int) Decoded {
	shown := body[:min(len(body), limit/hexLine*16)]
	return Decoded{Decoder: DecoderHex, Text: hex.Dump(shown), Size: len(body), Cut: len(shown) < len(body)}
}

func decodeJSON(body []byte, limit int) Decoded {
	text, cut := indentJSON(body, limit)
	return Decoded{Decoder: DecoderJSON, Text: text, Size: len(body), Cut: cut}
}

// checkJSON says what keeps body from being one JSON value, and where.
func checkJSON(body []byte) error {
	var whole json.RawMessage
	err := json.Unmarshal(body, &whole)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("%v at byte %d", syntax, max(syntax.Offset-1, 0))
	}
	return err
}

const (
	indentStep = "  "
	// maxIndent bounds the indentation: a body may open ten thousand brackets.
	maxIndent = 40
)

// indentJSON lays valid JSON out, a member a line, up to limit bytes. The order of
// members, the digits of numbers and the spelling of strings stay as they are.
func indentJSON(body []byte, limit int) (text string, cut bool) {
	out := make([]byte, 0, min(2*len(body)+64, limit))
	depth := 0
	newline := func() {
		out = append(out, '\n')
		for range min(depth, maxIndent) {
			out = append(out, indentStep...)
		}
	}
	for i := 0; i < len(body); i++ {
		if len(out) > limit {
			break
		}
		switch c := body[i]; c {
		case ' ', '\t', '\r', '\n':
		case '"':
			end := stringEnd(body, i)
			out = append(out, body[i:end]...)
			i = end - 1
		case '{', '[':
			out = append(out, c)
			if next := nextByte(body, i+1); next == '}' || next == ']' {
				break
			}
			depth++
			newline()
		case '}', ']':
			if last := out[len(out)-1]; last != '{' && last != '[' {
				depth--
				newline()
			}
			out = append(out, c)
		case ',':
			out = append(out, c)
			newline()
		case ':':
			out = append(out, ": "...)
		default:
			out = append(out, c)
		}
	}
	shown, cut := cutText(out, limit)
	return string(shown), cut
}

// stringEnd is the place behind the string that begins at i.
func stringEnd(body []byte, i int) int {
	for i++; i < len(body); i++ {
		switch body[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(body)
}

func nextByte(body []byte, i int) byte {
	for ; i < len(body) && unicode.IsSpace(rune(body[i])); i++ {
	}
	if i == len(body) {
		return 0
	}
	return body[i]
}
