package inspect

import (
	"cmp"
	"context"
	"slices"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// toolsGroup reads messages: it is there on every broker, and no group's progress
// moves by what it reads. Reading in the name of a group would tell its broker that
// a reset had been taken.
const toolsGroup = "TOOLS_CONSUMER"

// maxStored bounds what is remembered of when messages were stored.
const maxStored = 4096

// storedTimes remembers when the messages at places were stored, which never changes.
type storedTimes struct{ at map[place]time.Time }

type place struct {
	mq     protocol.MessageQueue
	offset int64
}

func (in *Inspector) storedAt(p place) (time.Time, bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	t, ok := in.stored.at[p]
	return t, ok
}

func (in *Inspector) keepStored(p place, t time.Time) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.stored.at) >= maxStored || in.stored.at == nil {
		in.stored.at = map[place]time.Time{} // all anew: it costs a question each
	}
	in.stored.at[p] = t
}

// read looks at the next message of the queues that are most behind, for the exact
// time at which it was stored.
func (v *groupView) read(ctx context.Context) {
	var waiting []*QueueLag
	for i := range v.queues {
		if v.queues[i].waits() {
			waiting = append(waiting, &v.queues[i])
		}
	}
	slices.SortStableFunc(waiting, func(a, b *QueueLag) int { return cmp.Compare(b.Lag.Value, a.Lag.Value) })
	waiting = waiting[:min(len(waiting), exactQueues)]
	each(len(waiting), 0, func(i int) {
		q := waiting[i]
		b := v.round.survey.broker(q.BrokerName)
		if b == nil {
			return
		}
		t, err := v.round.in.storeTime(ctx, b.addr, q.MessageQueue, q.next())
		if err == nil && !t.IsZero() {
			q.NextStored, q.NextWhy = t, Reason{}
		}
	})
}

// storeTime gives when the message at a place was stored; the zero time when there
// is none.
func (in *Inspector) storeTime(ctx context.Context, addr string, mq protocol.MessageQueue, offset int64) (time.Time, error) {
	p := place{mq, offset}
	if t, ok := in.storedAt(p); ok {
		return t, nil
	}
	r, err := in.pull(ctx, addr, mq, offset, 1)
	if err != nil || r.Status != remoting.PullFound {
		return time.Time{}, err
	}
	messages, err := protocol.AppendMessages(nil, r.Body, &protocol.MessageSource{BrokerName: mq.BrokerName, Topic: mq.Topic})
	if len(messages) == 0 {
		return time.Time{}, err
	}
	// One at a later offset is the next message all the same: those between are gone.
	t := messages[0].Stored()
	in.keepStored(p, t)
	return t, nil
}

// expire says about when the next message of each queue will be deleted: a broker
// deletes whole files, some time after their last message is that old.
func (v *groupView) expire(ctx context.Context) {
	reserved := map[string]time.Duration{}
	failed := map[string]Reason{}
	for i := range v.queues {
		q := &v.queues[i]
		if q.NextStored.IsZero() {
			continue
		}
		keep, asked := reserved[q.BrokerName]
		if b := v.round.survey.broker(q.BrokerName); !asked && b != nil {
			var err error
			keep, err = v.round.in.reserved(ctx, b.addr)
			reserved[q.BrokerName], failed[q.BrokerName] = keep, ReasonOf(err)
		}
		q.ExpiresWhy = failed[q.BrokerName]
		if keep > 0 {
			q.ExpiresAt = q.NextStored.Add(keep)
		}
	}
}
