package inspect

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// told is what a proxy 5.3.3 told of a Java client of the 5.3.3 remoting line.
const told = `{"channelData":"{\"remoteProxyIp\":\"192.0.2.2\",\"localAddress\":\"192.0.2.2:28080\",\"extendAttribute\":\"[]\",\"type\":\"REMOTING\",\"remoteAddress\":\"192.0.2.2:59536\"}",` +
	`"clientId":"192.0.2.2@23022#53859341430406","consumeFromWhere":"CONSUME_FROM_FIRST_OFFSET","consumeType":"CONSUME_PASSIVELY","group":"px-group","heartbeatType":"REGISTER","language":"JAVA",` +
	`"lastUpdateTimestamp":1796029987634,"localProxyId":"192.0.2.2%28080%28081","messageModel":"CLUSTERING","subscriptionDataSet":[{"classFilterMode":false,"codeSet":[],"expressionType":"TAG",` +
	`"subString":"*","subVersion":1796029986812,"tagsSet":[],"topic":"pxt"}],"version":479}`

// Row 21: a client behind a proxy is a member, with its proxy, although no broker knows
// it, until the proxy says that it has left.
func TestClientBehindAProxy(t *testing.T) {
	now := time.Now()
	beat := func(kind string, ago time.Duration) heartbeat {
		var b heartbeat
		if err := json.Unmarshal([]byte(told), &b); err != nil {
			t.Fatal(err)
		}
		b.Type, b.stored = kind, now.Add(-ago)
		return b
	}
	in := New(Options{})
	of := func(beats ...heartbeat) (Members, *said) {
		answers := []said{{proxied: foldHeartbeats(beats)["px-group"]}}
		return in.merge("px-group", answers), &answers[0]
	}
	m, s := of(beat("REGISTER", time.Minute), beat("REGISTER", 30*time.Second))
	if len(m.Members) != 1 || m.Kind != KindProxy || !m.proxied() || m.Model != 1 {
		t.Fatalf("members %+v, want one behind a proxy", m)
	}
	one := m.Members[0]
	if one.ClientID != "192.0.2.2@23022#53859341430406" || one.Language != "JAVA" || one.Version != "V5_3_3" || one.Proxy != "192.0.2.2:28080" || one.Addresses[0] != "192.0.2.2:59536" || one.Why.Kind != ReasonProxy {
		t.Errorf("member %+v", one)
	}
	if !s.reads("pxt") || s.reads("other") {
		t.Error("what it reads is not known")
	}
	if m, _ := of(beat("UNREGISTER", time.Second), beat("REGISTER", 30*time.Second)); len(m.Members) != 0 || m.proxied() {
		t.Errorf("after it has left: %+v", m.Members)
	}
	moved := beat("REGISTER", 10*time.Second)
	moved.Proxy = "192.0.2.3%28080%28081"
	if m, _ := of(beat("REGISTER", 40*time.Second), moved, beat("UNREGISTER", time.Second)); len(m.Members) != 1 {
		t.Errorf("after it has gone to another proxy: %+v, want it there", m.Members)
	}
}

// Nobody hands a message to a client behind a proxy, and the reason is the proxy.
func TestAClientOfAProxyIsHandedNoMessage(t *testing.T) {
	p := DirectPlan{Request: DirectRequest{Group: "g", Message: *sandboxtest.MessageOf(t, protocol.Record{})}}
	b := heartbeat{ClientID: "c1", Channel: `{"localAddress":"192.0.2.2:28080"}`}
	p.choose(&Members{Group: "g", Members: []Member{b.member()}})
	if want := "c1 is behind a proxy: connected by the proxy 192.0.2.2:28080, which passes no question on to it"; p.Why != want {
		t.Errorf("refused because %q, want %q", p.Why, want)
	}
}

// A client behind a proxy is there by the clock of the broker that stores what is told
// of it, whatever ours says.
func TestAClientBehindAProxyByTheBrokersClock(t *testing.T) {
	sandboxtest.RunSandbox(t, func(t *testing.T, tg *sandboxtest.Target) {
		client := tg.Client(t, nil)
		route, _, err := client.RefreshRoute(t.Context(), heartbeatTopic)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Send(t.Context(), "proxy", route.PublishQueues[0], &remoting.OutMessage{Body: []byte(told)}); err != nil {
			t.Fatal(err)
		}
		tg.AwaitOffset(t, route.PublishQueues[0], 1)
		const ahead = 10 * time.Minute
		in := New(Options{Client: client, Now: func() time.Time { return time.Now().Add(ahead) }})
		addr := tg.Masters(t)["broker-a"]
		in.config[addr] = brokerConfig{version: "V5_3_3", versionAt: in.now(), clock: -ahead}
		if m, err := in.Members(t.Context(), "px-group"); err != nil || len(m.Members) != 1 {
			t.Errorf("members %+v, %v; want the one behind the proxy", m.Members, err)
		}
		in.config[addr] = brokerConfig{version: "V5_3_3", versionAt: in.now()}
		in.forget()
		if m, err := in.Members(t.Context(), "px-group"); err == nil {
			t.Errorf("members %+v of ten minutes ago, want none", m.Members)
		}
	}, sandboxtest.Topic(heartbeatTopic, 1))
}

