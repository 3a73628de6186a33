package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	testQueues = 2
	testLength = 200 * time.Second
	perQueue   = 1000 // one in 200 ms
)

func secs(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// story is a run that went well, to be changed by tests: two queues, each read by
// one member of either group from its first message to its last.
type story struct{ Ledger }

// sentAt is when a message of the story was sent, and delivered 10 ms later.
func sentAt(offset int64) time.Duration { return testLength * time.Duration(offset) / perQueue }

func goodRun() *story {
	s := &story{Ledger{
		Version: "test", Queues: testQueues, Stored: []int64{perQueue, perQueue},
		Plan: Plan{Length: testLength, Profile: "mixed", Roles: map[string]Role{}},
	}}
	for _, g := range groups {
		for _, name := range []string{"01-eyeq", "02-eyeq", "03-java", "04-java"} {
			name = string(g[0]) + name
			s.Plan.Roles[name] = Role{Name: name, Group: g, Java: strings.HasSuffix(name, "java")}
		}
		for q := range int32(testQueues) {
			name := fmt.Sprintf("%c%02d-eyeq", g[0], q+1)
			for o := range int64(perQueue) {
				s.Deliveries = append(s.Deliveries, Delivery{At: sentAt(o) + 10*time.Millisecond, Member: name, Queue: q, Offset: o, Seq: o*testQueues + int64(q)})
			}
			s.Holders = append(s.Holders, Holder{g, q, name})
			for at := secs(1); at < testLength; at += time.Second {
				s.Commits = append(s.Commits, Commit{At: at, Group: g, Queue: q, Offset: int64(at/time.Second) * 5})
			}
		}
	}
	for q := range int32(testQueues) {
		for o := range int64(perQueue) {
			s.Sent = append(s.Sent, Sent{At: sentAt(o), Seq: o*testQueues + int64(q), Queue: q, Offset: o})
		}
	}
	return s
}

// happen adds an event that lasted from began to ended.
func (s *story) happen(g Group, kind Kind, member string, began, ended time.Duration) {
	e := Event{At: began, Group: g, Kind: kind, Member: member, For: ended - began}
	s.Plan.Events = append(s.Plan.Events, e)
	s.Happenings = append(s.Happenings, Happening{e, began, ended})
}

// change applies f to a group's deliveries of a queue and keeps those that it says.
func (s *story) change(g Group, q int32, f func(d *Delivery) bool) {
	var kept []Delivery
	for _, d := range s.Deliveries {
		if s.Plan.Roles[d.Member].Group != g || d.Queue != q || f(&d) {
			kept = append(kept, d)
		}
	}
	s.Deliveries = kept
}

// again delivers the offsets from..to of queue 0 once more from a time on.
func (s *story) again(member string, from, to int64, at time.Duration) {
	for o := from; o < to; o++ {
		s.Deliveries = append(s.Deliveries, Delivery{At: at, Member: member, Offset: o, Seq: o * testQueues})
		at += time.Millisecond
	}
}

// from gives queue 0 of a group to a member from an offset on.
func (s *story) from(g Group, member string, offset int64) {
	s.change(g, 0, func(d *Delivery) bool {
		if d.Offset >= offset {
			d.Member = member
		}
		return true
	})
}

func offsetAt(at time.Duration) int64 { return int64(at * perQueue / testLength) }

// wantFailures checks that the verdict fails with sentences that begin with these.
func wantFailures(t *testing.T, s *story, want ...string) *Verdict {
	t.Helper()
	v := judge(&s.Ledger)
	ok := len(v.Failures) == len(want)
	for i := range want {
		ok = ok && strings.HasPrefix(v.Failures[i], want[i])
	}
	if !ok {
		t.Errorf("failures = %q, want those that begin with %q", v.Failures, want)
	}
	return v
}

func TestJudgeAcceptsAGoodRun(t *testing.T) {
	s := goodRun()
	s.happen(Orderly, Join, "o02-eyeq", secs(50), secs(52))
	v := wantFailures(t, s)
	gv := v.Groups[Orderly]
	if gv.Messages != 2000 || gv.Copies != 2000 || gv.Deliveries != 2000 || len(gv.Duplicates) != 0 || len(gv.Windows) != 1 {
		t.Errorf("verdict = %d messages, %d copies, %d deliveries, %d duplicates, windows %v", gv.Messages, gv.Copies, gv.Deliveries, len(gv.Duplicates), gv.Windows)
	}
}

func TestJudgeFindsLosses(t *testing.T) {
	s := goodRun()
	s.change(Concurrent, 1, func(d *Delivery) bool { return d.Offset != 77 })
	v := wantFailures(t, s, "concurrent: 1 messages lost")
	if diff := cmp.Diff([]Loss{{Seq: 155, Queue: 1, Offset: 77}}, v.Groups[Concurrent].Lost); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}

	s = goodRun()
	s.change(Orderly, 0, func(d *Delivery) bool { return d.Offset < 990 }) // the tail
	wantFailures(t, s, "orderly: 10 messages lost")

	s = goodRun() // of a message that is stored twice one copy does not come
	s.Stored[0]++
	wantFailures(t, s, "concurrent: 1 messages lost", "orderly: 1 messages lost")

	s = goodRun() // the broker has forgotten what it answered for
	s.Stored[0] -= 5
	s.change(Concurrent, 0, func(d *Delivery) bool { return d.Offset < 995 })
	s.change(Orderly, 0, func(d *Delivery) bool { return d.Offset < 995 })
	wantFailures(t, s, "concurrent: 5 messages lost", "orderly: 5 messages lost")
}

