package live

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/tui/page"
)

// holdRows keeps rows from jumping away under a cursor that is being moved.
const holdRows = time.Second

// Sortable are the columns of the order, as `s` goes through them.
var Sortable = []string{"lag", "queue", "own", "commit", "inflight", "msgs", "MiB", "idle", "state"}

// FilterColumns are those that `>column` compares.
var FilterColumns = []string{"lag", "commit", "max", "inflight", "span", "msgs", "done", "held", "MiB", "idle"}

// Refresh takes the rows of a new picture and sorts them by what they show in it;
// not while the cursor is being moved, unless asked or the queues are not the same.
func (v *View) Refresh(now bool) {
	s := v.pic.Scene
	follow := v.feed.Cursor() == 0
	v.lines = v.feedLines()
	v.feed.SetKeys(feedKeys(v.lines))
	if follow {
		v.feed.MoveTo(0)
	}
	if s == nil {
		v.Queues.SetKeys(nil)
		v.Members.SetKeys(nil)
		v.layout()
		return
	}
	if v.Topic != "" && !slices.ContainsFunc(s.Raw.Topics, func(t engine.TopicSnapshot) bool { return t.Topic == v.Topic }) {
		v.Topic = ""
		now = true
	}
	shown := make([]int, 0, len(s.Queues))
	v.hidden = 0
	total := 0
	for i := range s.Queues {
		if v.Topic != "" && s.Raw.Queues[i].Topic != v.Topic {
			continue
		}
		total++
		if v.passes(i) {
			shown = append(shown, i)
		}
	}
	v.hidden = total - len(shown)
	if now || v.env.Now.Sub(v.moved) >= holdRows || !v.sameRows(shown) {
		v.sort(shown, now)
	} else {
		v.Nearly = page.Misplaced(v.Queues.Order, v.inTable(), v.place)
	}
	var members []string
	if t, _ := v.ShownTopic(); t != nil {
		for i := range t.Members {
			members = append(members, t.Members[i].ClientID)
		}
	}
	v.Members.SetKeys(members)
	v.layout()
}

// sameRows reports whether exactly these rows are in the table already.
func (v *View) sameRows(shown []int) bool {
	if v.Queues.Len() != len(shown) {
		return false
	}
	in := 0
	for _, mq := range v.Queues.Keys() {
		i, ok := v.pic.Scene.Index[mq]
		if !ok {
			return false
		}
		if _, found := slices.BinarySearch(shown, i); found {
			in++
		}
	}
	return in == len(shown)
}

func (v *View) passes(i int) bool {
	s := v.pic.Scene
	q := &s.Queues[i]
	return v.Filter.Matches(
		func() string {
			return strings.Join([]string{q.Topic, q.Short(), q.Owner, q.State.String(), q.Detail}, "\n")
		},
		func(column string) (float64, bool) { return v.value(i, column) })
}

// value is what a row is sorted and filtered by.
func (v *View) value(i int, column string) (float64, bool) {
	q := &v.pic.Scene.Queues[i]
	known := func(n int64) (float64, bool) { return float64(n), n != engine.Unknown }
	own := func(n int64) (float64, bool) { return float64(n), q.Own }
	switch column {
	case "lag":
		lag, ok := LagOf(q)
		return float64(lag), ok
	case "commit":
		return known(q.CommittedOffset)
	case "max":
		return known(q.CachedMax)
	case "inflight":
		if !q.Own {
			return 0, false
		}
		return own(v.inFlight(i).Value)
	case "span":
		return own(q.Span)
	case "msgs":
		return own(q.CachedCount)
	case "done":
		return own(q.CachedDone)
	case "held":
		return own(q.Held)
	case "MiB":
		return float64(q.CachedBytes) / (1 << 20), q.Own
	case "idle":
		last := lastWork(q)
		return v.pic.Now.Sub(last).Seconds(), !last.IsZero()
	case "state":
		return float64(q.State), true
	}
	return 0, false
}

// absent reports whether a row has no such figure at all: caches of other members'
// queues are not unknown, they are not ours to know.
func (v *View) absent(i int, column string) bool {
	switch column {
	case "inflight", "span", "msgs", "MiB", "idle":
		return !v.pic.Scene.Queues[i].Own
	}
	return false
}

// compare orders two rows; what is not known is last in either direction.
func (v *View) compare(a, b int, order page.Ordering) int {
	s := v.pic.Scene
	c := 0
	switch order.Column {
	case "queue":
		c = cmp.Compare(a, b) // queues come sorted
	case "own":
		c = cmp.Compare(s.ownerLetter(&s.Queues[a]), s.ownerLetter(&s.Queues[b]))
	default:
		x, known := v.value(a, order.Column)
		y, alsoKnown := v.value(b, order.Column)
		switch {
		case known != alsoKnown && known:
			return -1
		case known != alsoKnown:
			return 1
		case known && !(order.Loose && page.Near(order.Column, x, y)):
			c = cmp.Compare(x, y)
		}
	}
	if order.Descending {
		return -c
	}
	return c
}

// failing reports whether a queue stands first when it is sorted by lag: the worst lag is
// one that nobody can tell.
func (v *View) failing(i int, column string) bool {
	s := v.pic.Scene
	if _, known := v.value(i, "lag"); s.Watch != nil && !known {
		return column == "lag" && !IsBroadcast(s)
	}
	return column == "lag" && s.Raw.Queues[i].State == engine.QueueError
}

// place orders two rows of the table; 0: nothing that it is sorted by tells them apart.
func (v *View) place(a, b int, o page.Ordering) int {
	if x, y := v.failing(a, o.Column), v.failing(b, o.Column); x != y {
		if x {
			return -1
		}
		return 1
	}
	if x, y := v.absent(a, o.Column), v.absent(b, o.Column); x != y { // last in either direction
		if x {
			return 1
		}
		return -1
	}
	n := v.compare(a, b, o)
	if x, known := v.value(a, o.Column); n == 0 && o.Loose && known {
		if y, also := v.value(b, o.Column); also && x == y { // queues that are all empty stand by their numbers
			return cmp.Compare(a, b)
		}
	}
	return n
}

// inTable are the rows that are in the table, in its order.
func (v *View) inTable() (rows []int) {
	for _, mq := range v.Queues.Keys() {
		if i, ok := v.pic.Scene.Index[mq]; ok {
			rows = append(rows, i)
		}
	}
	return rows
}

// sort sorts rows by what they show; unless that is asked for exactly, or it is time for
// it, those in the table keep their places while they are nearly right.
func (v *View) sort(shown []int, exactly bool) {
	s, order := v.pic.Scene, v.Queues.Order
	if exactly {
		v.Resort()
	}
	exactly = v.Begin(order, v.pic.Now)
	shown = page.InOrder(&v.SteadyOrder, exactly, shown, v.inTable(), func(a, b int, o page.Ordering) int {
		n := v.place(a, b, o)
		if o.Loose || o.Bare {
			return n
		}
		return cmp.Or(n, cmp.Compare(a, b))
	})
	keys := make([]engine.MessageQueue, len(shown))
	for i, n := range shown {
		keys[i] = s.Raw.Queues[n].MessageQueue
	}
	v.Queues.SetKeys(keys)
	if !v.chosen {
		// Nobody has chosen a row yet: the worst one is shown. The retry topic's queue is
		// rarely what a first key is meant for.
		v.Queues.MoveTo(0)
		v.Queues.MoveTo(max(slices.IndexFunc(shown, func(i int) bool { return !s.Queues[i].Retry }), 0))
	}
}
