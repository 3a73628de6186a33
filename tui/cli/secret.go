package cli

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// hidden stands where a secret would be shown.
const hidden = "********"

// secret is a text that is never shown: every way of printing it gives hidden. It is
// behind a function because fmt looks into unexported fields without asking.
type secret struct{ reveal func() string }

func newSecret(s string) secret { return secret{func() string { return s }} }

// text is the secret itself, for the one who signs with it.
func (s secret) text() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

func (s secret) isSet() bool { return s.text() != "" }

// String implements fmt.Stringer.
func (secret) String() string { return hidden }

// GoString implements fmt.GoStringer.
func (secret) GoString() string { return hidden }

// Format implements fmt.Formatter, for the verbs that ask no Stringer.
func (secret) Format(f fmt.State, _ rune) { io.WriteString(f, hidden) }

// LogValue implements slog.LogValuer.
func (secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalJSON implements json.Marshaler.
func (secret) MarshalJSON() ([]byte, error) { return []byte(`"` + hidden + `"`), nil }

// MarshalText implements encoding.TextMarshaler.
func (secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// without takes the secret out of a text that somebody else wrote.
func (s secret) without(text string) string {
	if !s.isSet() {
		return text
	}
	return strings.ReplaceAll(text, s.text(), hidden)
}
