package cli

import (
	"strings"
	"syscall"
	"testing"

	"eyeq/engine"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// A run without a message says whether there was none: where brokers refuse what it has
// to ask, or leave no queue to it, it ends with a reason and a status that is not 0, and
// the summary has the reason beside its 0.
func TestRunWithoutAMessageSaysWhy(t *testing.T) {
	t.Parallel()
	refuse := func(codes ...protocol.RequestCode) func(sandbox.Request) sandbox.Fault {
		return func(r sandbox.Request) (f sandbox.Fault) {
			for _, code := range codes {
				if protocol.RequestCode(r.Command.Code) == code && r.ClientID == "b@1" {
					f.Code, f.Remark = protocol.SystemError, "said by the broker"
				}
			}
			return f
		}
	}
	for name, tt := range map[string]struct {
		fault  func(sandbox.Request) sandbox.Fault
		topics []string
		other  bool // another member has the queue
		status int
		says   []string // on standard error and in the summary; none: nothing is wrong
	}{
		"an empty topic":   {status: statusDone},
		"no such topic":    {topics: []string{"orderz"}, status: statusNotFound, says: []string{"no queue was taken: orderz: no name server knows the topic"}},
		"one of two":       {topics: []string{"orders", "orderz"}, status: statusDone},
		"nothing left":     {other: true, status: statusFailed, says: []string{"no queue was taken: orders: 2 members share 1 queue, and none is left for this one"}},
		"pulls refused":    {fault: refuse(protocol.PullMessage), status: statusFailed, says: []string{"whether there is one is not known: 1 of 1 queue could not be read: pull orders broker-a/0 at 0: ", "said by the broker"}},
		"offsets refused":  {fault: refuse(protocol.QueryConsumerOffset), status: statusFailed, says: []string{"no queue was taken: orders: 1 queue: read the committed offset: ", "said by the broker"}},
		"bounds refused":   {fault: refuse(protocol.GetMinOffset), status: statusFailed, says: []string{"no queue was taken: orders: 1 queue: compute the start offset: ", "said by the broker"}},
		"members refused":  {fault: refuse(protocol.GetConsumerListByGroup), status: statusFailed, says: []string{"no queue was taken: orders: no members: ", "said by the broker"}},
		"commits unneeded": {fault: refuse(protocol.UpdateConsumerOffset), status: statusDone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sb, ns := serveSandbox(t, sandboxtest.Topic("orders", 1))
			if tt.other {
				first := start(t, []string{"consume", "--namesrv", ns, "-g", "g", "-t", "orders", "--headless", "--events", "--client-id", "a@1"})
				first.out.await(t, `"queue_added"`)
				defer func() { first.signals <- syscall.SIGINT }()
			}
			if tt.fault != nil {
				sb.SetFault(tt.fault)
			}
			args := []string{"consume", "--namesrv", ns, "-g", "g", "--headless", "--from", "first", "--idle-exit", "300ms", "--client-id", "b@1"}
			if len(tt.topics) == 0 {
				tt.topics = []string{"orders"}
			}
			for _, topic := range tt.topics {
				args = append(args, "-t", topic)
			}
			p := runs(t, args).want(t, tt.status, "")
			why, _ := p.objects(t)["summary"][0]["messages_error"].(string)
			if len(tt.says) == 0 && why != "" {
				t.Errorf("messages_error = %q", why)
			}
			for _, part := range tt.says {
				lines := strings.Split(strings.TrimSpace(p.err.String()), "\n")
				if last := lines[len(lines)-1]; !strings.Contains(last, part) || !strings.Contains(why, part) {
					t.Errorf("want %q in the last line and in messages_error:\n%s\n%s", part, last, why)
				}
			}
		})
	}
}

// What was well again, or was given to another member, is no reason.
func TestVerdictGoesByTheEnd(t *testing.T) {
	mq := engine.MessageQueue{Topic: "orders", BrokerName: "broker-a"}
	at := engine.At{MQ: mq}
	retry := engine.At{MQ: engine.MessageQueue{Topic: protocol.RetryTopic("g"), BrokerName: "broker-a"}}
	added := engine.QueueAdded{At: at}
	online := &engine.Snapshot{Brokers: []engine.BrokerSnapshot{{Name: "broker-a", Connected: true}, {Name: "broker-a", ID: 1, Error: "slave down"}}}
	offline := &engine.Snapshot{Brokers: []engine.BrokerSnapshot{{Name: "broker-a", Error: "connect: refused"}}}
	for name, tt := range map[string]struct {
		events []engine.Event
		end    *engine.Snapshot
		want   string // "": nothing is wrong
	}{
		"nothing came":        {nil, online, "orders: it was not divided before the run ended"},
		"taken":               {[]engine.Event{added}, online, ""},
		"only the retry":      {[]engine.Event{engine.QueueAdded{At: retry}}, online, "no queue was taken"},
		"taken at the second": {[]engine.Event{engine.QueueAddFailed{At: at, Error: "x"}, added}, online, ""},
		"recovered":           {[]engine.Event{added, engine.PullError{At: at, Error: "x"}, engine.PullRecovered{At: at}}, online, ""},
		"refused in the end":  {[]engine.Event{added, engine.PullRecovered{At: at}, engine.PullError{At: at, Error: "x"}}, online, "1 of 1 queue could not be read: x"},
		"given away":          {[]engine.Event{added, engine.PullError{At: at, Error: "x"}, engine.QueueDropped{At: at, Cause: "unassigned"}}, online, ""},
		"dropped by the end":  {[]engine.Event{added, engine.PullError{At: at, Error: "x"}, engine.QueueDropped{At: at, Cause: "shutdown"}}, online, "1 of 1 queue could not be read: x"},
		"its broker is gone":  {[]engine.Event{added}, offline, "1 of 1 queue could not be read: connect: refused"},
		"no locks":            {[]engine.Event{engine.LockRequestFailed{Broker: "broker-a", Error: "no answer"}}, online, "broker-a grants no locks: no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			took := newTakings()
			took.see(tt.events)
			err := took.verdict([]engine.Subscription{{Topic: "orders"}}, tt.end)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("verdict = %v, want %q", err, tt.want)
			}
		})
	}
}
