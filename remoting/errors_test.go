package remoting_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

func TestRetryable(t *testing.T) {
	code := func(c protocol.ResponseCode) error { return &remoting.CodeError{Code: c, Remark: "timeout"} }
	tests := map[string]struct {
		err  error
		want bool
	}{
		"nil":                  {nil, false},
		"closed":               {fmt.Errorf("x: %w", remoting.ErrClosed), true},
		"timeout":              {context.DeadlineExceeded, true},
		"cancelled":            {context.Canceled, false},
		"refused dial":         {&remoting.DialError{Addr: "a:1", Err: errRefused}, true},
		"address without port": {&remoting.DialError{Addr: "a", Err: &net.AddrError{Err: "missing port"}}, false},
		"busy":                 {code(protocol.SystemBusy), true},
		"flow control":         {code(protocol.FlowControl), true},
		"no heartbeat yet":     {code(protocol.SubscriptionNotExist), true},
		"older heartbeat":      {code(protocol.SubscriptionNotLatest), true},
		"system error":         {code(protocol.SystemError), false},
		"no permission":        {code(protocol.NoPermission), false},
		"no topic":             {code(protocol.TopicNotExist), false},
		"no route":             {&remoting.NoRouteError{Topic: "T"}, false},
		"no broker address":    {&remoting.NoBrokerError{BrokerName: "b"}, true},
		"broken answer":        {remoting.BadAnswer(protocol.PullMessage, "a:1", errRefused), true},
		"unreachable":          {&remoting.UnreachableError{Err: errRefused}, true},
		"unreachable, left":    {&remoting.UnreachableError{Err: context.Canceled}, false},
		"anything else":        {errors.New("timeout"), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := remoting.Retryable(tt.err); got != tt.want {
				t.Errorf("Retryable(%v) = %v, want %v", tt.err, got, tt.want)
			}
		})
	}
}
