package page

// Typed remembers what was typed into a bar, the newest last.
type Typed struct{ lines []string }

const keepTyped = 50

// Add keeps a line, the newest last.
func (t *Typed) Add(line string) {
	if line == "" || len(t.lines) > 0 && t.lines[len(t.lines)-1] == line {
		return
	}
	t.lines = append(t.lines, line)
	if len(t.lines) > keepTyped {
		t.lines = t.lines[1:]
	}
}

// Back gives the n-th line from the end; n is at least 1.
func (t *Typed) Back(n int) (string, bool) {
	if n < 1 || n > len(t.lines) {
		return "", false
	}
	return t.lines[len(t.lines)-n], true
}
