package inspect

import (
	"testing"

	"eyeq/remoting/protocol"
)

// messageOf makes the message of a record; the topic is "orders" unless it is given.
func messageOf(t testing.TB, r protocol.Record) *protocol.MessageExt {
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

func bodyOf(t testing.TB, body string) *protocol.MessageExt {
	return messageOf(t, protocol.Record{Body: []byte(body)})
}

// compressedOf is a message whose body says it is of a compression; stored is what
// lies in the record.
func compressedOf(t testing.TB, kind protocol.SysFlag, stored []byte) *protocol.MessageExt {
	return messageOf(t, protocol.Record{Body: stored, SysFlag: protocol.SysFlagCompressed | kind})
}
