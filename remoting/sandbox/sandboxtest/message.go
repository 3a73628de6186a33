package sandboxtest

import (
	"testing"

	"eyeq/remoting/protocol"
)

// MessageOf is the message that a pull would find of a record; the topic is "orders" unless it is given.
func MessageOf(t testing.TB, r protocol.Record) *protocol.MessageExt {
	t.Helper()
	if r.Topic == "" {
		r.Topic = "orders"
	}
	record, err := protocol.AppendRecord(nil, &r)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := protocol.AppendMessages(nil, record, &protocol.MessageSource{BrokerName: "broker-a"})
	if err != nil {
		t.Fatal(err)
	}
	return &messages[0]
}
