package cli

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
	"eyeq/tui/cli/config"
)

func TestAddressMap(t *testing.T) {
	m := config.AddressMap{}
	for from, to := range map[string]string{
		"10.0.0.5:10911": "127.0.0.1:20911", "10.0.0.5": "gate.example", "10.0.0.6:10911": "gate.example", "Broker-A.internal": "::1",
		"fd00::5": "127.0.0.1", "[fd00::6]:10911": "[::1]:1", "[fd00::7]": "[::1]", "chain": "10.0.0.5",
	} {
		must(t, m.Add(from, to))
	}
	for addr, want := range map[string]string{
		"10.0.0.5:10911":          "127.0.0.1:20911", // the address goes before its host
		"10.0.0.5:10909":          "gate.example:10909",
		"10.0.0.6:10911":          "gate.example:10911",
		"10.0.0.6:10909":          "",
		"10.0.0.55:10911":         "",
		"broker-a.INTERNAL:10911": "[::1]:10911",
		"[fd00:0::5]:10911":       "127.0.0.1:10911",
		"[fd00::6]:10911":         "[::1]:1",
		"[fd00::7]:2":             "[::1]:2",
		"chain:10911":             "10.0.0.5:10911", // and no further
		"no port":                 "",
		"":                        "",
	} {
		if got := m.Dialled(addr); got != want {
			t.Errorf("%s is dialled at %q, want %q", addr, got, want)
		}
	}
	if (config.AddressMap)(nil).Dialer() != nil || (config.AddressMap{}).Dialer() != nil {
		t.Error("a map without entries dials")
	}
}

// mapped is a configuration with a cluster "c" whose addresses are mapped.
func mapped(t *testing.T, namesrv string, entries ...string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "c.toml")
	text := fmt.Sprintf("[clusters.c]\nnamesrv = [%q]\n[clusters.c.address_map]\n", namesrv)
	for i := 0; i < len(entries); i += 2 {
		text += fmt.Sprintf("%q = %q\n", entries[i], entries[i+1])
	}
	must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestAddressMapIsShown(t *testing.T) {
	path := mapped(t, "ns:9876", "10.0.0.5:10911", "127.0.0.1:20911", "B", "c")
	p := runs(t, []string{"config", "show", "--config", path}).want(t, statusDone, "")
	if want := `clusters.c.address_map = { "10.0.0.5:10911" = "127.0.0.1:20911", "b" = "c" }  # file:3`; !strings.Contains(p.out.String(), want+"\n") {
		t.Errorf("no %q in %s", want, p.out)
	}
	p = runs(t, []string{"config", "show", "--config", path, "-o", "json"}).want(t, statusDone, "")
	var rows []struct {
		Key, From string
		Value     any
	}
	must(t, json.Unmarshal([]byte(p.out.String()), &rows))
	for _, r := range rows {
		if r.Key == "clusters.c.address_map" {
			if got := fmt.Sprint(r.Value) + r.From; got != "map[10.0.0.5:10911:127.0.0.1:20911 b:c]file:3" {
				t.Errorf("as JSON %s", got)
			}
			return
		}
	}
	t.Errorf("no address_map in %s", p.out)
}

// elsewhere is a host on which nobody listens, and which answers at once: an address
// there is announced by brokers that cannot be reached at it.
const elsewhere = "127.1.2.3"

