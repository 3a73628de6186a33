package tui

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"eyeq/engine/inspect"
	"eyeq/tui/page"
	"eyeq/tui/pages"
)

func TestPagesAreSaved(t *testing.T) {
	tests := []struct {
		keys, file string
		lines      int // 0: not counted
		want       []string
	}{
		{"", "groups.csv", 10, []string{"group,state,members,total_lag,total_lag_error,", "secrets,denied,,,", "order-settle,offline,0,409310,unreachable: broker-c: i/o timeout"}},
		{"", "groups.json", 0, []string{`"group": "audit-copy"`, `"total_lag": 312`, `"total_lag": null`, `"group": "订单结算-消费组"`}},
		{"2", "lag.csv", 8, []string{"topic,broker,queue,min_offset,", "orders-paid,broker-a,3,11020000,18204551,18263880,59329,",
			"orders-paid,broker-c,0,,,,,", "%RETRY%order-settle,broker-a,0,0,40112,40322,210,"}}, // of a closed topic
		{"5", "topics.csv", 4, []string{"topic,type,perm,queues,stored,last_stored,brokers", "orders-paid,NORMAL,RW-,16,14474481,"}},
		{"5 enter", "topic.csv", 4, []string{"topic,broker,queue,min_offset,", "orders-paid,broker-a,0,11018002,18252110,", "orders-paid,broker-a,2,,,,"}},
		{"d", "group.csv", 4, []string{"client_id,addresses,", memberB + ",10.0.4.22:50113 10.0.4.29:40001,GO,V4_9_7,,,"}},
		{"6", "brokers.csv", 5, []string{"cluster,broker,broker_id,address,", "DefaultCluster,broker-c,0,10.0.4.3:10911,,,false,,,"}},
	}
	for _, test := range tests {
		t.Run(test.file, func(t *testing.T) {
			d := driveCluster(t, 120, 36, defaultOptions(), fullCluster()).keys(strings.Fields(test.keys)...)
			got := savedTo(t, d, filepath.Join(t.TempDir(), test.file))
			if n := strings.Count(got, "\n"); test.lines != 0 && n != test.lines {
				t.Errorf("%d lines, want %d", n, test.lines)
			}
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q is missing", want)
				}
			}
			if t.Failed() {
				t.Log(got)
			}
		})
	}
}

func TestAFilterNarrowsWhatIsSaved(t *testing.T) {
	d := driveCluster(t, 120, 36, defaultOptions(), fullCluster()).keys("/").typing("audit").keys("enter")
	if got := savedTo(t, d, filepath.Join(t.TempDir(), "some.csv")); strings.Count(got, "\n") != 2 || !strings.Contains(got, "audit-copy") {
		t.Errorf("got:\n%s", got)
	}
}

// What is pasted into a ticket has the names of the commands' JSON, and is of the row.
func TestARowIsCopiedAsJSON(t *testing.T) {
	tests := map[string]struct{ keys, want string }{
		"a group":          {"Y", `{"group": "order-settle", "state": "offline", "members": 0, "total_lag": 409310, `},
		"marked groups":    {"v v Y", "[\n  {\"group\": \"order-settle\", "},
		"a topic":          {"5 Y", `{"topic": "inventory-sync", "type": "NORMAL", `},
		"a queue's lag":    {"2 j Y", `{"topic": "orders-paid", "broker": "broker-a", "queue": 3, "min_offset": 11020000, "committed_offset": 18204551, "max_offset": 18263880, "lag": 59329, "lag_error": null, `},
		"a topic's lag":    {"2 g Y", "[\n  {\"topic\": \"orders-paid\", "},
		"a member":         {"d Y", `{"client_id": "` + memberA + `", `},
		"a subscription":   {"d tab Y", `{"topic": "bonus", "type": "TAG", "agree": false, "broker": "paid", "members": {"`},
		"a field":          {"d tab tab Y", `{"field": "`},
		"a topic's queue":  {"5 j enter Y", `{"topic": "orders-paid", "broker": "broker-a", "queue": 0, "min_offset": 11018002, `},
		"a broker":         {"6 Y", `{"cluster": "DefaultCluster", "broker": "broker-a", `},
		"an unknown queue": {"2 Y", `"lag": null, "lag_error": "`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			driveCluster(t, 120, 36, copying(&out), fullCluster()).keys(strings.Fields(tt.keys)...).see("as JSON")
			got := pasted(t, &out, oscBegin, oscEnd)
			if !strings.Contains(got, tt.want) || !json.Valid([]byte(got)) {
				t.Errorf("copied %s\nwant %s", got, tt.want)
			}
		})
	}
}

// What is copied of a member is its true id, however it is shown.
func TestMembersAreCopiedByTheirTrueIDs(t *testing.T) {
	v := pages.NewGroupView(&page.Env{}, "g")
	v.RawWho.Members = []inspect.Member{{ClientID: "c\x1b1"}}
	v.Who.Members = []inspect.Member{{ClientID: "c␛1"}}
	v.Arrange()
	_, r := v.Act("copy")
	c, ok := r.(page.CopyRequest)
	if !ok {
		t.Fatalf("request %#v, want a copy", r)
	}
	if text, err := c.Text(); err != nil || text != "c\x1b1" {
		t.Errorf("copied %q, %v; want the true id", text, err)
	}
}
