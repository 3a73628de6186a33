package pages

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// brokersView is all brokers of the cluster and its name servers.
type brokersView struct {
	env   *page.Env
	w, h  int
	ask   page.Question[inspect.Brokers]
	panes page.Stack
	data  inspect.Brokers // safe to print
}

// NewBrokersView is the page of brokers and name servers.
func NewBrokersView(e *page.Env) brokersView {
	v := brokersView{env: e, ask: page.Question[inspect.Brokers]{Ask: page.All(page.Cluster.Brokers), Schedule: page.Schedule{What: "brokers", Every: page.BrokersEvery}}}
	v.panes = page.Stack{Env: e, List: []page.Lister[string]{
		{Env: e, Title: "Brokers", Orders: []string{"broker", "in/s", "out/s", "disk", "rtt"}, Rising: []string{"broker"}},
		{Env: e, Title: "Name servers"},
	}}
	v.panes.List[0].Order("broker")
	return v
}

// FilterText implements page.Page.
func (v brokersView) FilterText() string { return v.panes.FilterText() }

// Subject implements page.Page.
func (v brokersView) Subject() string { return "" }

var brokerColumns = []string{"in/s", "out/s", "disk", "rtt"}

// Narrow implements page.Page.
func (v brokersView) Narrow(text string) (page.Page, error) {
	err := v.panes.Narrow(text, [][]string{brokerColumns, {"rtt"}}[v.panes.Focus])
	if err == nil {
		v.arrange()
	}
	return v, err
}

// Status implements page.Page.
func (v brokersView) Status() page.Status {
	s := page.Status{Main: &v.ask.Schedule, Fine: words.Plural(len(v.data.Brokers), "broker") + " and " + words.Plural(len(v.data.Namesrv), "name server") + " answer"}
	for i := range v.data.Brokers {
		if b := &v.data.Brokers[i]; !b.Reachable {
			s.Health = draw.Styled(v.env.Theme.Bad, fmt.Sprintf(" %s %s %s: %v", words.Failure.Sign(), brokerName(b), b.Address, b.Why))
			return s
		}
	}
	for i := range v.data.Namesrv {
		if n := &v.data.Namesrv[i]; !n.Reachable {
			s.Health = draw.Styled(v.env.Theme.Bad, fmt.Sprintf(" %s name server %s: %v", words.Failure.Sign(), n.Address, n.Why))
			return s
		}
	}
	if len(v.data.Brokers) == 0 && !v.ask.At.IsZero() { // a dead broker is not known to name servers any more
		s.Health = draw.Styled(v.env.Theme.Warn, " "+words.Warning.Sign()+" the name servers know no broker")
	}
	for i := range v.data.Brokers {
		if troubles := v.data.Brokers[i].Troubles(); len(troubles) > 0 && s.Health.Text == "" {
			s.Health = draw.Styled(v.env.Theme.Warn, fmt.Sprintf(" %s %s: %s", words.Warning.Sign(), brokerName(&v.data.Brokers[i]), troubles[0].Text))
		}
	}
	if part := page.Partial(v.env.Theme, v.data.Problems); part.Text != "" {
		s.Health = part
	}
	return s
}

// Update implements page.Page.
func (v brokersView) Update(msg any) (page.Page, page.Request) {
	switch msg := msg.(type) {
	case page.SizeMsg:
		v.w, v.h = msg.W, msg.H
		v.layout()
	case page.DueMsg:
		r := v.env.AskDue(&v.ask)
		return v, r
	case page.HurryMsg:
		v.ask.Hurried = true
		v.panes.List[0].Resort()
	case page.OrderMsg:
		if l := &v.panes.List[0]; !l.Order(msg.Column) {
			return v, page.RefuseRequest{Text: "sort: columns are " + strings.Join(l.Orders, ", ")}
		}
		v.arrange()
	case page.ClosedMsg:
		v.ask.Drop()
	case page.AnswerMsg:
		if _, safe, ok := v.ask.Take(msg, v.env.Now); ok {
			v.data = safe
			v.arrange()
		}
	case page.ActionMsg:
		return v.act(msg.Action)
	case page.ClickMsg, page.PointMsg:
		v.panes.Mouse(msg, 0, v.h)
	}
	return v, nil
}

