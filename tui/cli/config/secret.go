package config

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// Hidden stands where a secret would be shown.
const Hidden = "********"

// Secret is a text that is never shown: every way of printing it gives hidden. It is
// behind a function because fmt looks into unexported fields without asking.
type Secret struct{ reveal func() string }

// NewSecret keeps a text that is never printed.
func NewSecret(s string) Secret { return Secret{func() string { return s }} }

// Text is the secret itself, for the one who signs with it.
func (s Secret) Text() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

// IsSet reports whether there is one.
func (s Secret) IsSet() bool { return s.Text() != "" }

// String implements fmt.Stringer.
func (Secret) String() string { return Hidden }

// GoString implements fmt.GoStringer.
func (Secret) GoString() string { return Hidden }

// Format implements fmt.Formatter, for the verbs that ask no Stringer.
func (Secret) Format(f fmt.State, _ rune) { io.WriteString(f, Hidden) }

// LogValue implements slog.LogValuer.
func (Secret) LogValue() slog.Value { return slog.StringValue(Hidden) }

// MarshalJSON implements json.Marshaler.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + Hidden + `"`), nil }

// MarshalText implements encoding.TextMarshaler.
func (Secret) MarshalText() ([]byte, error) { return []byte(Hidden), nil }

// Without takes the secret out of a text that somebody else wrote.
func (s Secret) Without(text string) string {
	if !s.IsSet() {
		return text
	}
	return strings.ReplaceAll(text, s.Text(), Hidden)
}
