package tui

import "eyeq/engine"

// foldKey is what the feed folds by.
type foldKey struct {
	mq    engine.MessageQueue
	topic string
	kind  string
	cause string
}

// foldKey: what fails in the same way at several queues of a broker, and ends, is one
// line, since the cause is the broker.
func (r *eventRow) foldKey() foldKey {
	switch r.event.(type) {
	case engine.PullError:
		return foldKey{engine.MessageQueue{BrokerName: r.mq.BrokerName}, "", r.kind, r.cause + " " + r.reason}
	case engine.PullRecovered:
		return foldKey{engine.MessageQueue{BrokerName: r.mq.BrokerName}, "", r.kind, r.cause}
	}
	return r.watchFoldKey()
}
