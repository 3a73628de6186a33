package inspect

import (
	"context"
	"fmt"
	"maps"

	"eyeq/remoting/protocol"
)

// write resets the queues of one place.
func (a *resetApply) write(ctx context.Context, pl *resetPlace) {
	switch pl.method {
	case MethodCommit:
		a.commit(ctx, pl)
	case MethodServer:
		for _, row := range pl.rows {
			// Its member may be further than what is committed, by all that it has consumed
			// since: a queue that stands at the target stays there only when it is told to.
			if row.Before != row.After || row.After < row.Max {
				a.serverSide(ctx, pl, row)
			}
		}
	case MethodPush:
		a.push(ctx, pl)
	}
}

// commit writes the offsets directly.
func (a *resetApply) commit(ctx context.Context, pl *resetPlace) {
	offsets := map[protocol.MessageQueue]int64{}
	for _, row := range pl.rows {
		if row.Before != row.After {
			offsets[row.MessageQueue] = row.After
			row.Tried = true
		}
	}
	failed := a.in.client.UpdateConsumerOffsets(ctx, a.st.group, offsets)
	for _, row := range pl.rows {
		if err := failed[row.MessageQueue]; err != nil {
			a.fail(pl, row, err)
			continue
		}
		// A 5.x broker answers yes and writes nothing while an earlier reset of the queue
		// waits for a pull. Only another reset takes its place.
		if row.Tried && pl.broker.five() {
			if now, _, err := a.committed(ctx, pl.broker.addr, row.MessageQueue); err == nil && now != row.After {
				a.serverSide(ctx, pl, row)
			}
		}
	}
}

func (a *resetApply) committed(ctx context.Context, addr string, mq protocol.MessageQueue) (offset int64, found bool, err error) {
	offset, err = ask(ctx, a.in, addr, func(ctx context.Context) (o int64, err error) {
		o, found, err = a.in.client.QueryConsumerOffset(ctx, a.st.group, mq)
		return o, err
	})
	return offset, found, err
}

// serverSide has a 5.x broker move one queue.
func (a *resetApply) serverSide(ctx context.Context, pl *resetPlace, row *ResetRow) {
	row.Tried = true
	_, err := a.reset(ctx, pl, &protocol.InvokeResetOffsetRequestHeader{
		Topic: row.Topic, Group: a.st.group, Timestamp: a.began.UnixMilli(), IsForce: true,
		Queue: &protocol.ResetQueue{ID: row.QueueID, Offset: row.After},
	})
	if err != nil {
		a.fail(pl, row, err)
	}
}

// fail notes that a request about a queue has failed. One whose answer did not come may
// have been carried out, or may be yet: what is committed is read all the same.
func (a *resetApply) fail(pl *resetPlace, row *ResetRow, err error) {
	if interrupted(err) {
		row.Tried, row.Error = false, "not tried: interrupted"
		return
	}
	if !unanswered(err) {
		row.Error = ReasonOf(err).String()
		return
	}
	row.unsure = ReasonOf(err).String()
	a.in.reopen(pl.broker.addr)
}

func (a *resetApply) reset(ctx context.Context, pl *resetPlace, h *protocol.InvokeResetOffsetRequestHeader) (protocol.OffsetTable, error) {
	return ask(ctx, a.in, pl.broker.addr, func(ctx context.Context) (protocol.OffsetTable, error) {
		return a.in.client.ResetOffsets(ctx, pl.broker.addr, h)
	})
}

// push has a 4.9 broker tell the members. It answers where it sends them, which is not
// quite what was planned when messages have come or gone since.
func (a *resetApply) push(ctx context.Context, pl *resetPlace) {
	offsets := maps.Clone(pl.uncommitted)
	maps.DeleteFunc(offsets, func(mq protocol.MessageQueue, _ int64) bool {
		_, offset := a.st.at(mq.BrokerName)
		_, ok := offset.topics[mq.Topic][mq.QueueID]
		return ok // committed meanwhile
	})
	for _, err := range a.in.client.UpdateConsumerOffsets(ctx, a.st.group, offsets) {
		for _, row := range pl.rows {
			row.Error = "a queue without an offset cannot be given one, which comes first: " + ReasonOf(err).String()
		}
		return
	}
	told, err := a.reset(ctx, pl, &protocol.InvokeResetOffsetRequestHeader{
		Topic: pl.topic, Group: a.st.group, Timestamp: pl.stamp, IsForce: true,
	})
	for _, row := range pl.rows {
		row.Tried = true
		if err != nil {
			a.fail(pl, row, err)
			continue
		}
		to, ok := told[row.MessageQueue]
		switch {
		case !ok:
			row.Error = "the broker has not told the members about it"
		case to != row.After:
			row.After = to
		}
	}
}

// readBack asks what is committed now.
func (a *resetApply) readBack(ctx context.Context) {
	each(len(a.res.Rows), 0, func(i int) {
		row := &a.res.Rows[i]
		broker, _ := a.st.at(row.BrokerName)
		if row.Error == "" {
			a.readRow(ctx, broker.broker.addr, row)
		}
	})
}

// readRow asks what is committed in one queue, and judges by it what was written.
func (a *resetApply) readRow(ctx context.Context, addr string, row *ResetRow) {
	offset, found, err := a.committed(ctx, addr, row.MessageQueue)
	if err != nil && row.unsure != "" {
		row.Error = "not known whether it was done, or will be: " + row.unsure
		return
	}
	if err != nil {
		row.unsure = ReasonOf(err).String()
		row.Error = "it cannot be read back: " + row.unsure
		return
	}
	if found {
		row.ReadBack = offset
	}
	row.Verified = found && offset == row.After
	switch {
	case row.Verified && !row.Tried:
		row.Obeyed = "was there already"
	case row.Verified && row.unsure != "":
		row.Obeyed, row.unsure = "written, though no answer came", ""
	case row.Verified:
		row.Obeyed = "written"
	case row.Method != MethodCommit: // members move it: they are watched
	case row.unsure != "":
		row.Error = fmt.Sprintf("not done yet, and perhaps later, %s is committed: %s", offsetWord(row.ReadBack), row.unsure)
	default:
		row.Error = fmt.Sprintf("%s is committed, %d was written", offsetWord(row.ReadBack), row.After)
	}
}
