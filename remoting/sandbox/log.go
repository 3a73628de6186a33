package sandbox

import (
	"encoding/binary"
	"fmt"
	"sort"

	"eyeq/remoting/protocol"
)

// segmentBytes is the usual size of a segment; small logs have smaller ones, so
// that dropping the oldest never drops nearly everything.
const (
	segmentBytes    = 1 << 20
	minSegmentBytes = 4 << 10
)

// commitLog holds a broker's messages in stored form, one after the other. Bytes
// that were written are never written again, so that views of them may be read
// by other goroutines while the log grows. When more than limit bytes are held,
// whole segments go, oldest first, and minOffset moves.
type commitLog struct {
	segments []segment
	next     int64 // commit log offset of the next record
	held     int64 // bytes allocated
	limit    int64
}

// segment is a run of records; base is the commit log offset of its first byte.
type segment struct {
	base  int64
	bytes []byte
}

func newCommitLog(limit int64) *commitLog { return &commitLog{limit: limit} }

// minOffset is the commit log offset of the oldest record held.
func (l *commitLog) minOffset() int64 {
	if len(l.segments) == 0 {
		return l.next
	}
	return l.segments[0].base
}

// append stores r, whose CommitLogOffset it sets, and returns the stored size.
func (l *commitLog) append(r *protocol.Record) (size int32, err error) {
	r.CommitLogOffset = l.next
	s := l.tail(recordBound(r))
	before := len(s.bytes)
	bytes, err := protocol.AppendRecord(s.bytes, r)
	if err != nil {
		return 0, err
	}
	s.bytes = bytes
	size = int32(len(bytes) - before)
	l.next += int64(size)
	for l.held > l.limit && len(l.segments) > 1 {
		l.held -= int64(cap(l.segments[0].bytes))
		l.segments[0] = segment{}
		l.segments = l.segments[1:]
	}
	return size, nil
}

// tail is a segment with room for bound bytes.
func (l *commitLog) tail(bound int) *segment {
	if n := len(l.segments); n > 0 {
		if s := &l.segments[n-1]; cap(s.bytes)-len(s.bytes) >= bound {
			return s
		}
	}
	size := max(bound, minSegmentBytes, min(segmentBytes, int(l.limit/8)))
	l.segments = append(l.segments, segment{base: l.next, bytes: make([]byte, 0, size)})
	l.held += int64(size)
	return &l.segments[len(l.segments)-1]
}

// recordBound is at least the stored size of r.
func recordBound(r *protocol.Record) int {
	n := 128 + len(r.Topic) + len(r.Body)
	for i := range r.Properties {
		n += len(r.Properties[i].Name) + len(r.Properties[i].Value) + 2
	}
	return n
}

// view returns the stored bytes from a commit log offset; nil when they are gone.
func (l *commitLog) view(at int64, size int32) []byte {
	i := sort.Search(len(l.segments), func(i int) bool { return l.segments[i].base > at }) - 1
	if i < 0 {
		return nil
	}
	s := &l.segments[i]
	from := at - s.base
	if size < 0 || from > int64(len(s.bytes))-int64(size) {
		return nil
	}
	end := from + int64(size)
	return s.bytes[from:end:end]
}

// lookup finds the record that begins at a commit log offset. A real broker
// takes any offset for a record's beginning and answers rubbish or an error;
// this one answers the error, unless a body was made to look like a record.
func (l *commitLog) lookup(at int64) (protocol.Record, []byte, error) {
	const commitLogOffsetAt = 28 // bytes into the record (MessageDecoder)
	head := l.view(at, commitLogOffsetAt+8)
	if head == nil || int64(binary.BigEndian.Uint64(head[commitLogOffsetAt:])) != at {
		return protocol.Record{}, nil, fmt.Errorf("no message begins at %d", at)
	}
	bytes := l.view(at, int32(binary.BigEndian.Uint32(head)))
	messages, err := protocol.AppendMessages(nil, bytes, &protocol.MessageSource{})
	if err != nil {
		return protocol.Record{}, nil, fmt.Errorf("message at %d: %w", at, err)
	}
	if len(messages) != 1 {
		return protocol.Record{}, nil, fmt.Errorf("%d messages at %d", len(messages), at)
	}
	return messages[0].Record(), bytes, nil
}
