package cli

import (
	"encoding/json"
	"net"
	"os"
	"strings"
	"testing"

	"eyeq/remoting/sandbox/sandboxtest"
)

// lostHost is of the documentation network: nobody is there.
const lostHost = "192.0.2.200"

// A real broker that announces an address which is no good from here: without a
// map its rows say so and everything else is shown; by the map it is read, consumed from
// and changed as any other.
func TestRealBrokerByAddressMap(t *testing.T) {
	sandboxtest.OnOwnBrokers(t, func(t *testing.T, own *sandboxtest.OwnBrokers) {
		target := own.Up(t, "a")
		namesrv := target.Namesrv[0]
		announced := own.Broker(t, "b", namesrv, "brokerName=broker-b", "brokerIP1="+lostHost)
		host, port, err := net.SplitHostPort(announced)
		if err != nil || host != lostHost {
			t.Fatalf("the broker announces %q", announced)
		}
		local := net.JoinHostPort("127.0.0.1", port)
		byAddress, byHost := mapped(t, namesrv, announced, local), mapped(t, namesrv, lostHost, "127.0.0.1")
		run := func(config, args string, says ...string) string {
			t.Helper()
			p := runs(t, append(strings.Fields(args), "--config", config)).want(t, statusDone, "")
			for _, want := range says {
				if !strings.Contains(p.out.String(), want) {
					t.Errorf("%s: no %q in %s", args, want, p.out)
				}
			}
			return p.out.String()
		}
		run(byAddress, "topic create orders --queues 2 --yes", announced)
		run(byHost, "send orders at-a -n 4 --queue broker-a:0")
		run(byHost, "send orders at-b -n 6 --queue broker-b:1")
		// A member at both brokers, while others look and pause it.
		member := start(t, []string{"consume", "-g", "settle", "-t", "orders", "--headless", "--from", "first", "-o", "json", "--config", byAddress})
		awaitCount(t, member.out, `"body":"at-`, 10)
		run(byHost, "group members settle", "broker-a", "broker-b")
		run(byHost, "group pause settle --yes", announced)
		run(byHost, "group resume settle --yes", announced)
		run(byHost, "send orders at-b-again --queue broker-b:0")
		awaitCount(t, member.out, `"body":"at-b-again"`, 1)
		member.signals <- os.Interrupt
		member.wait(t)

		run(byAddress, "group list", "settle")
		run(byAddress, "group lag settle -o json", `"total_lag":0`)
		run(byHost, "group reset settle -t orders --to earliest --yes", "replay 6")
		run(byAddress, "group lag settle -o json", `"total_lag":11`)
		run(byAddress, "broker list", announced+"  "+local)
		if got := strings.Count(run(byHost, "tail orders --from earliest --until now"), "at-"); got != 11 {
			t.Errorf("tail read %d messages of 11", got)
		}

		bare := func(status int, args string) *program {
			t.Helper()
			return runs(t, append(strings.Fields(args), "--namesrv", namesrv)).want(t, status, "")
		}
		var brokers []brokerJSON
		must(t, json.Unmarshal([]byte(bare(statusDone, "broker list -o json").out.String()), &brokers))
		if len(brokers) != 2 {
			t.Errorf("without a map %d brokers", len(brokers))
		}
		for _, b := range brokers {
			if b.Reachable != (b.Broker == "broker-a") || b.Dialled != "" {
				t.Errorf("without a map: %+v", b)
			}
			if b.Broker == "broker-b" && !strings.Contains(b.Error, announced) {
				t.Errorf("the reason %q has no address", b.Error)
			}
		}
		if p := bare(statusDone, "group lag settle"); !strings.Contains(p.out.String(), "lag 4 + 3 queues unknown") {
			t.Errorf("what broker-a knows is not shown: %s", p.out)
		}
		if p := bare(statusDone, "topic list"); !strings.Contains(p.out.String(), "≥4") || !strings.Contains(p.err.String(), "no answer from broker-b: unreachable: ") {
			t.Errorf("topics: %s%s", p.out, p.err)
		}
		if p := bare(statusUnreachable, "tail orders --from earliest --until now --timeout 10s"); strings.Count(p.out.String(), "at-a") != 4 {
			t.Errorf("what can be read is not: %s", p.out)
		}
		if p := bare(statusUnreachable, "broker show broker-b"); !strings.Contains(p.err.String(), "address_map") {
			t.Errorf("no way out in %s", p.err)
		}
	})
}
