package inspect_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"eyeq/engine/inspect"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// recorded is a frame that a client in another language has sent.
func recorded(t *testing.T, name string) protocol.Command {
	t.Helper()
	frame, err := os.ReadFile(filepath.Join("..", "..", "remoting", "protocol", "testdata", "languages", name+".bin"))
	if err != nil {
		t.Fatal(err)
	}
	if len(frame) < 4 || int(binary.BigEndian.Uint32(frame)) != len(frame)-4 {
		t.Fatalf("%s is no whole frame", name)
	}
	c, err := protocol.DecodeCommand(frame[4:])
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return c
}

// recordedMember answers for its running info with what was recorded.
type recordedMember struct{ info []byte }

func (m recordedMember) HandleRequest(c *remoting.Conn, req protocol.Command) {
	if !req.IsOneway() {
		_ = c.Respond(&req, &protocol.Command{Body: m.info}) // a test that ends
	}
}

// joinAs sends all brokers a heartbeat as it was recorded.
func joinAs(t *testing.T, tg *sandboxtest.Target, heartbeat []byte, m recordedMember) *remoting.Client {
	t.Helper()
	c := tg.Client(t, m)
	for _, addr := range tg.Masters(t) {
		if answer, err := c.Invoke(t.Context(), addr, &protocol.Command{Code: int32(protocol.HeartBeat), Body: heartbeat}); err != nil || answer.Code != 0 {
			t.Fatalf("heartbeat: %v %s, %v", answer.Code, answer.Remark, err)
		}
	}
	return c
}

