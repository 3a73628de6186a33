package sandboxtest

import (
	"context"
	"testing"

	"eyeq/remoting"
	"eyeq/remoting/sandbox"
)

// Option changes the sandbox that Start starts.
type Option func(*sandbox.Options)

// Topic has the sandbox begin with a topic of so many queues.
func Topic(name string, queues int32) Option {
	return func(o *sandbox.Options) {
		if o.Topics == nil {
			o.Topics = map[string]int32{}
		}
		o.Topics[name] = queues
	}
}

// Line has the sandbox imitate a broker line, "4" or "5".
func Line(line string) Option {
	return func(o *sandbox.Options) { o.Line = line }
}

// Brokers has the sandbox run brokers of these names.
func Brokers(names ...string) Option {
	return func(o *sandbox.Options) { o.Brokers = names }
}

// Slaves gives each broker a slave, which is suggested for reads that begin more
// than so many bytes before the end of the log.
func Slaves(behind int64) Option {
	return func(o *sandbox.Options) { o.Slaves, o.SlaveReadBehind = true, behind }
}

// With changes any option.
func With(change func(*sandbox.Options)) Option { return change }

// Start runs a sandbox until the end of the test; it is closed after all that
// the test registers later.
func Start(t testing.TB, opts ...Option) *sandbox.Sandbox {
	t.Helper()
	var o sandbox.Options
	for _, opt := range opts {
		opt(&o)
	}
	// The test's own context ends before its cleanup functions run, which still
	// need the sandbox.
	s, err := sandbox.Start(context.WithoutCancel(t.Context()), o)
	if err != nil {
		t.Fatalf("start the sandbox: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

// Client makes a client of the sandbox that is closed at the end of the test; h
// gets the broker's requests and may be nil.
func Client(t testing.TB, sb *sandbox.Sandbox, h remoting.Handler) *remoting.Client {
	t.Helper()
	return newClient(t, remoting.Options{Namesrv: []string{sb.NamesrvAddr()}, Dial: sb.Dial, Handler: h})
}

func newClient(t testing.TB, o remoting.Options) *remoting.Client {
	t.Helper()
	c, err := remoting.NewClient(o)
	if err != nil {
		t.Fatalf("client of %v: %v", o.Namesrv, err)
	}
	t.Cleanup(c.Close)
	return c
}
