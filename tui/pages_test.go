package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/go-cmp/cmp"

	"eyeq/engine/audit"
	"eyeq/engine/core"
	"eyeq/engine/inspect"
	"eyeq/tui/change"
	"eyeq/tui/page"
	"eyeq/tui/pages"
	"eyeq/tui/table"
	"eyeq/tui/tail"
	"eyeq/tui/words"
)

func TestKeysLeadThroughThePages(t *testing.T) {
	d := driveCluster(t, 120, 36, defaultOptions(), fullCluster())
	steps := []struct{ key, see string }{
		{"5", "[5 Topics]"}, {"enter", "[Topic]"}, {"q", "[5 Topics]"}, {"6", "[6 Brokers]"}, {"[", "[5 Topics]"}, {"]", "[6 Brokers]"}, {"-", "[5 Topics]"},
		{"4", "[4 Groups]"}, {"d", "[Group]"}, {"2", "[2 Lag]"}, {"esc", "[4 Groups]"}, {"7", "[7 Events]"}, {"q", "[4 Groups]"}, {"!", "[Log]"}, {"q", "[4 Groups]"},
	}
	for _, s := range steps {
		d.keys(s.key).see(s.see)
	}
	if d.quit {
		t.Error("one of them left")
	}
}

func TestEnginesHaveThePagesToo(t *testing.T) {
	o := defaultOptions()
	o.Inspect = fullCluster()
	d := drive(t, 120, 36, o, nil).see("[1 Live]").see("2 Lag").keys("4").see("[4 Groups]").keys("1").see("[1 Live]").keys("2").see("[2 Lag]").see("order-settle")
	d.keys("q").see("[4 Groups]").keys("q").see("[1 Live]")
	if d.quit {
		t.Error("q left from a page below the live view")
	}
	without := drive(t, 120, 36, defaultOptions(), nil).keys("4", "5", "6", "2").see("[1 Live]").miss("4 Groups")
	if without.a.shown != page.ViewLive {
		t.Error("a key of the cluster did something without one")
	}
}

func TestOneQuestionOfAKindAtATime(t *testing.T) {
	f := fullCluster()
	d := driveCluster(t, 120, 36, defaultOptions(), f).keys("2")
	v := d.a.page().(pages.LagView)
	if v.Ask.Asking || !v.Ask.Asked {
		t.Fatalf("the first answer is there: %+v", v.Ask)
	}
	d.a.env.Now = d.now.Add(3 * time.Second)
	p, r := d.a.page().Update(page.DueMsg{})
	if _, ok := r.(page.AsksRequest); !ok {
		t.Fatal("nothing is due after 3s")
	}
	if _, again := p.Update(page.DueMsg{}); again != nil {
		t.Error("a second question while one is on its way")
	}
	late := p.(pages.LagView)
	stop := late.Ask.Stop
	p, _ = p.Update(page.ClosedMsg{})
	select {
	case <-stop:
	default:
		t.Error("leaving the page does not give its question up")
	}
	p, _ = p.Update(page.AnswerMsg{Ticket: late.Ask.Ticket, Raw: inspect.GroupLag{}, Safe: inspect.GroupLag{}})
	if got := p.(pages.LagView); len(got.Data.Queues) == 0 {
		t.Error("an answer that was given up was taken")
	}
}

func TestTheLagPageFreezes(t *testing.T) {
	f := fullCluster()
	d := driveCluster(t, 120, 36, defaultOptions(), f).keys("2").see("18,263,880").keys("space").see("FROZEN")
	l := fixtureLag()
	l.Queues[1].Max.Value++
	f.lag = func(string) (inspect.GroupLag, error) { return l, nil }
	d.later(3 * time.Second).see("18,263,880").see("1 change waiting").keys("space").see("18,263,881").miss("FROZEN")
}