func TestJudgeDoesNotBelieveAnEmptyRun(t *testing.T) {
	wantFailures(t, &story{Ledger{Queues: 1, Stored: []int64{0}}}, "nothing was sent",
		"concurrent: queue 0 is held by [] at the end", "orderly: queue 0 is held by [] at the end")
	s := goodRun()
	s.Plan.Events = []Event{{Kind: Kill}}
	wantFailures(t, s, "0 of 1 events")
	s = goodRun()
	s.Troubles = []string{"member c01-eyeq ended by itself"}
	wantFailures(t, s, "the run itself: member c01-eyeq")
}

func TestJudgeFindsBrokenOrder(t *testing.T) {
	s := goodRun() // two messages change places
	s.change(Orderly, 0, func(d *Delivery) bool {
		switch d.Offset {
		case 300:
			d.At = sentAt(301) + 10*time.Millisecond
		case 301:
			d.At = sentAt(300) + 10*time.Millisecond
		}
		return true
	})
	v := wantFailures(t, s, "orderly: order broken 1 times")
	if b := v.Groups[Orderly].Breaks[0]; b.Delivery.Offset != 300 || b.Higher != 301 {
		t.Errorf("break = %v, want 300 after 301", b)
	}

	s = goodRun() // the new owner is ahead of the old one
	s.from(Orderly, "o02-eyeq", 500)
	s.change(Orderly, 0, func(d *Delivery) bool {
		if d.Offset == 499 {
			d.At = sentAt(505)
		}
		return true
	})
	wantFailures(t, s, "orderly: order broken 1 times")

	s = goodRun() // the same within a concurrent group is none
	s.change(Concurrent, 0, func(d *Delivery) bool {
		if d.Offset == 300 {
			d.At += time.Second
		}
		return true
	})
	wantFailures(t, s)

	s = goodRun() // lines of two members, read in the wrong turn
	s.from(Orderly, "o02-eyeq", 500)
	s.change(Orderly, 0, func(d *Delivery) bool {
		switch d.Offset {
		case 499:
			d.At = sentAt(500) + 50*time.Millisecond
		case 500:
			d.At = sentAt(500) + 20*time.Millisecond
		}
		return true
	})
	wantFailures(t, s)
}

// A member that was frozen delivers what the group has committed meanwhile.
func TestJudgeFindsARepeatOfWhatIsCommitted(t *testing.T) {
	s := goodRun()
	s.happen(Orderly, Freeze, "o01-eyeq", secs(50), secs(90))
	s.from(Orderly, "o02-eyeq", offsetAt(secs(55)))
	s.again("o01-eyeq", offsetAt(secs(55)), offsetAt(secs(55))+3, secs(90.1))
	v := wantFailures(t, s, "orderly: order broken 3 times")
	if n := v.Groups[Orderly].Causes["frozen, delivered what another had taken over"]; n != 3 {
		t.Errorf("causes = %v, want 3 of who was frozen", v.Groups[Orderly].Causes)
	}
}

