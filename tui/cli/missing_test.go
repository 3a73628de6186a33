package cli

import (
	"slices"
	"strings"
	"testing"

	"eyeq/remoting/sandbox/sandboxtest"
)

// A command that is asked about a topic, group or broker that does not exist says which
// command lists them, on which cluster, and the names near to it.
func TestNoSuchNameSaysWhatThereIs(t *testing.T) {
	t.Parallel()
	_, namesrv := groupOn(t, sandboxtest.Brokers("broker-a"))
	topics := "'eyeq topic list --namesrv " + namesrv + "' shows which there are"
	groups, brokers := strings.ReplaceAll(topics, "topic", "group"), strings.ReplaceAll(topics, "topic", "broker")
	meant := "; did you mean orders? " + topics
	for args, want := range map[string]string{
		"topic show order":                                                 `there is no topic "order" on this cluster` + meant,
		"topic show ORDERS":                                                `there is no topic "ORDERS" on this cluster` + meant,
		"topic show nothing-like-it":                                       `on this cluster; ` + topics,
		"topic delete order --yes":                                         meant,
		"topic create new --broker broker-b --yes":                         "; did you mean broker-a? " + brokers,
		"tail order":                                                       meant,
		"send order body":                                                  "topic create order --namesrv " + namesrv + meant,
		"message find -t order --key k":                                    meant,
		"message get -t order --queue broker-a:0 --offset 0":               meant,
		"message get -t orders --queue broker-x:0 --offset 0":              "no address known for broker broker-x; did you mean broker-a? " + brokers,
		"message track 0101 -t order":                                      meant,
		"message resend -t %DLQ%audi --all --yes":                          "; did you mean audit? " + groups,
		"message consume 0101 -t order -g audit --yes":                     meant,
		"broker show broker-b":                                             `there is no broker "broker-b" on this cluster; did you mean broker-a? ` + brokers,
		"group show audt":                                                  `there is no group "audt" on this cluster; did you mean audit? ` + groups,
		"group members audt":                                               "; did you mean audit? " + groups,
		"group lag audt":                                                   "; did you mean audit? " + groups,
		"group doctor audt":                                                "; did you mean audit? " + groups,
		"group pause audt --yes":                                           "; did you mean audit? " + groups,
		"group resume audt --yes":                                          "; did you mean audit? " + groups,
		"group reset audt --to earliest --yes":                             "; did you mean audit? " + groups,
		"group reset audit -t order --to earliest --yes":                   meant,
		"group clone audt copy -t orders --yes":                            "; did you mean audit? " + groups,
		"group delete audt --yes":                                          "; did you mean audit? " + groups,
		"allocate -g audit -t order":                                       meant,
		"consume --headless -g audit -t order --idle-exit 1s --timeout 2s": "the topic" + meant,
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			p := runs(t, append(strings.Fields(args), "--namesrv", namesrv))
			if got := p.err.String(); !strings.HasSuffix(strings.TrimSpace(got), want) {
				t.Errorf("standard error is %q, want it to end with %q", got, want)
			}
		})
	}
}

func TestNearNames(t *testing.T) {
	list := []string{"orders", "orders-eu", "payments", "audit", "a", "Pay"}
	for name, want := range map[string][]string{
		"order": {"orders", "orders-eu"}, "ordres-eu": {"orders-eu"}, "PAYMENT": {"payments"}, "orders": {"orders-eu"},
		"pay": {"Pay", "payments"}, "b": {"a"}, "nothing": nil, "": nil,
	} {
		if got := nearNames(name, list); !slices.Equal(got, want) {
			t.Errorf("nearNames(%q) = %q, want %q", name, got, want)
		}
	}
}
