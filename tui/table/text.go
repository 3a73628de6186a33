package table

// ellipsis ends a text that was cut.
const ellipsis = "…"

// Style is the pair of escape sequences put round a text; the zero value changes
// nothing.
type Style struct{ Open, Close string }

// Render puts the style round text.
func (s Style) Render(text string) string {
	if s.Open == "" || text == "" {
		return text
	}
	return s.Open + text + s.Close
}

// Append appends text in the style to dst.
func (s Style) Append(dst []byte, text string) []byte {
	if s.Open == "" || text == "" {
		return append(dst, text...)
	}
	dst = append(dst, s.Open...)
	dst = append(dst, text...)
	return append(dst, s.Close...)
}

// Width is the number of cells to keep for text: the sum of its characters' Room.
func Width(text string) int {
	for i := 0; i < len(text); i++ {
		if text[i] < ' ' || text[i] > '~' {
			n := 0
			for _, r := range text {
				n += Room(r)
			}
			return n
		}
	}
	return len(text)
}

// Cut shortens text to at most width cells, the last of which says that it was
// cut. The result may be a cell short when a wide character did not fit.
func Cut(text string, width int) string {
	switch {
	case width <= 0:
		return ""
	case Width(text) <= width:
		return text
	}
	return Head(text, width-1) + ellipsis
}

// CutMiddle shortens a name to at most width cells by its middle: names with a long
// common beginning are told apart by their ends. The result may be short by wide
// characters that did not fit.
func CutMiddle(name string, width int) string {
	n := Width(name)
	if n <= width || width < 5 {
		return Cut(name, width)
	}
	tail := width / 2
	return Head(name, width-1-tail) + ellipsis + Tail(name, n-tail)
}

// Head is the beginning of text that fits into width cells, without a sign that it
// was cut. What is written as one stays together: a letter and its marks, an emoji
// and its skin tone.
func Head(text string, width int) string {
	for i := 0; i < len(text); {
		n, cells := first(text[i:])
		if width -= cells; width < 0 {
			return text[:i]
		}
		i += n
	}
	return text
}

const spaces = "                                                                                                                                "

// AppendSpaces appends n blanks.
func AppendSpaces(dst []byte, n int) []byte {
	for n > len(spaces) {
		dst = append(dst, spaces...)
		n -= len(spaces)
	}
	if n > 0 {
		dst = append(dst, spaces[:n]...)
	}
	return dst
}

// AppendCell appends text in exactly width cells, cut or padded, then styled. The
// padding is styled too, so that a reversed row has no holes.
func AppendCell(dst []byte, text string, width int, right bool, style Style) []byte {
	if width <= 0 {
		return dst
	}
	used := Width(text)
	if used > width {
		text = Cut(text, width)
		used = Width(text)
	}
	dst = append(dst, style.Open...)
	if right {
		dst = AppendSpaces(dst, width-used)
		dst = append(dst, text...)
	} else {
		dst = append(dst, text...)
		dst = AppendSpaces(dst, width-used)
	}
	return append(dst, style.Close...)
}

// Tail is text without its first n cells. What stays together is cut as a whole.
func Tail(text string, n int) string {
	i := 0
	for i < len(text) && n > 0 {
		size, cells := first(text[i:])
		i, n = i+size, n-cells
	}
	return text[i:]
}
