package message

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Charset is in what bodies were written that are no UTF-8, by its name in the WHATWG
// Encoding Standard. The zero value is UTF-8.
type Charset string

// Charsets are the names worth offering; ParseCharset knows more.
func Charsets() []string {
	return []string{"utf-8", "gb18030", "gbk", "big5", "shift_jis", "euc-jp", "euc-kr", "windows-1252", "windows-1251", "utf-16be", "utf-16le"}
}

// ParseCharset takes a name or alias of the Encoding Standard, such as GB2312, latin1
// or sjis, in any case.
func ParseCharset(name string) (Charset, error) {
	refuse := func(why string) error {
		return fmt.Errorf("%q %s: %s or another of the Encoding Standard", name, why, strings.Join(Charsets(), ", "))
	}
	e, err := htmlindex.Get(strings.TrimSpace(name))
	if err != nil {
		return "", refuse("is no charset that is known")
	}
	canonical, err := htmlindex.Name(e)
	switch {
	case err != nil || canonical == "replacement" || canonical == "x-user-defined":
		return "", refuse("does not say what bytes mean")
	case canonical == "utf-8":
		return "", nil
	}
	return Charset(canonical), nil
}

// String is the charset's name.
func (c Charset) String() string {
	if c == "" {
		return "utf-8"
	}
	return string(c)
}

// byteOrderMark is no part of a text that begins with it.
var byteOrderMark = []byte("\ufeff")

// Text gives a body as UTF-8, and how many places of it are none of the charset's
// characters: in each stands U+FFFD. A body that is UTF-8 is given as it is, whatever
// is in it.
func (c Charset) Text(body []byte) (text []byte, bad int) {
	if c == "" {
		return body, 0
	}
	e, err := htmlindex.Get(string(c))
	if err != nil { // not made by ParseCharset
		return body, 0
	}
	var decoder transform.Transformer = e.NewDecoder()
	if strings.HasPrefix(string(c), "utf-16") { // a byte order mark knows better than a name
		decoder = unicode.BOMOverride(decoder)
	}
	text, _, err = transform.Bytes(decoder, body)
	if err != nil { // decoders put U+FFFD instead
		return body, 0
	}
	if bad = bytes.Count(text, replacement); bad > 0 {
		bad -= trueReplacements(decoder, body)
	}
	return bytes.TrimPrefix(text, byteOrderMark), bad
}

// replacement is U+FFFD, which decoders put where bytes are no character, and which a
// body may hold like any other character, as one of replacementBytes.
var replacement = []byte(string(utf8.RuneError))

// replacementBytes are U+FFFD in the charsets that have it: utf-16be, utf-16le, gb18030.
var replacementBytes = [][]byte{{0xff, 0xfd}, {0xfd, 0xff}, {0x84, 0x31, 0xa4, 0x37}}

// trueReplacements counts the U+FFFD that are in body itself, by decoding it again in
// pieces: one that is as long as U+FFFD and ends with it is nothing else.
func trueReplacements(decoder transform.Transformer, body []byte) (n int) {
	decoder.Reset()
	var piece [utf8.UTFMax]byte
	for len(body) > 0 {
		size, taken, err := decoder.Transform(piece[:len(replacement)], body, true)
		if size == 0 && taken == 0 && err == transform.ErrShortDst { // a longer character
			size, taken, _ = decoder.Transform(piece[:], body, true)
		}
		if taken == 0 {
			break // none of the decoders that there are
		}
		if bytes.Equal(piece[:size], replacement) && slices.ContainsFunc(replacementBytes, func(b []byte) bool { return bytes.HasSuffix(body[:taken], b) }) {
			n++
		}
		body = body[taken:]
	}
	return n
}

// failure says what Text has replaced; "" nothing.
func (c Charset) failure(bad int) string {
	switch bad {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("one place is no %v, shown as %c", c, utf8.RuneError)
	}
	return fmt.Sprintf("%d places are no %v, shown as %c", bad, c, utf8.RuneError)
}