func TestResetOfAnyGroupNeedsEveryStep(t *testing.T) {
	f := fullCluster()
	var plans []inspect.ResetRequest
	var applied []inspect.ResetPlan
	plan, apply := f.planReset, f.applyReset
	f.planReset = func(r inspect.ResetRequest) (inspect.ResetPlan, error) { plans = append(plans, r); return plan(r) }
	f.applyReset = func(p inspect.ResetPlan) (inspect.ResetResult, error) { applied = append(applied, p); return apply(p) }
	var entries []audit.Entry
	var ends []error
	o := defaultOptions()
	o.AuditPath = "/state/audit.jsonl"
	o.Audit = func(e audit.Entry) (audit.Record, error) {
		entries = append(entries, e)
		return audit.Record{Done: func(_ any, err error) error { ends = append(ends, err); return nil }}, nil
	}
	d := driveCluster(t, 120, 36, o, f).keys("2", "R").see("nothing written yet").see("1 queue unknown: leave it out by hand")
	d.keys("enter")
	if len(applied) != 0 || len(d.a.dialogs) != 0 {
		t.Fatal("enter in a fresh dialog does not cancel")
	}
	d.keys("R", "tab", "tab", "left", "left", "enter", "tab", "tab", "down", "down", "down", "down", " ").see("left out")
	if last := plans[len(plans)-1]; len(last.Exclude) != 1 || last.Exclude[0] != mq("orders-paid", "broker-a", 4) {
		t.Errorf("the plan after leaving a queue out is of %+v", last)
	}
	d.keys("tab").typing("bad batch").keys("tab")
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("order-settle\n\n"), Paste: true})
	d.typing("\n").keys("enter", "enter")
	if len(applied) != 0 {
		t.Fatal("a paste applied")
	}
	for range len("order-settle") + 4 {
		d.keys("backspace")
	}
	d.typing("order-settle").keys("tab").see("Apply writes the offsets of 4 queues").see("/state/audit.jsonl")
	d.now = d.now.Add(31 * time.Second)
	d.keys("enter").see("the preview is older than 30s")
	d.keys("ctrl+r", "enter").see("3 of 4 verified").see("the broker refuses: no permission").see("order-settle.json")
	if len(applied) != 1 {
		t.Fatalf("applied %d times", len(applied))
	}
	want := inspect.ResetRequest{Group: "order-settle", Topics: []string{"orders-paid"}, Exclude: plans[len(plans)-1].Exclude}
	got := applied[0].Request
	if got.Target.Kind != core.ResetTime {
		t.Errorf("target %+v", got.Target)
	}
	got.Target = core.ResetTarget{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the request (-want +got):\n%s", diff)
	}
	if len(entries) != 1 || entries[0].Command != "group reset" || entries[0].Reason != "bad batch" || len(ends) != 1 || ends[0] == nil {
		t.Errorf("audit: %+v, ends %v: one line before, one after that says what failed", entries, ends)
	}
}

func TestNothingIsChangedThatCannotBeNoted(t *testing.T) {
	f := fullCluster()
	f.applyPause = func(inspect.PausePlan) (inspect.PauseResult, error) {
		t.Error("it was changed all the same")
		return inspect.PauseResult{}, nil
	}
	o := defaultOptions()
	o.Audit = func(audit.Entry) (audit.Record, error) { return audit.Record{}, errors.New("the disk is full") }
	driveCluster(t, 120, 36, o, f).keys(":").typing("pause").keys("enter", "tab", "tab").typing("order-settle").keys("tab", "enter").see("the disk is full")
}

func TestPausingAGroupAsksForItsName(t *testing.T) {
	f := fullCluster()
	var applied []inspect.PausePlan
	apply := f.applyPause
	f.applyPause = func(p inspect.PausePlan) (inspect.PauseResult, error) { applied = append(applied, p); return apply(p) }
	d := driveCluster(t, 120, 36, defaultOptions(), f).keys(":").typing("pause").keys("enter").see("PAUSE THE GROUP order-settle").see("is refused each pull")
	d.keys("tab", "tab").typing("order-settl").keys("tab", "enter").see("type the group's name")
	if len(applied) != 0 {
		t.Fatal("paused without the whole name")
	}
	d.keys("shift+tab").typing("e").keys("tab", "enter").see("paused, read back").see("no queue was pulled")
	if len(applied) != 1 || applied[0].Request != (inspect.PauseRequest{Group: "order-settle"}) {
		t.Errorf("applied %+v", applied)
	}
	d.keys("enter", ":").typing("resume audit-copy").keys("enter").see("RESUME THE GROUP audit-copy")
}

func TestReadOnlyChangesNothingAndSaysWhy(t *testing.T) {
	f := fullCluster()
	o := defaultOptions()
	o.Mode, o.ModeWhy = "read-only", "flag --read-only"
	d := driveCluster(t, 120, 36, o, f).keys("2").miss("R reset").keys("R").see("read-only (flag --read-only), nothing sent")
	d.keys(":").typing("reset").keys("enter").see("nothing sent").keys(":").typing("pause").keys("enter").see("nothing sent").keys(":").typing("resume x").keys("enter").see("nothing sent")
	for _, asked := range f.asked {
		if strings.Contains(asked, "plan") || strings.Contains(asked, "apply") {
			t.Errorf("asked %q", asked)
		}
	}
}

