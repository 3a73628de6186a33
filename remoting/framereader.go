package remoting

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"unsafe"

	"eyeq/remoting/protocol"
)

const (
	// readBufferSize is what one read may bring: several answers of a busy
	// connection at a time. A connection begins with firstBufferSize, which does
	// for heartbeats and commits, and has the whole once a read has filled that.
	readBufferSize, firstBufferSize = 256 << 10, 4 << 10
	// directFrame is the length from which the rest of a frame is read into its
	// own buffer: one more read costs less than copying so much.
	directFrame = 64 << 10
	// readAheadLarge is how much is read ahead after such a frame: the next one is
	// probably as large, and what is read ahead of it has to be copied.
	readAheadLarge = 8 << 10
	// lengthSize is the field before each frame; minFrame is the header word,
	// which every frame has.
	lengthSize, minFrame = 4, 4
)

// frameReader cuts the frames out of a stream. It reads ahead into one buffer,
// but each frame it returns has a buffer of its own, exactly as long as the
// frame and never used again: the messages decoded in place keep it.
type frameReader struct {
	src        io.Reader
	buf        []byte
	start, end int  // buf[start:end] is read and not yet returned
	ahead      int  // how much of buf one read may fill
	filled     bool // the last read brought all there was room for
}

func newFrameReader(src io.Reader) *frameReader {
	return &frameReader{src: src, buf: make([]byte, firstBufferSize), ahead: readBufferSize}
}

// next returns the next frame without its length field. The error is io.EOF
// when the stream ends between two frames. After a *TooLargeError, peekHeader and
// passOver go on.
func (f *frameReader) next() ([]byte, error) {
	if err := f.fill(lengthSize); err != nil {
		return nil, err
	}
	// Unsigned, so that a length of -1 is a large one.
	length := binary.BigEndian.Uint32(f.buf[f.start:])
	if length > protocol.MaxFrameLength-lengthSize && length <= maxPassedOver {
		return nil, &TooLargeError{Size: int64(length) + lengthSize}
	}
	if length < minFrame || length > protocol.MaxFrameLength-lengthSize {
		return nil, fmt.Errorf("frame length %d is not within %d and %d", int32(length), minFrame, protocol.MaxFrameLength-lengthSize)
	}
	f.start += lengthSize
	n := int(length)
	f.ahead = readBufferSize
	if n >= directFrame {
		f.ahead = readAheadLarge
	}
	if n > f.end-f.start && n >= directFrame {
		return f.direct(n)
	}
	if err := f.fill(n); err != nil {
		return nil, unexpected(err)
	}
	view := f.buf[f.start : f.start+n]
	f.start += n
	frame := make([]byte, len(view)) // this form is compiled without zeroing first
	copy(frame, view)
	return frame, nil
}

// maxPassedOver bounds a frame that is too large, but may be one: any other length is
// that of something else than frames.
const maxPassedOver = 256 << 20

// peekHeader gives the header of a frame that is too large, as a frame without body.
func (f *frameReader) peekHeader() ([]byte, error) {
	if err := f.fill(lengthSize + minFrame); err != nil {
		return nil, unexpected(err)
	}
	n := minFrame + int(binary.BigEndian.Uint32(f.buf[f.start+lengthSize:])&0xFFFFFF)
	if n > directFrame {
		return nil, fmt.Errorf("header of %d bytes, more than %d", n, directFrame)
	}
	if err := f.fill(lengthSize + n); err != nil {
		return nil, unexpected(err)
	}
	return bytes.Clone(f.buf[f.start+lengthSize:][:n]), nil
}

// passOver reads a frame of that size, its length field included, and forgets it.
func (f *frameReader) passOver(size int64) error {
	have := min(size, int64(f.end-f.start))
	f.start += int(have)
	_, err := io.CopyN(io.Discard, f.src, size-have)
	return unexpected(err)
}

// direct returns a frame of n bytes whose end has not been read yet.
func (f *frameReader) direct(n int) ([]byte, error) {
	frame := uninitialised(n)
	have := copy(frame, f.buf[f.start:f.end])
	f.start, f.end = 0, 0
	if _, err := io.ReadFull(f.src, frame[have:]); err != nil {
		return nil, unexpected(err)
	}
	return frame, nil
}

// uninitialised returns n bytes that were not cleared: the caller overwrites them
// all. Clearing a large frame before it is read into is a seventh of what its
// messages cost. A strings.Builder is the one door to such memory; it is ours
// alone, since the builder ends here, and holds no pointers.
func uninitialised(n int) []byte {
	var b strings.Builder
	b.Grow(n)
	b.WriteByte(0) // so that its string has an address
	return unsafe.Slice(unsafe.StringData(b.String()), n)
}

// fill reads until n bytes, which the buffer must be able to hold, are there.
func (f *frameReader) fill(n int) error {
	if f.end-f.start >= n {
		return nil
	}
	if f.start == f.end {
		f.start, f.end = 0, 0
	}
	if len(f.buf) < readBufferSize && (f.filled || n > len(f.buf)) {
		buf := make([]byte, readBufferSize)
		f.start, f.end = 0, copy(buf, f.buf[f.start:f.end])
		f.buf = buf
	}
	if len(f.buf)-f.start < n {
		f.end = copy(f.buf, f.buf[f.start:f.end])
		f.start = 0
	}
	missing := n - (f.end - f.start)
	room := f.buf[f.end:min(len(f.buf), f.end+max(f.ahead, missing))]
	m, err := io.ReadAtLeast(f.src, room, missing)
	f.end += m
	f.filled = m == len(room)
	return err
}

// unexpected turns an end within a frame into io.ErrUnexpectedEOF.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
