package sandbox

import (
	"slices"
	"strconv"
	"time"

	"eyeq/remoting/protocol"
)

// schedule delivers a broker's delayed messages. They are parked in the schedule
// topic, level n in queue n-1, so each queue is in order of delivery and one
// alarm for its head is enough.
type schedule struct {
	broker *broker
	topic  *topic
	delays []time.Duration // of the levels from 1 on (messageDelayLevel)
	next   []int64         // by level: queue offset of the next one to deliver
	armed  []bool
}

func newSchedule(b *broker) *schedule {
	delays := protocol.ParseDelayLevels(b.loop.options.DelayLevels)
	n := len(delays)
	return &schedule{broker: b, topic: b.makeTopic(scheduleTopic, int32(n), permReadWrite), delays: delays, next: make([]int64, n), armed: make([]bool, n)}
}

// park stores r for later. The answer tells the parked copy's place.
func (s *schedule) park(r *protocol.Record, level int) (stored, error) {
	r.Properties = slices.Clone(r.Properties)
	setProperty(r, protocol.PropertyRealTopic, r.Topic)
	setProperty(r, protocol.PropertyRealQueueID, strconv.Itoa(int(r.QueueID)))
	r.Topic, r.QueueID = s.topic.name, int32(level-1)
	at, err := s.broker.store(r)
	s.arm(level - 1)
	return at, err
}

// rearm sets the alarms again that a stopped broker let pass.
func (s *schedule) rearm() {
	for i := range s.delays {
		s.arm(i)
	}
}

// arm sets the alarm for the head of queue i, if there is one.
func (s *schedule) arm(i int) {
	q := s.topic.queues[i]
	q.trim(s.broker.log.minOffset())
	s.next[i] = max(s.next[i], q.minOffset()) // messages that the log has dropped are lost
	if s.armed[i] || s.next[i] >= q.maxOffset() {
		return
	}
	s.armed[i] = true
	now := s.broker.loop.now
	wait := s.due(q, i).Sub(now)
	s.broker.loop.alarms.at(now.Add(wait), func() { s.ring(i) })
}

// due is when the head of queue i is to be delivered.
func (s *schedule) due(q *queue, i int) time.Time {
	return time.UnixMilli(q.entryAt(s.next[i]).stored).Add(s.delays[i])
}

// ring delivers what is due in queue i.
func (s *schedule) ring(i int) {
	s.armed[i] = false
	if !s.broker.up {
		return
	}
	q := s.topic.queues[i]
	q.trim(s.broker.log.minOffset())
	for s.next[i] = max(s.next[i], q.minOffset()); s.next[i] < q.maxOffset(); s.next[i]++ {
		if s.due(q, i).After(s.broker.loop.now) {
			break
		}
		s.deliver(q.entryAt(s.next[i]).at)
		q.trim(s.broker.log.minOffset()) // delivering may have made the log drop its oldest
	}
	s.arm(i)
}

// deliver stores a parked message where it belongs; it keeps its REAL_TOPIC,
// REAL_QID and DELAY. A topic that is gone takes it along.
func (s *schedule) deliver(commitLogOffset int64) {
	r, _, err := s.broker.log.lookup(commitLogOffset)
	if err != nil {
		return
	}
	queueID, err := strconv.Atoi(property(&r, protocol.PropertyRealQueueID))
	if err != nil {
		return
	}
	r.Topic, r.QueueID = property(&r, protocol.PropertyRealTopic), int32(queueID)
	_, _ = s.broker.store(&r)
}
