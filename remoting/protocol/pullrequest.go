package protocol

import (
	"encoding/binary"
	"strconv"
)

// PullRequestEncoder writes the pull requests of one queue: everything that
// stays the same is encoded once, and a request costs a copy and four numbers, and
// with a Signer a signature. One goroutine uses it at a time.
type PullRequestEncoder struct {
	prefix []byte // room for the frame's two words, then the header up to the first number
	suffix []byte // from behind the last ext field to the opaque, which ends the header

	signer  *Signer // nil: not signed
	content [4]string
}

// NewPullRequestEncoder prepares the requests of h's queue; QueueOffset,
// CommitOffset and SysFlag of h are ignored. The header is JSON. A nil signer signs
// nothing.
func NewPullRequestEncoder(h PullMessageRequestHeader, signer *Signer) *PullRequestEncoder {
	e := &PullRequestEncoder{signer: signer}
	fixed := EncodeFields(&h)
	fixed = fixed[:len(fixed)-3] // queueOffset, commitOffset and sysFlag are the last ones
	closing := []byte{'"', '}'}
	if signer != nil {
		fixed = signer.extend(fixed)
		e.content = signedAround(fixed)
		closing = closing[1:] // the quote of the last value comes before the signature
	}
	o := beginObject(make([]byte, 8, 512))
	o.number("code", int64(PullMessage))
	o.name("extFields")
	ext := o.dst
	ext = appendExtFields(ext, fixed)
	e.prefix = append(ext[:len(ext)-1], `,"queueOffset":"`...)

	s := object{some: true, dst: closing}
	s.number("flag", 0)
	s.text("language", LanguageGo.String())
	s.number("version", Version)
	s.name("opaque")
	e.suffix = s.dst
	return e
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
	if e.signer != nil {
		dst = append(dst, `","`+signatureField+`":"`...)
		dst = e.appendSignature(dst, queueOffset, commitOffset, sysFlag)
		dst = append(dst, '"')
	}
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

// appendSignature signs the values in the order of their keys: between them stands
// what stays the same.
func (e *PullRequestEncoder) appendSignature(dst []byte, queueOffset, commitOffset int64, sysFlag PullSysFlag) []byte {
	w := e.signer.begin()
	w.text = append(w.text, e.content[0]...)
	w.text = strconv.AppendInt(w.text, commitOffset, 10)
	w.text = append(w.text, e.content[1]...)
	w.text = strconv.AppendInt(w.text, queueOffset, 10)
	w.text = append(w.text, e.content[2]...)
	w.text = strconv.AppendInt(w.text, int64(sysFlag), 10)
	w.text = append(w.text, e.content[3]...)
	w.mac.Write(w.text)
	dst = w.append(dst)
	e.signer.macs.Put(w)
	return dst
}
