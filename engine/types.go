package engine

import "eyeq/remoting/protocol"

// The nouns of the protocol that callers of the engine need.
type (
	// MessageQueue names one queue of a topic on one broker.
	MessageQueue = protocol.MessageQueue
	// Message is a delivered message: a read-only view, safe to keep.
	Message = protocol.MessageExt
	// MessageModel is Clustering or Broadcasting.
	MessageModel = protocol.MessageModel
	// ConsumeFromWhere says where a group without committed offset starts.
	ConsumeFromWhere = protocol.ConsumeFromWhere
	// SubscriptionData is one topic with its filter.
	SubscriptionData = protocol.SubscriptionData
)
