package engine_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eyeq/engine"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// sendHeartbeat announces a member that does nothing else.
func sendHeartbeat(t *testing.T, c *remoting.Client, group, clientID, topic string) {
	t.Helper()
	if _, err := c.Route(t.Context(), topic); err != nil {
		t.Fatal(err)
	}
	sub, err := protocol.NewSubscriptionData(topic, "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, addrs := range c.Brokers() {
		for _, addr := range addrs {
			_, err := c.Heartbeat(t.Context(), addr, &protocol.HeartbeatData{ClientID: clientID, ConsumerDataSet: []protocol.ConsumerData{{
				GroupName: group, ConsumeType: protocol.ConsumePassively, MessageModel: protocol.Clustering,
				ConsumeFromWhere: protocol.ConsumeFromFirstOffset, SubscriptionDataSet: []protocol.SubscriptionData{sub},
			}}})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A heartbeat that is wanted while one is under way follows it (trap T33), and one
// that gets no answer delays none to other brokers.
func TestHeartbeatsOfOneBrokerDelayNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Topic("T", 1), sandboxtest.Brokers("broker-a", "broker-b"))
		tg := &sandboxtest.Target{Name: "sandbox", Namesrv: []string{sb.NamesrvAddr()}, Dial: sb.Dial, Line: "5", Sandbox: sb}
		m := join(t, tg, "g", "T", nil)
		awaitHeld(m, "T", 2)
		sb.VanishBroker("broker-b")
		time.Sleep(40 * time.Second) // broker-b is tried all the time from now on
		sb.StopBroker("broker-a")
		sb.StartBroker("broker-a") // it has forgotten its members
		began := time.Now()
		sb.Put(sandbox.Message{Topic: "T", Broker: "broker-a"})
		m.until("the message", func() bool { return m.distinct() == 1 })
		// A route that is asked for in that moment names broker-b alone: then a pass asks
		// it for the members, for 3 s in vain, before the next one.
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("reading from broker-a went on after %v", took)
		}
		sb.MoveBroker("broker-b")
		m.until("broker-b is back", func() bool { return brokerKnown(m, "broker-b", 0).Connected })
	})
}

// ask is one request of a member as the sandbox got it.
type ask struct {
	code   protocol.RequestCode
	broker string // "" is the name server
	at     time.Time
	body   []byte
}

// recordAsks notes the requests of everybody until the end of the test.
func recordAsks(tg *sandboxtest.Target) func() []ask {
	var mu sync.Mutex
	var asks []ask
	tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault {
		mu.Lock()
		defer mu.Unlock()
		asks = append(asks, ask{protocol.RequestCode(r.Command.Code), r.Broker, time.Now(), r.Command.Body})
		return sandbox.Fault{}
	})
	return func() []ask {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(asks)
	}
}

// A start asks for routes, then announces itself, then asks who is there, and only
// then for offsets and messages.
func TestStartAsksInOrder(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		asks := recordAsks(tg)
		m := join(t, tg, group, topic, nil)
		awaitHeld(m, topic, 1)
		m.until("a pull", func() bool {
			return slices.ContainsFunc(asks(), func(a ask) bool { return a.code == protocol.PullMessage })
		})
		last := -1
		for _, code := range []protocol.RequestCode{protocol.GetRouteInfoByTopic, protocol.HeartBeat, protocol.GetConsumerListByGroup,
			protocol.QueryConsumerOffset, protocol.PullMessage} {
			i := slices.IndexFunc(asks(), func(a ask) bool { return a.code == code })
			if i <= last {
				t.Errorf("the first %v is request %d, not after those before it (%d)", code, i, last)
			}
			last = i
		}
	})
}

