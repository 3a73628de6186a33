package remoting_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// A frame that breaks the protocol ends the connection and says why.
func TestConnRefusesBadFrames(t *testing.T) {
	length := func(n int32) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
	tests := map[string]struct {
		bytes []byte
		want  string
	}{
		"length -1":       {length(-1), "frame length -1"},
		"length 0":        {length(0), "frame length 0"},
		"length 3":        {length(3), "frame length 3"},
		"length too much": {length(256<<20 + 1), "frame length 268435457"},
		"large request":   {append(length(protocol.MaxFrameLength), 0, 0, 0, 11, '{', '"', 'c', 'o', 'd', 'e', '"', ':', '3', '4', '}'), "request (code 34) of 16777220 bytes"},
		"large header":    {append(length(protocol.MaxFrameLength), 0, 0x10, 0, 0), "header of 1048580 bytes"},
		"large garbage":   {append(length(protocol.MaxFrameLength), 0, 0, 0, 2, '{', 'x'), "undecodable frame of 16777220 bytes"},
		"garbage header":  {append(length(8), 0, 0, 0, 4, '{', 'x', 'y', 'z'), "undecodable frame of 8 bytes"},
		"header too long": {append(length(8), 0, 0, 1, 0, '{', '}', 0, 0), "undecodable frame of 8 bytes"},
		"unknown type":    {append(length(6), 7, 0, 0, 2, '{', '}'), "undecodable frame of 6 bytes"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c, far := pipe(t, remoting.ConnOptions{})
			go io.Copy(io.Discard, far)
			replies := make(chan remoting.Reply, 1)
			if _, err := c.Start(encoded("x"), replies); err != nil {
				t.Fatal(err)
			}
			if _, err := far.Write(tt.bytes); err != nil {
				t.Fatal(err)
			}
			r := within(t, replies, "reply")
			if !errors.Is(r.Err, remoting.ErrClosed) || !strings.Contains(r.Err.Error(), tt.want) {
				t.Errorf("pending call ended with %v, want ErrClosed and %q", r.Err, tt.want)
			}
			within(t, c.Done(), "end of the connection")
		})
	}
}

// An answer over the limit costs its own call and nothing else: one that is given up
// costs nobody.
func TestConnPassesOverAnAnswerThatIsTooLarge(t *testing.T) {
	for name, size := range map[string]int{"by one byte": protocol.MaxFrameLength + 1, "by far": 40 << 20} {
		t.Run(name, func(t *testing.T) {
			c, far := pipe(t, remoting.ConnOptions{})
			go io.Copy(io.Discard, far)
			replies := make(chan remoting.Reply, 3)
			for range 3 {
				if _, err := c.Start(encoded("x"), replies); err != nil {
					t.Fatal(err)
				}
			}
			if !c.Cancel(2) {
				t.Fatal("the second call has an answer already")
			}
			answer := func(opaque int32, size int) {
				t.Helper()
				frame := frameOf(t, &protocol.Command{Opaque: opaque, Flag: protocol.FlagResponse})
				binary.BigEndian.PutUint32(frame, uint32(size-4))
				if _, err := far.Write(append(frame, make([]byte, size-len(frame))...)); err != nil {
					t.Fatal(err)
				}
			}
			answer(1, size)
			r := within(t, replies, "reply")
			large, ok := errors.AsType[*remoting.TooLargeError](r.Err)
			if !ok || large.Size != int64(size) || r.Opaque != 1 || remoting.Retryable(r.Err) {
				t.Errorf("call %d ended with %v, want %d bytes to be too large", r.Opaque, r.Err, size)
			}
			answer(2, size)
			answer(3, 1000)
			if r := within(t, replies, "reply"); r.Err != nil || r.Opaque != 3 {
				t.Errorf("the next call ended with %d, %v", r.Opaque, r.Err)
			}
		})
	}
}

// Frames of any size arrive whole, however they are cut on the way.
func TestConnFramesOfAnySize(t *testing.T) {
	sizes := []int{0, 1, 100, 4 << 10, 64<<10 - 200, 64 << 10, 100 << 10, 256 << 10, 300 << 10, 5 << 20, protocol.MaxFrameLength - 100, 7}
	for _, network := range []string{"pipe", "tcp"} {
		t.Run(network, func(t *testing.T) {
			near, far := net.Pipe()
			if network == "tcp" {
				near, far = loopback(t)
			}
			c := remoting.NewConn(near, remoting.ConnOptions{})
			defer c.Close(nil)
			go func() {
				var out []byte
				for i, size := range sizes {
					resp := &protocol.Command{Opaque: int32(i + 1), Flag: protocol.FlagResponse, Body: patterned(i, size)}
					frame, err := protocol.AppendFrame(nil, resp, protocol.SerializeRocketMQ)
					if err != nil {
						t.Error(err)
					}
					out = append(out, frame...)
				}
				io.CopyN(io.Discard, far, 1) // all calls have been begun
				for len(out) > 0 {
					n := min(len(out), 777+len(out)/5)
					far.Write(out[:n])
					out = out[n:]
				}
				io.Copy(io.Discard, far)
			}()
			replies := make(chan remoting.Reply, len(sizes))
			for i := range sizes {
				last := i == len(sizes)-1
				_, err := c.Start(func(dst []byte, _ int32) ([]byte, error) {
					if last {
						return append(dst, 0), nil
					}
					return dst, nil
				}, replies)
				if err != nil {
					t.Fatal(err)
				}
			}
			for i, size := range sizes {
				r := within(t, replies, "reply")
				if r.Err != nil || r.Opaque != int32(i+1) || len(r.Command.Body) != size {
					t.Fatalf("reply %d: opaque %d, %d bytes, %v; want %d bytes", i+1, r.Opaque, len(r.Command.Body), r.Err, size)
				}
				if !bytes.Equal(r.Command.Body, patterned(i, size)) {
					t.Fatalf("the body of reply %d differs", i+1)
				}
			}
		})
	}
}

// patterned is a body that differs from place to place and from seed to seed.
func patterned(seed, size int) []byte {
	unit := make([]byte, 251)
	for i := range unit {
		unit[i] = byte(seed + i)
	}
	return bytes.Repeat(unit, size/len(unit)+1)[:size]
}

func TestConnEndInsideFrame(t *testing.T) {
	for name, size := range map[string]int{"small": 100, "direct": 200 << 10} {
		t.Run(name, func(t *testing.T) {
			c, far := pipe(t, remoting.ConnOptions{})
			frame := frameOf(t, &protocol.Command{Flag: protocol.FlagResponse, Body: make([]byte, size)})
			if _, err := far.Write(frame[:len(frame)/2]); err != nil {
				t.Fatal(err)
			}
			far.Close()
			within(t, c.Done(), "end of the connection")
			if err := c.Err(); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("Err = %v, want unexpected EOF", err)
			}
		})
	}
}
