package live

import (
	"slices"

	"eyeq/engine"
	"eyeq/tui/draw"
	"eyeq/tui/words"
)

// Door lets a snapshot in. A snapshot whose texts are safe already, the usual case,
// is taken as it is; otherwise a cleaned copy is made, since snapshots are read only.
// prev is the scene before, whose index is kept while the queues are the same.
func Door(raw *engine.Snapshot, prev *Scene) *Scene {
	s := &Scene{Snapshot: raw, Raw: raw}
	if !SnapshotIsSafe(raw) {
		s.Snapshot = cleanSnapshot(raw)
	}
	if prev != nil && sameQueues(prev.Raw.Queues, raw.Queues) {
		s.Index = prev.Index
	} else {
		s.Index = make(map[engine.MessageQueue]int, len(raw.Queues))
		for i := range raw.Queues {
			s.Index[raw.Queues[i].MessageQueue] = i
		}
	}
	s.name()
	return s
}

func sameQueues(a, b []engine.QueueSnapshot) bool {
	return slices.EqualFunc(a, b, func(x, y engine.QueueSnapshot) bool { return x.MessageQueue == y.MessageQueue })
}

// name gives members their letters and brokers their short names.
func (s *Scene) name() {
	s.letters = make(map[string]string)
	for _, t := range s.Topics {
		for _, m := range t.Members {
			if _, ok := s.letters[m.ClientID]; !ok {
				s.letters[m.ClientID] = words.Letter(len(s.letters))
			}
		}
	}
	var brokers []string
	topic := ""
	for i := range s.Queues {
		q := &s.Queues[i]
		if q.Topic != topic {
			topic = q.Topic
			s.topics++
		}
		if len(brokers) == 0 || brokers[len(brokers)-1] != q.BrokerName {
			if !slices.Contains(brokers, q.BrokerName) {
				brokers = append(brokers, q.BrokerName)
			}
		}
	}
	s.Short = words.NewShortener(brokers)
}

// SnapshotIsSafe reports whether cleaning would change nothing.
func SnapshotIsSafe(s *engine.Snapshot) bool {
	safe := draw.IsSafe(s.StateCause) && draw.IsSafe(s.Group) && draw.IsSafe(s.ClientID) && draw.IsSafe(s.Strategy) &&
		draw.IsSafe(s.NamesrvCurrent) && draw.IsSafe(s.NamesrvError) && draw.IsSafe(s.PersistError) && draw.IsSafe(s.LastOperator) && draw.IsSafe(s.LastError) &&
		allSafe(s.Namesrv) && pauseIsSafe(s.Pause)
	for i := 0; safe && i < len(s.Brokers); i++ {
		b := &s.Brokers[i]
		safe = draw.IsSafe(b.Name) && draw.IsSafe(b.Address) && draw.IsSafe(b.Error)
	}
	for i := 0; safe && i < len(s.Topics); i++ {
		t := &s.Topics[i]
		safe = draw.IsSafe(t.Topic) && draw.IsSafe(t.Expression) && draw.IsSafe(t.Missing) && draw.IsSafe(t.MembersFrom) &&
			draw.IsSafe(t.MembersError) && allSafe(t.Brokers)
		for j := 0; safe && j < len(t.Members); j++ {
			safe = draw.IsSafe(t.Members[j].ClientID)
			for k := 0; safe && k < len(t.Members[j].Queues); k++ {
				safe = queueNameIsSafe(t.Members[j].Queues[k])
			}
		}
	}
	for i := 0; safe && i < len(s.Queues); i++ {
		q := &s.Queues[i]
		safe = queueNameIsSafe(q.MessageQueue) && draw.IsSafe(q.Owner) && draw.IsSafe(q.Detail) && draw.IsSafe(q.HeadMessageID) &&
			draw.IsSafe(q.LastStatus) && draw.IsSafe(q.LastError) && pauseIsSafe(q.Pause)
	}
	return safe
}

func queueNameIsSafe(mq engine.MessageQueue) bool {
	return draw.IsSafe(mq.Topic) && draw.IsSafe(mq.BrokerName)
}

func pauseIsSafe(p *engine.PauseState) bool {
	return p == nil || draw.IsSafe(p.By) && draw.IsSafe(p.Reason)
}

func allSafe(texts []string) bool {
	return !slices.ContainsFunc(texts, func(t string) bool { return !draw.IsSafe(t) })
}

// cleanSnapshot copies a snapshot with every text made safe.
func cleanSnapshot(raw *engine.Snapshot) *engine.Snapshot {
	s := *raw
	clean(&s.StateCause, &s.Group, &s.ClientID, &s.Strategy, &s.NamesrvCurrent, &s.NamesrvError, &s.PersistError, &s.LastOperator, &s.LastError)
	s.Namesrv = cleanAll(s.Namesrv)
	s.Pause = cleanPause(s.Pause)
	s.Brokers = slices.Clone(s.Brokers)
	for i := range s.Brokers {
		b := &s.Brokers[i]
		clean(&b.Name, &b.Address, &b.Error)
	}
	s.Topics = slices.Clone(s.Topics)
	for i := range s.Topics {
		t := &s.Topics[i]
		clean(&t.Topic, &t.Expression, &t.Missing, &t.MembersFrom, &t.MembersError)
		t.Brokers = cleanAll(t.Brokers)
		t.Members = slices.Clone(t.Members)
		for j := range t.Members {
			m := &t.Members[j]
			clean(&m.ClientID)
			m.Queues = slices.Clone(m.Queues)
			for k := range m.Queues {
				m.Queues[k] = cleanQueueName(m.Queues[k])
			}
		}
	}
	s.Queues = slices.Clone(s.Queues)
	for i := range s.Queues {
		q := &s.Queues[i]
		q.MessageQueue = cleanQueueName(q.MessageQueue)
		clean(&q.Owner, &q.Detail, &q.HeadMessageID, &q.LastStatus, &q.LastError)
		q.Pause = cleanPause(q.Pause)
	}
	return &s
}

func clean(texts ...*string) {
	for _, t := range texts {
		*t = draw.SafeText(*t)
	}
}

func cleanQueueName(mq engine.MessageQueue) engine.MessageQueue {
	clean(&mq.Topic, &mq.BrokerName)
	return mq
}

func cleanPause(p *engine.PauseState) *engine.PauseState {
	if p == nil {
		return nil
	}
	c := *p
	clean(&c.By, &c.Reason)
	return &c
}