// The periodic tasks keep their periods, each by itself.
func TestPeriodsOfTheClientInstance(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		m := join(t, tg, group, topic, nil)
		awaitHeld(m, topic, 1)
		time.Sleep(10 * time.Second)
		asks := recordAsks(tg)
		const minutes = 10
		for range minutes * 60 {
			tg.Sandbox.Put(sandbox.Message{Topic: topic}) // so that there is something to save
			time.Sleep(time.Second)
		}
		counts := map[protocol.RequestCode]int{}
		for _, a := range asks() {
			counts[a.code]++
		}
		for code, want := range map[protocol.RequestCode][2]int{
			protocol.GetRouteInfoByTopic:    {2 * 2 * minutes, 2*2*minutes + 4},     // two topics, every 30 s
			protocol.HeartBeat:              {2*minutes - 1, 2*minutes + 1},         // every 30 s
			protocol.GetConsumerListByGroup: {2*3*minutes - 2, 2*3*minutes + 2},     // two topics, every 20 s
			protocol.UpdateConsumerOffset:   {12*minutes - 1, 12*minutes + minutes}, // every 5 s, and now and then all
		} {
			if n := counts[code]; n < want[0] || n > want[1] {
				t.Errorf("%d × %v in %d minutes, want %d to %d", n, code, minutes, want[0], want[1])
			}
		}
	})
}

// What a heartbeat says (docs/conformance/client.md 4.3), to masters and slaves alike, and
// what is kept of the answer.
func TestHeartbeatBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Topic("T", 1), sandboxtest.Slaves(1))
		tg := &sandboxtest.Target{Name: "sandbox", Namesrv: []string{sb.NamesrvAddr()}, Dial: sb.Dial, Line: "5", Sandbox: sb}
		var mu sync.Mutex
		beats := map[int64]protocol.HeartbeatData{}
		language, version := protocol.LanguageCode(0), int32(0)
		sb.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
			if protocol.RequestCode(r.Command.Code) == protocol.HeartBeat {
				d, err := protocol.DecodeHeartbeatData(r.Command.Body)
				if err != nil {
					t.Errorf("heartbeat: %v", err)
				}
				mu.Lock()
				defer mu.Unlock()
				beats[r.BrokerID], language, version = d, r.Command.Language, r.Command.Version
			}
			return f
		})
		m := join(t, tg, "g", "T", nil, named("me@1"))
		awaitHeld(m, "T", 1)
		mu.Lock()
		defer mu.Unlock()
		if language != protocol.LanguageGo || version != protocol.Version {
			t.Errorf("the header says %v %d", language, version)
		}
		for id := range int64(2) {
			d := beats[id]
			if d.ClientID != "me@1" || len(d.ConsumerDataSet) != 1 || len(d.ProducerDataSet) != 1 || d.ProducerDataSet[0].GroupName != "CLIENT_INNER_PRODUCER" {
				t.Fatalf("to broker id %d: %+v", id, d)
			}
			c := d.ConsumerDataSet[0]
			if c.GroupName != "g" || c.ConsumeType != protocol.ConsumePassively || c.MessageModel != protocol.Clustering ||
				c.ConsumeFromWhere != protocol.ConsumeFromFirstOffset || c.UnitMode || len(c.SubscriptionDataSet) != 2 {
				t.Errorf("to broker id %d: %+v", id, c)
			}
			for i, topic := range []string{"T", protocol.RetryTopic("g")} {
				s := c.SubscriptionDataSet[i]
				if s.Topic != topic || s.SubString != "*" || s.ExpressionType != protocol.ExpressionTAG || time.Since(time.UnixMilli(s.SubVersion)).Abs() > time.Second {
					t.Errorf("subscription %+v, want all of %s, with a version in milliseconds", s, topic)
				}
			}
			if b := brokerKnown(m, "broker-a", id); b.Version != 479 || !b.Connected {
				t.Errorf("of the answer is kept %+v, want the version", b)
			}
		}
	})
}

// A heartbeat that is wanted while one is under way follows it at once: it is not
// lost until the next period (trap T33).
func TestHeartbeatFollowsTheOneUnderWay(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, other, group := tg.Topic(t, 1), tg.Topic(t, 1), tg.Group(t)
		m := join(t, tg, group, topic, nil)
		awaitHeld(m, topic, 1)
		time.Sleep(5 * time.Second)
		began := make(chan struct{}, 100)
		tg.Sandbox.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
			if protocol.RequestCode(r.Command.Code) == protocol.HeartBeat {
				f.Delay = 2 * time.Second
				began <- struct{}{}
			}
			return f
		})
		<-began // the periodic one is under way
		if err := m.SubscribeTopic(t.Context(), engine.Subscription{Topic: other}); err != nil {
			t.Fatal(err)
		}
		at := time.Now()
		<-began
		if took := time.Since(at); took > 2100*time.Millisecond {
			t.Errorf("the heartbeat with the new subscription was sent after %v", took)
		}
		awaitHeld(m, other, 1)
	})
}
