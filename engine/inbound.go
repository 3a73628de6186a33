package engine

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// Inbound receives the brokers' requests of one client (40, 220, 221, 307, 309)
// and hands them to its engine. It exists before the client, which needs it as
// Handler, and serves one engine.
type Inbound struct{ engine atomic.Pointer[Engine] }

// NewInbound makes the handler to be given to remoting.NewClient and to New.
func NewInbound() *Inbound { return &Inbound{} }

// Connected and Disconnected tell the engine of the client's connections.
func (i *Inbound) Connected(addr string) {
	if e := i.engine.Load(); e != nil {
		e.inbox.put(connected{addr, time.Now()})
	}
}

// Disconnected is the other half of Connected.
func (i *Inbound) Disconnected(addr string) {
	if e := i.engine.Load(); e != nil {
		e.inbox.put(disconnected{addr})
	}
}

// HandleRequest answers or passes on one request. It returns soon: what takes
// time happens on a goroutine of the engine.
func (i *Inbound) HandleRequest(conn *remoting.Conn, req protocol.Command) {
	e := i.engine.Load()
	if e == nil {
		_ = conn.Respond(&req, fail("no consumer runs here"))
		return
	}
	switch protocol.RequestCode(req.Code) {
	case protocol.NotifyConsumerIDsChanged:
		e.events.publish(MembersChanged{At{Time: time.Now()}, conn.RemoteAddr()})
		e.inbox.put(wakeUp{"members"})
	case protocol.ResetConsumerClientOffset:
		e.onReset(conn, &req)
	case protocol.GetConsumerStatusFromClient:
		e.respond(conn, &req, e.onStatus)
	case protocol.GetConsumerRunningInfo:
		e.questions.put(question{conn, req, e.onRunningInfo})
	case protocol.ConsumeMessageDirectly:
		e.questions.put(question{conn, req, func(ctx context.Context, req *protocol.Command) ([]byte, error) {
			return e.onConsumeDirectly(ctx, conn, req)
		}})
	default:
		_ = conn.Respond(&req, answerOf(protocol.RequestCodeNotSupported, fmt.Sprintf("request type %d not supported", req.Code), nil))
	}
}

func answerOf(code protocol.ResponseCode, remark string, body []byte) *protocol.Command {
	return &protocol.Command{Code: int32(code), Remark: remark, Body: body, Language: protocol.LanguageGo, Version: protocol.Version}
}

func fail(remark string) *protocol.Command { return answerOf(protocol.SystemError, remark, nil) }

// respond answers with what f says and tells of it as an event.
func (e *Engine) respond(conn *remoting.Conn, req *protocol.Command, f func(*protocol.Command) ([]byte, error)) {
	body, err := f(req)
	resp, result := answerOf(protocol.Success, "", body), "SUCCESS"
	if err != nil {
		resp, result = fail(err.Error()), err.Error()
	}
	if e.tellsOf(req.Code) {
		e.events.publish(AdminRequest{At{Time: time.Now()}, req.Code, conn.RemoteAddr(), result})
	}
	_ = conn.Respond(req, resp) // a connection that is gone needs no answer
}

// offsetsToldEvery is how often at most it is told that somebody asked for the
// offsets: members that are given queues ask for them fifty times a second.
const offsetsToldEvery = time.Second

// tellsOf reports whether a request is to be told as an event. Several
// connections may ask at once.
func (e *Engine) tellsOf(code int32) bool {
	if protocol.RequestCode(code) != protocol.GetConsumerStatusFromClient {
		return true
	}
	last, at := e.offsetsTold.Load(), e.stamp(time.Now())
	return (last == 0 || at-last >= int64(offsetsToldEvery)) && e.offsetsTold.CompareAndSwap(last, at)
}

// question is a request whose answer takes time.
type question struct {
	conn   *remoting.Conn
	req    protocol.Command
	answer func(ctx context.Context, req *protocol.Command) ([]byte, error)
}

// maxQuestions is how many are answered at once. A listener that hangs holds the
// goroutine of its direct consumption, and whoever asks may ask again.
const maxQuestions = 16

// answerer answers questions until ctx ends, the leave included, so that nobody
// who asks a member that is going has to wait for his time to run out.
func (e *Engine) answerer(ctx context.Context) {
	var open atomic.Int32
	for {
		select {
		case <-e.questions.wake:
		case <-ctx.Done():
			return
		}
		for _, q := range e.questions.all() {
			if open.Load() >= maxQuestions {
				e.respond(q.conn, &q.req, func(*protocol.Command) ([]byte, error) {
					return nil, fmt.Errorf("this member answers %d requests already: try again later", maxQuestions)
				})
				continue
			}
			open.Add(1)
			e.guard(&e.calls, func() { // it may run the listener
				defer open.Add(-1)
				e.respond(q.conn, &q.req, func(req *protocol.Command) ([]byte, error) { return q.answer(ctx, req) })
			})
		}
	}
}

// notHere is the answer to a question about a group that has no member here.
func (e *Engine) notHere(group string) error {
	if group == e.o.Group {
		return nil
	}
	return fmt.Errorf("the consumer group <%s> does not exist in this client", group)
}

// onReset obeys request 220, the reset of 4.x brokers.
func (e *Engine) onReset(conn *remoting.Conn, req *protocol.Command) {
	var h protocol.ResetOffsetRequestHeader
	table, err := protocol.OffsetTable(nil), protocol.DecodeFields(req.ExtFields, &h)
	if err == nil {
		table, err = protocol.DecodeResetOffset(req.Body)
	}
	if err == nil {
		err = e.notHere(h.Group)
	}
	result := "SUCCESS"
	if err != nil {
		result = err.Error()
	} else {
		e.inbox.put(brokerReset{h.Topic, table})
	}
	e.events.publish(AdminRequest{At{Time: time.Now()}, req.Code, conn.RemoteAddr(), result})
}

// brokerReset resets those queues of a topic in a table that are ours; others
// are somebody else's. Pauses stay as they are (trap T14: Java resumes).
type brokerReset struct {
	topic string
	table protocol.OffsetTable
}

func (b brokerReset) apply(_ context.Context, c *coordinator) {
	for mq, offset := range b.table {
		if q := c.queues[mq]; q != nil && mq.Topic == b.topic && offset >= 0 {
			q.inbox.put(resetQueue{row: ResetRow{MessageQueue: mq, After: offset}, by: "broker", expect: Unknown})
		}
	}
}

// onStatus answers 221: the committed offsets in memory.
func (e *Engine) onStatus(req *protocol.Command) ([]byte, error) {
	var h protocol.ConsumerStatusRequestHeader
	if err := protocol.DecodeFields(req.ExtFields, &h); err != nil {
		return nil, err
	}
	table := protocol.OffsetTable{}
	if h.Group == e.o.Group {
		for _, q := range e.base.Load().own {
			if o := q.memory.Load(); o != Unknown && (h.Topic == "" || h.Topic == q.mq.Topic) {
				table[q.mq] = o
			}
		}
	}
	return protocol.EncodeConsumerStatus(table), nil
}