func TestTheCommandBarKnowsNames(t *testing.T) {
	o := defaultOptions()
	o.Clusters = []string{"dev", "prod-sh"}
	o.Switch = func(context.Context, string) (page.Options, error) { return page.Options{}, nil }
	f := fullCluster()
	d := driveCluster(t, 120, 36, o, f)
	tests := []struct{ line, see string }{
		{"lag audit-copy", "group audit-copy"}, {"group bonus", "[Group]"}, {"groups /^or", "order-settle"}, {"topics /paid", "orders-paid"}, {"topic orders-paid", "[Topic]"},
		{"brokers", "[6 Brokers]"}, {"sort disk", "sort disk"}, {"sort x", "sort: columns are"}, {"nope", "there is no command"}, {"cluster mars", "there is no cluster \"mars\""}, {"cluster", "which cluster? :cluster NAME"},
		{"groups /[", "missing closing ]"}, {"cluster prod-sh", "this is cluster prod-sh"},
	}
	for _, tt := range tests {
		d.keys(":").typing(tt.line).keys("enter").see(tt.see)
	}
	d.keys(":").typing("lag or").keys("tab").see(":lag order-settle").keys("enter").see("group order-settle").keys(":", "up").see(":lag order-settle").keys("esc")
}

func TestTailRequestsAreRead(t *testing.T) {
	d := driveCluster(t, 120, 36, defaultOptions(), fullCluster())
	got, err := d.a.parseTail(strings.Fields("orders @-15m q=broker-a/3 q=broker-b:0"))
	want := page.TailRequest{Topic: "orders", From: page.TailPosition{Time: fixtureNow.Add(-15 * time.Minute)}}
	want.Queues = append(want.Queues, mq("orders", "broker-a", 3), mq("orders", "broker-b", 0))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for text, want := range map[string]page.TailPosition{"earliest": {Earliest: true}, "latest": {}, "offset:1,200": {ByOffset: true, Offset: 1200}} {
		if got, err := tail.ParsePosition(d.a.env, text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"orders -15m", "orders @nonsense", "orders @15m", "orders q=3", "orders q=a/-1", "orders @offset:-2"} {
		if got, err := d.a.parseTail(strings.Fields(bad)); err == nil {
			t.Errorf("%q was read as %+v", bad, got)
		}
	}
}

// A paste of 10,000 characters is one edit and no key.
func TestALongPasteIsOneEdit(t *testing.T) {
	d := driveCluster(t, 120, 36, defaultOptions(), fullCluster()).keys("/")
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(strings.Repeat("q\n", 5000)), Paste: true})
	if d.quit || len(d.a.dialogs) != 1 {
		t.Error("a pasted line did something")
	}
	if n := len(d.a.filterText()); n > page.FieldLimit {
		t.Errorf("the filter took %d characters", n)
	}
	d.see("No group matches")
}

