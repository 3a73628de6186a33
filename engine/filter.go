package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// FilterRefusedError says that a broker does not take a subscription's
// expression. It ends the start: without the check the group would join, get no
// message, and its offsets would stay where they are.
type FilterRefusedError struct {
	Subscription SubscriptionData
	Broker, Addr string
	Err          error // a *remoting.CodeError
}

func (e *FilterRefusedError) Error() string {
	code, remark := protocol.ResponseCode(0), e.Err.Error()
	if ce, ok := errors.AsType[*remoting.CodeError](e.Err); ok {
		code, remark = ce.Code, ce.Remark
	}
	var next string
	switch code {
	case protocol.SubscriptionParseFailed:
		next = "correct the expression"
	case protocol.RequestCodeNotSupported:
		next = "the broker is older than 4.1.0 and filters by tags only"
	case protocol.SystemError:
		next = "set enablePropertyFilter=true at this broker, or filter by tags"
	default:
		next = "the broker does not let this group filter so"
	}
	return fmt.Sprintf("broker %s (%s) refuses the %s expression %q of topic %s: %v: %s; %s",
		e.Broker, e.Addr, e.Subscription.ExpressionType, e.Subscription.SubString, e.Subscription.Topic, code, remark, next)
}

// Unwrap gives the broker's answer.
func (e *FilterRefusedError) Unwrap() error { return e.Err }

// BadExpression reports whether the expression itself is at fault.
func (e *FilterRefusedError) BadExpression() bool {
	ce, ok := errors.AsType[*remoting.CodeError](e.Err)
	return ok && ce.Code == protocol.SubscriptionParseFailed
}

// checkFilters is CheckFilter for each topic, when its expression is not one of tags
// (DefaultMQPushConsumerImpl.checkClientInBroker).
func (e *Engine) checkFilters(ctx context.Context) error {
	for _, s := range e.subscriptions() {
		if s.ExpressionType == protocol.ExpressionTAG {
			continue
		}
		if err := CheckFilter(ctx, e.d.Client, e.clientID, e.o.Group, s, e.log); err != nil {
			return err
		}
	}
	return nil
}

// CheckFilter asks the masters of a topic whether they take its expression; the error is a
// *FilterRefusedError. The reference asks one broker by chance; one that was not asked
// would refuse every pull later. A broker that cannot be asked is no refusal: it is told
// when pulls fail.
func CheckFilter(ctx context.Context, client *remoting.Client, clientID, group string, s SubscriptionData, log *slog.Logger) error {
	route, err := client.Route(ctx, s.Topic)
	if route == nil {
		log.Debug("expression not checked", "topic", s.Topic, "err", err)
		return nil
	}
	for _, b := range route.Data.BrokerDatas {
		ids := slices.Sorted(maps.Keys(b.BrokerAddrs)) // the master, or what there is
		if len(ids) == 0 {
			continue
		}
		addr := b.BrokerAddrs[ids[0]]
		cctx, cancel := context.WithTimeout(ctx, callTimeout)
		err := client.CheckClientConfig(cctx, addr, clientID, group, s)
		cancel()
		if _, denied := remoting.AccessDenied(err); denied {
			continue // the first heartbeat, or the pull, will be told the same
		}
		if _, answered := errors.AsType[*remoting.CodeError](err); answered && !remoting.Retryable(err) {
			return &FilterRefusedError{s, b.BrokerName, addr, err}
		}
		if err != nil {
			log.Debug("expression not checked", "broker", b.BrokerName, "err", err)
		}
	}
	return nil
}
