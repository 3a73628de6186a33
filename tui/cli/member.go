package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"eyeq/engine"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/store"
)

// member is one engine with its connections: one member of one group.
type member struct {
	engine  *engine.Engine
	client  *remoting.Client
	options engine.Options
	env     *env
}

// newMember wires client, store and engine. offsets is where a broadcasting
// group's offsets are kept.
func newMember(client *remoting.Client, inbound *engine.Inbound, o engine.Options, l engine.Listener, offsets string, e *env) (*member, error) {
	var place storePlace
	eng, err := engine.New(o, engine.Deps{Client: client, Inbound: inbound, Store: &place, Listener: l, Log: e.log()})
	if err != nil {
		return nil, err
	}
	if o.MessageModel == protocol.Broadcasting {
		file, err := store.OpenLocalFile(offsets, eng.ClientID(), o.Group)
		if err != nil {
			return nil, fmt.Errorf("open the offsets of group %s: %w", o.Group, err)
		}
		if r := file.Recovered(); r != nil {
			e.say("the offsets of group %s were read from their backup: %v", o.Group, r)
		}
		place.OffsetStore = file
	} else {
		place.OffsetStore = store.NewRemoteBroker(client, o.Group)
	}
	return &member{engine: eng, client: client, options: o, env: e}, nil
}

// storePlace stands for a store that needs the client id, which the engine makes.
// It is filled before the engine runs.
type storePlace struct{ engine.OffsetStore }

// String names the store, for who asks the member what it is.
func (s *storePlace) String() string { return fmt.Sprintf("%T", s.OffsetStore) }

// run consumes until ctx ends, then leaves in order within leaveLimit.
func (m *member) run(ctx context.Context) error {
	leaveCtx, cancel := leaveContext(ctx)
	defer cancel()
	logged := m.log(ctx)
	err := m.engine.Run(ctx, leaveCtx)
	waitFor(logged, stuckLimit)
	if p, ok := errors.AsType[*engine.PanicError](err); ok {
		return &panicError{p.Value, p.Stack}
	}
	return err
}

// log starts the writing of the engine's events to eyeq's own log, where anybody
// reads that: standard error has the warnings in other words.
func (m *member) log(ctx context.Context) <-chan struct{} {
	done := make(chan struct{})
	log := m.env.log()
	if !log.Enabled(ctx, slog.LevelInfo) {
		close(done)
		return done
	}
	o := &m.options
	who := []slog.Attr{slog.String("cluster", m.env.cluster), slog.String("group", o.Group), slog.String("client_id", m.engine.ClientID())}
	log.LogAttrs(ctx, slog.LevelInfo, "member", append([]slog.Attr{slog.String("version", versionText()), slog.String("model", o.MessageModel.String()),
		slog.Bool("orderly", o.Orderly), slog.String("strategy", o.Strategy.Name()), slog.String("from", o.ConsumeFromWhere.String()),
		slog.Int("threads", o.ConsumeThreadMin), slog.Int("batch", o.ConsumeMessageBatchMaxSize)}, who...)...)
	sub := m.engine.Subscribe(o.EventBuffer)
	m.env.crew.start(func() {
		defer close(done)
		defer sub.Close()
		logEvents(context.WithoutCancel(ctx), sub, log, who...)
	})
	return done
}

// awaitTopics asks the name servers for the topics until they answer, for at
// most e.flags.timeout. A topic that does not exist is told and waited for by
// the engine.
func (e *env) awaitTopics(ctx context.Context, client *remoting.Client, topics []engine.Subscription) error {
	ctx, cancel := context.WithTimeout(ctx, e.flags.timeout)
	defer cancel()
	retry := time.NewTicker(200 * time.Millisecond)
	defer retry.Stop()
	told := false
	addrs, _ := client.Namesrv()
	var last error // what a name server or the system said, when it is not the time
	for _, s := range topics {
		for {
			route, _, err := client.RefreshRoute(ctx, s.Topic)
			if err == nil {
				if err := followed(route); err != nil {
					return err
				}
				break
			}
			if isType[*remoting.NoRouteError](err) {
				e.say("topic %s does not exist (yet): waiting for it", s.Topic)
				break
			}
			if te := hopeless(err); te != nil {
				return te
			}
			if !isType[*remoting.UnreachableError](err) && !remoting.Retryable(err) {
				return err
			}
			if isType[*remoting.UnreachableError](err) {
				last = err
			}
			if !told {
				e.say("no name server answers (%v): trying for %v", addrs, e.flags.timeout)
				told = true
			}
			select {
			case <-retry.C:
			case <-ctx.Done():
				if errors.Is(ctx.Err(), context.DeadlineExceeded) {
					return firstContact(err, last, addrs, e.flags.timeout)
				}
				return context.Cause(ctx)
			}
		}
	}
	return nil
}
