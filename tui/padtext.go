package tui

import "eyeq/tui/table"

func pad(s string, width int) string {
	for table.Width(s) < width {
		s += " "
	}
	return s
}

func padLeft(s string, width int) string {
	for table.Width(s) < width {
		s = " " + s
	}
	return s
}
