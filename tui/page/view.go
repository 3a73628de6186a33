package page

import "eyeq/engine"

// Place is a view of a consumer that can be gone back to.
type Place struct {
	View   ViewID
	Source int
	Mq     engine.MessageQueue // of the queue view
	Group  string              // true name, of the pages about a group
	Client string              // true client id, of a member's stack
	Topic  string              // true name
}

// ViewID names a view.
type ViewID uint8

// Scope is which keys work in a view.
func (v ViewID) Scope() Scope {
	return [Views]Scope{inLive, inQueue, inEvents, inLog, inGroups, inGroup, inLag, inTopics, inTopic, inBrokers, inWatch, inTail, inDoctor, inStack}[v]
}

const (
	ViewLive ViewID = iota
	ViewQueue
	ViewEvents
	ViewLog
	ViewGroups
	ViewGroup
	ViewLag
	ViewTopics
	ViewTopic
	ViewBrokers
	ViewWatch // any group live
	ViewTail
	ViewDoctor
	ViewStack
	Views
)
