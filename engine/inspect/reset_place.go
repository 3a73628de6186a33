package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"eyeq/engine/core"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// resetPlace is a topic at one broker, which is what a broker's requests work on.
type resetPlace struct {
	topic  string
	broker broker
	method ResetMethod
	// stamp is the time in milliseconds that MethodPush asks for; negative: the end.
	stamp int64
	// uncommitted are queues without any commit: a 4.9 broker resets nothing of the
	// topic until they have one.
	uncommitted map[protocol.MessageQueue]int64

	rows   []*ResetRow
	whole  bool // rows are all queues that the topic has there
	bounds protocol.TopicStats
	offset map[int32]int64 // committed
}

// cannotReset says why nothing can be reset at a broker; "" when it can.
func cannotReset(a *said, offsets *brokerOffsets) string {
	switch {
	case a == nil:
		return "no name server knows its broker any more"
	case a.broker.id != remoting.MasterID:
		// A slave takes commits, also one of 5.x that acts as the master, but hands nothing
		// over: it takes the master's offsets when that one is back. It refuses request 222.
		return "its master is away, and what its slave is given meanwhile, also one that acts as the master, is lost when the master is back: wait for it"
	case offsets.err != nil:
		return "the committed offset cannot be read: " + ReasonOf(offsets.err).String()
	case a.connErr != nil && !a.offline():
		return "whether members are connected cannot be told: " + ReasonOf(a.connErr).String()
	}
	return ""
}

// planPlace fills the rows of one place.
func (in *Inspector) planPlace(ctx context.Context, st *standing, r *ResetRequest, pl *resetPlace) {
	addr := pl.broker.addr
	var err error
	pl.bounds, err = ask(ctx, in, addr, func(ctx context.Context) (protocol.TopicStats, error) {
		return in.client.TopicStats(ctx, addr, pl.topic)
	})
	if err != nil {
		pl.unknown("its beginning and end cannot be read: ", err)
		return
	}
	followed, server := st.follows(pl.topic), false
	if followed && pl.broker.five() {
		if server, err = in.serverSideReset(ctx, addr); err != nil {
			pl.unknown("how its broker resets cannot be told, which its settings say: ", err)
			return
		}
	}
	each(len(pl.rows), 0, func(i int) { in.planRow(ctx, r, pl, pl.rows[i]) })
	pl.whole = in.wholePlace(ctx, pl)
	kind := r.Target.Kind
	if r.Exact != nil {
		kind = 0
	}
	var why string
	pl.method, why = chooseMethod(resetFacts{Followed: followed, ServerSide: server, Five: pl.broker.five(), Whole: pl.whole, Target: kind})
	for _, row := range pl.rows {
		if row.Method = pl.method; why != "" && row.Why == "" {
			row.Why = why
		}
	}
	if pl.method == MethodPush {
		in.planPush(ctx, r, pl)
	}
	each(len(pl.rows), 0, func(i int) {
		if row := pl.rows[i]; !row.Unknown && row.After < row.Max {
			row.FirstStored, _ = in.storedFrom(ctx, addr, row.MessageQueue, row.After) // zero: not known
		}
	})
}

// unknown marks all rows of a place.
func (pl *resetPlace) unknown(what string, err error) {
	for _, row := range pl.rows {
		row.Unknown, row.Why = true, what+ReasonOf(err).String()
	}
}

// serverSideReset reports whether a 5.x broker moves offsets itself, as it does unless
// it is told otherwise. It is no matter of taste: one that tells its members instead
// heeds no queue in the request, and would send the whole topic to another time.
func (in *Inspector) serverSideReset(ctx context.Context, addr string) (bool, error) {
	settings, err := in.BrokerConfig(ctx, addr)
	if err == nil && len(settings) == 0 {
		err = errors.New("it shows none")
	}
	on, _ := strconv.ParseBool(settings["useServerSideResetOffset"])
	return on, err
}

// wholePlace reports whether the rows are all queues that can be read or written there.
func (in *Inspector) wholePlace(ctx context.Context, pl *resetPlace) bool {
	have := map[int32]bool{}
	for _, row := range pl.rows {
		have[row.QueueID] = true
	}
	for mq := range pl.bounds {
		if !have[mq.QueueID] {
			return false
		}
	}
	route, err := in.client.Route(ctx, pl.topic)
	return err == nil && !slices.ContainsFunc(route.Queues, func(mq protocol.MessageQueue) bool {
		return mq.BrokerName == pl.broker.name && !have[mq.QueueID]
	})
}

