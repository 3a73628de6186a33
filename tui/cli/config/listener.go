package config

import (
	"time"

	"eyeq/engine"
)

// The listeners of the commands and the screen.
const (
	Ack  = "ack"
	Hold = "hold"
	Fail = "fail"
	Exec = "exec"
)

// Listener is a listener with what belongs to it.
type Listener struct {
	Name    string
	Command string        // of exec
	Timeout time.Duration // of one run of it; 0: consume_timeout
}

// Verdict is what the listener answers when it does not ask anybody.
func (l *Listener) Verdict(orderly bool) engine.Status {
	switch {
	case l.Name == Hold:
		return engine.Hold
	case l.Name != Fail:
		return engine.ConsumeSuccess
	case orderly:
		return engine.SuspendCurrentQueueAMoment
	}
	return engine.ReconsumeLater
}

// Listeners are all of them.
var Listeners = []string{Ack, Hold, Fail, Exec}
