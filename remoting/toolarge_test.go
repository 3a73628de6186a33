package remoting_test

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// A cluster of 60,000 topics, whose list is larger than a frame may be: the question
// fails and says why, and the connection serves the next one.
func TestATopicListThatIsTooLarge(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	served := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			served <- err
			return
		}
		defer conn.Close()
		for _, size := range []int{20 << 20, 0} {
			if err = answerOfSize(conn, size); err != nil {
				break
			}
		}
		listener.Close() // a second connection would be refused
		served <- err
		io.Copy(io.Discard, conn)
	}()
	c, err := remoting.NewClient(remoting.Options{Namesrv: []string{listener.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.TopicNames(t.Context())
	if _, ok := errors.AsType[*remoting.TooLargeError](err); !ok || !strings.Contains(err.Error(), "over the limit of 16777216") {
		t.Errorf("got %v, want that the answer is too large", err)
	}
	if _, unreachable := errors.AsType[*remoting.UnreachableError](err); unreachable {
		t.Errorf("got %v, which says that nobody answers", err)
	}
	names, err := c.TopicNames(t.Context())
	if err != nil || len(names) != 1 || names[0] != "T" {
		t.Errorf("the next list: got %q, %v", names, err)
	}
	if err := within(t, served, "end of the name server"); err != nil {
		t.Error(err)
	}
}

// answerOfSize reads a request and answers it with a frame of that size, or with a
// list of one topic when that is 0.
func answerOfSize(conn net.Conn, size int) error {
	var length [4]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return err
	}
	request := make([]byte, binary.BigEndian.Uint32(length[:]))
	if _, err := io.ReadFull(conn, request); err != nil {
		return err
	}
	asked, err := protocol.DecodeCommand(request)
	if err != nil {
		return err
	}
	resp := protocol.Command{Opaque: asked.Opaque, Flag: protocol.FlagResponse, Body: protocol.EncodeTopicList([]string{"T"})}
	frame, err := protocol.AppendFrame(nil, &resp, protocol.SerializeJSON)
	if err != nil {
		return err
	}
	if size > 0 {
		binary.BigEndian.PutUint32(frame, uint32(size-4))
		frame = append(frame, make([]byte, size-len(frame))...)
	}
	_, err = conn.Write(frame)
	return err
}
