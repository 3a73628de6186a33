package page

import (
	"context"
	"io"
	"time"

	"eyeq/engine"
	"eyeq/engine/audit"
)

// Engine is what the screen needs of an engine. *engine.Engine is one.
type Engine interface {
	Snapshot() *engine.Snapshot
	Subscribe(buffer int) *engine.EventSubscription
	Pause(ctx context.Context, r engine.PauseRequest) error
	Resume(ctx context.Context, r engine.ResumeRequest) error
	PreviewReset(ctx context.Context, r engine.ResetRequest) ([]engine.ResetRow, error)
	ResetOffset(ctx context.Context, r engine.ResetRequest) ([]engine.ResetRow, error)
	Held(ctx context.Context, mq engine.MessageQueue, n int) ([]engine.HeldMessage, error)
	Settle(ctx context.Context, r engine.SettleRequest) ([]engine.SettleRow, error)
}

// NamedEngine is one consumer to look at. Name is what `:live NAME` takes; "" means
// the group's name.
type NamedEngine struct {
	Name   string
	Engine Engine
}

// Options are everything the screen needs. Run needs engines, or somebody to ask about
// other groups, or both.
type Options struct {
	// Engines are the consumers of this process; the first is shown at first, the
	// others by `:live NAME` and a key.
	Engines []NamedEngine
	// Inspect answers questions about any group, topic and broker; nil: the screen is
	// about Engines only. Without Engines it opens with the list of groups.
	Inspect Cluster
	// OpenTail reads a topic without any group; nil: there is no such view.
	OpenTail OpenTail
	// Group is a group to open at first instead of the list; "" none.
	Group string
	// Namesrv are the addresses of the cluster's name servers, for line 1 while nothing
	// else tells.
	Namesrv []string

	Cluster string // the cluster's name
	// TargetFlags are the flags by which a command finds the cluster, each with a blank
	// before it, for a command that is to be pasted.
	TargetFlags string
	// Clusters are the names that :cluster takes. Switch gives the options of a screen on
	// one of them, of which those about the cluster are used; a command calls it. Asks
	// reports whether it may ask something on the terminal, which it has to itself then.
	Clusters []string
	Switch   func(ctx context.Context, name string) (Options, error)
	Asks     func(name string) bool
	// Close ends what Inspect and OpenTail ask through. It is called by a command when the
	// screen has gone to another cluster, or has not come to this one.
	Close func()
	// Color is the cluster's colour: red, green, yellow, blue, magenta, cyan or "".
	Color string
	// Mode is "read-only", "confirm", "open" or "sandbox".
	Mode string
	// ModeWhy is who said so, for who is refused: "flag --read-only".
	ModeWhy string
	// Member: a real group would lose a member by leaving. Then q asks once and
	// ctrl-z is refused.
	Member bool
	// Hold: the consumers leave their messages to the operator, who acknowledges,
	// refuses or buries them here.
	Hold     bool
	Operator string // who pauses, resets and decides
	Title    string // a word for line 1, e.g. "demo"

	Refresh  time.Duration // between two snapshots; 0 means 250 ms
	ASCII    bool          // nothing but ASCII on the screen
	NoColor  bool          // no colours and no attributes
	Keys     map[string]string
	Location *time.Location // of absolute times; nil means local

	Input  io.Reader        // nil means standard input
	Output io.Writer        // nil means standard output
	Now    func() time.Time // nil means time.Now

	// MessageJSON and EventJSON are what is copied as JSON; nil: there is none.
	MessageJSON func(m *engine.Message) []byte
	EventJSON   func(e engine.Event, group string) []byte
	// Multiplexer is "tmux" or "screen" when the terminal is one of these, which need
	// to be told to pass the clipboard's sequence on; else "".
	Multiplexer string
	// NoSuspend says why ctrl-z is refused; "" allows it.
	NoSuspend string

	// Leave begins the orderly leave and returns at once; it may be called more
	// than once. Nil: leaving means that the screen ends.
	Leave func()
	// Left yields once the engines have ended: nil, or why. Nil: not told.
	Left <-chan error
	// LogTail returns the last n lines of the program's own log; nil: there is none.
	LogTail func(n int) []string
	// Audit notes each change of a cluster that the screen makes, before and after it;
	// nil: nothing is noted. It waits for the disk, so commands call it.
	Audit audit.Begin
	// AuditPath is the file that Audit writes, for dialogs to name.
	AuditPath string
}

// The modes of a cluster.
const (
	ModeReadOnly = "read-only"
	modeConfirm  = "confirm"
	modeOpen     = "open"
	modeSandbox  = "sandbox"
)

const (
	defaultRefresh = 250 * time.Millisecond
	MinRefresh     = 100 * time.Millisecond
	MaxRefresh     = 10 * time.Second
)

// WithDefaults fills what was left out.
func (o Options) WithDefaults() Options {
	if o.Refresh <= 0 {
		o.Refresh = defaultRefresh
	}
	o.Refresh = min(max(o.Refresh, MinRefresh), MaxRefresh)
	if o.Location == nil {
		o.Location = time.Local
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Operator == "" {
		o.Operator = "operator"
	}
	return o
}

// OnCluster are the screen's options with what another's say of a cluster.
func (o Options) OnCluster(other *Options) Options {
	o.Inspect, o.OpenTail, o.Group, o.Namesrv = other.Inspect, other.OpenTail, "", other.Namesrv
	o.Cluster, o.Clusters, o.Color, o.Title, o.TargetFlags = other.Cluster, other.Clusters, other.Color, other.Title, other.TargetFlags
	o.Mode, o.ModeWhy, o.Audit, o.AuditPath = other.Mode, other.ModeWhy, other.Audit, other.AuditPath
	o.Close = other.Close
	return o
}
