package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine/inspect/message"
)

// tailSieve is the filter that is in force, and what it has looked at besides what came
// through it: the rows that had passed another filter on their way.
type tailSieve struct {
	number          int // the tail knows it by
	text            string
	filter          message.Filter
	verdicts        map[uint64]bool // of rows, by their sequence number; a list that stands shows some that are let go
	looked, matched int64           // messages with a verdict, kept or not any more
	gone            int64           // messages that were let go before it could look at them
}

// verdict reports whether a row passes the filter; known is false while nobody has
// looked. A record that cannot be read is always shown.
func (v *tailView) verdict(r *tailRow) (passes, known bool) {
	if r.message == nil || r.filter == v.sieve.number {
		return true, true
	}
	passes, known = v.sieve.verdicts[r.seq]
	return passes, known
}

// beginSieve puts what was typed in force, or looks at the rows that came through
// another filter since; nil: nothing is to be done.
func (v *tailView) beginSieve() tea.Cmd {
	if (v.filter != v.applied || v.filter != "" && v.request.Filter.Charset != v.env.Charset) && v.env.Now.Sub(v.wantAt) >= sieveAfter {
		v.want.Charset = v.env.Charset
		v.sieves++
		v.sieving, v.request.Filter = true, v.want
		return sieveTail(v.cmds, v.tail, tailSieve{number: v.sieves, text: v.filter, filter: v.want}, v.ring.rows, v.ticket)
	}
	if !v.late {
		return nil
	}
	var rows []*tailRow
	for _, r := range v.ring.rows {
		if _, known := v.verdict(r); !known {
			rows = append(rows, r)
		}
	}
	if v.late = false; len(rows) == 0 {
		return nil
	}
	v.sieving = true
	return sieveTail(v.cmds, nil, v.sieve, rows, v.ticket)
}

// sieved takes verdicts: those of a filter that comes into force with them, or more of
// the one that is.
func (v *tailView) sieved(msg tailSievedMsg) {
	v.sieving, v.sieveErr = false, msg.err
	isNew := msg.sieve.number != v.sieve.number
	if isNew {
		v.applied = msg.sieve.text
	}
	if msg.err != "" {
		return
	}
	if isNew {
		v.sieve = msg.sieve
		v.sieve.verdicts, v.sieve.gone = map[uint64]bool{}, v.letGo
	}
	for _, r := range msg.rows {
		passes, looked := msg.verdicts[r.seq]
		if !looked || r.message == nil {
			continue
		}
		if r.seq < v.ring.next-uint64(len(v.ring.rows)) { // it was let go meanwhile
			v.sieve.gone--
		}
		v.sieve.verdicts[r.seq] = passes
		v.sieve.looked++
		if passes {
			v.sieve.matched++
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
func (v *tailView) forget(rows []*tailRow) {
	for _, r := range rows {
		if r.message == nil {
			continue
		}
		v.letGo++
		if _, known := v.verdict(r); !known {
			v.sieve.gone++
		}
	}
}

// sifted says of the messages that were read how many the filter in force has looked at,
// how many of these pass, and how many it never will look at, since filters before it have
// left them out: they were not kept. Those that were let go are v.sieve.gone.
func (v *tailView) sifted() (looked, matched, missed int64) {
	looked, matched = v.sieve.looked, v.sieve.matched
	if v.total.Filter == v.sieve.number {
		looked, matched, missed = looked+v.total.Looked, matched+v.total.Matched, v.total.Missed
	}
	return looked, matched, missed
}
