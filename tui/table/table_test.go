package table

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
)

var columns = []Column{
	{ID: "name", Title: "name", Width: 6, Flex: 1, Max: 12, Fixed: true},
	{ID: "a", Title: "a", Width: 5, Right: true, Rank: 3},
	{ID: "b", Title: "b", Width: 5, Rank: 1, From: 60},
	{ID: "c", Title: "c", Width: 8, Rank: 2, Gap: 2},
	{ID: "rest", Title: "rest", Width: 4, Flex: 2},
}

func ids(l Layout) []string {
	var names []string
	for _, p := range l.Places {
		names = append(names, columns[p.Index].ID)
	}
	return names
}

func TestFitDropsByWidthThenByRank(t *testing.T) {
	tests := map[string]struct {
		width, view, skip int
		want              []string
		hidden            int
	}{
		"all fit":                             {80, 80, 0, []string{"name", "a", "b", "c", "rest"}, 0},
		"From hides b":                        {59, 59, 0, []string{"name", "a", "c", "rest"}, 1},
		"the highest rank goes":               {26, 26, 0, []string{"name", "c", "rest"}, 2},
		"then the next":                       {16, 16, 0, []string{"name", "rest"}, 3},
		"rank 0 stays":                        {5, 5, 0, []string{"name", "rest"}, 3},
		"scrolled, From counts no longer":     {40, 40, 1, []string{"name", "b", "c", "rest"}, 1},
		"scrolled, the rightmost gives way":   {18, 18, 1, []string{"name", "b"}, 3},
		"scrolled beyond all, the fixed stay": {40, 40, 9, []string{"name"}, 4},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l := Fit(columns, tt.width, tt.view, tt.skip)
			if diff := cmp.Diff(tt.want, ids(l)); diff != "" {
				t.Errorf("columns (-want +got):\n%s", diff)
			}
			if l.Hidden != tt.hidden {
				t.Errorf("%d hidden, want %d", l.Hidden, tt.hidden)
			}
		})
	}
}

func TestFitSharesWhatIsLeft(t *testing.T) {
	l := Fit(columns, 80, 80, 0)
	last := l.Places[len(l.Places)-1]
	if got := last.X + last.Width; got != 80 {
		t.Errorf("the last column ends at %d, want 80", got)
	}
	if got := l.WidthOf(columns, "name"); got != 12 {
		t.Errorf("name is %d wide, want its maximum 12", got)
	}
	if got := l.WidthOf(columns, "none"); got != 0 {
		t.Errorf("a column that is not there is %d wide", got)
	}
}

func TestRowsAreExactlyAsWideAsTheTable(t *testing.T) {
	texts := []string{"", "x", "a longer text than fits", "订单编号订单编号", "e\u0301e\u0301", "👩‍👩‍👧 family", "混ab合"}
	rnd := rand.New(rand.NewPCG(1, 2))
	style := Style{"\x1b[31m", "\x1b[0m"}
	for width := range 90 {
		l := Fit(columns, width, width, rnd.IntN(3))
		cells := make([]Cell, len(columns))
		for i := range cells {
			cells[i] = Cell{Text: texts[rnd.IntN(len(texts))], Style: style}
		}
		want := max(width, Gutter)
		for _, look := range []Look{{Cursor: "▸", Mark: " "}, {Cursor: " ", Mark: "●", Row: style}} {
			row := string(l.AppendRow(nil, columns, cells, look))
			if got := Width(ansi.Strip(row)); got != want {
				t.Errorf("width %d: the row is %d wide: %q", width, got, row)
			}
		}
		header := string(l.AppendHeader(nil, columns, Order{"a", true}, "↑", "↓", style))
		if got := Width(ansi.Strip(header)); width >= Gutter && got != width {
			t.Errorf("width %d: the header is %d wide: %q", width, got, header)
		}
	}
}

func TestCellsAreCutBeforeTheyAreStyled(t *testing.T) {
	got := string(AppendCell(nil, "paused by wang", 8, false, Style{"<", ">"}))
	if want := "<paused …>"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := string(AppendCell(nil, "订单编号", 4, false, Style{})), "订… "; got != want {
		t.Errorf("a wide character that does not fit: got %q, want %q", got, want)
	}
	if got, want := string(AppendCell(nil, "7", 3, true, Style{})), "  7"; got != want {
		t.Errorf("right: got %q, want %q", got, want)
	}
}

func TestHeadersCarryTheOrder(t *testing.T) {
	l := Fit(columns, 80, 80, 0)
	up := string(l.AppendHeader(nil, columns, Order{"c", false}, "↑", "↓", Style{}))
	if want := "c↑"; !strings.Contains(up, want) {
		t.Errorf("no %q in %q", want, up)
	}
}

func keys(n int) []int {
	k := make([]int, n)
	for i := range k {
		k[i] = i
	}
	return k
}

