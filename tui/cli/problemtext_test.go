package cli

import (
	"testing"

	"eyeq/engine/inspect"
)

// Who has answered is not said to have given no answer.
func TestAProblemSaysWhatWasAnswered(t *testing.T) {
	for want, why := range map[string]inspect.Reason{
		"groups of orders: no answer from broker-a: unreachable: no answer in time": {Kind: inspect.ReasonUnreachable, Text: "no answer in time"},
		"groups of orders from broker-a: denied: no permission":                     {Kind: inspect.ReasonDenied, Text: "no permission"},
		"groups of orders from broker-a: not supported":                             {Kind: inspect.ReasonUnsupported},
		"groups of orders from broker-a: incomplete: it keeps a name to itself":     {Kind: inspect.ReasonIncomplete, Text: "it keeps a name to itself"},
	} {
		if got := problemText(inspect.Problem{What: "groups of orders", Where: "broker-a", Why: why}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
