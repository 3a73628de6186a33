package table

import "slices"

// Order is the column that rows are sorted by.
type Order struct {
	Column     string
	Descending bool
}

// State is where the operator is in a table: the cursor, the window, marks and the
// order. Everything hangs on the rows' keys, never on their numbers. The zero value
// is an empty table.
type State[K comparable] struct {
	Order Order
	// Left is how many columns are scrolled out at the left.
	Left int
	// Follow keeps the cursor on the last row while rows are added.
	Follow bool

	keys    []K
	cursor  int
	top     int
	rows    int // of the window
	marks   map[K]struct{}
	anchor  K // where the last mark was set
	anchors bool
}

// SetKeys replaces the rows: the keys in the order in which they are shown. The
// cursor stays on its row; when that row is gone it stays at its place. The slice
// is kept.
func (s *State[K]) SetKeys(keys []K) {
	key, had := s.Current()
	s.keys = keys
	if had && !s.Follow {
		if i := slices.Index(keys, key); i >= 0 {
			s.top += i - s.cursor // the row keeps its line where possible
			s.cursor = i
		}
	}
	if s.Follow {
		s.cursor = len(keys) - 1
	}
	s.clamp()
}

// Resize says how many rows are visible.
func (s *State[K]) Resize(rows int) {
	s.rows = max(rows, 0)
	s.clamp()
}

// clamp keeps the cursor in the rows and the window round the cursor.
func (s *State[K]) clamp() {
	s.cursor = max(min(s.cursor, len(s.keys)-1), 0)
	s.top = min(s.top, len(s.keys)-s.rows, s.cursor)
	s.top = max(s.top, s.cursor-max(s.rows, 1)+1, 0)
}

// Len is the number of rows.
func (s *State[K]) Len() int { return len(s.keys) }

// Key is the key of row i.
func (s *State[K]) Key(i int) K { return s.keys[i] }

// Keys are all rows in order; not to be changed.
func (s *State[K]) Keys() []K { return s.keys }

// Window gives the visible rows: first … end-1.
func (s *State[K]) Window() (first, end int) {
	first = min(s.top, len(s.keys)) // in a window of no rows the cursor is beyond its end
	return first, min(first+s.rows, len(s.keys))
}

// Cursor is the row number of the cursor.
func (s *State[K]) Cursor() int { return s.cursor }

// Current is the row under the cursor; ok is false in an empty table.
func (s *State[K]) Current() (key K, ok bool) {
	if s.cursor < 0 || s.cursor >= len(s.keys) {
		return key, false
	}
	return s.keys[s.cursor], true
}

// Move moves the cursor by n rows.
func (s *State[K]) Move(n int) { s.MoveTo(s.cursor + n) }

// MoveTo moves the cursor to row i, or as near as there is.
func (s *State[K]) MoveTo(i int) {
	s.cursor = i
	s.clamp()
}

// Page moves the cursor by pages; half ones when half is set.
func (s *State[K]) Page(n int, half bool) {
	size := s.rows
	if half {
		size /= 2
	}
	s.Move(n * max(size, 1))
}

// Select moves the cursor to a row by its key.
func (s *State[K]) Select(key K) bool {
	i := slices.Index(s.keys, key)
	if i < 0 {
		return false
	}
	s.MoveTo(i)
	return true
}

// ToggleMark marks the row under the cursor, or takes its mark away.
func (s *State[K]) ToggleMark() {
	key, ok := s.Current()
	if !ok {
		return
	}
	if _, marked := s.marks[key]; marked {
		delete(s.marks, key)
		return
	}
	s.mark(key)
	s.anchor, s.anchors = key, true
}

// MarkRange marks all rows from the last mark to the cursor.
func (s *State[K]) MarkRange() {
	from := slices.Index(s.keys, s.anchor)
	if !s.anchors || from < 0 {
		s.ToggleMark()
		return
	}
	for i := min(from, s.cursor); i <= max(from, s.cursor) && i < len(s.keys); i++ {
		s.mark(s.keys[i])
	}
}

// MarkAll marks all rows that which chooses by their number.
func (s *State[K]) MarkAll(which func(i int) bool) {
	for i, k := range s.keys {
		if which(i) {
			s.mark(k)
		}
	}
}

func (s *State[K]) mark(key K) {
	if s.marks == nil {
		s.marks = make(map[K]struct{})
	}
	s.marks[key] = struct{}{}
}

// IsMarked reports whether a row is marked.
func (s *State[K]) IsMarked(key K) bool {
	_, ok := s.marks[key]
	return ok
}

// MarkCount is how many rows are marked.
func (s *State[K]) MarkCount() int { return len(s.marks) }

// Marked gives the marked rows that are shown, in order.
func (s *State[K]) Marked() []K {
	var marked []K
	for _, k := range s.keys {
		if s.IsMarked(k) {
			marked = append(marked, k)
		}
	}
	return marked
}

// ClearMarks takes all marks away and reports whether there were any.
func (s *State[K]) ClearMarks() bool {
	had := len(s.marks) > 0
	clear(s.marks)
	s.anchors = false
	return had
}

// NextOrder sorts by the column after the present one, of those given.
func (s *State[K]) NextOrder(ids []string) {
	if len(ids) == 0 {
		return
	}
	i := slices.Index(ids, s.Order.Column)
	s.Order.Column = ids[(i+1)%len(ids)]
}
