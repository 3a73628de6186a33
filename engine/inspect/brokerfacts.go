package inspect

import (
	"context"
	"strconv"
	"time"
)

// configAge is how old a broker's version and settings may be.
const configAge = time.Minute

// brokerConfig is what a broker says of itself that does not change while it runs.
type brokerConfig struct {
	version   string
	versionAt time.Time
	clock     time.Duration // the broker's minus ours; 0: the same, or it has not said
	// reserved is how long messages are kept; 0: it has not said.
	reserved   time.Duration
	reservedAt time.Time
}

// version asks a broker what it is (28).
func (in *Inspector) version(ctx context.Context, addr string) (string, error) {
	in.mu.Lock()
	c := in.config[addr]
	in.mu.Unlock()
	if c.version != "" && in.now().Sub(c.versionAt) < configAge {
		return c.version, nil
	}
	info, err := ask(ctx, in, addr, func(ctx context.Context) (map[string]string, error) {
		return in.client.RuntimeInfo(ctx, addr)
	})
	if err != nil {
		return c.version, err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	c = in.config[addr]
	c.version, c.versionAt = info["brokerVersionDesc"], in.now()
	c.clock, _ = clockOf(info, c.versionAt)
	in.config[addr] = c
	return c.version, nil
}

// brokerNow is what time it is by the clock of the broker at addr, as it told last.
func (in *Inspector) brokerNow(addr string) time.Time {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.now().Add(in.config[addr].clock)
}

// BrokerConfig asks the broker at addr for its settings (26), in its own words.
func (in *Inspector) BrokerConfig(ctx context.Context, addr string) (map[string]string, error) {
	return ask(ctx, in, addr, func(ctx context.Context) (map[string]string, error) {
		return in.client.BrokerConfig(ctx, addr)
	})
}

// reserved asks a broker for how long it keeps messages.
func (in *Inspector) reserved(ctx context.Context, addr string) (time.Duration, error) {
	in.mu.Lock()
	c := in.config[addr]
	in.mu.Unlock()
	if !c.reservedAt.IsZero() && in.now().Sub(c.reservedAt) < configAge {
		return c.reserved, nil
	}
	settings, err := in.BrokerConfig(ctx, addr)
	if err != nil {
		return 0, err
	}
	hours, _ := strconv.ParseInt(settings["fileReservedTime"], 10, 32) // 0: unknown
	in.mu.Lock()
	defer in.mu.Unlock()
	c = in.config[addr]
	c.reserved, c.reservedAt = time.Duration(max(hours, 0))*time.Hour, in.now()
	in.config[addr] = c
	return c.reserved, nil
}