// A new owner steps back to what is committed: no break, and explained when the
// old one was killed.
func TestJudgeExplainsAKill(t *testing.T) {
	s := goodRun()
	killed := secs(60.5)
	s.happen(Orderly, Kill, "o01-eyeq", killed, killed)
	s.from(Orderly, "o02-eyeq", offsetAt(killed))
	s.again("o02-eyeq", offsetAt(killed)-2, offsetAt(killed), killed+100*time.Millisecond)
	v := wantFailures(t, s)
	if n := v.Groups[Orderly].Causes["killed before it had committed"]; n != 2 {
		t.Errorf("causes = %v, want 2 of the kill", v.Groups[Orderly].Causes)
	}
}

func TestJudgeLeavesDuplicatesUnexplained(t *testing.T) {
	at := secs(60.5)
	lo, hi := offsetAt(at)-2, offsetAt(at)
	for name, tt := range map[string]struct {
		group Group
		tell  func(s *story)
	}{
		"out of the blue": {Concurrent, func(s *story) {}},
		"an eyeq member leaves in order": {Concurrent, func(s *story) {
			s.happen(Concurrent, Leave, "c01-eyeq", at-secs(0.1), at)
			s.from(Concurrent, "c02-eyeq", hi)
		}},
		"an eyeq member leaves an orderly group": {Orderly, func(s *story) {
			s.happen(Orderly, Leave, "o01-eyeq", at-secs(0.1), at)
			s.from(Orderly, "o02-eyeq", hi)
		}},
		"somebody else is killed": {Concurrent, func(s *story) { s.happen(Concurrent, Kill, "c02-eyeq", at, at) }},
		"it happens in the other group": {Concurrent, func(s *story) {
			s.happen(Orderly, Kill, "o01-eyeq", at, at)
		}},
		"the kill comes later":          {Concurrent, func(s *story) { s.happen(Concurrent, Kill, "c01-eyeq", at+secs(1), at+secs(1)) }},
		"committed long before the end": {Concurrent, func(s *story) { s.happen(Concurrent, Kill, "c01-eyeq", at+secs(8), at+secs(8)) }},
		"thawed long ago":               {Concurrent, func(s *story) { s.happen(Concurrent, Freeze, "c01-eyeq", secs(1), secs(2)) }},
		"everybody has come back since": {Concurrent, func(s *story) {
			for name, r := range s.Plan.Roles {
				r.Java = false // it takes 50 s with Java members
				s.Plan.Roles[name] = r
			}
			s.happen("", BrokerKill, "", secs(35), secs(40))
			s.happen(Concurrent, Cut, "c01-eyeq", secs(35), secs(40))
		}},
		"the broker came back long ago": {Concurrent, func(s *story) { s.happen("", BrokerKill, "", secs(1), secs(5)) }},
	} {
		t.Run(name, func(t *testing.T) {
			s := goodRun()
			tt.tell(s)
			member := string(tt.group[0]) + "01-eyeq"
			again := at + secs(0.1)
			if name == "committed long before the end" {
				again = at + secs(9)
			}
			s.again(member, lo, hi, again)
			v := judge(&s.Ledger)
			if n := v.Groups[tt.group].Causes[unexplained]; n != 2 {
				t.Errorf("causes = %v, want 2 unexplained", v.Groups[tt.group].Causes)
			}
			if !strings.Contains(fmt.Sprint(v.Failures), string(tt.group)+": 2 duplicates that no event explains") {
				t.Errorf("failures = %q, want one about them", v.Failures)
			}
		})
	}
}