// Names of a hostile cluster reach the screen as pictures only, in every page.
func TestForeignNamesCannotMoveTheCursor(t *testing.T) {
	evil := "g\x1b]0;title\a\x1b[2J\u202e\u0085\xff\n"
	f := fullCluster()
	f.groups = func() (inspect.GroupList, error) {
		return inspect.GroupList{Groups: []inspect.GroupName{{Group: evil}}, Problems: []inspect.Problem{{What: evil, Where: evil, Why: inspect.Reason{Kind: inspect.ReasonFailed, Text: evil}}}}, nil
	}
	f.groupRows = func([]string) []inspect.GroupRow {
		return []inspect.GroupRow{{State: evil, Topics: []string{evil}, Kind: inspect.GroupKind(evil), Problems: []inspect.Problem{{What: evil}}}}
	}
	lag := fixtureLag()
	lag.Group, lag.State, lag.UnknownTopics = evil, evil, []string{evil}
	lag.Queues[0].Topic, lag.Queues[0].BrokerName, lag.Queues[0].Owners = evil, evil, []string{evil}
	f.lag = func(string) (inspect.GroupLag, error) { return lag, nil }
	detail := fixtureDetail()
	detail.Configs[0].Fields[evil] = evil
	detail.Subscriptions.Rows[0].Topic, detail.Subscriptions.Rows[0].Cells[0], detail.Subscriptions.Members[0] = evil, evil, evil
	f.group = func(string) (inspect.GroupDetail, error) { return detail, nil }
	members := fixtureMembers()
	members.Members[0].ClientID, members.Members[0].Addresses = evil, []string{evil}
	f.members = func(string) (inspect.Members, error) { return members, nil }
	brokers := fixtureBrokers()
	brokers.Brokers[0].Broker, brokers.Brokers[0].Info[evil] = evil, evil
	f.brokers = func() (inspect.Brokers, error) { return brokers, nil }
	f.planReset = func(r inspect.ResetRequest) (inspect.ResetPlan, error) {
		p := fixturePlan(r)
		p.Why, p.Rows[0].BrokerName, p.Rows[4].Why = evil, evil, evil
		p.Members = []inspect.MemberEffect{{ClientID: evil, Effect: evil}}
		return p, nil
	}
	for _, size := range [][2]int{{120, 36}, {80, 24}, {58, 14}} {
		d := driveCluster(t, size[0], size[1], defaultOptions(), f)
		for _, keys := range [][]string{{"a"}, {"2"}, {"enter", "esc"}, {"R"}, {"esc"}, {"j", "enter"}, {"esc"}, {"d"}, {"enter"}, {"esc", "tab", "enter"}, {"esc", "tab", "enter"}, {"esc", "6"}, {"enter"}, {"esc", "5"}, {"enter"}, {":"}, {"esc"}} {
			d.keys(keys...).lines()
		}
	}
}

// TestPagesAtAnySize: no size and no key makes a page panic or draw too much.
func TestPagesAtAnySize(t *testing.T) {
	for _, size := range [][2]int{{0, 0}, {1, 1}, {80, 1}, {80, 5}, {3, 40}, {59, 16}, {60, 15}, {60, 16}, {200, 60}} {
		d := driveCluster(t, 120, 36, defaultOptions(), fullCluster())
		d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		for _, k := range []string{"4", "G", "/", "x", "esc", "d", "tab", "z", "l", "$", "0", "q", "2", "v", "V", "s", "S", "R", "tab", "esc", "space", "5", "enter", "tab", "q", "6", "tab", "G", "enter", "esc", "?", "esc", ":", "esc"} {
			if d.keys(k); size[0] > 0 {
				d.lines()
			}
		}
	}
}

// An empty cluster has an empty state with a hint on each page.
func TestAnEmptyClusterSaysSo(t *testing.T) {
	d := driveCluster(t, 80, 24, defaultOptions(), &fakeCluster{}).see("No consumer group is known")
	d.keys("5").see("no topics yet").keys("6").see("! the name servers know no broker").keys(":").typing("lag g").keys("enter").see("No offset of this group is known")
	d.keys(":").typing("group g").keys("enter").see("the group is offline").keys(":").typing("topic t").keys("enter").see("no queue can be read")
}

// A page with several tables filters the one that the cursor is in, and esc takes that
// filter back.
func TestAFilterIsOfThePaneWithTheFocus(t *testing.T) {
	d := driveCluster(t, 120, 36, defaultOptions(), fullCluster()).keys("6").see("Name servers  2")
	d.keys("tab", "/").typing("nothing").keys("enter").see("No name server matches  /nothing").miss("No broker matches")
	d.keys("esc").miss("/nothing").see("Name servers  2").see("[6 Brokers]")
	d.keys("tab", "/").typing("nothing").keys("enter").see("No broker matches  /nothing").see("Name servers  2").keys("esc").miss("/nothing")
}

// Rows whose details are not read yet stand behind the others, whatever they are
// sorted by: the order must not depend on which two are compared first.
func TestUnreadRowsAreLast(t *testing.T) {
	v := pages.NewGroupsView(&page.Env{})
	entry := func(name string, row *inspect.GroupRow) *page.CatalogEntry[inspect.GroupRow] {
		return &page.CatalogEntry[inspect.GroupRow]{CatalogName: page.CatalogName{Name: name, Safe: name}, Lower: name, Row: row}
	}
	read, unread := entry("z", &inspect.GroupRow{State: "online"}), entry("a", nil)
	for _, column := range pages.GroupOrders {
		for _, falling := range []bool{false, true} {
			o := page.Ordering{Order: table.Order{Column: column, Descending: falling}}
			if n := v.CompareRows(read, unread, o); column != page.NameOrder && (n >= 0 || v.CompareRows(unread, read, o) <= 0) {
				t.Errorf("%+v puts a row that is not read first", o)
			}
		}
	}
}

