package remoting

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"
	"testing/iotest"

	"eyeq/remoting/protocol"
)

// Whatever arrives, and however it is cut, the frames are those that a reader
// without a buffer finds.
func FuzzFrameReader(f *testing.F) {
	f.Add([]byte{0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 5, 1, 2, 3, 4, 5})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{0, 0, 0, 3, 1, 2, 3})
	f.Add([]byte{0, 0, 0, 9, 1})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, stream []byte) {
		for _, src := range []io.Reader{bytes.NewReader(stream), iotest.OneByteReader(bytes.NewReader(stream)), iotest.HalfReader(bytes.NewReader(stream))} {
			rest := stream
			frames := &frameReader{src: src, buf: make([]byte, 64)}
			for {
				want, wantErr := cutFrame(&rest)
				if len(want) > len(frames.buf) && len(want) < directFrame {
					return // the real buffer holds every frame below directFrame
				}
				got, err := frames.next()
				if (err == nil) != (wantErr == nil) || !bytes.Equal(got, want) {
					t.Fatalf("next() = %x, %v, want %x, %v", got, err, want, wantErr)
				}
				if err != nil {
					break
				}
			}
		}
	})
}

// cutFrame is the plain form of frameReader.next.
func cutFrame(stream *[]byte) ([]byte, error) {
	s := *stream
	if len(s) < lengthSize {
		return nil, io.EOF
	}
	n := binary.BigEndian.Uint32(s)
	if n < minFrame || n > protocol.MaxFrameLength-lengthSize || int(n) > len(s)-lengthSize {
		return nil, io.ErrUnexpectedEOF
	}
	frame := s[lengthSize : lengthSize+n]
	*stream = s[lengthSize+n:]
	return frame, nil
}
