package tui

import (
	"eyeq/engine/inspect/message"
)

// bodyKey is how the body of a row is to be read now.
func (v *tailView) bodyKey(r *tailRow) bodyKey {
	k := bodyKey{seq: r.seq, decoder: v.decoder, charset: v.env.Charset, width: v.bodyWidth(), wrap: v.wrap}
	if r.seq == v.moreOf {
		k.more = v.more
	}
	return k
}

// shownBody is the body of a row as far as it is laid out; nil: not yet.
func (v *tailView) shownBody(r *tailRow) *tailBody {
	for k := v.bodyKey(r); k.more >= 0; k.more-- {
		if b := v.body(k); b != nil {
			return b
		}
	}
	return nil
}

// goesOn reports whether there is more of a row's body to lay out.
func (v *tailView) goesOn(r *tailRow, b *tailBody) bool {
	return b.cut && v.bodyKey(r).more < message.MaxDoublings
}

// readOn has more of a body laid out.
func (v *tailView) readOn(r *tailRow) {
	if v.body(v.bodyKey(r)) == nil {
		return // it is on its way
	}
	if v.moreOf != r.seq {
		v.moreOf, v.more = r.seq, 0
	}
	v.more++
}

func (v *tailView) body(k bodyKey) *tailBody {
	for i := range v.bodies {
		if v.bodies[i].key == k {
			return &v.bodies[i].body
		}
	}
	return nil
}

func (v *tailView) tracksOf(seq uint64) *tailTracksMsg {
	for i := range v.tracks {
		if v.tracks[i].seq == seq {
			return &v.tracks[i]
		}
	}
	return nil
}