// What a Go and a C++ member say of themselves is read as they mean it. A member whose
// answer nobody can read has no rows of its own, and costs nobody theirs.
func TestMembersOfOtherLanguages(t *testing.T) {
	sandboxtest.RunSandbox(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		joinAs(t, tg, recorded(t, "go_heartbeat_34").Body, recordedMember{info: recorded(t, "go_runninginfo_307").Body})
		cpp := recorded(t, "cpp_heartbeat_34").Body
		joinAs(t, tg, cpp, recordedMember{info: recorded(t, "cpp_runninginfo_307").Body})
		odd := []byte(`{"clientID":"odd","consumerDataSet":[{"groupName":"sb-cpp-c-s3","consumeFromWhere":0,"consumeType":1,"messageModel":1,"subscriptionDataSet":[]}]}`)
		joinAs(t, tg, odd, recordedMember{info: []byte(`{"mqTable":{{"topic":"T","brokerName":"b","queueId":0}:{"cachedMsgCount":"many"}}}`)})

		golang, err := d.Members(t.Context(), "gotag-g")
		if err != nil || len(golang.Members) != 1 || golang.Members[0].Info == nil {
			t.Fatalf("Go: %+v, %v", golang, err)
		}
		if golang.Type != protocol.ConsumePassively || golang.Model != protocol.Clustering || golang.From != protocol.ConsumeFromFirstOffset {
			t.Errorf("Go: %v, %v, %v", golang.Type, golang.Model, golang.From)
		}
		tags := protocol.SubscriptionData{Topic: "gotag", SubString: "TagA || TagB", ExpressionType: "TAG", TagsSet: []string{"TagA", "TagB"}, CodeSet: []int32{2598919, 2598920}, SubVersion: 1796090195277655411}
		if diff := cmp.Diff(tags, golang.Members[0].Info.SubscriptionSet[0]); diff != "" || len(golang.Members[0].Info.MQTable) != 2 {
			t.Errorf("Go, subscription (-want +got):\n%s", diff)
		}

		other, err := d.Members(t.Context(), "sb-cpp-c-s3")
		if err != nil || len(other.Members) != 2 {
			t.Fatalf("C++: %+v, %v", other, err)
		}
		if other.Type != protocol.ConsumePassively || other.Model != protocol.Clustering || other.From != protocol.ConsumeFromLastOffset {
			t.Errorf("C++: %v, %v, %v", other.Type, other.Model, other.From)
		}
		member := other.Members[0]
		if member.ClientID != "7836-127.0.0.1@c1" || member.Info == nil {
			t.Fatalf("C++: %+v", member)
		}
		want := protocol.ByQueue[protocol.ProcessQueueInfo]{
			{Topic: "%RETRY%sb-cpp-cz", BrokerName: "broker-a"}:    {CommitOffset: 11, CachedMsgMaxOffset: 10, LastPullTimestamp: 1796090222802, LastConsumeTimestamp: 1796090222802},
			{Topic: "sb-cppz", BrokerName: "broker-a"}:             {CommitOffset: 12, CachedMsgMaxOffset: 11, LastPullTimestamp: 1796090217687, LastConsumeTimestamp: 1796090217688},
			{Topic: "sb-cppz", BrokerName: "broker-a", QueueID: 1}: {CommitOffset: 12, CachedMsgMaxOffset: 11, LastPullTimestamp: 1796090212718, LastConsumeTimestamp: 1796090212718},
		}
		if diff := cmp.Diff(want, member.Info.MQTable); diff != "" {
			t.Errorf("C++, queues (-want +got):\n%s", diff)
		}
		if orderly := member.Info.Properties["PROP_CONSUMEORDERLY"]; orderly != "false" { // it says flase
			t.Errorf("C++, orderly = %q, want false", orderly)
		}
		if s := member.Info.SubscriptionSet; len(s) != 2 || s[1].Topic != "sb-cppz" || s[1].ExpressionType != protocol.ExpressionTAG || s[1].SubVersion != 1796090212639 {
			t.Errorf("C++, subscriptions %+v", s)
		}
		if why := golang.Members[0].RatesWhy(); why.Kind != inspect.ReasonNone {
			t.Errorf("Go tells its rates, and they are not known: %v", why)
		}
		if why := member.RatesWhy(); why.Kind != inspect.ReasonUnsupported || !strings.Contains(why.Text, "does not report its rates") {
			t.Errorf("C++ does not tell its rates, the reason is %v", why)
		}
		if odd := other.Members[1]; odd.ClientID != "odd" || odd.Info != nil || odd.Why.Kind != inspect.ReasonBadAnswer {
			t.Errorf("a member that cannot be read: %+v", odd)
		}
	})
}

// The C++ client signs, with an empty access key, where it was given none.
func TestRequestsOfTheCPPClient(t *testing.T) {
	sandboxtest.RunSandbox(t, func(t *testing.T, tg *sandboxtest.Target) {
		heartbeat := recorded(t, "cpp_heartbeat_34")
		heartbeat.Body = bytes.ReplaceAll(heartbeat.Body, []byte("sb-cpp-c-s3"), []byte("sb-cpp-cz")) // the group of the others
		c := joinAs(t, tg, heartbeat.Body, recordedMember{})
		commit, list := recorded(t, "cpp_commit_15"), recorded(t, "cpp_memberlist_38")
		for name, addr := range tg.Masters(t) {
			for _, req := range []protocol.Command{heartbeat, commit, list} {
				if answer, err := c.Invoke(t.Context(), addr, &req); err != nil || answer.Code != 0 {
					t.Errorf("%v: %v %s, %v", protocol.RequestCode(req.Code), answer.Code, answer.Remark, err)
				}
			}
			mq := protocol.MessageQueue{Topic: "sb-cppz", BrokerName: name}
			if _, err := c.Route(t.Context(), "sb-cppz"); err != nil {
				t.Fatal(err)
			}
			if at, _, err := c.QueryConsumerOffset(t.Context(), "sb-cpp-cz", mq); err != nil || at != 12 {
				t.Errorf("committed %d, %v, want 12", at, err)
			}
		}
	}, sandboxtest.Topic("sb-cppz", 2))
}
