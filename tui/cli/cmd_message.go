package cli

import (
	"github.com/spf13/cobra"
)

// newMessage is the commands about single messages.
func newMessage(e *env) *cobra.Command {
	return family("message", "Messages: look at one, find some, see who consumed them, send dead letters back, have one consumed",
		newMessageGet(e), newMessageFind(e), newMessageTrack(e), newMessageResend(e), newMessageConsume(e))
}