func TestJudgeExplainsHandOversByJava(t *testing.T) {
	at := secs(60.5)
	last := offsetAt(at) - 1
	for name, tt := range map[string]struct {
		group          Group
		before, again  string
		from, to       int64
		want, violates string
	}{
		"concurrent, from Java": {Concurrent, "c03-java", "c01-eyeq", last - 1, last + 1, "handed over by or to a Java member", ""},
		"concurrent, to Java":   {Concurrent, "c01-eyeq", "c03-java", last - 1, last + 1, "handed over by or to a Java member", ""},
		"orderly, from Java":    {Orderly, "o03-java", "o01-eyeq", last, last + 1, "given away by a Java member during its last call", ""},
		"orderly, more than its last call": {Orderly, "o03-java", "o01-eyeq", last - 1, last, unexplained,
			"orderly: 1 duplicates that no event explains"},
		"orderly, to Java": {Orderly, "o01-eyeq", "o03-java", last, last + 1, unexplained, "orderly: 1 duplicates that no event explains"},
	} {
		t.Run(name, func(t *testing.T) {
			s := goodRun()
			s.happen(tt.group, Join, tt.again, at-secs(1), at)
			s.change(tt.group, 0, func(d *Delivery) bool {
				d.Member = tt.again
				if d.Offset <= last {
					d.Member = tt.before
				}
				return true
			})
			s.again(tt.again, tt.from, tt.to, sentAt(last)+secs(0.05))
			v := judge(&s.Ledger)
			if n := v.Groups[tt.group].Causes[tt.want]; n != int(tt.to-tt.from) {
				t.Errorf("causes = %v, want %d of %q", v.Groups[tt.group].Causes, tt.to-tt.from, tt.want)
			}
			if got := fmt.Sprint(v.Failures); tt.violates == "" && len(v.Failures) > 0 || !strings.Contains(got, tt.violates) {
				t.Errorf("failures = %s, want %q", got, tt.violates)
			}
		})
	}
}

// A duplicate that comes long after what explains its first delivery has another cause.
func TestJudgeExplainsNothingForever(t *testing.T) {
	for name, again := range map[string]struct {
		at   time.Duration
		want string
	}{"soon": {secs(60.6), "killed before it had committed"}, "late": {secs(145), unexplained}} {
		t.Run(name, func(t *testing.T) {
			s := goodRun()
			s.happen(Concurrent, Kill, "c01-eyeq", secs(60.5), secs(60.5))
			s.from(Concurrent, "c02-eyeq", offsetAt(secs(60.5)))
			s.again("c02-eyeq", offsetAt(secs(60.5))-2, offsetAt(secs(60.5)), again.at)
			if v := judge(&s.Ledger); v.Groups[Concurrent].Causes[again.want] != 2 {
				t.Errorf("causes = %v, want 2 of %q", v.Groups[Concurrent].Causes, again.want)
			}
		})
	}
}

// What comes back through the retry topic was refused by nobody here.
func TestJudgeAcceptsNoRetries(t *testing.T) {
	s := goodRun()
	s.Deliveries = append(s.Deliveries, Delivery{At: secs(90), Member: "c01-eyeq", Topic: "%RETRY%chaos-concurrent", Seq: 10})
	wantFailures(t, s, "concurrent: 1 duplicates that no event explains")
}

