package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"eyeq/tui/draw"
	"eyeq/tui/live"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/tail"
	"eyeq/tui/words"
)

// Below this the screen is one status line a fact.
const (
	leastWidth  = 60
	leastHeight = 16
	// tabsFrom is the height from which there is a line of tabs.
	tabsFrom = 30
)

// bodyHeight is the room of a view: all but line 1, tabs, hints and status.
func (a *app) bodyHeight() int {
	n := a.h - 3
	if a.h >= tabsFrom {
		n--
	}
	return max(n, 0)
}

// draw makes the whole frame: exactly h lines of w cells.
func (a *app) draw() string {
	var frame string
	if a.tiny() {
		frame = a.drawTiny()
	} else {
		frame = a.drawFull()
	}
	if a.env.Options.ASCII {
		frame = draw.ToASCII(frame)
	}
	return frame
}

func (a *app) drawFull() string {
	c := draw.NewCanvas(a.w, a.h)
	a.drawHeader(c)
	if a.h >= tabsFrom {
		a.drawTabs(c)
	}
	body := a.bodyHeight()
	over := a.drawDialogs(a.w, body)
	lines := 0
	if over != "" {
		lines = strings.Count(over, "\n") + 1
	}
	c.B = append(c.B, head(a.drawView(a.w, body), body-lines)...)
	if lines > 0 {
		c.B = append(c.B, over...)
		c.B = append(c.B, '\n')
	}
	a.drawStatus(c, a.drawHint(c))
	return c.String()
}

// head is the first n lines of a drawing, with their newlines.
func head(drawing string, n int) string {
	end := 0
	for range n {
		i := strings.IndexByte(drawing[end:], '\n')
		if i < 0 {
			return drawing + "\n"
		}
		end += i + 1
	}
	return drawing[:end]
}

func (a *app) drawView(w, h int) string {
	if p := a.page(); p != nil {
		return p.View(w, h)
	}
	switch a.shown {
	case page.ViewQueue:
		return a.queue.View(w, h)
	case page.ViewEvents:
		return a.events[a.cur].View(w, h)
	case page.ViewLog:
		return a.log.View(w, h)
	}
	return a.live[a.cur].View(w, h)
}

// drawDialogs draws the topmost dialog that has a drawing.
func (a *app) drawDialogs(w, h int) string {
	for _, d := range slices.Backward(a.dialogs) {
		if drawing := d.View(w, h); drawing != "" {
			return drawing
		}
	}
	return ""
}

// drawHeader is line 1: cluster, mode and group, always.
func (a *app) drawHeader(c *draw.Canvas) {
	th, s := a.env.Theme, a.picture().Scene
	wide := a.w >= 100
	gap := " "
	if wide {
		gap = "  "
	}
	left := []draw.Segment{draw.Styled(th.Bold, " eyeq "), draw.Styled(a.dot(), "● "), draw.Styled(th.Bold, draw.SafeText(words.OrUnknown(a.env.Options.Cluster))), draw.Styled(draw.Style{}, gap)}
	if m := a.env.ModeWord(); m != "" {
		left = append(left, draw.Styled(th.Mode, m), draw.Styled(draw.Style{}, gap))
	}
	if t := draw.SafeText(a.env.Options.Title); t != "" && t != draw.SafeText(a.env.Options.Cluster) {
		left = append(left, draw.Styled(th.Accent, t), draw.Styled(draw.Style{}, gap))
	}
	own := a.page() == nil && (len(a.engines) > 0 || a.watchedNow() != nil)
	if own {
		left = append(left, draw.Styled(draw.Style{}, " "), draw.Styled(th.Bold, a.groupName()))
		if n := a.consumers(); n > 1 && a.watchedNow() == nil {
			left = append(left, draw.Styled(th.Dim, fmt.Sprintf(" [%d/%d]", a.cur+1, n)))
		}
		left = append(left, a.holdText(gap)...)
	} else if p := a.page(); p != nil {
		left = append(left, draw.Styled(draw.Style{}, " "), draw.Styled(th.Bold, p.Subject()))
	}
	now := a.env.Now.In(a.env.Options.Location)
	if a.env.Mode == words.TimeUTC {
		now = now.UTC()
	}
	clock := "15:04:05 -07:00" // the zone of every time on the screen
	if a.w < 80 {
		clock = "15:04:05"
	}
	if !wide {
		if !own && a.watchedNow() != nil { // nobody asks for its picture now
			s = nil
		}
		c.Spread(left, append(brokersText(th, s), draw.Styled(th.Bold, now.Format(clock)+" ")))
		return
	}
	right := []draw.Segment{}
	switch {
	case own && a.watchedNow() != nil:
		if s != nil {
			left = append(left, draw.Styled(th.Dim, gap+a.watchTitle(s)))
		}
		right = append(right, brokersText(th, s)...)
		right = append(right, a.clusterText()...)
	case !own:
		right = append(right, a.clusterText()...)
	case s != nil:
		left = append(left, draw.Styled(th.Dim, gap+a.subscriptionText(s)))
		right = append(right, brokersText(th, s)...)
		right = append(right, a.namesrvText(s)...)
	}
	c.Spread(left, append(right, draw.Styled(th.Bold, "   "+now.Format(clock)+" ")))
}

