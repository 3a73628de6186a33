package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Verdict is what the judge makes of a ledger.
type Verdict struct {
	Groups   map[Group]*GroupVerdict `json:"groups"`
	Failures []string                `json:"failures"` // none: the run is good
}

// GroupVerdict is about one group.
type GroupVerdict struct {
	Messages   int64              `json:"messages"`   // that the broker has answered for
	Copies     int64              `json:"copies"`     // stored; more than messages where the producer had to send again
	Deliveries int64              `json:"deliveries"` // to listeners
	Lost       []Loss             `json:"lost"`
	Breaks     []Break            `json:"order_breaks"` // of the orderly group
	Duplicates []Duplicate        `json:"duplicates"`
	Causes     map[string]int     `json:"duplicates_by_cause"`
	Windows    []Window           `json:"windows"`
	Slowest    time.Duration      `json:"slowest_owned"`
	Held       map[int32][]string `json:"held"` // by whom each queue is, at the end
}

// Loss is a copy that no member got, or (Offset -1) a message of which it got none.
type Loss struct {
	Seq    int64 `json:"seq"` // -1: not known
	Queue  int32 `json:"queue"`
	Offset int64 `json:"offset"`
}

// skew is how far the times of two members' deliveries may be wrong against each
// other: a line lies in its pipe until it is read.
const skew = 100 * time.Millisecond

// judge makes the verdict. It changes nothing but the order of the ledger's lists.
func judge(l *Ledger) *Verdict {
	v := &Verdict{Groups: map[Group]*GroupVerdict{}}
	fail := func(format string, args ...any) { v.Failures = append(v.Failures, fmt.Sprintf(format, args...)) }
	slices.SortStableFunc(l.Deliveries, func(a, b Delivery) int { return cmp.Compare(a.At, b.At) })
	slices.SortStableFunc(l.Happenings, func(a, b Happening) int { return cmp.Compare(a.Began, b.Began) })
	slices.SortStableFunc(l.Commits, func(a, b Commit) int { return cmp.Compare(a.At, b.At) })
	for _, t := range l.Troubles {
		fail("the run itself: %s", t)
	}
	if len(l.Sent) == 0 {
		fail("nothing was sent")
	}
	if len(l.Happenings) != len(l.Plan.Events) {
		fail("%d of %d events of the plan happened", len(l.Happenings), len(l.Plan.Events))
	}
	for _, g := range groups {
		gv := judgeGroup(l, g)
		v.Groups[g] = gv
		if n := len(gv.Lost); n > 0 {
			fail("%s: %d messages lost, the first %+v", g, n, gv.Lost[0])
		}
		if n := len(gv.Breaks); n > 0 {
			fail("%s: order broken %d times, first %v", g, n, gv.Breaks[0])
		}
		if n := gv.Causes[unexplained]; n > 0 {
			i := slices.IndexFunc(gv.Duplicates, func(d Duplicate) bool { return d.Cause == unexplained })
			fail("%s: %d duplicates that no event explains, the first %v", g, n, gv.Duplicates[i])
		}
		for _, w := range gv.Windows {
			if late := w.Late; late != nil {
				fail("%s: queue %d has no owner %.1f s after %v, %v is allowed", g, late.Queue, late.Owned.Seconds(), w.After, late.Allowed)
			}
		}
		for q := range l.Queues {
			if holders := gv.Held[q]; len(holders) != 1 {
				fail("%s: queue %d is held by %v at the end, want one member", g, q, holders)
			}
		}
	}
	return v
}

func judgeGroup(l *Ledger, g Group) *GroupVerdict {
	v := &GroupVerdict{Messages: int64(len(l.Sent)), Causes: map[string]int{}, Held: map[int32][]string{}}
	for _, n := range l.Stored {
		v.Copies += n
	}
	for _, h := range l.Holders {
		if h.Group == g {
			v.Held[h.Queue] = append(v.Held[h.Queue], h.Member)
		}
	}
	happenings := concerning(l.Happenings, g)
	ds := deliveriesOf(l, g)
	v.Deliveries = int64(len(ds))
	v.Lost = losses(l, ds)
	v.Duplicates = duplicates(l, g, ds, happenings)
	for _, d := range v.Duplicates {
		v.Causes[d.Cause]++
	}
	if g == Orderly {
		v.Breaks = orderBreaks(l, g, ds, happenings)
	}
	v.Windows = windows(l, g, ds, happenings)
	for _, w := range v.Windows {
		v.Slowest = max(v.Slowest, w.Owned)
	}
	return v
}

// concerning picks a group's events and those of the broker.
func concerning(all []Happening, g Group) (mine []Happening) {
	for _, h := range all {
		if h.Event.Group == g || h.Event.Group == "" {
			mine = append(mine, h)
		}
	}
	return mine
}

func deliveriesOf(l *Ledger, g Group) (mine []Delivery) {
	for _, d := range l.Deliveries {
		if l.Plan.Roles[d.Member].Group == g {
			mine = append(mine, d)
		}
	}
	return mine
}

// losses finds what was stored and never delivered: copies, and messages of which
// the broker holds a copy by its own word.
func losses(l *Ledger, ds []Delivery) (lost []Loss) {
	seen := map[place]bool{}
	seqs := map[int64]bool{}
	for _, d := range ds {
		seqs[d.Seq] = true
		if d.Topic == "" {
			seen[place{d.Queue, d.Offset}] = true
		}
	}
	seqAt := map[place]int64{}
	for _, s := range l.Sent {
		seqAt[place{s.Queue, s.Offset}] = s.Seq
	}
	for q, end := range l.Stored {
		for o := range end {
			at := place{int32(q), o}
			if seen[at] {
				continue
			}
			seq, known := seqAt[at]
			if !known {
				seq = -1
			}
			lost = append(lost, Loss{seq, at.queue, o})
		}
	}
	for _, s := range l.Sent { // the broker itself may have lost what it answered for
		if !seqs[s.Seq] && s.Offset >= l.Stored[s.Queue] {
			lost = append(lost, Loss{s.Seq, s.Queue, s.Offset})
		}
	}
	return lost
}
