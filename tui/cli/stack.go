package cli

import (
	"context"
	"strings"

	"eyeq/engine/inspect"
)

// readStacks takes the stacks of members out of what they have told, or asks the one
// that is shown alone.
func (f *membersFlags) readStacks(ctx context.Context, x *inspection, m *inspect.Members) error {
	f.stacks = map[string]inspect.Stack{}
	if f.client != "" {
		s, err := x.Stack(ctx, m.Group, f.client)
		f.stacks[f.client] = s
		return err
	}
	for i := range m.Members {
		f.stacks[m.Members[i].ClientID] = inspect.StackOf(m.Group, &m.Members[i])
	}
	return nil
}

// StackJSON is what --stack adds to a member; its name is exported so that the JSON
// decoder may set it.
type StackJSON struct {
	Stack      *string      `json:"stack"` // as the client gives it
	StackError string       `json:"stack_error,omitempty"`
	Threads    []threadJSON `json:"threads"`
}

type threadJSON struct {
	Name   string   `json:"name"`
	ID     int64    `json:"id"`
	State  string   `json:"state"`
	Role   string   `json:"role"`
	Count  int      `json:"count"`
	Frames []string `json:"frames"`
}

func (f *membersFlags) stackOf(client string) *StackJSON {
	s := f.stacks[client]
	if s.Why.Kind != inspect.ReasonNone {
		return &StackJSON{StackError: s.Why.String()}
	}
	j := &StackJSON{Stack: &s.Text, Threads: make([]threadJSON, len(s.Threads))}
	for i := range s.Threads {
		t := &s.Threads[i]
		j.Threads[i] = threadJSON{t.Name, t.ID, t.State, t.Role.String(), t.Count, emptyList(t.Frames)}
	}
	return j
}

// stackText is a member's stack: threads that do the same are shown once, those that
// consume for the group first. What cannot be read as threads is shown as it is.
func (f *membersFlags) stackText(client string) []byte {
	s := f.stacks[client]
	if s.Why.Kind != inspect.ReasonNone {
		return headLine("  no stack: %s", s.Why.String())
	}
	if len(s.Threads) == 0 {
		var out []byte
		for line := range strings.Lines(s.Text) {
			out = append(out, headLine("  %s", strings.TrimRight(line, "\r\n"))...)
		}
		return out
	}
	threads, listening := s.Count()
	out := headLine("  %s, %d in the listener:", inspect.Plural(threads, "thread"), listening)
	groups := inspect.GroupThreads(s.Threads)
	for i := range groups {
		g := &groups[i]
		out = append(out, headLine("  %-9s  %s  %s  %s", g.Role, inspect.Plural(g.Count, "thread"), g.State, g.Label())...)
		for _, frame := range g.Frames {
			out = append(out, headLine("      %s", inspect.FrameText(frame))...)
		}
	}
	return out
}
