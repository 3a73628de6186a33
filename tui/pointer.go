package tui

// clickMsg is a click on a line of a view, counted from its first.
type clickMsg struct{ x, y int }

// pointMsg asks a view to take what lies at a place for what keys are about.
type pointMsg struct{ x, y int }

// under is what the wheel would move.
type under uint8

const (
	overRows under = iota
	overText       // that scrolls by itself below or beside its row
)

// pointed is a page that has text with the rows.
type pointed interface{ under(x, y int) under }
