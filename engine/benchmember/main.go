package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"syscall"
	"time"

	"eyeq/engine"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/store"
)

// leaveTimeout bounds an orderly leave.
const leaveTimeout = 10 * time.Second

type settings struct {
	namesrv, group, topic  string
	expect                 int64
	mode                   string
	fromFirst              bool
	trace                  string
	events                 string
	load                   int64
	size                   int
	cpuProfile, memProfile string
	tuned                  bool
}

func main() {
	var s settings
	flag.StringVar(&s.namesrv, "ns", "", "name server, `HOST:PORT`")
	flag.StringVar(&s.group, "group", "", "consumer group to join")
	flag.StringVar(&s.topic, "topic", "", "topic to consume")
	flag.Int64Var(&s.expect, "expect", 0, "leave after `N` distinct messages")
	flag.StringVar(&s.mode, "mode", "concurrent", "concurrent or orderly")
	flag.BoolVar(&s.fromFirst, "from-first", false, "a new group starts at the first offset")
	flag.StringVar(&s.trace, "trace", "", "write 24 bytes a message to `FILE`: unix time in µs, queue, 0, sequence number")
	flag.Int64Var(&s.load, "load", 0, "instead: fill the topic with `N` messages")
	flag.IntVar(&s.size, "size", 200, "bytes of a message, with --load")
	flag.StringVar(&s.events, "events", "", "append the engine's events to `FILE`")
	flag.StringVar(&s.cpuProfile, "cpuprofile", "", "write a CPU profile to `FILE`")
	flag.StringVar(&s.memProfile, "memprofile", "", "write a profile of all allocations to `FILE`")
	flag.Parse()
	s.tuned = os.Getenv("BENCH_PROFILE") == "tuned"
	defer engine.TuneProcess()() // as the eyeq program does
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, "benchmember:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings) (err error) {
	if s.load > 0 {
		return load(ctx, s, s.load, s.size)
	}
	if s.mode != "concurrent" && s.mode != "orderly" {
		return fmt.Errorf("--mode %q: must be concurrent or orderly", s.mode)
	}
	if s.expect <= 0 {
		return errors.New("--expect must be above 0")
	}
	if s.cpuProfile != "" {
		f, err := os.Create(s.cpuProfile)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer func() { pprof.StopCPUProfile(); f.Close() }()
	}

	c := &counter{expect: s.expect}
	if s.trace != "" {
		c.trace, err = createTrace(s.trace)
		if err != nil {
			return err
		}
	}
	err = consume(ctx, s, c)
	if c.trace != nil { // also after a leave that failed: what was delivered was delivered
		err = errors.Join(err, c.trace.close())
	}
	if err != nil {
		return err
	}
	if s.memProfile != "" {
		if err := writeAllocs(s.memProfile); err != nil {
			return err
		}
	}
	fmt.Println(c.result(time.Now()))
	return nil
}

// consume is a whole life in the group: it returns when the counter has all it
// expects or ctx ends, and the engine has left.
func consume(ctx context.Context, s settings, c *counter) error {
	ctx, c.finish = context.WithCancelCause(ctx)
	defer c.finish(nil)
	inbound := engine.NewInbound()
	client, err := remoting.NewClient(remoting.Options{Namesrv: []string{s.namesrv}, Handler: inbound})
	if err != nil {
		return err
	}
	defer client.Close()
	e, err := engine.New(s.options(), engine.Deps{
		Client:   client,
		Inbound:  inbound,
		Store:    store.NewRemoteBroker(client, s.group),
		Listener: c,
		Log:      slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}

	if s.events != "" {
		f, err := os.OpenFile(s.events, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		written := make(chan struct{})
		sub := e.Subscribe(1 << 16)
		go func() {
			defer close(written)
			defer f.Close()
			logEvents(f, e.ClientID(), sub)
		}()
		defer func() { <-written }()
	}

	leaveCtx, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	context.AfterFunc(ctx, func() { time.AfterFunc(leaveTimeout, giveUp) })
	if err := e.Run(ctx, leaveCtx); err != nil {
		return err
	}
	if bad, ok := errors.AsType[*badMessage](context.Cause(ctx)); ok {
		return bad
	}
	return nil // complete, or stopped by a signal
}

// logEvents writes events as lines until the engine has ended.
func logEvents(w io.Writer, clientID string, sub *engine.EventSubscription) {
	for {
		events, dropped, err := sub.Next(context.Background())
		if err != nil {
			return
		}
		for _, ev := range events {
			fmt.Fprintf(w, "%s %s %s %+v\n", ev.When().Format("15:04:05.000"), clientID, ev.EventName(), ev)
		}
		if dropped > 0 {
			fmt.Fprintf(w, "%d events dropped\n", dropped)
		}
	}
}

func (s settings) options() engine.Options {
	o := engine.DefaultOptions()
	o.Group = s.group
	o.Subscriptions = []engine.Subscription{{Topic: s.topic}}
	o.Orderly = s.mode == "orderly"
	if s.fromFirst {
		o.ConsumeFromWhere = protocol.ConsumeFromFirstOffset
	}
	if s.tuned {
		o.PullBatchSize = 1024
		o.PullThresholdForQueue = 20000
		o.ConsumeConcurrentlyMaxSpan = 65535
		o.ConsumeMessageBatchMaxSize = 1024
	}
	return o
}

func writeAllocs(file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	runtime.GC() // so that the profile is up to date
	if err := pprof.Lookup("allocs").WriteTo(f, 0); err != nil {
		return err
	}
	return f.Close()
}