// dot is the style of the cluster's sign: its colour, unless what is shown gets no answer.
func (a *app) dot() draw.Style {
	if a.unanswered() {
		return a.env.Theme.Bad
	}
	return a.env.Theme.Cluster
}

// unanswered reports whether what is asked of the cluster for the shown view fails now.
func (a *app) unanswered() bool {
	if p := a.page(); p != nil {
		q := p.Status().Main
		return q.Tries > 0 && !q.Gone
	}
	if w := a.watchedNow(); w != nil {
		return w.Tries > 0 && !w.Gone
	}
	s := a.picture().Scene
	return s != nil && s.NamesrvError != ""
}

// holdText says how many messages wait for the operator.
func (a *app) holdText(gap string) []draw.Segment {
	s := a.picture().Scene
	if !a.env.Options.Hold || s == nil {
		return nil
	}
	n := s.Held()
	if n == 0 {
		return []draw.Segment{draw.Styled(a.env.Theme.Dim, gap+"holds nothing")}
	}
	return []draw.Segment{draw.Styled(draw.Style{}, gap), draw.Styled(a.env.Theme.Warn, "HOLDS "+words.Grouped(n))}
}

func (a *app) picture() live.Picture { return a.source().Picture(a.env.Now) }

func (a *app) groupName() string {
	s := a.picture().Scene
	name := draw.SafeText(a.source().Name)
	switch {
	case s == nil:
		return words.OrUnknown(name)
	case name == "" || name == s.Group:
		return s.Group
	case strings.HasPrefix(name, s.Group):
		return name
	}
	return s.Group + " (" + name + ")"
}

// subscriptionText says what kind of consumer this is and what it subscribes to.
func (a *app) subscriptionText(s *live.Scene) string {
	kind := "concurrent"
	if s.Orderly {
		kind = "orderly"
	}
	model := "cluster"
	if live.IsBroadcast(s) {
		model = "broadcast"
	}
	expression := ""
	if t, _ := a.live[a.cur].ShownTopic(); t != nil {
		expression = t.Expression
	}
	if expression == "" || expression == "*" {
		return model + "·" + kind + "·all tags"
	}
	return model + "·" + kind + "·tag " + table.Cut(expression, 30)
}

