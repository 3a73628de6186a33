package tail

import (
	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine/inspect/message"
)

// tailSieve is the filter that is in force, and what it has looked at besides what came
// through it: the rows that had passed another filter on their way.
type tailSieve struct {
	Number          int // the tail knows it by
	text            string
	Filter          message.Filter
	verdicts        map[uint64]bool // of rows, by their sequence number; a list that stands shows some that are let go
	looked, matched int64           // messages with a verdict, kept or not any more
	gone            int64           // messages that were let go before it could look at them
}

// verdict reports whether a row passes the filter; known is false while nobody has
// looked. A record that cannot be read is always shown.
func (v *View) verdict(r *Row) (passes, known bool) {
	if r.Message == nil || r.filter == v.Sieve.Number {
		return true, true
	}
	passes, known = v.Sieve.verdicts[r.Seq]
	return passes, known
}

// beginSieve puts what was typed in force, or looks at the rows that came through
// another filter since; nil: nothing is to be done.
func (v *View) beginSieve() tea.Cmd {
	if (v.Filter != v.applied || v.Filter != "" && v.Request.Filter.Charset != v.env.Charset) && v.env.Now.Sub(v.wantAt) >= sieveAfter {
		v.Want.Charset = v.env.Charset
		v.Sieves++
		v.sieving, v.Request.Filter = true, v.Want
		return sieveTail(v.cmds, v.Tail, tailSieve{Number: v.Sieves, text: v.Filter, Filter: v.Want}, v.Ring.Rows, v.Ticket)
	}
	if !v.late {
		return nil
	}
	var rows []*Row
	for _, r := range v.Ring.Rows {
		if _, known := v.verdict(r); !known {
			rows = append(rows, r)
		}
	}
	if v.late = false; len(rows) == 0 {
		return nil
	}
	v.sieving = true
	return sieveTail(v.cmds, nil, v.Sieve, rows, v.Ticket)
}

// sieved takes verdicts: those of a filter that comes into force with them, or more of
// the one that is.
func (v *View) sieved(msg tailSievedMsg) {
	v.sieving, v.sieveErr = false, msg.err
	isNew := msg.sieve.Number != v.Sieve.Number
	if isNew {
		v.applied = msg.sieve.text
	}
	if msg.err != "" {
		return
	}
	if isNew {
		v.Sieve = msg.sieve
		v.Sieve.verdicts, v.Sieve.gone = map[uint64]bool{}, v.letGo
	}
	for _, r := range msg.rows {
		passes, looked := msg.verdicts[r.Seq]
		if !looked || r.Message == nil {
			continue
		}
		if r.Seq < v.Ring.next-uint64(len(v.Ring.Rows)) { // it was let go meanwhile
			v.Sieve.gone--
		}
		v.Sieve.verdicts[r.Seq] = passes
		v.Sieve.looked++
		if passes {
			v.Sieve.matched++
		}
	}
	v.late = true // some may have come meanwhile
	v.note(msg.notice)
	if isNew || v.frozen.IsZero() {
		v.arrange()
	} else {
		v.rekey() // the list stands
	}
}

// forget books the rows that are kept no more.
func (v *View) forget(rows []*Row) {
	for _, r := range rows {
		if r.Message == nil {
			continue
		}
		v.letGo++
		if _, known := v.verdict(r); !known {
			v.Sieve.gone++
		}
	}
}

// sifted says of the messages that were read how many the filter in force has looked at,
// how many of these pass, and how many it never will look at, since filters before it have
// left them out: they were not kept. Those that were let go are v.sieve.gone.
func (v *View) sifted() (looked, matched, missed int64) {
	looked, matched = v.Sieve.looked, v.Sieve.matched
	if v.total.Filter == v.Sieve.Number {
		looked, matched, missed = looked+v.total.Looked, matched+v.total.Matched, v.total.Missed
	}
	return looked, matched, missed
}
