package inspect

import (
	"fmt"
	"sync"
	"time"

	"eyeq/remoting"
)

// Options configure an Inspector.
type Options struct {
	// Client asks the questions; the caller closes it.
	Client *remoting.Client
	// Parallel is how many questions wait for one broker at a time, and how many for
	// members through it; 0 is 8.
	Parallel int
	// Timeout bounds one question; 0 is 3 s.
	Timeout time.Duration
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// SaveDir is the folder into which offsets are saved before they are changed, and
	// Cluster what the files say of the cluster; without a folder nothing is saved.
	SaveDir, Cluster string
	// TargetFlags are the flags by which a command that is to be pasted finds the cluster,
	// each with a blank before it.
	TargetFlags string
	// Dialled tells where an address is dialled that Client maps to another one, "" where
	// it maps it to none; nil: it maps none.
	Dialled func(addr string) string
}

const (
	defaultParallel = 8
	defaultTimeout  = 3 * time.Second
)

// Inspector answers questions about a cluster. Any goroutine may use it. Between
// two calls it keeps what few calls would ask again and again: which brokers, topics
// and groups there are (for surveyAge), the brokers' settings (configAge), when messages
// were stored, since when commits stand, and which brokers owe an answer.
type Inspector struct {
	client   *remoting.Client
	parallel int
	timeout  time.Duration
	now      func() time.Time
	saveDir  string
	cluster  string
	flags    string
	dialled  func(addr string) string

	mu       sync.Mutex // guards what follows
	refusals int        // questions that access control refused
	refused  error      // our keys, by a broker, since KeysRefused was called
	taken    bool       // they were, by one
	doors    map[string]*door
	last     *survey
	flight   *memo[struct{}, *survey] // the survey that is being asked for; nil: none
	changes  int                      // of the cluster, by this Inspector
	config   map[string]brokerConfig
	stored   storedTimes
	still    map[groupQueue]stillCommit
	alone    map[string]time.Time // groups that nobody known consumes, since
}

// New makes an Inspector; it asks nothing.
func New(o Options) *Inspector {
	if o.Parallel <= 0 {
		o.Parallel = defaultParallel
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Dialled == nil {
		o.Dialled = func(string) string { return "" }
	}
	return &Inspector{
		client: o.Client, parallel: o.Parallel, timeout: o.Timeout, now: o.Now, saveDir: o.SaveDir, cluster: o.Cluster, flags: o.TargetFlags, dialled: o.Dialled,
		doors: map[string]*door{}, config: map[string]brokerConfig{}, alone: map[string]time.Time{},
	}
}

// Refusals counts the questions that access control has refused.
func (in *Inspector) Refusals() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.refusals
}

// KeysRefused is how brokers have refused our keys, if all did that have answered since
// it was called last: it decides over those that are silent. That a key has no right to
// something is no refusal of it.
func (in *Inspector) KeysRefused() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	refused, taken := in.refused, in.taken
	in.refused, in.taken = nil, false
	if taken {
		return nil
	}
	return refused
}

// Timeout is the deadline of one question.
func (in *Inspector) Timeout() time.Duration { return in.timeout }

// NotFoundError says that there is no such group or topic, as far as all brokers
// and name servers say.
type NotFoundError struct {
	Kind string // "group", "topic"
	Name string
}

func (e *NotFoundError) Error() string { return fmt.Sprintf("there is no %s %s", e.Kind, e.Name) }

// UnsureError says that something cannot be known, because not all who would know could
// be asked: those who answered are no reason to say that there is none.
type UnsureError struct {
	What     string // "whether there is a group g"
	Problems []Problem
}

func (e *UnsureError) Error() string {
	more := ""
	if n := len(e.Problems); n > 1 {
		more = fmt.Sprintf(" (and %d more)", n-1)
	}
	return fmt.Sprintf("%s is not known: %v%s", e.What, e.Problems[0], more)
}

// missing says that there is no such thing, or that this is not known.
func missing(kind, name string, problems ...Problem) error {
	if IsLight(name) {
		problems = append(problems, Problem{"light queues and their groups", "brokers and name servers", unlisted})
	}
	if len(problems) > 0 {
		return &UnsureError{fmt.Sprintf("whether there is a %s %s", kind, name), problems}
	}
	return &NotFoundError{kind, name}
}