// brokersText counts the brokers that do not answer; nothing while all do.
func brokersText(th *draw.Theme, s *live.Scene) []draw.Segment {
	if s == nil {
		return nil
	}
	n := 0
	for i := range s.Brokers {
		if s.Brokers[i].Error != "" {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return []draw.Segment{draw.Styled(th.Bad, fmt.Sprintf("brokers %s down %d/%d", words.Failure.Sign(), n, len(s.Brokers))), draw.Styled(draw.Style{}, "  ")}
}

// namesrvText is the name server that answered last and its place in the list.
func (a *app) namesrvText(s *live.Scene) []draw.Segment {
	th := a.env.Theme
	n := slices.Index(s.Namesrv, s.NamesrvCurrent) + 1
	switch {
	case s.NamesrvError != "":
		return []draw.Segment{draw.Styled(th.Bad, fmt.Sprintf("ns %s down 0/%d", words.Failure.Sign(), len(s.Namesrv)))}
	case s.NamesrvCurrent == "":
		return []draw.Segment{draw.Styled(th.Dim, fmt.Sprintf("ns %s of %d", words.Unknown, len(s.Namesrv)))}
	}
	return []draw.Segment{draw.Styled(th.Text, "ns "+strings.TrimSuffix(s.NamesrvCurrent, ":9876")), draw.Styled(th.Dim, fmt.Sprintf(" %d/%d", n, len(s.Namesrv)))}
}

func refreshText(d time.Duration) string {
	if d < time.Second {
		return words.Short(float64(time.Second)/float64(d)) + " Hz"
	}
	if d%time.Second == 0 {
		return "every " + words.Age(d)
	}
	return "every " + words.Span(d)
}

// stale is how old the newest figures are, when they are old.
func (a *app) stale() (time.Duration, bool) {
	s := a.source().Scene
	if s == nil {
		return 0, false
	}
	old := a.env.Now.Sub(s.At)
	if w := a.watchedNow(); w != nil {
		return old, old > w.StaleAfter()
	}
	return old, old > page.StaleAfter && !a.ended
}

// hintPair is a key and what it does.
type hintPair struct {
	name      page.Action
	key, word string
}

func (p *hintPair) width() int { return table.Width(p.key) + table.Width(p.word) + 3 }

// hintRank says which hints are shown where there is no room for all; their order on
// the line is the key table's.
var hintRank = []page.Action{"acknowledge", "refuse", "dead-letter", "mark-message", "detail", "resend", "pause", "reset", "filter", "freeze", "seek-time", "seek-offset", "queues", "next-match", "body-down", "hex", "next-error", "events", "live", "describe", "follow", "tail-here", "findings", "mark", "sort", "next-consumer", "next-topic", "down", "pause-all", "command", "groups", "tail", "lag", "topics", "brokers"}

// drawHint shows keys of the view from the key table, or what the dialog says. It
// gives the mode for the status line.
func (a *app) drawHint(c *draw.Canvas) (mode string) {
	if n := len(a.dialogs); n > 0 {
		return a.dialogs[n-1].Hint(c)
	}
	var middle, end []hintPair
	for i := range a.env.Keys.Bindings {
		b := &a.env.Keys.Bindings[i]
		if b.Hint == "" || b.Where&a.scope() == 0 || !a.env.Usable(b) {
			continue
		}
		p := hintPair{b.Name, a.env.Keys.First(b.Name), b.Hint}
		switch b.Name {
		case "down":
			p.key += "/" + a.env.Keys.First("up")
		case "next-topic":
			if s := a.picture().Scene; s == nil || len(s.Topics) < 2 {
				continue
			}
		case "live":
			if a.shown == page.ViewLive || a.shown == page.ViewQueue || a.shown == page.ViewWatch || a.page() != nil && a.h >= tabsFrom { // back, or a tab, leads there
				continue
			}
		case "resend":
			if v, ok := a.page().(tail.View); !ok || v.Group == "" {
				continue
			}
		case "next-match":
			if v, ok := a.page().(tail.View); !ok || tail.Needle(v.Want) == nil {
				continue
			}
		case "lag", "groups", "topics", "brokers", "tail":
			if a.page() == nil || a.h >= tabsFrom { // the tabs say it
				continue
			}
		case "events":
			if a.shown == page.ViewEvents || a.page() != nil && a.h >= tabsFrom {
				continue
			}
		case "detail":
			if a.shown == page.ViewGroups {
				p.word = "live"
			}
		case "back":
			if a.shown == a.top() {
				p.word = "leave"
			}
		}
		if b.Name == "help" || b.Name == "back" {
			end = append(end, p)
		} else {
			middle = append(middle, p)
		}
	}
	room := a.w
	for _, p := range end {
		room -= p.width()
	}
	shown := make([]bool, len(middle))
	for _, name := range hintRank {
		if i := slices.IndexFunc(middle, func(p hintPair) bool { return p.name == name }); i >= 0 && middle[i].width() <= room {
			shown[i] = true
			room -= middle[i].width()
		}
	}
	for i, p := range append(middle, end...) {
		if i < len(middle) && !shown[i] {
			continue
		}
		c.Put(draw.Style{}, " ")
		c.Put(a.env.Theme.Key, p.key)
		c.Put(a.env.Theme.Dim, " "+p.word+" ")
	}
	c.End()
	if p := a.page(); a.frozen() || p != nil && !p.Status().Frozen.IsZero() {
		return "FROZEN"
	}
	if a.page() != nil && a.env.ReadOnly() {
		return "READ-ONLY"
	}
	return "NORMAL"
}
