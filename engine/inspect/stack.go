package inspect

import (
	"context"
	"strings"
	"time"
)

// Stack is what the threads of a member do, as it told when it was asked.
type Stack struct {
	Group    string
	ClientID string
	Language string
	Version  string
	At       time.Time
	// Text is what the member sent; Threads is what can be read in it, those of the
	// listener first.
	Text    string
	Threads []Thread
	Why     Reason // there is none, because
}

// StackOf is what m says that its threads do: it must have been asked for that.
func StackOf(group string, m *Member) Stack {
	s := Stack{Group: group, ClientID: m.ClientID, Language: m.Language, Version: m.Version, At: m.InfoAt, Why: m.Why}
	if m.Info == nil {
		return s
	}
	if strings.TrimSpace(m.Info.Jstack) == "" {
		s.Why = Reason{ReasonUnsupported, strings.TrimSpace(m.Language+" "+m.Version) + ": this client gives no stack"}
		return s
	}
	s.Text, s.Threads = m.Info.Jstack, ParseThreads(m.Info.Jstack, group)
	return s
}

// Count is how many threads there are, and how many of them are in the listener.
func (s *Stack) Count() (threads, listening int) {
	for i := range s.Threads {
		threads += s.Threads[i].Count
		if s.Threads[i].Role == RoleListening {
			listening += s.Threads[i].Count
		}
	}
	return threads, listening
}

// Stack asks one member of a group what its threads do (307 with its jstack), which
// costs the member something; no other one is asked. That it cannot or does not tell
// is an answer with its reason.
func (in *Inspector) Stack(ctx context.Context, group, clientID string) (Stack, error) {
	s, err := in.survey(ctx)
	if err != nil {
		return Stack{}, err
	}
	answers := in.look(ctx, s, group, false)
	m := in.merge(group, answers)
	for i := range m.Members {
		if m.Members[i].ClientID == clientID {
			m.Members = m.Members[i : i+1]
			in.askMembers(ctx, &m, answers, true)
			return StackOf(group, &m.Members[0]), nil
		}
	}
	return Stack{}, missing("member", clientID+" of group "+group, m.Problems...) // a broker that has not answered may know it
}
