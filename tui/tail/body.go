package tail

import (
	"eyeq/engine/inspect/message"
)

// BodyKey is how the body of a row is to be read now.
func (v *View) BodyKey(r *Row) BodyKey {
	k := BodyKey{seq: r.Seq, Decoder: v.decoder, charset: v.env.Charset, Width: v.BodyWidth(), Wrap: v.wrap}
	if r.Seq == v.MoreOf {
		k.more = v.More
	}
	return k
}

// ShownBody is the body of a row as far as it is laid out; nil: not yet.
func (v *View) ShownBody(r *Row) *Body {
	for k := v.BodyKey(r); k.more >= 0; k.more-- {
		if b := v.Body(k); b != nil {
			return b
		}
	}
	return nil
}

// goesOn reports whether there is more of a row's body to lay out.
func (v *View) goesOn(r *Row, b *Body) bool {
	return b.Cut && v.BodyKey(r).more < message.MaxDoublings
}

// readOn has more of a body laid out.
func (v *View) readOn(r *Row) {
	if v.Body(v.BodyKey(r)) == nil {
		return // it is on its way
	}
	if v.MoreOf != r.Seq {
		v.MoreOf, v.More = r.Seq, 0
	}
	v.More++
}

// Body is the decoded body for a key; nil: it is not there yet.
func (v *View) Body(k BodyKey) *Body {
	for i := range v.Bodies {
		if v.Bodies[i].Key == k {
			return &v.Bodies[i].Body
		}
	}
	return nil
}

func (v *View) tracksOf(seq uint64) *TracksMsg {
	for i := range v.tracks {
		if v.tracks[i].Seq == seq {
			return &v.tracks[i]
		}
	}
	return nil
}
