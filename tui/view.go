package tui

import "eyeq/engine"

// place is a view of a consumer that can be gone back to.
type place struct {
	view   viewID
	source int
	mq     engine.MessageQueue // of the queue view
	group  string              // true name, of the pages about a group
	client string              // true client id, of a member's stack
	topic  string              // true name
}

// viewID names a view.
type viewID uint8

func (v viewID) scope() scope {
	return [views]scope{inLive, inQueue, inEvents, inLog, inGroups, inGroup, inLag, inTopics, inTopic, inBrokers, inWatch, inTail, inDoctor, inStack}[v]
}

const (
	viewLive viewID = iota
	viewQueue
	viewEvents
	viewLog
	viewGroups
	viewGroup
	viewLag
	viewTopics
	viewTopic
	viewBrokers
	viewWatch // any group live
	viewTail
	viewDoctor
	viewStack
	views
)
