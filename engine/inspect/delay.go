package inspect

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// Where brokers park a message until it is due: by its delay level, and (5.x) by a
// timer. Copies stay there after they were delivered.
const (
	scheduleTopic = "SCHEDULE_TOPIC_XXXX"
	timerTopic    = "rmq_sys_wheel_timer"
)

// Delay is what a message says of its own delay.
type Delay struct {
	Level  int       // of the broker's delay levels; 0: a timer
	Due    time.Time // when it is, or was, delivered; zero: unknown, see Why
	Why    Reason    // why Due is not known
	Parked bool      // this copy lies in a broker's own topic, and goes to:
	Topic  string
	Queue  int32
}

// DelayOf reads a message's delay; ok is false when it has none. levels are those of
// its broker, see Levels, or why says why they are not known.
func DelayOf(m *protocol.MessageExt, levels []time.Duration, why Reason) (d Delay, ok bool) {
	if out := millisProperty(m, protocol.PropertyTimerOut); !out.IsZero() {
		d.Due = out
	} else if at := millisProperty(m, protocol.PropertyTimerDeliver); !at.IsZero() {
		d.Due = at
	}
	topic := m.Topic()
	d.Parked = topic == scheduleTopic || topic == timerTopic
	if d.Parked {
		d.Topic, _ = m.Property(protocol.PropertyRealTopic)
		text, _ := m.Property(protocol.PropertyRealQueueID)
		n, _ := strconv.ParseInt(text, 10, 32) // a broker wrote it
		d.Queue = int32(n)
	}
	switch {
	case topic == scheduleTopic:
		d.Level = int(m.QueueID()) + 1
		switch {
		case d.Level <= len(levels):
			d.Due = m.Stored().Add(levels[d.Level-1])
		case why.Kind != ReasonNone:
			d.Why = Reason{why.Kind, "the delay levels of " + m.BrokerName() + " are not known: " + cmp.Or(why.Text, why.Kind.String())}
		default:
			d.Why = Reason{ReasonNotFound, fmt.Sprintf("%s has no delay level %d", m.BrokerName(), d.Level)}
		}
	case d.Parked, !d.Due.IsZero():
	default:
		text, _ := m.Property(protocol.PropertyDelay)
		level, err := strconv.Atoi(text)
		if err != nil || level <= 0 {
			return Delay{}, false
		}
		d.Level, d.Due = level, m.Stored() // it is here, so it was due
	}
	return d, true
}

func millisProperty(m *protocol.MessageExt, name string) time.Time {
	text, _ := m.Property(name)
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// Levels asks a broker for its delay levels.
func (in *Inspector) Levels(ctx context.Context, brokerName string) ([]time.Duration, error) {
	s, err := in.survey(ctx)
	if err != nil {
		return nil, err
	}
	addr, err := s.addrOf(brokerName)
	if err != nil {
		return nil, err
	}
	settings, err := ask(ctx, in, addr, func(ctx context.Context) (map[string]string, error) {
		return in.client.BrokerConfig(ctx, addr)
	})
	if err != nil {
		return nil, err
	}
	levels := protocol.ParseDelayLevels(settings["messageDelayLevel"])
	if levels == nil {
		return nil, fmt.Errorf("%s: messageDelayLevel=%q has no levels", brokerName, settings["messageDelayLevel"])
	}
	return levels, nil
}

// parkedMessage is a copy that waits for its time.
type parkedMessage struct {
	message protocol.MessageExt
	delay   Delay
}

// parked looks for copies that wait for their time, by their unique id. What is due
// already was delivered, and is found where it went; one of which that is not known may be.
func (r *round) parked(ctx context.Context, uniqueKey string) (waiting []parkedMessage, problems []Problem) {
	found, _, problems := r.query(ctx, r.everywhere(scheduleTopic, timerTopic), remoting.MessageQuery{Key: uniqueKey, Unique: true})
	levels, why := map[string][]time.Duration{}, map[string]Reason{}
	for i := range found {
		m := &found[i]
		if _, asked := levels[m.BrokerName()]; m.Topic() == scheduleTopic && !asked {
			var err error
			levels[m.BrokerName()], err = r.in.Levels(ctx, m.BrokerName())
			why[m.BrokerName()] = ReasonOf(err)
		}
		if d, ok := DelayOf(m, levels[m.BrokerName()], why[m.BrokerName()]); ok && (d.Due.IsZero() || d.Due.After(r.in.now())) {
			waiting = append(waiting, parkedMessage{*m, d})
		}
	}
	return waiting, problems
}
