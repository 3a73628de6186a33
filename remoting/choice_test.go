package remoting_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// needs are the calls that choose a broker address by themselves.
var needs = map[string]func(ctx context.Context, c *remoting.Client) error{
	"member list": func(ctx context.Context, c *remoting.Client) error {
		_, _, err := c.ConsumerIDs(ctx, "T", "g")
		return err
	},
	"query offset": func(ctx context.Context, c *remoting.Client) error {
		_, _, err := c.QueryConsumerOffset(ctx, "g", queueT1)
		return err
	},
	"update offset": func(ctx context.Context, c *remoting.Client) error {
		return c.UpdateConsumerOffset(ctx, "g", queueT1, 1)
	},
	"update offsets": func(ctx context.Context, c *remoting.Client) error {
		return c.UpdateConsumerOffsets(ctx, "g", protocol.OffsetTable{queueT1: 1})[queueT1]
	},
	"update one-way": func(ctx context.Context, c *remoting.Client) error {
		return c.UpdateConsumerOffsetOneway(ctx, "g", queueT1, 1)
	},
	"max": func(ctx context.Context, c *remoting.Client) error {
		_, err := c.MaxOffset(ctx, queueT1)
		return err
	},
	"min": func(ctx context.Context, c *remoting.Client) error {
		_, err := c.MinOffset(ctx, queueT1)
		return err
	},
	"search": func(ctx context.Context, c *remoting.Client) error {
		_, err := c.SearchOffset(ctx, queueT1, time.Now())
		return err
	},
	"send-back": func(ctx context.Context, c *remoting.Client) error {
		return c.SendBack(ctx, "b", &protocol.ConsumerSendMsgBackRequestHeader{Group: "g", OriginTopic: "T"})
	},
	"lock": func(ctx context.Context, c *remoting.Client) error {
		_, err := c.LockBatch(ctx, "b", &protocol.LockBatchBody{ConsumerGroup: "g", MQSet: []protocol.MessageQueue{queueT1}})
		return err
	},
	"unlock": func(ctx context.Context, c *remoting.Client) error {
		return c.UnlockBatch(ctx, "b", &protocol.LockBatchBody{ConsumerGroup: "g", MQSet: []protocol.MessageQueue{queueT1}})
	},
	// Those that are told an address, or take the one that pulls go to.
	"pull": func(ctx context.Context, c *remoting.Client) error {
		addr, _, _ := c.PullAddr("b", 0)
		_, err := c.Pull(ctx, addr, &protocol.PullMessageRequestHeader{ConsumerGroup: "g", Topic: "T"})
		return err
	},
	"heartbeat": func(ctx context.Context, c *remoting.Client) error {
		addr, _, _ := c.PullAddr("b", 0)
		_, err := c.Heartbeat(ctx, addr, &protocol.HeartbeatData{ClientID: "c"})
		return err
	},
	"unregister": func(ctx context.Context, c *remoting.Client) error {
		addr, _, _ := c.PullAddr("b", 0)
		return c.Unregister(ctx, addr, protocol.UnregisterClientRequestHeader{ClientID: "c"})
	},
}

const masterOnly = "search lock unlock max min send-back"

// Each need goes to the broker that the table in docs/conformance/client.md 4.5 gives it,
// and with the VIP channel on to the port that 4.6 gives it. Maps have no order:
// with the ids 16 and 0 the master is 0, however often it is looked at.
func TestBrokerChoice(t *testing.T) {
	ok := protocol.Command{ExtFields: protocol.ExtFields{
		{Key: "offset", Value: "7"}, {Key: "nextBeginOffset", Value: "1"}, {Key: "minOffset", Value: "0"},
		{Key: "maxOffset", Value: "1"}, {Key: "suggestWhichBrokerId", Value: "0"},
	}}
	both, slave := map[int64]string{0: "master:10911", 16: "slave:10911"}, map[int64]string{16: "slave:10911"}
	for name, situation := range map[string]struct {
		addrs map[int64]string
		vip   bool
		where func(need string) string // "": an error that says that the master is away
	}{
		"master and slave": {both, false, func(string) string { return "master:10911" }},
		"vip channel": {both, true, func(need string) string {
			if need == "pull" || need == "heartbeat" || need == "unregister" {
				return "master:10911"
			}
			return "master:10909"
		}},
		"slave alone": {slave, false, func(need string) string {
			if slices.Contains(strings.Fields(masterOnly), need) {
				return ""
			}
			return "slave:10911"
		}},
	} {
		for _, need := range slices.Sorted(maps.Keys(needs)) {
			t.Run(name+"/"+need, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					n, ns := newMemoryNet(), &namesrv{}
					n.Serve(t, "ns:1", ns)
					data := routeOf(2, "b")
					data.BrokerDatas[0].BrokerAddrs = situation.addrs
					ns.set("T", data)
					var asked []string
					for _, addr := range []string{"master:10911", "master:10909", "slave:10911", "slave:10909"} {
						n.Serve(t, addr, handlerFunc(func(c *remoting.Conn, req protocol.Command) {
							asked = append(asked, addr)
							answer := ok
							switch protocol.RequestCode(req.Code) {
							case protocol.GetConsumerListByGroup:
								answer.Body = protocol.EncodeConsumerIDList([]string{"c"})
							case protocol.LockBatchMQ:
								answer.Body = protocol.EncodeLockOK(nil)
							}
							c.Respond(&req, &answer)
						}))
					}
					c := n.newClient(t, remoting.Options{VIPChannel: situation.vip})
					if _, err := c.Route(t.Context(), "T"); err != nil {
						t.Fatal(err)
					}
					for range 20 {
						asked = nil
						err := needs[need](t.Context(), c)
						synctest.Wait()
						where := situation.where(need)
						switch {
						case where == "" && (err == nil || !strings.Contains(err.Error(), "no name server knows a master of b")):
							t.Fatalf("%s = %v at %v, want an error: the master is away", need, err, asked)
						case where != "" && (err != nil || fmt.Sprint(asked) != "["+where+"]"):
							t.Fatalf("%s = %v at %v, want it at %s", need, err, asked, where)
						}
					}
				})
			})
		}
	}
}

// A slave that knows no offset is not believed: it may not have copied it yet.
func TestSlaveWithoutOffsetIsNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, ns := newMemoryNet(), &namesrv{}
		n.Serve(t, "ns:1", ns)
		data := routeOf(2, "b")
		data.BrokerDatas[0].BrokerAddrs = map[int64]string{1: "slave:1"}
		ns.set("T", data)
		n.Serve(t, "slave:1", &broker{answer: map[protocol.RequestCode]func(protocol.Command) *protocol.Command{
			protocol.QueryConsumerOffset: refuse(protocol.QueryNotFound, "not found"),
		}})
		c := n.newClient(t, remoting.Options{})
		_, found, err := c.QueryConsumerOffset(t.Context(), "g", queueT1)
		if found || !isNoBroker(err, "b") {
			t.Errorf("QueryConsumerOffset = %v, %v, want an error that tells of the master", found, err)
		}
	})
}
