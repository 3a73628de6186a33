package tui

import "eyeq/engine"

// heldMsg is the head of a queue's cache.
type heldMsg struct {
	mq   engine.MessageQueue
	rows []heldRow
	err  string
	poll int
}

// logMsg are lines of the program's log.
type logMsg struct {
	lines []string
	poll  int
}

// pictureMsg is what a view is to show from now on.
type pictureMsg struct{ picture }
