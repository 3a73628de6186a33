package page

// ClickMsg is a click on a line of a view, counted from its first.
type ClickMsg struct{ X, Y int }

// PointMsg asks a view to take what lies at a place for what keys are about.
type PointMsg struct{ X, Y int }

// Under is what the wheel would move.
type Under uint8

const (
	OverRows Under = iota
	OverText       // that scrolls by itself below or beside its row
)

// Pointed is a page that has text with the rows.
type Pointed interface{ Under(x, y int) Under }