func TestTheCursorStaysOnItsRow(t *testing.T) {
	var s State[int]
	s.Resize(5)
	s.SetKeys(keys(20))
	s.MoveTo(7)
	s.SetKeys([]int{9, 8, 7, 6, 5})
	if got, _ := s.Current(); got != 7 {
		t.Errorf("the cursor is on %d, want 7", got)
	}
	s.SetKeys([]int{9, 8, 6, 5})
	if got, _ := s.Current(); got != 6 {
		t.Errorf("its row is gone: the cursor is on %d, want the next, 6", got)
	}
	s.SetKeys(nil)
	if _, ok := s.Current(); ok {
		t.Error("an empty table has a current row")
	}
	s.Move(3)
	s.ToggleMark()
	s.SetKeys([]int{1})
	if got, ok := s.Current(); !ok || got != 1 {
		t.Errorf("after being empty the cursor is on %d, %v", got, ok)
	}
}

func TestTheWindowHoldsTheCursor(t *testing.T) {
	var s State[int]
	s.Resize(5)
	s.SetKeys(keys(20))
	for i, step := range []func(){
		func() { s.Move(1) }, func() { s.Page(1, false) }, func() { s.Page(1, true) }, func() { s.MoveTo(19) },
		func() { s.Move(-1) }, func() { s.Resize(2) }, func() { s.MoveTo(0) }, func() { s.Page(-1, false) }, func() { s.Resize(30) },
	} {
		step()
		first, end := s.Window()
		if c := s.Cursor(); c < first || c >= end {
			t.Errorf("step %d: cursor %d is outside %d … %d", i, c, first, end)
		}
	}
	if first, end := s.Window(); first != 0 || end != 20 {
		t.Errorf("a window larger than the rows shows %d … %d", first, end)
	}
}

func TestFollowKeepsTheLastRow(t *testing.T) {
	s := State[int]{Follow: true}
	s.Resize(3)
	s.SetKeys(keys(4))
	s.SetKeys(keys(9))
	if got, _ := s.Current(); got != 8 {
		t.Errorf("following, the cursor is on %d, want 8", got)
	}
}

func TestMarks(t *testing.T) {
	var s State[int]
	s.Resize(10)
	s.SetKeys(keys(10))
	s.MoveTo(2)
	s.ToggleMark()
	s.MoveTo(5)
	s.MarkRange()
	if diff := cmp.Diff([]int{2, 3, 4, 5}, s.Marked()); diff != "" {
		t.Errorf("a range (-want +got):\n%s", diff)
	}
	s.MoveTo(3)
	s.ToggleMark()
	s.SetKeys([]int{5, 4, 9}) // a filter hides the others; what is not seen is not marked
	if diff := cmp.Diff([]int{5, 4}, s.Marked()); diff != "" {
		t.Errorf("after a filter (-want +got):\n%s", diff)
	}
	if !s.ClearMarks() || s.ClearMarks() {
		t.Error("ClearMarks must say whether there were any")
	}
	s.MarkRange()
	if s.MarkCount() != 1 {
		t.Errorf("a range without a beginning marks %d rows, want 1", s.MarkCount())
	}
	s.ClearMarks()
	s.MarkAll(func(i int) bool { return i != 1 })
	if diff := cmp.Diff([]int{5, 9}, s.Marked()); diff != "" {
		t.Errorf("all but the second (-want +got):\n%s", diff)
	}
}

func TestNextOrderGoesRound(t *testing.T) {
	var s State[int]
	var got []string
	for range 4 {
		s.NextOrder([]string{"lag", "name", "state"})
		got = append(got, s.Order.Column)
	}
	if want := "[lag name state lag]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func BenchmarkRow(b *testing.B) {
	l := Fit(columns, 118, 120, 0)
	cells := []Cell{{Text: "broker-a/3"}, {Text: "31,220"}, {Text: "b"}, {Text: "███▒▒···"}, {Text: "FLOW span"}}
	dst := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		dst = l.AppendRow(dst[:0], columns, cells, Look{Cursor: " ", Mark: " "})
	}
}

func TestAWindowOfNoRowsIsEmpty(t *testing.T) {
	var s State[int]
	for _, n := range []int{0, 1, 5} {
		s.Resize(0)
		s.SetKeys(keys(n))
		s.MoveTo(n)
		if first, end := s.Window(); first != end || end > n {
			t.Errorf("%d rows in no room: %d … %d", n, first, end)
		}
	}
}

func TestNamesAreCutInTheMiddle(t *testing.T) {
	tests := map[string]struct {
		name  string
		width int
		want  string
	}{
		"it fits":               {"orders", 6, "orders"},
		"its end stays":         {"com.example.order-settle-east", 16, "com.exa…tle-east"},
		"an odd width":          {"com.example.order-settle-east", 15, "com.exa…le-east"},
		"no room for two parts": {"com.example", 4, "com…"},
		"wide characters":       {"订单编号订单编号", 9, "订单…编号"},
		"nothing":               {"orders", 0, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := CutMiddle(tt.name, tt.width); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	cols := []Column{{Width: 9}, {Width: 9}}
	l := Fit(cols, 2+9+1+9, 21, 0)
	row := string(l.AppendRow(nil, cols, []Cell{{Text: "orders-settle-1", Name: true}, {Text: "timeout after 3s"}}, Look{Cursor: " ", Mark: " "}))
	if want := "  orde…le-1 timeout …"; row != want {
		t.Errorf("got %q, want %q: names by their middle, what is to be read by its end", row, want)
	}
}
