package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"eyeq/remoting/protocol"
)

const (
	// levelsFor and noLevelsFor are for how long what a broker said of its delay levels is
	// believed, and for how long one that did not say is not asked again.
	levelsFor   = 10 * time.Minute
	noLevelsFor = time.Minute
	// askLevels bounds the question: a worker waits for it.
	askLevels = 2 * time.Second
)

// delayLevels are the delays that brokers' levels stand for (messageDelayLevel). A broker
// is asked when the first message is sent back to it.
type delayLevels struct {
	mu sync.Mutex // guards of
	of map[string]*brokerLevels
}

// brokerLevels is one broker's answer.
type brokerLevels struct {
	done   chan struct{} // closed when the rest is there; the rest is not changed then
	levels []time.Duration
	err    error
	until  time.Time
}

// levelsOf are a broker's delay levels, or why they are not known.
func (e *Engine) levelsOf(ctx context.Context, brokerName string) ([]time.Duration, error) {
	d := &e.delays
	now := time.Now()
	d.mu.Lock()
	b := d.of[brokerName]
	ask := b == nil
	if !ask {
		select {
		case <-b.done:
			ask = now.After(b.until)
		default: // another worker asks
		}
	}
	if ask {
		if d.of == nil {
			d.of = map[string]*brokerLevels{}
		}
		b = &brokerLevels{done: make(chan struct{})}
		d.of[brokerName] = b
	}
	d.mu.Unlock()
	if ask { // for all who wait: the end of this caller's message is not the broker's answer
		b.levels, b.err = e.askForLevels(context.WithoutCancel(ctx), brokerName)
		b.until = now.Add(levelsFor)
		if b.err != nil {
			b.until = now.Add(noLevelsFor)
		}
		close(b.done)
	}
	select {
	case <-b.done:
		return b.levels, b.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (e *Engine) askForLevels(ctx context.Context, brokerName string) ([]time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, askLevels)
	defer cancel()
	addr, err := e.d.Client.MasterOf(ctx, protocol.MessageQueue{Topic: protocol.RetryTopic(e.o.Group), BrokerName: brokerName})
	if err != nil {
		return nil, fmt.Errorf("ask %s for its delay levels: %w", brokerName, err)
	}
	config, err := e.d.Client.BrokerConfig(ctx, addr)
	if err != nil {
		return nil, fmt.Errorf("ask %s for its delay levels: %w", brokerName, err)
	}
	levels := protocol.ParseDelayLevels(config["messageDelayLevel"])
	if levels == nil {
		return nil, fmt.Errorf("%s does not say its delay levels", brokerName)
	}
	return levels, nil
}
