package draw

import "eyeq/tui/table"

// Pad fills text up to width cells with blanks at its end.
func Pad(s string, width int) string {
	for table.Width(s) < width {
		s += " "
	}
	return s
}

// PadLeft fills it up at its beginning.
func PadLeft(s string, width int) string {
	for table.Width(s) < width {
		s = " " + s
	}
	return s
}