func TestJudgeWantsQueuesOwnedAgain(t *testing.T) {
	// quiet takes the deliveries of queue 1 between two times and gives them later.
	quiet := func(s *story, g Group, from, to time.Duration) {
		s.change(g, 1, func(d *Delivery) bool {
			if d.At > from && d.At < to {
				d.At = to + (d.At-from)/10_000_000
			}
			return true
		})
	}
	s := goodRun()
	s.happen(Orderly, Kill, "o03-java", secs(60), secs(60))
	quiet(s, Orderly, secs(60), secs(124))
	v := wantFailures(t, s)
	if got := v.Groups[Orderly].Slowest.Round(time.Second); got != 64*time.Second {
		t.Errorf("owned again after %v, want 64s", got)
	}

	s = goodRun()
	s.happen(Orderly, Kill, "o03-java", secs(60), secs(60))
	quiet(s, Orderly, secs(60), secs(126))
	wantFailures(t, s, "orderly: queue 1 has no owner 66.0 s after")

	// A stock member of 4.9 is next: it asks for the lock every 20 s only.
	for member, failures := range map[string][]string{"o04-java": nil, "o02-eyeq": {"orderly: queue 1 has no owner 66.0 s after"}} {
		s = goodRun()
		s.Version = "4.9.7"
		s.happen(Orderly, Kill, "o03-java", secs(60), secs(60))
		quiet(s, Orderly, secs(60), secs(126))
		s.change(Orderly, 1, func(d *Delivery) bool {
			if d.At >= secs(60) {
				d.Member = member
			}
			return true
		})
		wantFailures(t, s, failures...)
	}

	s = goodRun()
	s.happen(Concurrent, Leave, "c03-java", secs(58), secs(60))
	quiet(s, Concurrent, secs(59), secs(91))
	wantFailures(t, s, "concurrent: queue 1 has no owner 31.0 s after")

	s = goodRun() // twice without an owner: the second time counts
	s.happen(Concurrent, Leave, "c03-java", secs(58), secs(60))
	quiet(s, Concurrent, secs(59), secs(65))
	quiet(s, Concurrent, secs(85), secs(92))
	wantFailures(t, s, "concurrent: queue 1 has no owner 32.0 s after")

	s = goodRun() // until the end of the run
	s.happen(Concurrent, Leave, "c03-java", secs(150), secs(151))
	quiet(s, Concurrent, secs(152), secs(200))
	wantFailures(t, s, "concurrent: queue 1 has no owner 49.0 s after")

	s = goodRun() // the next event comes before the time is over: no window
	s.happen(Concurrent, Leave, "c03-java", secs(58), secs(60))
	s.happen(Concurrent, Join, "c04-java", secs(80), secs(100))
	quiet(s, Concurrent, secs(59), secs(110))
	v = wantFailures(t, s)
	if n := len(v.Groups[Concurrent].Windows); n != 2 {
		t.Errorf("%d windows, want 2: %v", n, v.Groups[Concurrent].Windows)
	}

	s = goodRun() // an event that lasts while another one ends leaves no window
	s.happen(Concurrent, Freeze, "c01-eyeq", secs(50), secs(90))
	s.happen(Concurrent, Leave, "c03-java", secs(52), secs(55))
	quiet(s, Concurrent, secs(50), secs(91))
	v = wantFailures(t, s)
	if ws := v.Groups[Concurrent].Windows; len(ws) != 1 || ws[0].From != secs(90) {
		t.Errorf("windows = %v, want the one from 90 s on", ws)
	}
}

func TestJudgeWantsOneHolderOfEachQueue(t *testing.T) {
	s := goodRun()
	s.Holders = append(s.Holders, Holder{Orderly, 1, "o01-eyeq"})
	wantFailures(t, s, "orderly: queue 1 is held by [o02-eyeq o01-eyeq]")
	s = goodRun()
	s.Holders = s.Holders[1:]
	wantFailures(t, s, "concurrent: queue 0 is held by []")
}

func TestLedgerComesBackFromItsFile(t *testing.T) {
	s := goodRun()
	s.happen(Orderly, Freeze, "o01-eyeq", secs(50), secs(90))
	s.Troubles = []string{"something"}
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	if err := s.write(path); err != nil {
		t.Fatal(err)
	}
	got, err := readLedger(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&s.Ledger, got); diff != "" {
		t.Errorf("the ledger that was read differs (-want +got):\n%s", diff)
	}
	if _, err := readLedger(filepath.Join("testdata", "none")); err == nil {
		t.Error("a file that is not there is read")
	}
}

func TestReportSaysWhatIsWrong(t *testing.T) {
	s := goodRun()
	s.happen(Concurrent, Kill, "c03-java", secs(60), secs(60))
	var b strings.Builder
	report(&b, &s.Ledger, judge(&s.Ledger))
	if text := b.String(); !strings.Contains(text, "Good: nothing lost") || !strings.Contains(text, "kill 1") {
		t.Errorf("report of a good run:\n%s", text)
	}
	s.change(Concurrent, 1, func(d *Delivery) bool { return d.Offset != 77 })
	b.Reset()
	report(&b, &s.Ledger, judge(&s.Ledger))
	if text := b.String(); strings.Contains(text, "Good") || !strings.Contains(text, "concurrent: 1 messages lost") {
		t.Errorf("report of a bad run:\n%s", text)
	}
}
