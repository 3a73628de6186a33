package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// byOffsetID asks the broker that the id names. An id names an address; where no
// broker has it, because the broker has moved since, all of them are asked for a record
// that calls itself by this id.
func (f *finder) byOffsetID(ctx context.Context) error {
	host, offset, err := protocol.ParseOffsetMessageID(f.request.OffsetID)
	if err != nil {
		return &RequestError{err.Error()}
	}
	candidates, why, err := f.candidates(ctx, host.String(), offset)
	if err != nil {
		return err
	}
	missing := &MessageNotFoundError{What: f.request.OffsetID, Why: why}
	answers := make([]protocol.MessageExt, len(candidates))
	failed := make([]error, len(candidates))
	each(len(candidates), 0, func(i int) {
		b := candidates[i]
		answers[i], failed[i] = ask(ctx, f.round.in, b.addr, func(ctx context.Context) (protocol.MessageExt, error) {
			m, found, err := f.round.in.client.ViewMessage(ctx, b.addr, b.name, f.request.Topic, offset)
			if !found {
				return protocol.MessageExt{}, err
			}
			return m, nil
		})
	})
	for i := range candidates {
		if failed[i] != nil && !noRecord(failed[i]) {
			f.problems = append(f.problems, problem("message "+f.request.OffsetID, candidates[i].name, failed[i]))
		}
		if m := &answers[i]; m.StoreSize() > 0 && strings.EqualFold(m.OffsetMessageID(), f.request.OffsetID) {
			f.found = append(f.found, *m)
		}
	}
	if len(f.found) > 0 {
		f.found, _ = protocol.UnwrapBatches(f.found) // the messages of a batch share its id; one that cannot be read stays whole
		return nil
	}
	if len(f.problems) > 0 {
		return &UnsureError{"whether there is a message " + missing.What, f.problems}
	}
	return missing
}

// candidates are the brokers to ask for the record of an address: the one that has the
// address, or all when none has. why is what it means when they have no such record.
func (f *finder) candidates(ctx context.Context, addr string, commitLogOffset int64) (brokers []*broker, why string, err error) {
	info, err := f.round.in.clusterInfo(ctx)
	if err != nil {
		return nil, "", err
	}
	for name, data := range info.BrokerAddrTable {
		b := f.round.survey.broker(cmp.Or(data.BrokerName, name))
		if b == nil {
			continue
		}
		for _, has := range data.BrokerAddrs {
			if has == addr {
				brokers = []*broker{b}
				why = fmt.Sprintf("%s has none at commit log offset %d", b.name, commitLogOffset)
			}
		}
	}
	if brokers == nil {
		for i := range f.round.survey.brokers {
			brokers = append(brokers, &f.round.survey.brokers[i])
		}
		why = "no broker has the address " + addr + " now, and none has a message of this id"
	}
	return brokers, why, nil
}

// noRecord reports whether an error is a broker's way to say that no message begins
// at an offset: what it reads there is a length that makes no sense, or no record.
func noRecord(err error) bool {
	if _, denied := remoting.AccessDenied(err); denied {
		return false // 4.x says that with the same code
	}
	ce, ok := errors.AsType[*remoting.CodeError](err)
	return ok && ce.Code == protocol.SystemError || isType[*remoting.BadAnswerError](err)
}
