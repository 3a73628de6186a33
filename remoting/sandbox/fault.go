package sandbox

import (
	"errors"
	"time"

	"eyeq/remoting/protocol"
)

// Request is what a fault hook sees.
type Request struct {
	Broker   string // "" at the name server
	BrokerID int64  // 0 is the master
	ClientID string // "" before the first heartbeat of the connection
	Remote   string
	Command  protocol.Command
}

// Fault is what a hook does to one request. The zero value lets it pass. Lose
// goes with Delay and Cut: what is executed is then not answered, or the
// connection closed after it; Cut alone executes nothing.
type Fault struct {
	Delay  time.Duration         // answer this much later
	Drop   bool                  // execute nothing, answer nothing
	Lose   bool                  // execute, but lose the answer
	Code   protocol.ResponseCode // answer with this code instead, when not Success
	Remark string
	Cut    bool // close the connection
}

var errCut = errors.New("cut by a fault")

// strike does to a request what the hook says, and reports whether it is still
// to be handled.
func (l *loop) strike(c *call, e *endpoint) bool {
	req := Request{ClientID: c.peer.clientID, Remote: c.peer.conn.RemoteAddr(), Command: c.command}
	if e.broker != nil {
		req.Broker, req.BrokerID = e.broker.name, e.broker.id
	}
	f := l.fault(req)
	c.delay, c.lose = f.Delay, f.Lose
	if f.Cut {
		c.peer.conn.CloseAsync(errCut)
		return f.Lose && !f.Drop
	}
	if f.Drop {
		return false
	}
	if f.Code != protocol.Success {
		l.reply(c, refuse(f.Code, f.Remark))
		return false
	}
	return true
}
