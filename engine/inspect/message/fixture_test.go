package message

import (
	"testing"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

func bodyOf(t testing.TB, body string) *protocol.MessageExt {
	return sandboxtest.MessageOf(t, protocol.Record{Body: []byte(body)})
}

// compressedOf is a message whose body says it is of a compression; stored is what
// lies in the record.
func compressedOf(t testing.TB, kind protocol.SysFlag, stored []byte) *protocol.MessageExt {
	return sandboxtest.MessageOf(t, protocol.Record{Body: stored, SysFlag: protocol.SysFlagCompressed | kind})
}
