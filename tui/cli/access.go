package cli

import (
	"context"
	"errors"
	"sync"
	"time"

	"eyeq/engine"
	"eyeq/remoting"
)

const (
	// probedBrokers is how many masters are asked whether they take our keys.
	probedBrokers = 4
	probeLimit    = time.Second
)

// checkKeys asks some brokers what any key may ask, so that a wrong one is told in one
// line instead of by each row. Only a refusal of the keys by all that answer counts:
// what else is wrong is told where it matters.
func (e *env) checkKeys(ctx context.Context, client *remoting.Client) error {
	ctx, cancel := context.WithTimeout(ctx, min(probeLimit, e.flags.timeout))
	defer cancel()
	info, err := client.ClusterInfo(ctx)
	if err != nil {
		if te := hopeless(err); te != nil {
			return te
		}
		return nil // the command itself will say it
	}
	answers := make(chan error, probedBrokers)
	var asked sync.WaitGroup
	left := probedBrokers
	for _, b := range info.BrokerAddrTable { // in random order
		addr, ok := b.BrokerAddrs[remoting.MasterID]
		if !ok {
			continue
		}
		asked.Go(func() {
			_, err := client.RuntimeInfo(ctx, addr)
			answers <- err
		})
		if left--; left == 0 {
			break
		}
	}
	asked.Wait()
	close(answers)
	var refused error
	for err := range answers {
		switch d, denied := remoting.AccessDenied(err); {
		case denied && d.OfKeys():
			refused = err
		case err == nil || denied:
			return nil
		}
	}
	return refused
}

// checkAccess asks what any member may ask, so that wrong keys are told in one line
// before anything is joined. Only a refusal by access control counts.
func (e *env) checkAccess(ctx context.Context, client *remoting.Client, group string, topics []engine.Subscription) error {
	ctx, cancel := context.WithTimeout(ctx, e.flags.timeout)
	defer cancel()
	_, _, err := client.ConsumerIDs(ctx, topics[0].Topic, group)
	if ce, ok := errors.AsType[*remoting.CodeError](err); ok {
		if _, denied := ce.Denial(); denied {
			return &engine.DeniedError{Group: group, Err: ce}
		}
	}
	return nil
}
