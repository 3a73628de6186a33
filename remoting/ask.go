package remoting

import (
	"context"
	"errors"
	"fmt"
	"time"

	"eyeq/remoting/protocol"
)

// relayLimit bounds what a broker passes on to a member: it waits 10 s for the
// member, and says so itself when that is over (code 207).
const relayLimit = 12 * time.Second

// tableLimit bounds questions about everything that a broker has: of a large cluster
// that takes longer than CallTimeout. Who wants it sooner has a context.
const tableLimit = 15 * time.Second

// ask sends one admin request to addr and decodes the answer's body. A body that
// breaks the protocol is a *BadAnswerError and leaves the connection alone.
func ask[T any](ctx context.Context, c *Client, addr string, limit time.Duration, req *protocol.Command, decode func([]byte) (T, error)) (T, error) {
	var none T
	answer, err := c.invoke(ctx, addr, req, limit)
	if err != nil {
		return none, err
	}
	v, err := decode(answer.Body)
	if err != nil {
		return none, BadAnswer(protocol.RequestCode(req.Code), addr, err)
	}
	return v, nil
}

// refusedWith reports whether err is an answer of that code.
func refusedWith(err error, code protocol.ResponseCode) (*CodeError, bool) {
	ce, ok := errors.AsType[*CodeError](err)
	if !ok || ce.Code != code {
		return nil, false
	}
	return ce, true
}

// about says what was asked; nil stays nil.
func about(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), err)
}