// planRow computes where one queue goes.
func (in *Inspector) planRow(ctx context.Context, r *ResetRequest, pl *resetPlace, row *ResetRow) {
	if offset, ok := pl.offset[row.QueueID]; ok && offset >= 0 {
		row.Before = offset
	}
	fail := func(what string, err error) {
		row.Unknown, row.Why = true, what+ReasonOf(err).String()
	}
	b, listed := pl.bounds[row.MessageQueue]
	if !listed { // it can be read, but no longer written to: brokers list the others only
		var err error
		if b.MinOffset, b.MaxOffset, err = in.bounds(ctx, pl.broker.addr, row.MessageQueue); err != nil {
			fail("its beginning and end cannot be read: ", err)
			return
		}
	}
	row.Min, row.Max = b.MinOffset, b.MaxOffset
	bounds := core.ResetBounds{Committed: row.Before, Min: row.Min, Max: row.Max}
	target := r.Target
	if exact, ok := r.Exact[row.MessageQueue]; ok {
		target = core.ResetTarget{Kind: core.ResetOffset, Offset: exact}
	}
	if target.Kind == core.ResetTime {
		offset, err := in.offsetAt(ctx, pl.broker.addr, row, target.Time)
		if err != nil {
			fail("the time cannot be looked up: ", err)
			return
		}
		bounds.ByTime = offset
	}
	row.After, row.Effect, row.Count = core.PlanReset(bounds, target)
	if target.Kind == core.ResetOffset && target.Offset != row.After {
		row.Why = fmt.Sprintf("%d lies outside of the queue, which has %d to %d", target.Offset, row.Min, row.Max)
	}
}

func (in *Inspector) bounds(ctx context.Context, addr string, mq protocol.MessageQueue) (minOffset, maxOffset int64, err error) {
	minOffset, err = ask(ctx, in, addr, func(ctx context.Context) (int64, error) { return in.client.MinOffset(ctx, mq) })
	if err == nil {
		maxOffset, err = ask(ctx, in, addr, func(ctx context.Context) (int64, error) { return in.client.MaxOffset(ctx, mq) })
	}
	return minOffset, maxOffset, err
}

// offsetAt is the first message stored at t or later, the queue's end when there is none.
func (in *Inspector) offsetAt(ctx context.Context, addr string, row *ResetRow, t time.Time) (int64, error) {
	if row.Min >= row.Max {
		return row.Max, nil
	}
	guess, err := in.search(ctx, addr, row.MessageQueue, t)
	if err != nil {
		return 0, err
	}
	return seekTime(guess, row.Min, row.Max, t, func(offset int64) (time.Time, error) {
		return in.storedFrom(ctx, addr, row.MessageQueue, offset)
	})
}

// search is the broker's own search, as good as it is.
func (in *Inspector) search(ctx context.Context, addr string, mq protocol.MessageQueue, t time.Time) (int64, error) {
	return ask(ctx, in, addr, func(ctx context.Context) (int64, error) { return in.client.SearchOffset(ctx, mq, t) })
}

// planPush finds out where a 4.9 broker would send the members, who are told a time
// and no offsets: to the messages nearest to it. A millisecond earlier never skips what
// the time asks for, at the price of perhaps one message more.
func (in *Inspector) planPush(ctx context.Context, r *ResetRequest, pl *resetPlace) {
	pl.uncommitted = map[protocol.MessageQueue]int64{}
	for mq, b := range pl.bounds {
		if _, ok := pl.offset[mq.QueueID]; !ok {
			pl.uncommitted[mq] = b.MaxOffset
		}
	}
	defer func() {
		for _, row := range pl.rows {
			if _, ok := pl.uncommitted[row.MessageQueue]; ok {
				pl.uncommitted[row.MessageQueue] = row.After
			}
		}
	}()
	atEnd := func(row *ResetRow) bool { return row.Unknown || row.After == row.Max }
	if r.Target.Kind == core.ResetLatest || !slices.ContainsFunc(pl.rows, func(row *ResetRow) bool { return !atEnd(row) }) {
		pl.stamp = -1
		return
	}
	pl.stamp = 0
	if r.Target.Kind == core.ResetEarliest {
		return
	}
	type candidate struct {
		stamp int64
		to    []int64
		more  int64 // messages that are consumed again although the time does not ask for them
	}
	best := candidate{more: -1}
	for _, stamp := range []int64{r.Target.Time.UnixMilli(), r.Target.Time.UnixMilli() - 1} {
		c := candidate{stamp: stamp, to: make([]int64, len(pl.rows))}
		for i, row := range pl.rows {
			if row.Unknown || row.Min >= row.Max {
				c.to[i] = row.After
				continue
			}
			offset, err := in.search(ctx, pl.broker.addr, row.MessageQueue, time.UnixMilli(stamp))
			if err != nil {
				row.Unknown, row.Why = true, "the time cannot be looked up: "+ReasonOf(err).String()
				continue
			}
			c.to[i] = offset
			if c.more += row.After - offset; offset > row.After {
				c.more = -1
				break // it would skip some
			}
		}
		if c.more >= 0 && (best.more < 0 || c.more < best.more) {
			best = c
		}
	}
	if best.more < 0 {
		for _, row := range pl.rows {
			row.Method, row.Why = MethodNone, "the broker's search by time would skip messages"
		}
		pl.method = MethodNone
		return
	}
	pl.stamp = best.stamp
	for i, row := range pl.rows {
		if row.Unknown || best.to[i] == row.After {
			continue
		}
		row.Why = fmt.Sprintf("the broker goes to the message nearest to the time, %d and not %d", best.to[i], row.After)
		row.After, row.Effect, row.Count = core.PlanReset(core.ResetBounds{Committed: row.Before, Min: row.Min, Max: row.Max},
			core.ResetTarget{Kind: core.ResetOffset, Offset: best.to[i]})
	}
}