func (v brokersView) act(a page.Action) (page.Page, page.Request) {
	switch a {
	case "escape":
		if !v.panes.Escape() {
			return v, page.BackRequest{}
		}
		v.arrange()
		return v, nil
	case "detail", "describe":
		return v, v.describe()
	case "copy", "copy-json":
		_, key, ok := v.panes.Current()
		if !ok {
			return v, page.RefuseRequest{Text: "there is nothing under the cursor to copy"}
		}
		if a == "copy" {
			return v, page.CopyRequest{Copied: page.Literal(key, key)}
		}
		if b := v.broker(key); b != nil && v.panes.Focus == 0 {
			return v, page.CopyRequest{Copied: v.rowsOf(v.panes.List[0].Targets()).Copied(draw.SafeText(b.Broker))}
		}
		return v, page.CopyRequest{Copied: page.JsonText(key, v.namesrv(key))}
	}
	v.panes.Act(a)
	if a == "sort" || a == "sort-reverse" {
		v.arrange()
	}
	return v, nil
}

// A row's key is its address: names repeat with each slave.
func (v *brokersView) broker(key string) *inspect.BrokerRow {
	i := slices.IndexFunc(v.data.Brokers, func(b inspect.BrokerRow) bool { return b.Address == key })
	if i < 0 {
		return nil
	}
	return &v.data.Brokers[i]
}

func (v *brokersView) namesrv(key string) *inspect.NamesrvRow {
	i := slices.IndexFunc(v.data.Namesrv, func(n inspect.NamesrvRow) bool { return n.Address == key })
	if i < 0 {
		return nil
	}
	return &v.data.Namesrv[i]
}

func (v *brokersView) arrange() {
	keys := make([]string, len(v.data.Brokers))
	for i := range keys {
		keys[i] = v.data.Brokers[i].Address
	}
	l := &v.panes.List[0]
	l.Arrange(keys, func(k string) bool {
		b := v.broker(k)
		return l.Filter.Matches(func() string {
			return strings.Join([]string{b.Broker, b.Address, b.Dialled, b.Version, b.Role, b.Cluster}, "\n")
		},
			func(column string) (float64, bool) { return brokerValue(b, column) })
	}, func(x, y string, o page.Ordering) int {
		a, b := v.broker(x), v.broker(y)
		if o.Column == "broker" {
			return page.Directed(strings.Compare(brokerName(a), brokerName(b)), o)
		}
		m, known := brokerValue(a, o.Column)
		n, also := brokerValue(b, o.Column)
		return page.CompareKnown(m, known, n, also, o)
	})
	names := make([]string, len(v.data.Namesrv))
	for i := range names {
		names[i] = v.data.Namesrv[i].Address
	}
	servers := &v.panes.List[1]
	servers.Arrange(names, func(k string) bool {
		n := v.namesrv(k)
		return servers.Filter.Matches(func() string { return n.Address + "\n" + n.Dialled + "\n" + strings.Join(n.Differs, "\n") },
			func(column string) (float64, bool) {
				return float64(n.RTT.Milliseconds()), n.Reachable && column == "rtt"
			})
	}, nil)
	v.layout()
}

func brokerName(b *inspect.BrokerRow) string {
	if b.ID == 0 {
		return b.Broker
	}
	return b.Broker + "#" + strconv.FormatInt(b.ID, 10)
}

func brokerValue(b *inspect.BrokerRow, column string) (float64, bool) {
	switch column {
	case "in/s":
		return b.InTPS, b.Reachable
	case "out/s":
		return b.OutTPS, b.Reachable
	case "disk":
		return 100 * b.Disk, b.Reachable && b.Disk >= 0
	case "rtt":
		return float64(b.RTT.Milliseconds()), b.Reachable
	}
	return 0, false
}