// Nobody looks at a group: that nothing has happened would be a lie.
func TestEventsOfNobodySaySo(t *testing.T) {
	driveCluster(t, 80, 24, defaultOptions(), fullCluster()).keys("7").see("no group is watched").see(":live GROUP").miss("nothing has happened")
	driveCluster(t, 120, 36, defaultOptions(), fullCluster()).keys("7").miss("live 4 Hz").keys("!").see("live every 1s")
	drive(t, 80, 24, defaultOptions(), nil).keys("7").miss("no group is watched")
}

func TestADialogOfManyLinesSaysWhereItIs(t *testing.T) {
	d := driveCluster(t, 80, 24, defaultOptions(), fullCluster()).keys("6", "enter", "esc", "?").see("1-18 of ").keys("down").see("2-19 of ")
	d.keys("esc")
	var lines []string
	for i := range 50 {
		lines = append(lines, fmt.Sprintf("line %d", i+1))
	}
	d.a.push(page.TextDialog{Env: d.a.env, Title: "T", Lines: lines})
	d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	d.see("1-19 of 50").keys("pgdown").see("11-29 of 50").see("line 11 ").keys("G").see("32-50 of 50").see("line 32 ").keys("k").see("31-49 of 50").keys("G", "j").see("32-50 of 50").keys("g").see("1-19 of 50").keys("pgup").see("line 1 ")
}

// The last page of a text is full, however it is reached, also of one that got shorter.
func TestTheLastPageIsFull(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 20}} {
		d := driveCluster(t, size[0], size[1], defaultOptions(), fullCluster()).keys("?").see("1-")
		full := func() (n int) {
			for _, l := range d.lines() {
				if strings.HasPrefix(l, "┃ ") && strings.Trim(l, "┃ ") != "" {
					n++
				}
			}
			return n
		}
		first := full()
		for range 20 {
			d.keys("pgdown")
		}
		if last := full(); last < first-1 { // the text of a key may be of several lines
			t.Errorf("%v: the first page of keys has %d lines, the last %d", size, first, last)
		}
		before := d.frame()
		if d.keys("up").frame() == before {
			t.Errorf("%v: up from the end moves nothing", size)
		}
	}
	d := longFindings(t)
	d.keys("g")
	for range 60 {
		d.keys("J")
	}
	d.send(tea.WindowSizeMsg{Width: 200, Height: 60})
	v := d.a.pages[page.ViewDoctor].(pages.DoctorView)
	v.Top = 1 << 20
	if lines := strings.Split(v.View(200, 50), "\n"); strings.Trim(lines[len(lines)-2], "│ ") == "" {
		t.Errorf("scrolled beyond its end the text has blank lines:\n%s", strings.Join(lines, "\n"))
	}
}

func TestABlankTooManyCompletesAllTheSame(t *testing.T) {
	d := driveCluster(t, 120, 36, defaultOptions(), fullCluster()).keys(":").typing("lag").keys("tab").typing(" or").keys("tab").see(":lag order-settle")
	d.keys("enter").see("group order-settle")
}

// The line of the page says what is missing of the topic under the cursor: its row has
// no room for the reason.
func TestTopicsSayWhatIsMissing(t *testing.T) {
	f := fullCluster()
	whole := f.topicRows
	f.topicRows = func(topics []string) []inspect.TopicRow {
		rows := whole(topics)
		rows[0].Problems = []inspect.Problem{{What: "bounds of it", Where: "broker-b", Why: inspect.Reason{Kind: inspect.ReasonUnreachable, Text: "no connection in time"}}}
		return rows
	}
	d := driveCluster(t, 120, 36, defaultOptions(), f).keys("5")
	const want = "! partial: bounds of it from broker-b: unreachable: no connection in time"
	if !strings.Contains(d.frame(), want) {
		t.Errorf("no %q in\n%s", want, d.frame())
	}
	// Under another one it says that a row is not known in part: the page is not green.
	d.keys("j").miss("! partial: ").see("! 1 of 3 topics partial: bounds of it from broker-b").miss("✓ 3 topics")
}

