package inspect

import (
	"fmt"
	"time"
)

// sight is one look at a queue after its reset.
type sight struct {
	at        time.Time
	committed int64     // -1: not seen
	memory    int64     // what its owner says it would commit; -1: not said
	consumed  time.Time // when its owner last handed out messages of it, or took it; zero: not said
	taken     time.Time // when its owner took it, or renewed its lock since; zero: not said
	lost      string    // why its broker does not say what is committed; "": it does
}

// obedience follows one queue after its reset until it is clear what its member does.
type obedience struct {
	method   ResetMethod
	from, to int64 // committed before (the queue's beginning when nothing was), and the target
	began    time.Time
	obeys    bool // the members are known to heed this kind of reset
	fresh    bool // nothing was committed before, so that nobody knows where the member was
	still    bool // the target was committed before; the member, which may be further, is sent back to it
	end      bool // the target is the queue's end: nothing is there to go on with
	paused   bool // the broker refuses pulls, so that no member hears of it, and keeps commits away until one is let in

	there time.Time // when the target was first seen committed
	wrote bool      // a member has committed the target; whether it goes on from there is for it to say
	moved bool      // a member goes on from the target: nothing is in doubt any more
	again bool      // its owner has handed out messages since it took the queue after the reset
	works bool      // it has handed out some since the reset; whether it took the queue anew is not said
	idle  time.Time // when its owner took it after the reset, with nothing handed out; zero: not seen
	away  time.Time // since when something else than the target is committed
	last  sight
	lost  string // why the last look saw nothing; "": it saw
	cut   bool   // the operator has ended the watch
}

// replayed is the most messages a second that a member is believed to have consumed
// again, of one queue, between two looks.
const replayed = 20_000

// see takes a look. A broker that resets by itself shows the target at once and keeps
// commits away until the next pull; one that tells its members shows it when they have
// moved. A commit past the target in the wrong direction is either a member that was
// quick or one that went on as if nothing had happened: judge decides.
func (o *obedience) see(s sight) {
	o.lost = s.lost
	if s.committed < 0 {
		return
	}
	o.last = s
	o.hears(s)
	at := func(offset int64) bool { // at the target, or on the way from it
		if o.to < o.from && !o.fresh {
			return offset >= o.to && offset < o.from
		}
		return offset >= o.to
	}
	if !at(s.committed) {
		if !o.there.IsZero() && o.away.IsZero() {
			o.away = s.at
		}
		return
	}
	returned := !o.away.IsZero() // then it was a member who wrote it
	if o.there.IsZero() {
		o.there = s.at
	}
	o.away = time.Time{}
	if o.fresh || o.still { // that the target is committed is no sign of the member
		o.moved = o.moved || returned || o.end || s.committed != o.to || s.consumed.After(o.began)
		return
	}
	o.wrote = o.wrote || returned || o.method == MethodPush
	o.moved = o.moved || s.committed != o.to || o.to == o.from || o.again || s.memory >= 0 && at(s.memory)
}

// hears keeps what the owner says of its work. A member commits the target, gives the
// queue up and takes it again in the same moment, and asks where to begin: its broker
// may answer before it has stored that commit, and the member goes on where it was
// (RemoteBrokerOffsetStore: commits are oneway). Then it has taken the queue and handed
// out nothing. A Java member's queue begins with the same time in each place
// (ProcessQueue), which locks that are renewed move later.
func (o *obedience) hears(s sight) {
	switch renewed := s.taken.Sub(s.consumed); {
	case !s.consumed.After(o.began):
	case !s.taken.After(o.began):
		o.works = true
	case renewed < 0:
		o.again = true
	case renewed <= time.Millisecond:
		o.idle = s.consumed
	default:
		o.again = o.again || !s.consumed.Equal(o.idle)
	}
}

// went reports whether a member goes on from the target, as far as can be told of one
// that says nothing of its work.
func (o *obedience) went() bool { return o.moved || o.wrote && !o.told() }

// told reports whether the owner has said anything of its work.
func (o *obedience) told() bool { return o.last.memory >= 0 || !o.last.consumed.IsZero() }

// caughtUp reports whether the owner has taken the queue after the reset and consumed all
// that it was to consume again, and no more came.
func (o *obedience) caughtUp() bool {
	return o.again && o.obeys && o.to < o.from && o.last.committed == o.from
}

// handed reports whether the owner has handed out messages since the reset.
func (o *obedience) handed() bool { return o.again || o.works && o.idle.IsZero() }

// missed reports whether the owner has taken the queue after the reset, and not from
// the target: it has handed out nothing, and commits what it did before, or more.
func (o *obedience) missed() bool {
	return !o.again && !o.moved && !o.idle.IsZero() && o.to < o.from && o.last.committed >= o.from
}