// The columns of brokers.
const (
	colBroker = iota
	colBrokerRole
	colBrokerAddress
	colBrokerVersion
	colBrokerState
	colBrokerRTT
	colBrokerIn
	colBrokerOut
	colBrokerDisk
	colBrokerPerm
	colBrokerBehind
	colBrokerWait
	colBrokerUp
	colBrokerClock
)

func (v *brokersView) layout() {
	name, address := 10, 15
	for i := range v.data.Brokers {
		name = max(name, table.Width(brokerName(&v.data.Brokers[i])))
		address = max(address, table.Width(addressText(v.data.Brokers[i].Address, v.data.Brokers[i].Dialled)))
	}
	for i := range v.data.Namesrv {
		address = max(address, table.Width(addressText(v.data.Namesrv[i].Address, v.data.Namesrv[i].Dialled)))
	}
	behind := 99 // the first to go
	if slices.ContainsFunc(v.data.Brokers, func(b inspect.BrokerRow) bool { return b.ID != 0 }) {
		behind = 8
	}
	address = min(address, 43) // two of IPv4
	name = min(name, max(v.w/3, 18))
	v.panes.List[0].Columns = []table.Column{
		colBroker:        {ID: "broker", Title: "broker", Width: name, Flex: 1, Max: 40, Fixed: true},
		colBrokerRole:    {Title: "role", Width: 7, Gap: 2, Rank: 4},
		colBrokerAddress: {Title: "address", Width: address, Rank: 7},
		colBrokerVersion: {Title: "version", Width: 9, Rank: 5},
		colBrokerState:   {Title: "state", Width: 18, Flex: 3, Max: 40},
		colBrokerRTT:     {ID: "rtt", Title: "rtt", Width: 6, Right: true, Rank: 3},
		colBrokerIn:      {ID: "in/s", Title: "in/s", Width: 7, Right: true},
		colBrokerOut:     {ID: "out/s", Title: "out/s", Width: 7, Right: true},
		colBrokerDisk:    {ID: "disk", Title: "disk", Width: 5, Right: true},
		colBrokerPerm:    {Title: "perm", Width: 4, Gap: 2, Rank: 6},
		colBrokerBehind:  {Title: "behind", Width: 9, Right: true, Rank: behind},
		colBrokerWait:    {Title: "pull/send wait", Width: 14, Right: true, Rank: 10},
		colBrokerUp:      {Title: "up", Width: 7, Right: true, Rank: 9},
		colBrokerClock:   {Title: "clock", Width: 8, Right: true, Rank: 11},
	}
	v.panes.List[1].Columns = []table.Column{
		{Title: "address", Width: address, Max: max(address, 40), Fixed: true, Flex: 1},
		{Title: "state", Width: 10, Gap: 2, Flex: 2},
		{Title: "rtt", Width: 6, Right: true, Rank: 2},
		{Title: "", Width: 12, Gap: 2, Flex: 2, Rank: 1},
	}
}

