package engine

import "time"

// stretch is offsets that were passed over and are told as one event: at once,
// and then at most once a second, since a filter may skip some in every pull.
type stretch struct {
	from, to int64
	due      time.Time // zero: nothing is to be told
	told     time.Time
}

const stretchEvery = time.Second

// add notes that from … to-1 were passed over.
func (s *stretch) add(now time.Time, from, to int64) {
	if !s.due.IsZero() {
		s.to = max(s.to, to)
		return
	}
	s.from, s.to, s.due = from, to, now
	if next := s.told.Add(stretchEvery); next.After(now) {
		s.due = next
	}
}

// take gives what is due; ok is false when nothing is.
func (s *stretch) take(now time.Time) (from, to int64, ok bool) {
	if s.due.IsZero() || now.Before(s.due) {
		return 0, 0, false
	}
	s.due, s.told = time.Time{}, now
	return s.from, s.to, true
}

// expire notes messages that have expired; what does not adjoin the last ones is
// told apart from them.
func (q *queue) expire(now time.Time, from, to int64) {
	if !q.expired.due.IsZero() && q.expired.to != from {
		q.emit(MessagesExpired{At{now, q.mq}, q.expired.from, q.expired.to})
		q.expired.due = time.Time{}
	}
	q.expired.add(now, from, to)
}

// tellStretches tells what was passed over and is due.
func (q *queue) tellStretches(now time.Time) {
	if from, to, ok := q.expired.take(now); ok {
		q.emit(MessagesExpired{At{now, q.mq}, from, to})
	}
	if from, to, ok := q.corrected.take(now); ok {
		q.emit(TagsCorrected{At{now, q.mq}, from, to})
	}
}
