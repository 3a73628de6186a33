package engine

import (
	"context"
	"errors"
	"log/slog"

	"eyeq/remoting"
)

// ErrEnded is what controls and subscriptions return when the engine has ended.
var ErrEnded = errors.New("the consumer has ended")

// Deps are what an engine works with. Client is made by the caller with
// Engine.Handler as its Options.Handler: see NewInbound.
type Deps struct {
	Client   *remoting.Client
	Inbound  *Inbound
	Store    OffsetStore
	Listener Listener
	Log      *slog.Logger // nil discards
}

// Inbound receives the brokers' requests of one client connection set and hands
// them to the engine. It exists before the client, which needs it as Handler.
type Inbound struct{}

// NewInbound makes the handler to be given to remoting.NewClient and to New.
func NewInbound() *Inbound { panic("todo") }

// Engine is one push consumer: one member of one group. New makes it, Run runs
// it, and it cannot be run again.
type Engine struct{}

// New checks the options (a *ConfigError names the first violation) and makes an
// engine in the state CREATE_JUST. Nothing is sent.
func New(o Options, d Deps) (*Engine, error) { panic("todo") }

// Run joins the group and consumes until ctx ends, then leaves in order: stop
// handing out, wait for running listeners up to AwaitTermination, persist
// synchronously, unlock, unregister. leaveCtx bounds the leaving; when it ends
// first, what is left undone is returned. Run returns nil after an orderly
// leave. A start that fails (corrupt offset file) returns the reason.
func (e *Engine) Run(ctx, leaveCtx context.Context) error { panic("todo") }

// Snapshot returns what the engine looks like now (at most some 100 ms old). It
// never waits for the engine.
func (e *Engine) Snapshot() *Snapshot { panic("todo") }

// Subscribe opens a subscription to all events from now on; buffer is the size of its ring.
func (e *Engine) Subscribe(buffer int) *EventSubscription { panic("todo") }