func (v *brokersView) brokerCells(k string, cells []table.Cell) {
	b, th := v.broker(k), v.env.Theme
	text := func(i int, st draw.Style, format string, args ...any) {
		cells[i] = table.Cell{Text: fmt.Sprintf(format, args...), Style: st}
	}
	text(colBroker, th.Text, "%s", brokerName(b))
	text(colBrokerRole, th.Dim, "%s", strings.ToLower(b.Role))
	text(colBrokerAddress, th.Text, "%s", addressText(b.Address, b.Dialled))
	text(colBrokerVersion, th.Dim, "%s", strings.ReplaceAll(strings.TrimPrefix(words.OrUnknown(b.Version), "V"), "_", "."))
	if !b.Reachable {
		text(colBrokerState, th.Bad, "%s %v", words.Failure.Sign(), b.Why)
		for i := colBrokerRTT; i <= colBrokerClock; i++ {
			text(i, th.Dim, words.Unknown)
		}
		return
	}
	if troubles := b.Troubles(); len(troubles) == 0 {
		text(colBrokerState, th.Good, "✓ answers")
	} else {
		st := th.Warn
		if troubles[0].Severity == inspect.SeverityCritical {
			st = th.Bad
		}
		more := ""
		if n := len(troubles) - 1; n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		text(colBrokerState, st, "%s %s%s", words.Warning.Sign(), troubles[0].Text, more)
	}
	text(colBrokerRTT, th.Text, "%s", words.Span(b.RTT))
	text(colBrokerIn, th.Text, "%s", words.Short(b.InTPS))
	text(colBrokerOut, th.Text, "%s", words.Short(b.OutTPS))
	switch {
	case b.Disk < 0:
		text(colBrokerDisk, th.Warn, words.Unknown)
	case b.RefusesForDisk():
		text(colBrokerDisk, th.Bad, "%.0f%%", 100*b.Disk)
	case b.CleansDisk():
		text(colBrokerDisk, th.Warn, "%.0f%%", 100*b.Disk)
	default:
		text(colBrokerDisk, th.Text, "%.0f%%", 100*b.Disk)
	}
	switch perm := inspect.PermText(int32(b.Perm.Value)); {
	case !b.Perm.Known:
		text(colBrokerPerm, th.Dim, words.Unknown)
	case !b.Open():
		text(colBrokerPerm, th.Bad, "%s", perm)
	default:
		text(colBrokerPerm, th.Dim, "%s", perm)
	}
	switch {
	case b.ID == 0:
	case !b.Behind.Known:
		text(colBrokerBehind, th.Dim, words.Unknown)
	default:
		text(colBrokerBehind, th.Text, "%s", inspect.Bytes(b.Behind.Value))
	}
	text(colBrokerWait, th.Text, "%s / %s", words.Span(b.PullWait), words.Span(b.SendWait))
	text(colBrokerUp, th.Text, "%s", words.Since(b.Started, v.env.Now))
	switch {
	case !b.ClockKnown:
		text(colBrokerClock, th.Dim, words.Unknown)
	case b.ClockOff():
		text(colBrokerClock, th.Bad, "%s", apart(b.Clock))
	default:
		text(colBrokerClock, th.Text, "%s", apart(b.Clock))
	}
}

// apart is a difference of clocks with its sign.
func apart(d time.Duration) string {
	if d > 0 {
		return "+" + words.Span(d)
	}
	return words.Span(d)
}

func (v *brokersView) namesrvCells(k string, cells []table.Cell) {
	n, th := v.namesrv(k), v.env.Theme
	cells[0] = table.Cell{Text: addressText(n.Address, n.Dialled), Style: th.Text}
	if n.Reachable {
		cells[1] = table.Cell{Text: "✓ answers", Style: th.Good}
		cells[2] = table.Cell{Text: words.Span(n.RTT), Style: th.Text}
	} else {
		cells[1] = table.Cell{Text: words.Failure.Sign() + " " + n.Why.String(), Style: th.Bad}
		cells[2] = table.Cell{Text: words.Unknown, Style: th.Dim}
	}
	switch {
	case len(n.Differs) > 0:
		cells[3] = table.Cell{Text: words.Warning.Sign() + " announces otherwise: " + strings.Join(n.Differs, " "), Style: th.Warn}
	case n.Current:
		cells[3] = table.Cell{Text: "asked first", Style: th.Dim}
	}
}

// View implements page.Page.
func (v brokersView) View(w, h int) string {
	c := draw.NewCanvas(w, h)
	v.panes.Draw(c, h, func(i int) page.PaneText {
		l := &v.panes.List[i]
		if i == 1 {
			return page.PaneText{Details: l.Details(""), Cells: v.namesrvCells, Notes: l.NoMatch("name server")}
		}
		notes := v.ask.Lines(v.env)
		if lines := l.NoMatch("broker"); lines != nil {
			notes = lines
		} else if v.ask.Asked && notes == nil {
			notes = []string{"", "The name servers know no broker: none is running, or they are not this cluster's.", "  " +
				v.env.Keys.First("refresh") + " asks again"}
		}
		return page.PaneText{Details: l.Details(v.ask.Note(v.env)), Cells: v.brokerCells, Notes: notes}
	})
	c.Blank(h)
	return c.String()
}