func TestClockOf(t *testing.T) {
	at := time.UnixMilli(1_796_000_000_000)
	table := map[string]string{"bootTimestamp": "1795999900000", "runtime": "[ 0 days, 0 hours, 11 minutes, 39 seconds ]"}
	if d, ok := clockOf(table, at); !ok || d != 10*time.Minute-500*time.Millisecond {
		t.Errorf("clock %v, %v; want ten minutes ahead", d, ok)
	}
	if d, ok := clockOf(map[string]string{"bootTimestamp": "1795999900000", "runtime": "1m"}, at); ok || d != 0 {
		t.Errorf("clock %v of a broker that does not say", d)
	}
}

// Of more heartbeats than are read the rest is not silently gone: the count of members is
// a bound, and why stands beside them.
func TestMoreClientsBehindProxiesThanAreRead(t *testing.T) {
	sandboxtest.RunSandbox(t, func(t *testing.T, tg *sandboxtest.Target) {
		client := tg.Client(t, nil)
		put := func(from, to int) {
			for i := from; i < to; i++ {
				body := strings.ReplaceAll(told, "53859341430406", fmt.Sprint(i))
				tg.Sandbox.Put(sandbox.Message{Topic: heartbeatTopic, QueueID: 0, Body: []byte(body)})
			}
		}
		in := New(Options{Client: client})
		put(0, maxHeartbeats)
		l, err := in.Lag(t.Context(), "px-group")
		if err != nil || l.Members != Exact(maxHeartbeats) {
			t.Fatalf("members %+v, %v; want all %d", l.Members, err, maxHeartbeats)
		}
		put(maxHeartbeats, maxHeartbeats+50)
		in.forget()
		m, err := in.Members(t.Context(), "px-group")
		const why = "more than 2000 heartbeats in queue 0 in 2m0s, so only the last were read: there may be more clients"
		if err != nil || len(m.Members) != maxHeartbeats || len(m.Problems) != 1 || m.Problems[0].Why.Text != why {
			t.Errorf("%d members, problems %v, %v", len(m.Members), m.Problems, err)
		}
		l, err = in.Lag(t.Context(), "px-group")
		if err != nil || l.Members != AtLeast(maxHeartbeats, Reason{ReasonFailed, why}) {
			t.Errorf("members %+v, %v; want at least %d", l.Members, err, maxHeartbeats)
		}
		if _, err := in.Lag(t.Context(), "px-other"); !isType[*UnsureError](err) {
			t.Errorf("a group of which nothing was read: %v, want that it is not known", err)
		}
	}, sandboxtest.Topic(heartbeatTopic, 1))
}

// A gRPC client of a proxy that runs inside a broker is a member there, but cannot be
// asked: it is behind a proxy, not silent, and no fault of its that others do not know it.
func TestClientOfAProxyInsideABroker(t *testing.T) {
	connected := func(name string, version string, ids ...string) said {
		a := said{broker: broker{name: name, version: version, addr: name + ":1"}}
		a.connections.ConsumeType, a.connections.MessageModel = protocol.ConsumePassively, protocol.Clustering
		for _, id := range ids {
			a.connections.ConnectionSet = append(a.connections.ConnectionSet, protocol.Connection{ClientID: id, ClientAddr: "127.0.0.1:53280", Language: "JAVA", Version: 479})
		}
		return a
	}
	in := New(Options{})
	const rpc, plain = "vm@19172@0@nm5adps7t", "192.0.2.2@20365#1796041736749855095@unit"
	m := in.merge("g", []said{connected("broker-p", "V5_3_3", rpc), connected("broker-q", "V5_3_3", "vm@19173@1@nm5cnccmx")})
	if m.Kind != KindProxy || !m.proxied() || len(m.Members) != 2 {
		t.Fatalf("members %+v", m)
	}
	one := m.Members[0]
	if one.Proxy != "broker-p" || len(one.Missing) > 0 || one.Why.String() != "behind a proxy: connected by the proxy inside broker-p, which passes no question on to it" {
		t.Errorf("member %+v", one)
	}
	in.askMembers(t.Context(), &m, nil, true) // without a client: it would panic if it asked
	m = in.merge("g", []said{connected("broker-p", "V5_3_3", rpc, plain), connected("broker-q", "V5_3_3", plain)})
	if m.Kind != KindPush || m.Members[0].Why.Kind != ReasonNone || m.Members[1].Why.Kind != ReasonProxy {
		t.Errorf("members of both kinds %+v", m)
	}
	if m = in.merge("g", []said{connected("broker-4", "V4_9_7", rpc)}); m.Members[0].Why.Kind != ReasonNone {
		t.Errorf("at a broker that has no proxy inside: %+v", m.Members[0])
	}
}
