package words

import "eyeq/engine"

// FoldKey is what the feed folds by.
type FoldKey struct {
	mq    engine.MessageQueue
	topic string
	kind  string
	cause string
}

// FoldKey: what fails in the same way at several queues of a broker, and ends, is one
// line, since the cause is the broker.
func (r *EventRow) FoldKey() FoldKey {
	switch r.Event.(type) {
	case engine.PullError:
		return FoldKey{engine.MessageQueue{BrokerName: r.MQ.BrokerName}, "", r.Kind, r.Cause + " " + r.Reason}
	case engine.PullRecovered:
		return FoldKey{engine.MessageQueue{BrokerName: r.MQ.BrokerName}, "", r.Kind, r.Cause}
	}
	return r.watchFoldKey()
}