// The brokers announce addresses at which they are not: with the map every command
// works, and says where it went; without it each says what it could not reach.
func TestCommandsByAddressMap(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 2), sandboxtest.With(func(o *sandbox.Options) { o.AnnounceHost = elsewhere }))
	put(t, sb, "orders", 6)
	client := (&sandboxtest.Target{Namesrv: []string{namesrv}}).Client(t, nil)
	info, err := client.ClusterInfo(t.Context())
	must(t, err)
	announced := info.BrokerAddrTable["broker-a"].BrokerAddrs[0]
	host, port, err := net.SplitHostPort(announced)
	if err != nil || host != elsewhere {
		t.Fatalf("the broker announces %q", announced)
	}
	unmapped := func(args string, status int, says ...string) {
		t.Helper()
		p := runs(t, append(strings.Fields(args), "--namesrv", namesrv, "--timeout", "2s")).want(t, status, "")
		for _, want := range says {
			if both := p.out.String() + p.err.String(); !strings.Contains(both, want) {
				t.Errorf("%s: no %q in %s", args, want, both)
			}
		}
	}
	unmapped("broker list", statusDone, announced, "connection refused")
	unmapped("topic list", statusDone, "orders", "connection refused")
	unmapped("group list", statusUnreachable, "connection refused", "address_map")
	unmapped("tail orders --from earliest --until now", statusUnreachable, "connection refused")

	for name, entries := range map[string][]string{
		"address": {announced, net.JoinHostPort("127.0.0.1", port)},
		"host":    {elsewhere, "127.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			path := mapped(t, namesrv, entries...)
			group := "g-" + name
			run := func(args string, says string) {
				t.Helper()
				p := runs(t, append(strings.Fields(args), "--config", path)).want(t, statusDone, "")
				if !strings.Contains(p.out.String(), says) {
					t.Errorf("%s: no %q in %s", args, says, p.out)
				}
			}
			run("tail orders --from earliest --until now", "6")
			run("consume -g "+group+" -t orders --headless --from first --max 6 -o none", "")
			run("group list", group)
			run("group lag "+group+" -o json", `"total_lag":0`)
			run("group reset "+group+" -t orders --to earliest --yes", "replay")
			run("group lag "+group+" -o json", `"total_lag":6`)
			run("group pause "+group+" --yes", "")
			run("group resume "+group+" --yes", "")
			run("topic show orders", "broker-a")
			run("broker list", announced+"  127.0.0.1:"+port)
			run("broker list -o json", fmt.Sprintf(`"address":%q,"dialled":"127.0.0.1:%s"`, announced, port))
			run("broker show "+announced, "DIALLED")
			run("broker show 127.0.0.1:"+port, "DIALLED")
			run("group delete "+group+" --yes", "")
		})
	}
}

// An address that is mapped to where nobody is: both are said.
func TestAddressMapInErrors(t *testing.T) {
	_, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1), sandboxtest.With(func(o *sandbox.Options) { o.AnnounceHost = elsewhere }))
	dead := deadAddress(t)
	_, port, _ := net.SplitHostPort(dead)
	path := mapped(t, namesrv, elsewhere, "127.0.0.1:"+port)
	runs(t, []string{"config", "check", "--config", path}).want(t, statusUsage, "without a port")
	client := (&sandboxtest.Target{Namesrv: []string{namesrv}}).Client(t, nil)
	info, err := client.ClusterInfo(t.Context())
	must(t, err)
	announced := info.BrokerAddrTable["broker-a"].BrokerAddrs[0]
	path = mapped(t, namesrv, announced, dead)
	p := runs(t, []string{"broker", "list", "--config", path}).want(t, statusDone, "")
	if want := "connect to " + announced + ": mapped to " + dead + ": dial tcp " + dead; !strings.Contains(p.out.String(), want) {
		t.Errorf("no %q in %s", want, p.out)
	}
}

// Name servers are dialled by the map too.
func TestAddressMapOfNamesrv(t *testing.T) {
	_, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	path := mapped(t, "ns.invalid:9876", "ns.invalid:9876", namesrv)
	p := runs(t, []string{"broker", "list", "--config", path}).want(t, statusDone, "")
	if want := "mapped to " + namesrv; !strings.Contains(p.out.String(), want) || strings.Contains(p.out.String(), "DIALLED") {
		t.Errorf("no %q, or a column that nothing is in: %s", want, p.out)
	}
	dead := deadAddress(t)
	path = mapped(t, "ns.invalid:9876", "ns.invalid:9876", dead)
	runs(t, []string{"topic", "list", "--config", path, "--timeout", "1s"}).want(t, statusUnreachable, "connect to ns.invalid:9876: mapped to "+dead+": dial tcp "+dead)
}
