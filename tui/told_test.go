package tui

import (
	"errors"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
	"eyeq/tui/live"
)

// saysHolds are the fixture's members with what each says to hold of its 16 queues;
// fewer lists than members: the rest does not answer.
func saysHolds(held ...[]engine.MessageQueue) inspect.Members {
	m := inspect.Members{Group: "order-settle", At: fixtureNow, Kind: inspect.KindPush, Model: 1}
	for i, id := range []string{memberA, memberB, memberC} {
		x := inspect.Member{ClientID: id, Addresses: []string{"10.0.4.2:1"}, Language: "JAVA"}
		if i < len(held) {
			x.Info = &protocol.ConsumerRunningInfo{SubscriptionSet: []protocol.SubscriptionData{{Topic: "orders-paid", SubString: "*"}}, MQTable: map[engine.MessageQueue]protocol.ProcessQueueInfo{}}
			for _, mq := range held[i] {
				x.Info.MQTable[mq] = protocol.ProcessQueueInfo{}
			}
		} else {
			x.Why = inspect.Reason{Kind: inspect.ReasonUnreachable, Text: "no answer to 307 within 3s"}
		}
		m.Members = append(m.Members, x)
	}
	return m
}

// asAVG are the shares that the fixture's engine computes.
func asAVG() (a, b, c []engine.MessageQueue) {
	t := fixture(0).Topics[0]
	return t.Members[0].Queues, t.Members[1].Queues, t.Members[2].Queues
}

// besideOthers starts a screen on the fixture's consumer with a cluster to ask.
func besideOthers(t *testing.T, w, h int, f *fakeCluster) *driver {
	t.Helper()
	o := defaultOptions()
	o.Inspect = f
	d := driveEmpty(t, w, h, o, nil)
	d.send(snapshotsMsg{snapshots: []*engine.Snapshot{fixture(0)}, next: true})
	return d
}

// Who holds what is asked of the members, not believed of a computation: one of them
// that shares out in a circle takes queues that are ours and leaves others to nobody.
func TestOwnersOfOthersAreAsked(t *testing.T) {
	a, b, c := asAVG()
	asked := 0
	f := fixtureCluster()
	f.members = func(string) (inspect.Members, error) {
		asked++
		circle := []engine.MessageQueue{b[0], c[0], a[1], a[4]} // two of ours
		return saysHolds(a, circle, c[1:]), nil
	}
	d := besideOthers(t, 120, 36, f)
	d.see("2 queues with two owners, 4 with none").miss("engine ok").miss("agree").see("TWO OWNERS").see("A+B").see("UNOWNED").see("(nobody holds it)").see("not as AVG gives")
	wantAsked(t, d, &asked, live.ToldSoonest) // soon again: it may have been a hand-over
}

// wantAsked checks that members were asked once, and are again after that long.
func wantAsked(t *testing.T, d *driver, asked *int, every time.Duration) {
	t.Helper()
	for waited := time.Duration(0); waited < every; waited += time.Second {
		if *asked != 1 {
			t.Errorf("asked %d times in %v", *asked, waited)
		}
		d.later(time.Second)
	}
	if *asked != 2 {
		t.Errorf("asked %d times in %v", *asked, every)
	}
}

func TestOwnersThatAgree(t *testing.T) {
	a, b, c := asAVG()
	asked := 0
	f := fixtureCluster()
	f.members = func(string) (inspect.Members, error) { asked++; return saysHolds(a, b, c), nil }
	d := besideOthers(t, 120, 36, f).see("held as AVG gives").see("engine ok").see("3 members agree on allocation, told 0s ago").see("(B holds it)").miss("computed")
	wantAsked(t, d, &asked, live.ToldEvery)
}

// What is only computed is called so: without anybody to ask, when members are silent, and
// from a rebalance on until they are asked again.
func TestComputedOwnersAreCalledSo(t *testing.T) {
	withSnapshot(t, 120, 36, fixture(0)).see("computed by AVG").see("(computed: B)")
	withSnapshot(t, 80, 24, fixture(0)).see("AVG computed").see("(computed: B)")

	f := fixtureCluster()
	f.members = func(string) (inspect.Members, error) { return inspect.Members{}, errors.New("broker-a: i/o timeout") }
	besideOthers(t, 120, 36, f).see("computed by AVG").see("what other members hold is computed: broker-a: i/o timeout")

	a, b, c := asAVG()
	f.members = func(string) (inspect.Members, error) { return saysHolds(a, b), nil }
	besideOthers(t, 120, 36, f).see("5 queues ?, 1 member silent").see("does not say what it holds")

	f.members = func(string) (inspect.Members, error) { return saysHolds(a, b, c), nil }
	d := besideOthers(t, 120, 36, f).see("held as AVG gives")
	s := fixture(0)
	for i := range s.Queues { // the third member has gone, the others are not asked yet
		if s.Queues[i].Owner == memberC {
			s.Queues[i].Owner = memberB
		}
	}
	d.now = d.now.Add(time.Second)
	d.send(snapshotsMsg{snapshots: []*engine.Snapshot{s}, next: true})
	d.see("computed by AVG")
	f.members = func(string) (inspect.Members, error) { return saysHolds(a, append(b, c...)), nil }
	d.later(time.Second)
	d.miss("computed by AVG") // asked before its time
}
