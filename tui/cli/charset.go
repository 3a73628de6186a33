package cli

import (
	"github.com/spf13/cobra"

	"eyeq/engine/inspect/message"
)

// charsetValue is the value of --charset.
type charsetValue struct{ charset *message.Charset }

func (v charsetValue) String() string {
	if v.charset == nil { // pflag asks a zero value
		return ""
	}
	return v.charset.String()
}

func (v charsetValue) Set(name string) (err error) {
	*v.charset, err = message.ParseCharset(name)
	return err
}

func (v charsetValue) Type() string { return "NAME" }

// charsetFlag gives a command --charset.
func (e *env) charsetFlag(cmd *cobra.Command, charset *message.Charset) {
	cmd.Flags().Var(charsetValue{charset}, "charset", "bodies are in this charset, such as gb18030, shift_jis or windows-1252")
	e.completeFlag(cmd, "charset", message.Charsets()...)
}
