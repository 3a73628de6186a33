package cli

import (
	"time"

	"eyeq/engine"
)

// The listeners of the commands and the screen.
const (
	listenAck  = "ack"
	listenHold = "hold"
	listenFail = "fail"
	listenExec = "exec"
)

// listening is a listener with what belongs to it.
type listening struct {
	name    string
	command string        // of exec
	timeout time.Duration // of one run of it; 0: consume_timeout
}

// verdict is what the listener answers when it does not ask anybody.
func (l *listening) verdict(orderly bool) engine.Status {
	switch {
	case l.name == listenHold:
		return engine.Hold
	case l.name != listenFail:
		return engine.ConsumeSuccess
	case orderly:
		return engine.SuspendCurrentQueueAMoment
	}
	return engine.ReconsumeLater
}

var listenerNames = []string{listenAck, listenHold, listenFail, listenExec}
