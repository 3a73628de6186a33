package cli

import (
	"fmt"
	"strconv"
	"strings"

	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
)

// modeJSON is how a broker was told to have members get a topic's messages.
type modeJSON struct {
	Topic  string `json:"topic"`
	Broker string `json:"broker"`
	Mode   string `json:"mode"`
	Share  *int32 `json:"pop_share"` // null: they do not pop
}

func modesJSON(modes []inspect.RequestMode) []modeJSON {
	list := make([]modeJSON, len(modes))
	for i, m := range modes {
		list[i] = modeJSON{Topic: m.Topic, Broker: m.Broker, Mode: protocol.ModePull}
		if m.Pop {
			list[i].Mode, list[i].Share = protocol.ModePop, &m.Share
		}
	}
	return list
}

// modesTable says what brokers were told; nothing where they were told nothing.
func modesTable(modes []inspect.RequestMode) []byte {
	if len(modes) == 0 {
		return nil
	}
	rows := [][]string{{"TOPIC", "BROKER", "MODE"}}
	for _, m := range modes {
		rows = append(rows, []string{m.Topic, m.Broker, m.String()})
	}
	return append([]byte("\n"), appendTable(nil, "lll", rows)...)
}

// clientTypeText is what the brokers call the members.
func clientTypeText(r *inspect.GroupRow) string {
	if r.Type == 0 {
		return textUnknown
	}
	return r.Type.String()
}

// popLagJSON is what is known of a group's popped messages.
type popLagJSON struct {
	RequestModes []modeJSON `json:"request_modes"`
	Topics       []string   `json:"topics"`
	Unacked      *int64     `json:"unacked"` // by the members' word
	UnackedError string     `json:"unacked_error,omitempty"`
}

func popLagJSONOf(p *inspect.PopLag) *popLagJSON {
	if p == nil {
		return nil
	}
	j := &popLagJSON{RequestModes: modesJSON(p.Modes), Topics: emptyList(p.Topics)}
	j.Unacked, j.UnackedError = numberJSON(p.Unacked)
	return j
}

// popLagText says it in a line.
func popLagText(p *inspect.PopLag) string {
	words := []string{"by POP"}
	if share := inspect.PopShare(p.Modes); share != "" {
		words[0] += " (" + share + ")"
	}
	switch {
	case len(p.Topics) == 0:
		return words[0] + ": so brokers were told, but members allocate themselves and pull"
	case p.Unacked.Known:
		words = append(words, "LAG is what nobody has popped yet", numberText(p.Unacked)+" popped and not acknowledged, as the members say: no broker tells")
	default:
		words = append(words, "LAG is what nobody has popped yet", "popped and not acknowledged: "+textUnknown+" ("+p.Unacked.Why.String()+")")
	}
	return words[0] + ": " + strings.Join(words[1:], "; ")
}

// assignedJSON is a queue that a broker gives to a member.
type assignedJSON struct {
	Topic  string `json:"topic"`
	Broker string `json:"broker"`
	Queue  int32  `json:"queue"` // -1: all of the broker
	Mode   string `json:"mode"`
}

func assignedOf(m *inspect.Member) []assignedJSON {
	if m.Assigned == nil {
		return nil
	}
	list := make([]assignedJSON, len(m.Assigned))
	for i, a := range m.Assigned {
		list[i] = assignedJSON{a.Queue.Topic, a.Queue.BrokerName, a.Queue.QueueID, a.Mode}
	}
	return list
}

// queueText is a queue's number; by POP a member has all of a broker as one.
func queueText(id int32) string {
	if id < 0 {
		return "all"
	}
	return strconv.Itoa(int(id))
}

// assignmentLines say what a broker gives to a member that lets it allocate.
func assignmentLines(m *inspect.Member) []byte {
	if m.Assigned == nil {
		return nil
	}
	var out []byte
	for _, a := range m.Assigned {
		out = append(out, headLine("  the broker gives it %s %s/%s by %s", a.Queue.Topic, a.Queue.BrokerName, queueText(a.Queue.QueueID), a.Mode)...)
	}
	if m.AssignedWhy.Kind != inspect.ReasonNone {
		out = append(out, headLine("  what the broker gives it is not all known: %s", m.AssignedWhy.String())...)
	} else if len(m.Assigned) == 0 {
		out = append(out, fmt.Sprintln("  the broker gives it nothing")...)
	}
	return out
}
