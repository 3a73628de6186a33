package inspect

import (
	"context"
	"fmt"
	"time"

	"eyeq/remoting/protocol"
)

// defaultFound is how many messages a FindRequest asks for that does not say; a
// broker gives no more of one key either.
const defaultFound = 64

// RequestError says what is wrong with a question.
type RequestError struct{ Why string }

func (e *RequestError) Error() string { return e.Why }

// Find looks for messages. What a broker could not be asked is in Problems. Nothing
// found is no error, but where one message is named by its place or its offset id: then
// it is a *MessageNotFoundError, or an *UnsureError. A topic that does not exist is a *NotFoundError.
// The offset id of a batch (5.x, queue.type=BatchCQ) is that of all of its messages.
func (in *Inspector) Find(ctx context.Context, r FindRequest) (FindResult, error) {
	if err := r.Check(); err != nil {
		return FindResult{}, err
	}
	if r.Max <= 0 {
		r.Max = defaultFound
	}
	s, err := in.survey(ctx)
	if err != nil {
		return FindResult{}, err
	}
	f := &finder{round: in.round(s), request: r}
	switch {
	case r.OffsetID != "":
		err = f.byOffsetID(ctx)
	case r.Queue != nil:
		var m protocol.MessageExt
		if m, err = in.Head(ctx, *r.Queue, r.Offset); err == nil {
			f.found = []protocol.MessageExt{m}
		}
	case r.UniqueKey != "":
		err = f.byUniqueKey(ctx)
	case r.Key != "":
		err = f.byKey(ctx)
	default:
		err = f.bySpan(ctx)
	}
	return FindResult{Messages: f.found, Truncated: f.truncated, Also: f.also, Problems: f.problems}, err
}

// Check refuses what cannot be meant, with a *RequestError.
func (r *FindRequest) Check() error {
	named := 0
	for _, is := range []bool{r.Key != "", r.UniqueKey != "", r.OffsetID != "", r.Queue != nil} {
		if is {
			named++
		}
	}
	switch {
	case named > 1:
		return &RequestError{"look by a key, a unique id, an offset id or a place: one of them"}
	case r.Topic == "" && r.OffsetID == "" && r.Queue == nil:
		return &RequestError{"the topic is missing"}
	case !r.From.IsZero() && !r.To.IsZero() && r.To.Before(r.From):
		return &RequestError{fmt.Sprintf("the span ends (%s) before it begins (%s)", r.To.Format(time.RFC3339Nano), r.From.Format(time.RFC3339Nano))}
	}
	return nil
}

// holds reports whether a message was stored within the request's span, which
// includes both its ends.
func (r *FindRequest) holds(m *protocol.MessageExt) bool {
	stored := m.Stored()
	return (r.From.IsZero() || !stored.Before(r.From)) && (r.To.IsZero() || !stored.After(r.To))
}

// finder is one Find under way.
type finder struct {
	round     *round
	request   FindRequest
	found     []protocol.MessageExt
	truncated bool
	also      []string
	problems  []Problem
}
