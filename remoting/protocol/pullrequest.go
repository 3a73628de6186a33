package protocol

import (
	"encoding/binary"
	"strconv"
)

// PullRequestEncoder writes the pull requests of one queue: everything that
// stays the same is encoded once, and a request costs a copy and four numbers.
// One goroutine uses it at a time.
type PullRequestEncoder struct {
	prefix []byte // room for the frame's two words, then the header up to the first number
	suffix []byte // from behind the last ext field to the opaque, which ends the header
}

// NewPullRequestEncoder prepares the requests of h's queue; QueueOffset,
// CommitOffset and SysFlag of h are ignored. The header is JSON.
func NewPullRequestEncoder(h PullMessageRequestHeader) *PullRequestEncoder {
	o := beginObject(make([]byte, 8, 512))
	o.number("code", int64(PullMessage))
	o.name("extFields")
	ext := o.dst
	ext = appendExtFields(ext, h.fixedFields())
	ext = append(ext[:len(ext)-1], `,"queueOffset":"`...)

	s := object{some: true, dst: []byte{'"', '}'}}
	s.number("flag", 0)
	s.text("language", LanguageGo.String())
	s.number("version", Version)
	s.name("opaque")
	return &PullRequestEncoder{prefix: ext, suffix: s.dst}
}

// AppendFrame appends one whole request frame.
func (e *PullRequestEncoder) AppendFrame(dst []byte, opaque int32, queueOffset, commitOffset int64, sysFlag PullSysFlag) []byte {
	start := len(dst)
	dst = append(dst, e.prefix...)
	dst = strconv.AppendInt(dst, queueOffset, 10)
	dst = append(dst, `","commitOffset":"`...)
	dst = strconv.AppendInt(dst, commitOffset, 10)
	dst = append(dst, `","sysFlag":"`...)
	dst = strconv.AppendInt(dst, int64(sysFlag), 10)
	dst = append(dst, e.suffix...)
	dst = strconv.AppendInt(dst, int64(opaque), 10)
	dst = append(dst, '}')
	// There is no body, so the second word is the first less its own length; the
	// encoding JSON is 0 in its top byte.
	length := uint32(len(dst) - start - 4)
	binary.BigEndian.PutUint32(dst[start:], length)
	binary.BigEndian.PutUint32(dst[start+4:], length-4)
	return dst
}
