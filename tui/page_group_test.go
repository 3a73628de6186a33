package tui

import (
	"path/filepath"
	"strings"
	"testing"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
)

// A Go client that cannot write its running info is known by its status (223): what it
// reads at least is said, as the command says it.
func TestQueuesKnownByStatusAreOnThePage(t *testing.T) {
	f := fullCluster()
	m := fixtureMembers()
	m.Members[1].ClientID = "go\x1b[31m@1"
	m.Members[1].Why = inspect.Reason{Kind: inspect.ReasonBadAnswer, Text: "a rate is NaN"}
	m.Members[1].Held = map[engine.MessageQueue]int64{mq("orders-paid", "broker-a", 10): 41, mq("orders-paid", "broker-a", 2): 1_040}
	f.members = func(string) (inspect.Members, error) { return m, nil }
	d := driveCluster(t, 120, 36, defaultOptions(), f).keys("d", "j").see("≥ 2")
	got := savedTo(t, d, filepath.Join(t.TempDir(), "group.csv"))
	if want := m.Members[1].ClientID + ",10.0.4.22:50113 10.0.4.29:40001,GO,V4_9_7,2,,"; !strings.Contains(got, want) {
		t.Errorf("saved %q, want %q in it", got, want)
	}
	d.keys("enter").see("by its consumer status it reads at least 2 queues")
	if frame := d.frame(); strings.Index(frame, "broker-a/2  offset 1,040") > strings.Index(frame, "broker-a/10  offset 41") || !strings.Contains(frame, "broker-a/2  offset 1,040") {
		t.Errorf("the queues are not in their order:\n%s", frame)
	}
}

func TestQueuesOfAMemberAreInTheirOrder(t *testing.T) {
	f := fullCluster()
	m := fixtureMembers()
	m.Members[0].Info = &protocol.ConsumerRunningInfo{MQTable: map[engine.MessageQueue]protocol.ProcessQueueInfo{
		mq("orders-paid", "broker-a", 10): {CommitOffset: 7}, mq("orders-paid", "broker-a", 2): {CommitOffset: 8}}}
	f.members = func(string) (inspect.Members, error) { return m, nil }
	frame := driveCluster(t, 120, 36, defaultOptions(), f).keys("d", "enter").frame()
	if first, second := strings.Index(frame, "broker-a/2  commit 8"), strings.Index(frame, "broker-a/10  commit 7"); first < 0 || second < first {
		t.Errorf("the queues are not in their order:\n%s", frame)
	}
	if strings.Contains(frame, "0 … 0") || !strings.Contains(frame, "commit 8  cache empty") {
		t.Errorf("an empty cache has offsets:\n%s", frame)
	}
}

// A member that has not said what it subscribes to agrees with nobody.
func TestSilentMembersDoNotAgree(t *testing.T) {
	silent := func(ids ...string) *driver {
		f := fullCluster()
		detail := fixtureDetail()
		s := &detail.Subscriptions
		s.Unknown, s.Agree = map[string]inspect.Reason{}, true
		for i := range s.Rows {
			s.Rows[i].Same = true
		}
		for _, id := range ids {
			s.Unknown[id] = inspect.Reason{Kind: inspect.ReasonUnreachable}
		}
		f.group = func(string) (inspect.GroupDetail, error) { return detail, nil }
		return driveCluster(t, 120, 36, defaultOptions(), f).keys("d")
	}
	silent().see("all members agree ✓").see("✓ same")
	silent(memberC).miss("all members agree").see("2 of 3 members told").see("✓ same")
	silent(memberA, memberB, memberC).miss("all members agree").see("0 of 3 members told").miss("✓ same")
}
