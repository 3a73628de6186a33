package live

import "eyeq/engine"

// HeldMsg is the head of a queue's cache.
type HeldMsg struct {
	MQ   engine.MessageQueue
	Rows []HeldRow
	err  string
	Poll int
}

// LogMsg are lines of the program's log.
type LogMsg struct {
	lines []string
	Poll  int
}

// PictureMsg is what a view is to show from now on.
type PictureMsg struct{ Picture }