// The title of a dialog says of whom it is and whether something was written, all of it,
// however long the names of the group and of the cluster are.
func TestDialogsHaveTheirWholeTitle(t *testing.T) {
	for _, name := range []string{"order-settle", "payments-settlement-east", "com.example.payments.settlement.order-consumer-with-a-very-long-name-east", strings.Repeat("订单", 60)} {
		for _, cluster := range []string{"prod-sh", "127.0.0.1:9876", "192.0.2.11:9876;192.0.2.12:9876;192.0.2.13:9876"} {
			o := defaultOptions()
			o.Cluster = cluster
			e := driveCluster(t, 80, 24, o, fullCluster()).a.env
			d, _ := change.NewPauseGroupDialog(e, name, false)
			view := d.View(80, 20)
			read := strings.Join(strings.FieldsFunc(view, func(r rune) bool { return strings.ContainsRune("┏┓┃━ \n", r) }), "")
			if want := "PAUSETHEGROUP" + name + "—nothingwrittenyet"; !strings.Contains(read, want) {
				t.Errorf("no %q on %s in\n%s", want, cluster, view)
			}
			for _, l := range strings.Split(view, "\n") {
				if table.Width(l) != 80 {
					t.Errorf("a line of %d cells: %q", table.Width(l), l)
				}
			}
			if got := strings.Count(view, "\n") + 1; got > 20 {
				t.Errorf("%d lines, more than the 20 there are", got)
			}
		}
	}
}

// What was deleted beneath its page is said to be gone, and nothing that was true of it
// is left to be read; q and esc lead back.
func TestPagesOfWhatWasDeletedShowNothingOfIt(t *testing.T) {
	pages := map[string]struct {
		keys, was, gone string
		drop            func(f *fakeCluster)
	}{
		"lag": {"2", "59,329", "there is no group order-settle", func(f *fakeCluster) {
			f.lag = func(g string) (inspect.GroupLag, error) {
				return inspect.GroupLag{}, &inspect.NotFoundError{Kind: "group", Name: g}
			}
		}},
		"frozen lag": {"2 space", "59,329", "there is no group order-settle", func(f *fakeCluster) {
			f.lag = func(g string) (inspect.GroupLag, error) {
				return inspect.GroupLag{}, &inspect.NotFoundError{Kind: "group", Name: g}
			}
		}},
		"group": {"d", "consumeEnable", "there is no group order-settle", func(f *fakeCluster) {
			f.group = func(g string) (inspect.GroupDetail, error) {
				return inspect.GroupDetail{}, &inspect.NotFoundError{Kind: "group", Name: g}
			}
			f.members = func(g string) (inspect.Members, error) {
				return inspect.Members{}, &inspect.NotFoundError{Kind: "group", Name: g}
			}
		}},
		"topic": {"5 enter", "18,252,110", "there is no topic ", func(f *fakeCluster) {
			f.topic = func(n string) (inspect.TopicDetail, error) {
				return inspect.TopicDetail{}, &inspect.NotFoundError{Kind: "topic", Name: n}
			}
		}},
	}
	for name, p := range pages {
		for _, back := range []string{"q", "esc"} {
			t.Run(name+" "+back, func(t *testing.T) {
				f := fullCluster()
				d := driveCluster(t, 120, 36, defaultOptions(), f).keys(strings.Fields(p.keys)...).see(p.was)
				p.drop(f)
				d.later(20 * time.Second).see(p.gone).see("not there").miss(p.was).miss("caught up").miss("lag ≥").miss("stored ≥")
				d.keys("j", "enter", "y", "Y", "G")
				d.later(20 * time.Second).see(p.gone)
				d.keys(back).miss("not there")
				if d.quit {
					t.Error("it left")
				}
			})
		}
	}
}

// Topics of a 4.x broker have no type; of one that could not be read it is not known.
func TestATopicWithoutAType(t *testing.T) {
	f := fullCluster()
	topic := f.topic
	f.topic = func(name string) (inspect.TopicDetail, error) {
		d, err := topic(name)
		d.Row.Type, d.Row.Static = "", false
		return d, err
	}
	for _, size := range sizes[1:] {
		driveCluster(t, size[0], size[1], defaultOptions(), f).keys("5", "enter").see("type –").miss("type ?")
	}
	for _, r := range []inspect.TopicRow{{}, {Perm: "RW-"}} {
		if got, want := pages.TopicType(&r), map[bool]string{true: words.Unknown, false: words.None}[r.Perm == ""]; got != want {
			t.Errorf("perm %q: %s, want %s", r.Perm, got, want)
		}
	}
}
