package remoting

import (
	"context"
	"errors"
	"fmt"
	"time"

	"eyeq/remoting/protocol"
)

// PullStatus is what a pull answer means (Java: PullStatus).
type PullStatus uint8

// The pull statuses.
const (
	PullFound PullStatus = iota + 1
	PullNoNewMessage
	PullNoMatchedMessage
	PullOffsetIllegal
)

// String gives the Java client's name.
func (s PullStatus) String() string {
	switch s {
	case PullFound:
		return "FOUND"
	case PullNoNewMessage:
		return "NO_NEW_MSG"
	case PullNoMatchedMessage:
		return "NO_MATCHED_MSG"
	case PullOffsetIllegal:
		return "OFFSET_ILLEGAL"
	}
	return fmt.Sprintf("PullStatus(%d)", uint8(s))
}

// pullGrace is how much later than its suspend time a pull may be answered: a
// broker looks at the polls it holds only every few seconds, and the Java client
// waits 15 s longer too.
const pullGrace = 15 * time.Second

// PullResult is one pull answer. Body holds the messages undecoded: see
// protocol.AppendMessages.
type PullResult struct {
	Status PullStatus
	protocol.PullMessageResponseHeader
	Remark string
	Body   []byte
}

// ParsePullReply tells what an answer to code 11 means. A code that is no pull
// status is a *CodeError; a header that breaks the protocol is an error.
func ParsePullReply(cmd *protocol.Command, addr string) (PullResult, error) {
	r := PullResult{Remark: cmd.Remark, Body: cmd.Body}
	switch protocol.ResponseCode(cmd.Code) {
	case protocol.Success:
		r.Status = PullFound
	case protocol.PullNotFound:
		r.Status = PullNoNewMessage
	case protocol.PullRetryImmediately:
		r.Status = PullNoMatchedMessage
	case protocol.PullOffsetMoved:
		r.Status = PullOffsetIllegal
	default:
		return PullResult{}, newCodeError(protocol.PullMessage, addr, cmd)
	}
	if err := protocol.DecodeFields(cmd.ExtFields, &r.PullMessageResponseHeader); err != nil {
		return PullResult{}, BadAnswer(protocol.PullMessage, addr, err)
	}
	return r, nil
}

// Pull asks addr once and waits for the answer; ctx must allow for the suspend
// time. CallTimeout does not bound it when h asks for a suspension: then the
// limit is 15 s more than the suspend time.
func (c *Client) Pull(ctx context.Context, addr string, h *protocol.PullMessageRequestHeader) (PullResult, error) {
	limit := c.callTimeout
	if h.SysFlag&protocol.PullSuspend != 0 {
		limit = h.SuspendTimeout + pullGrace
	}
	answer, err := c.invoke(ctx, addr, newRequest(protocol.PullMessage, protocol.EncodeFields(h), nil), limit)
	if _, refused := errors.AsType[*CodeError](err); err != nil && !refused {
		return PullResult{}, err
	}
	r, err := ParsePullReply(&answer, addr)
	if broken, ok := errors.AsType[*BadAnswerError](err); ok {
		c.conns.drop(addr, broken)
	}
	return r, err
}
