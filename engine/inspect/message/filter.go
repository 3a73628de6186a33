package message

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"

	"eyeq/remoting/protocol"
)

// Filter says which messages are wanted. Empty parts leave nothing out.
type Filter struct {
	Tags       string // TAG1||TAG2, exactly
	Key        string
	Properties map[string]string
	Grep       string  // a regular expression over the body
	JQ         string  // a jq program over the body as JSON: true, or any value but false and null
	Charset    Charset // of the bodies, for Grep and JQ
}

// FilterError says which part of a Filter is wrong, by its field's name.
type FilterError struct {
	Part string // "tags", "property", "grep", "jq"
	Err  error
}

// Error names the part of the filter.
func (e *FilterError) Error() string { return fmt.Sprintf("%s: %v", e.Part, e.Err) }

// Unwrap gives what is wrong with it.
func (e *FilterError) Unwrap() error { return e.Err }

// Compile checks a filter and makes it ready. The error is a *FilterError.
func (f Filter) Compile() (*Matcher, error) {
	m := &Matcher{filter: f, reasons: map[string]int64{}}
	if f.Tags != "" {
		sub, err := protocol.NewSubscriptionData("t", f.Tags)
		if err != nil {
			return nil, &FilterError{"tags", err}
		}
		m.tags = sub.TagsSet // none for "*"
	}
	for _, name := range slices.Sorted(maps.Keys(f.Properties)) {
		if name == "" {
			return nil, &FilterError{"property", fmt.Errorf("it has no name")}
		}
		m.properties = append(m.properties, protocol.Property{Name: name, Value: f.Properties[name]})
	}
	var err error
	if f.Grep != "" {
		if m.grep, err = regexp.Compile(f.Grep); err != nil {
			return nil, &FilterError{"grep", err}
		}
	}
	if f.JQ != "" {
		if m.program, err = compileProgram(f.JQ); err != nil {
			return nil, &FilterError{"jq", err}
		}
	}
	return m, nil
}

// Matcher is a compiled Filter that counts. Any goroutine may use it.
type Matcher struct {
	filter     Filter
	tags       []string
	properties []protocol.Property
	grep       *regexp.Regexp
	program    *program

	mu      sync.Mutex // guards what follows
	counts  MatchCounts
	reasons map[string]int64
	endless int // messages in a row that cost the program all of its time
}

// MatchCounts is what a Matcher has seen.
type MatchCounts struct {
	Seen, Matched int64
	// Failed counts the messages on which the jq program failed: they do not match.
	Failed int64
	// Why is the first reason of Failed, with where it happened; foreign text.
	Why string
	// Kinds are how many different reasons there were.
	Kinds int
}

// maxReasons bounds the different reasons that are told apart: a reason may hold a
// value of the message.
const maxReasons = 16

// Filter is what was compiled.
func (m *Matcher) Filter() Filter { return m.filter }

// Counts gives the counts so far.
func (m *Matcher) Counts() MatchCounts {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.counts
	c.Kinds = len(m.reasons)
	return c
}

// GivenUp is why no message matches any more, nil while some may: the jq program took
// too long on too many messages in a row, and is not run again.
func (m *Matcher) GivenUp() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.endless < programRow {
		return nil
	}
	return errGivenUp
}

// Match reports whether a message is wanted: the cheap questions are asked first,
// the jq program last and for a limited time. It waits for nobody. A message is not
// counted when ctx has ended meanwhile.
func (m *Matcher) Match(ctx context.Context, msg *protocol.MessageExt) bool {
	matched, err := m.match(ctx, msg)
	if ctx.Err() != nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts.Seen++
	switch {
	case err != nil:
		m.failed(msg, err)
	case matched:
		m.counts.Matched++
	}
	return matched && err == nil
}

// clock counts the messages in a row that cost the program all of its time.
func (m *Matcher) clock(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.endless >= programRow:
	case err == errEndless:
		m.endless++
	default:
		m.endless = 0
	}
}

// failed books a program's failure. Under mu.
func (m *Matcher) failed(msg *protocol.MessageExt, err error) {
	m.counts.Failed++
	if m.counts.Failed == 1 {
		m.counts.Why = fmt.Sprintf("%v at offset %d: %v", msg.MessageQueue(), msg.QueueOffset(), err)
	}
	if reason := err.Error(); len(m.reasons) < maxReasons || m.reasons[reason] > 0 {
		m.reasons[reason]++
	}
}

func (m *Matcher) match(ctx context.Context, msg *protocol.MessageExt) (bool, error) {
	if len(m.tags) > 0 && !slices.Contains(m.tags, msg.Tags()) { // brokers compare hash codes only
		return false, nil
	}
	if m.filter.Key != "" && !slices.Contains(msg.Keys(), m.filter.Key) {
		return false, nil
	}
	for _, p := range m.properties {
		if v, ok := msg.Property(p.Name); !ok || v != p.Value {
			return false, nil
		}
	}
	if m.grep == nil && m.program == nil {
		return true, nil
	}
	body, bodyErr := msg.Body()
	if bodyErr != nil {
		body = msg.StoredBody()
	}
	body, _ = m.filter.Charset.Text(body)
	if m.grep != nil && !m.grep.Match(body) {
		return false, nil
	}
	if m.program == nil {
		return true, nil
	}
	if err := m.GivenUp(); err != nil {
		return false, err
	}
	matched, err := m.program.match(ctx, body)
	m.clock(err)
	if err != nil && bodyErr != nil {
		err = bodyErr // the program got what could not be inflated
	}
	return matched, err
}
