package inspect

import (
	"strings"
	"testing"
	"time"
)

// What is seen after a reset is told from what only looks like it.
func TestObedience(t *testing.T) {
	began := time.UnixMilli(1_800_000_000_000)
	look := func(second int, committed int64) sight {
		return sight{at: began.Add(time.Duration(second) * time.Second), committed: committed, memory: -1}
	}
	says := func(s sight, memory int64, consumed int) sight {
		s.memory, s.consumed = memory, began.Add(time.Duration(consumed)*time.Second)
		return s
	}
	took := func(s sight, taken time.Duration) sight {
		s.taken = began.Add(taken)
		return s
	}
	tests := map[string]struct {
		o        obedience
		looks    []sight
		settled  bool
		verified bool
		words    string
	}{
		"server, back, goes on from there": {
			obedience{method: MethodServer, from: 100, to: 0, obeys: true},
			[]sight{look(0, 0), look(3, 0), look(8, 40)}, true, true, "goes on from there"},
		"server, back, its memory is there": {
			obedience{method: MethodServer, from: 100, to: 0, obeys: true},
			[]sight{look(0, 0), says(look(3, 0), 0, 3)}, true, true, "goes on from there"},
		"server, nobody has pulled": {
			obedience{method: MethodServer, from: 100, to: 0, obeys: true},
			[]sight{look(0, 0), says(look(20, 0), 100, -60)}, false, true, "has not pulled yet"},
		"server, the group is paused": {
			obedience{method: MethodServer, from: 100, to: 0, obeys: true, paused: true},
			[]sight{says(look(0, 0), 100, -60)}, true, true, "moves at its first pull after the group is resumed"},
		"server, paused, overwritten by a member that heeds nothing": {
			obedience{method: MethodServer, from: 100, to: 0, paused: true},
			[]sight{look(0, 0), look(5, 103)}, false, false, "overwritten by c1"},
		"server, back, quick member of an idle queue": {
			obedience{method: MethodServer, from: 100, to: 0, obeys: true},
			[]sight{look(0, 0), says(look(5, 100), 100, 4)}, false, true, "consumed them again, up to 100"},
		"server, a member that took it anew where it was, before its commit of the target was stored": {
			obedience{method: MethodServer, from: 100, to: 0, obeys: true},
			[]sight{look(0, 0), look(2, 100), look(3, 0), took(says(look(8, 100), 100, 4), 4*time.Second), took(says(look(21, 100), 100, 4), 4*time.Second)},
			true, false, "not applied by c1: it took the queue anew before 0 was stored, and goes on from 100: repeat"},
		"server, that, and its lock was renewed": {
			obedience{method: MethodServer, from: 100, to: 0, obeys: true},
			[]sight{look(0, 0), took(says(look(8, 100), 100, 4), 4*time.Second+time.Millisecond), took(says(look(21, 100), 100, 4), 20*time.Second)},
			true, false, "not applied by c1: it took the queue anew"},
		"server, back, a quick member has handed out messages since it took the queue": {
			obedience{method: MethodServer, from: 100, to: 0, obeys: true},
			[]sight{look(0, 0), look(2, 100), look(3, 0), took(says(look(8, 100), 100, 4), 4*time.Second-2*time.Millisecond)}, true, true, "consumed them again, up to 100"},
		"server, that, and its lock was renewed before it was seen": {
			obedience{method: MethodServer, from: 100, to: 0, obeys: true},
			[]sight{look(0, 0), took(says(look(8, 100), 100, 4), 7*time.Second)}, true, true, "consumed them again, up to 100"},
		"server, back, the member has handed out messages since it took the queue, and not committed": {
			obedience{method: MethodServer, from: 100, to: 0, obeys: true},
			[]sight{look(0, 0), took(says(look(6, 0), 100, 4), 3*time.Second)}, true, true, "goes on from there"},
		"server, what was being consumed at the reset is finished": {
			obedience{method: MethodServer, from: 100, to: 0, obeys: true},
			[]sight{look(0, 0), took(says(look(2, 0), 100, 1), -time.Minute)}, false, true, "has not pulled yet"},
		"server, the member has written the target and not taken the queue yet": {
			obedience{method: MethodServer, from: 100, to: 0, obeys: true},
			[]sight{look(0, 0), took(says(look(2, 100), 100, -3), -time.Minute), took(says(look(3, 0), 100, -3), -time.Minute)}, false, true, "goes on from there"},
		"server, an old commit that comes late is taken back by the member": {
			obedience{method: MethodServer, from: 100, to: 0, obeys: true},
			[]sight{look(0, 0), look(5, 103), look(12, 0)}, true, true, "goes on from there"},
		"server, overwritten by a member that heeds nothing": {
			obedience{method: MethodServer, from: 100, to: 0},
			[]sight{look(0, 0), look(5, 103), look(10, 110), look(17, 115)}, true, false, "overwritten by c1"},
		"server, overwritten, and the member has handed out nothing since": {
			obedience{method: MethodServer, from: 100, to: 0, obeys: true},
			[]sight{look(0, 0), says(look(5, 100), 100, -3)}, false, false, "overwritten by c1"},
		"server, overwritten: nobody consumes a million messages in a second": {
			obedience{method: MethodServer, from: 2_000_000, to: 0, obeys: true},
			[]sight{look(0, 0), look(1, 2_000_010)}, false, false, "overwritten by c1"},
		"server, the broker's answer to the pull was lost, and the member says nothing": {
			obedience{method: MethodServer, from: 100, to: 0, obeys: true},
			[]sight{look(0, 0), look(12, 100), look(24, 100)}, false, false, "not known whether c1 was at 0: it does not say what it has consumed, and 100 is committed"},
		"server, a quick member that answers late": {
			obedience{method: MethodServer, from: 100, to: 0, obeys: true},
			[]sight{look(0, 0), look(5, 100), look(18, 100), took(says(look(20, 100), 100, 4), 3*time.Second)}, true, true, "has consumed them again, up to 100"},
		"server, it was lost, and the member has handed out nothing since": {
			obedience{method: MethodServer, from: 100, to: 0, obeys: true},
			[]sight{look(0, 0), took(says(look(12, 100), 100, -3), -time.Minute), took(says(look(24, 100), 100, -3), -time.Minute)}, true, false, "overwritten by c1"},
		"server, forward": {
			obedience{method: MethodServer, from: 10, to: 100, obeys: true},
			[]sight{look(0, 100), says(look(2, 100), 100, 1)}, true, true, "goes on from there"},
		"server, forward, overwritten": {
			obedience{method: MethodServer, from: 10, to: 100, obeys: true},
			[]sight{look(0, 100), look(5, 12)}, false, false, "overwritten by c1"},
		"server, the broker is lost before the member has moved": {
			obedience{method: MethodServer, from: 100, to: 0, obeys: true},
			[]sight{look(0, 0), {at: began.Add(time.Second), committed: -1, memory: -1, lost: "refused"}}, false, false, "not known: 0 was committed at "},
		"server, the broker is lost after it": {
			obedience{method: MethodServer, from: 100, to: 0, obeys: true},
			[]sight{look(0, 0), look(3, 40), {at: began.Add(5 * time.Second), committed: -1, memory: -1, lost: "refused"}}, true, false, "not known: 40 was committed at "},
		"server, the broker comes back": {
			obedience{method: MethodServer, from: 100, to: 0, obeys: true},
			[]sight{look(0, 0), {at: began.Add(time.Second), committed: -1, memory: -1, lost: "refused"}, look(3, 40)}, true, true, "goes on from there"},
		"push, back and caught up between two commits": {
			obedience{method: MethodPush, from: 100, to: 0, obeys: true},
			[]sight{look(0, 100), says(look(5, 100), 100, -3), says(look(20, 100), 100, 18)}, false, true, "consumed them again, up to 100"},
		"push, that, and new messages came": {
			obedience{method: MethodPush, from: 100, to: 0, obeys: true},
			[]sight{look(0, 100), says(look(20, 105), 105, 18)}, false, false, "not known whether c1 was at 0"},
		"push, taken anew where it was": {
			obedience{method: MethodPush, from: 100, to: 0, obeys: true},
			[]sight{look(0, 100), took(says(look(30, 100), 100, 12), 12*time.Second)}, false, false, "not applied by c1: it took the queue anew"},
		"push, nothing handed out since": {
			obedience{method: MethodPush, from: 100, to: 0, obeys: true},
			[]sight{look(0, 100), says(look(30, 100), 100, -3)}, false, false, "not applied by c1"},
		"push, handed out by a member that may not heed it": {
			obedience{method: MethodPush, from: 100, to: 0},
			[]sight{look(0, 100), says(look(30, 100), 100, 4)}, false, false, "not applied by c1"},
		"push, the operator ends the watch": {
			obedience{method: MethodPush, from: 100, to: 0, obeys: true, cut: true},
			[]sight{look(0, 100), look(2, 100)}, false, false, "not known whether c1 goes there: it was not watched to the end"},
		"push, the broker is lost": {
			obedience{method: MethodPush, from: 100, to: 0, obeys: true},
			[]sight{look(0, 100), {at: began.Add(time.Second), committed: -1, memory: -1, lost: "refused"}}, false, false, "then its broker was lost: refused"},
		"push, obeyed": {
			obedience{method: MethodPush, from: 100, to: 0, obeys: true},
			[]sight{look(0, 100), look(5, 101), look(10, 0)}, true, true, "goes on from there"},
		"push, obeyed and caught up": {
			obedience{method: MethodPush, from: 100, to: 99, obeys: true},
			[]sight{look(0, 100), look(10, 99), look(25, 100)}, true, true, "consumed them again"},
		"push, ignored": {
			obedience{method: MethodPush, from: 100, to: 0},
			[]sight{look(0, 100), look(15, 105), look(30, 110)}, false, false, "not applied by c1: it still commits 110"},
		"push, forward": {
			obedience{method: MethodPush, from: 10, to: 100},
			[]sight{look(0, 10), look(10, 100)}, true, true, "goes on from there"},
		"nothing to move": {
			obedience{method: MethodServer, from: 10, to: 10},
			[]sight{look(0, 10)}, true, true, "stays"},
		"server, nothing was committed, and the member has not pulled": {
			obedience{method: MethodServer, from: 0, to: 0, fresh: true, obeys: true},
			[]sight{look(0, 0), says(look(20, 0), 0, -60)}, false, true, "has not pulled yet"},
		"server, nothing was committed, and the member takes from there": {
			obedience{method: MethodServer, from: 0, to: 0, fresh: true, obeys: true},
			[]sight{look(0, 0), says(look(9, 0), 0, 8)}, true, true, "goes on from there"},
		"server, nothing was committed, the member commits past it": {
			obedience{method: MethodServer, from: 0, to: 10, fresh: true, obeys: true},
			[]sight{look(0, 10), look(9, 17)}, true, true, "goes on from there"},
		"server, nothing was committed, overwritten from before it": {
			obedience{method: MethodServer, from: 0, to: 10, fresh: true},
			[]sight{look(0, 10), look(9, 3)}, false, false, "overwritten by c1"},
		"nothing was committed, and nothing waits": {
			obedience{method: MethodPush, from: 0, to: 10, fresh: true, end: true},
			[]sight{look(0, 10)}, true, true, "written: nothing was committed before"},
		"push, nothing was committed, what we have written is no sign of a member": {
			obedience{method: MethodPush, from: 0, to: 0, fresh: true, obeys: true},
			[]sight{look(0, 0), says(look(30, 0), 0, -60)}, false, false, "not known whether c1 went there"},
		"push, nothing was committed, and the member goes on": {
			obedience{method: MethodPush, from: 0, to: 0, fresh: true, obeys: true},
			[]sight{look(0, 0), look(20, 4)}, true, true, "goes on from there"},
		"server, to where it was, and the member has not pulled": {
			obedience{method: MethodServer, from: 0, to: 0, still: true, obeys: true},
			[]sight{look(0, 0), says(look(20, 0), 20, -60)}, false, true, "has not pulled yet"},
		"server, to where it was, and the member takes from there": {
			obedience{method: MethodServer, from: 0, to: 0, still: true, obeys: true},
			[]sight{look(0, 0), says(look(12, 0), 20, 11)}, true, true, "goes on from there"},
		"written, and a member came": {
			obedience{method: MethodCommit, from: 100, to: 0},
			[]sight{look(0, 0), look(5, 100)}, false, false, "overwritten by c1"},
		"never read": {
			obedience{method: MethodPush, from: 100, to: 0},
			[]sight{look(0, -1)}, false, false, "could not be read"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.o.began, tt.o.last = began, sight{committed: -1}
			for _, s := range tt.looks {
				tt.o.see(s)
			}
			verified, words := tt.o.judge("c1")
			if tt.o.settled() != tt.settled || verified != tt.verified || !strings.Contains(words, tt.words) {
				t.Errorf("settled %v, verified %v, %q; want %v, %v, %q", tt.o.settled(), verified, words, tt.settled, tt.verified, tt.words)
			}
		})
	}
}

// Of a queue that two members hold, both have to heed a reset.
func TestObeys(t *testing.T) {
	a := &resetApply{res: &ResetResult{Plan: ResetPlan{Members: []MemberEffect{{ClientID: "a", Obeys: true}, {ClientID: "b", Obeys: true}, {ClientID: "deaf"}}}}}
	for name, tt := range map[string]struct {
		owners []string
		want   bool
	}{
		"one that does":       {[]string{"a"}, true},
		"two that do":         {[]string{"a", "b"}, true},
		"one of two does not": {[]string{"a", "deaf"}, false},
		"the one does not":    {[]string{"deaf"}, false},
		"nobody is known to":  {nil, false},
	} {
		if got := a.obeys(tt.owners); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