// addressText is an address, with the one that is dialled instead of it.
func addressText(announced, dialled string) string {
	if dialled == "" {
		return announced
	}
	return announced + " → " + dialled
}

// describe is everything about the row under the cursor.
func (v *brokersView) describe() page.Request {
	pane, key, ok := v.panes.Current()
	if !ok {
		return nil
	}
	if pane == 1 {
		n := v.namesrv(key)
		lines := []string{"address    " + addressText(n.Address, n.Dialled), "reachable  " + yesNo(n.Reachable) + words.Because(n.Why.String()), "rtt        " + words.Span(n.RTT)}
		for _, d := range n.Differs {
			lines = append(lines, "announces otherwise than the first  "+d)
		}
		return page.TextRequest{Title: "Name server " + key, Lines: lines}
	}
	b := v.broker(key)
	lines := []string{"broker     " + brokerName(b), "cluster    " + b.Cluster, "address    " + addressText(b.Address, b.Dialled), "version    " + b.Version, "role       " + b.Role,
		"reachable  " + yesNo(b.Reachable) + words.Because(b.Why.String())}
	lines = append(append(lines, stateLines(b)...), "")
	for _, name := range slices.Sorted(maps.Keys(b.Info)) {
		lines = append(lines, draw.Pad(name, 34)+" "+b.Info[name])
	}
	return page.TextRequest{Title: "Broker " + brokerName(b), Lines: lines}
}

// stateLines are what a broker that answers is measured by, and what is wrong with it.
func stateLines(b *inspect.BrokerRow) []string {
	if !b.Reachable || b.Why.Kind != inspect.ReasonNone {
		return nil
	}
	perm := words.Unknown + words.Because(b.Perm.Why.String())
	if b.Perm.Known {
		perm = fmt.Sprintf("%s (brokerPermission=%d)", inspect.PermText(int32(b.Perm.Value)), b.Perm.Value)
	}
	l := &b.Limits
	disk := words.Unknown
	if b.Disk >= 0 {
		disk = fmt.Sprintf("%.0f%%", 100*b.Disk)
	}
	lines := []string{
		"perm       " + perm,
		fmt.Sprintf("disk       %s; from %.0f%% deletes at any hour what is over its time, from %.0f%% what is not, from %.0f%% takes no messages", disk, 100*l.DiskTidy, 100*l.DiskClean, 100*l.DiskRefuse),
		fmt.Sprintf("waits      pulls %s, refused from %s; sends %s, refused from %s", words.Span(b.PullWait), words.Span(l.PullWait), words.Span(b.SendWait), words.Span(l.SendWait)),
		fmt.Sprintf("page cache a write takes %s, sends are refused from %s", words.Span(b.PageCacheLock), words.Span(l.PageCacheLock)),
		"not stored " + words.NumberText(b.PutFailed) + " messages since its start" + words.Because(b.PutFailed.Why.String()),
	}
	if b.ID != 0 {
		behind := words.Unknown + words.Because(b.Behind.Why.String())
		if b.Behind.Known {
			behind = inspect.Bytes(b.Behind.Value) + " of its master's commit log"
		}
		lines = append(lines, "behind     "+behind)
	}
	for _, t := range b.Troubles() {
		lines = append(lines, words.Warning.Sign()+" "+t.Text)
	}
	return lines
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// Export are the brokers; of one that does not answer only its place is known.
func (v brokersView) Export() page.Export { return v.rowsOf(v.panes.List[0].List.Keys()) }

func (v brokersView) rowsOf(brokers []string) page.Export {
	x := page.Export{Name: "brokers", Columns: []string{"cluster", "broker", "broker_id", "address", "role", "version", "reachable", "in_tps", "out_tps", "disk"}}
	for _, k := range brokers {
		b := v.broker(k)
		cells := []any{b.Cluster, b.Broker, b.ID, b.Address, b.Role, b.Version, b.Reachable, nil, nil, nil}
		if b.Reachable {
			cells[7], cells[8] = b.InTPS, b.OutTPS
			if b.Disk >= 0 {
				cells[9] = b.Disk
			}
		}
		x.Rows = append(x.Rows, cells)
	}
	return x
}
