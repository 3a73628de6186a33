package cli

import (
	"strings"
	"testing"

	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
)

// What a client does not count is unknown with its reason, not zero.
func TestRatesThatAMemberDoesNotReport(t *testing.T) {
	queues := protocol.ByQueue[protocol.ProcessQueueInfo]{{Topic: "t", BrokerName: "broker-a"}: {CommitOffset: 1}}
	says := map[string]protocol.ConsumeStatus{"t": {ConsumeOKTPS: 1.5}}
	for name, tt := range map[string]struct {
		info        *protocol.ConsumerRunningInfo
		want, error string
	}{
		"a client that counts":       {&protocol.ConsumerRunningInfo{MQTable: queues, StatusTable: says}, "1.5 0.0 0.0", ""},
		"a client that does not":     {&protocol.ConsumerRunningInfo{MQTable: queues}, "? ? ?", "CPP client does not report its rates"},
		"a member without an answer": {nil, "? ? ?", "unreachable"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &inspect.Member{ClientID: "c", Language: "CPP", Version: "V4_6_0", Info: tt.info}
			if tt.info == nil {
				m.Why = inspect.Reason{Kind: inspect.ReasonUnreachable}
			}
			row := memberRow(m)
			if got := strings.Join(row[7:10], " "); got != tt.want || !strings.Contains(row[10], tt.error) {
				t.Errorf("rates %q, note %q, want %q and %q", got, row[10], tt.want, tt.error)
			}
			j := (&membersFlags{}).member(m)
			if (j.Topics == nil) != (tt.error != "") || !strings.Contains(j.TopicsError, tt.error) || (j.TopicsError == "") != (tt.error == "") {
				t.Errorf("topics %v, topics_error %q, want %q", j.Topics, j.TopicsError, tt.error)
			}
		})
	}
}