// awayLong is for how long something else than the target is committed before that is
// final: an old Java member commits its old place for 10 s after it was told.
const awayLong = 12 * time.Second

// settled reports whether there is nothing left to wait for.
func (o *obedience) settled() bool {
	return o.went() || o.caughtUp() || o.paused && !o.there.IsZero() && o.away.IsZero() ||
		!o.away.IsZero() && o.last.at.Sub(o.away) >= awayLong && !o.wordless()
}

// wordless reports whether only the owner's word is missing: what is committed may come
// of the reset or of an old commit. A member on a busy machine answers late.
func (o *obedience) wordless() bool {
	return o.to < o.from && o.last.committed >= o.from && o.obeys && !o.told() && o.possible()
}

// judge says what came of it. owner is who holds the queue, as far as that is known.
func (o *obedience) judge(owner string) (verified bool, words string) {
	if owner == "" {
		owner = "a member"
	}
	switch {
	case o.lost != "" && o.last.committed >= 0: // a killed broker forgets the offsets of its last seconds
		return false, fmt.Sprintf("not known: %d was committed at %s, then its broker was lost: %s", o.last.committed, o.last.at.UTC().Format("15:04:05Z"), o.lost)
	case o.lost != "":
		return false, "its offset could not be read back: " + o.lost
	case o.there.IsZero() && o.last.committed < 0:
		return false, "its offset could not be read back"
	case o.missed():
		return false, fmt.Sprintf("not applied by %s: it took the queue anew before %d was stored, and goes on from %d: repeat the reset", owner, o.to, o.last.committed)
	case o.there.IsZero() && o.method == MethodPush && o.tookAgain() && o.last.committed == o.from:
		return true, fmt.Sprintf("has consumed them again, up to %d", o.last.committed)
	case o.there.IsZero() && o.method == MethodPush && o.tookAgain():
		return false, fmt.Sprintf("not known whether %s was at %d: it has consumed since, and %d is committed", owner, o.to, o.last.committed)
	case o.there.IsZero() && o.method == MethodPush && o.cut:
		return false, fmt.Sprintf("not known whether %s goes there: it was not watched to the end, which takes 10 to 30 s; %d is committed", owner, o.last.committed)
	case o.there.IsZero() && o.method == MethodPush:
		return false, fmt.Sprintf("not applied by %s: it still commits %d", owner, o.last.committed)
	case o.there.IsZero():
		return false, fmt.Sprintf("%d is committed", o.last.committed)
	case o.away.IsZero() && o.fresh && o.end:
		return true, "written: nothing was committed before"
	case o.away.IsZero() && !o.moved && o.fresh && o.method == MethodPush:
		return false, fmt.Sprintf("not known whether %s went there: nothing was committed before, and it has consumed nothing since", owner)
	case o.away.IsZero() && o.moved && o.to == o.from && !o.fresh && (!o.still || o.end):
		return true, "stays where it was"
	case o.away.IsZero() && (o.moved || o.wrote):
		return true, "goes on from there"
	case o.away.IsZero() && o.paused:
		return true, "moves at its first pull after the group is resumed"
	case o.away.IsZero():
		return true, "has not pulled yet: moves at its next pull"
	case o.to < o.from && o.last.committed >= o.from && (o.went() || o.consumedAgain()):
		return true, fmt.Sprintf("has consumed them again, up to %d", o.last.committed)
	case o.wordless():
		return false, fmt.Sprintf("not known whether %s was at %d: it does not say what it has consumed, and %d is committed", owner, o.to, o.last.committed)
	}
	return false, fmt.Sprintf("overwritten by %s at %s: %d is committed", owner, o.away.UTC().Format("15:04:05Z"), o.last.committed)
}

// tookAgain reports whether a member that heeds a reset to an earlier place has taken
// its queue, or handed out messages of it, since. An old Java member commits every 5 s,
// so that it may go back and catch up without a commit in between. One that heeds
// nothing keeps its queue, and has handed out nothing as long as nothing new has come.
func (o *obedience) tookAgain() bool {
	return o.obeys && o.to < o.from && o.last.committed >= o.from && o.handed()
}

// consumedAgain decides about a commit past all that was to be consumed again, when no
// step on the way was seen. Only the owner can say it: where the broker's answer to its
// pull was lost, the reset is gone, and the owner goes on committing its old place.
func (o *obedience) consumedAgain() bool {
	// When nothing new has come, what it handed out were those; else it may have.
	return o.handed() && (o.last.committed == o.from || o.obeys && o.possible())
}

// possible reports whether a member can have consumed all of it again in the time.
func (o *obedience) possible() bool {
	took := o.away.Sub(o.began)
	return float64(o.from-o.to) <= replayed*max(took.Seconds(), 1)
}
