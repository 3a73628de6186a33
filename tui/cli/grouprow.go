package cli

import (
	"fmt"
	"math"

	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
)

// groupRowJSON is one group of `group list`.
type groupRowJSON struct {
	Group        string     `json:"group"`
	Kind         *string    `json:"kind"`
	KindError    string     `json:"kind_error,omitempty"`
	MessageModel *string    `json:"message_model"`
	ModelError   string     `json:"message_model_error,omitempty"`
	ConsumeType  *string    `json:"consume_type"`
	TypeError    string     `json:"consume_type_error,omitempty"`
	RequestModes []modeJSON `json:"request_modes"`
	Orderly      bool       `json:"orderly"`
	State        string     `json:"state"`
	Members      *int64     `json:"members"`
	MembersError string     `json:"members_error,omitempty"`
	waitingJSON
	UnknownQueues int      `json:"unknown_queues"`
	Paused        bool     `json:"paused"`
	PausedBrokers []string `json:"paused_brokers"`
	PausedTopics  []string `json:"paused_topics"`
	ConsumeTPS    float64  `json:"consume_tps"`
	Versions      []string `json:"versions"`
	Topics        []string `json:"topics"`
	System        bool     `json:"system"`
	Problems      []string `json:"problems"`
}

// waitingJSON is what waits for a group, as several commands print it.
type waitingJSON struct {
	TotalLag      *int64 `json:"total_lag"`
	TotalLagError string `json:"total_lag_error,omitempty"`
	RetryLag      *int64 `json:"retry_lag"`
	RetryLagError string `json:"retry_lag_error,omitempty"`
	DeadLetters   *int64 `json:"dead_letters"`
	DeadError     string `json:"dead_letters_error,omitempty"`
}

func waitingOf(lag, retry, dead inspect.Number) (j waitingJSON) {
	j.TotalLag, j.TotalLagError = numberJSON(lag)
	j.RetryLag, j.RetryLagError = numberJSON(retry)
	j.DeadLetters, j.DeadError = numberJSON(dead)
	return j
}

func groupRowOf(r *inspect.GroupRow) groupRowJSON {
	j := groupRowJSON{
		Group: r.Group, Orderly: r.Orderly, State: r.State, UnknownQueues: r.UnknownQueues, Paused: len(r.Paused.Brokers) > 0,
		PausedBrokers: emptyList(r.Paused.Brokers), PausedTopics: sortedKeys(r.Paused.Topics), ConsumeTPS: r.ConsumeTPS,
		Versions: emptyList(r.Versions), Topics: emptyList(r.Topics), System: r.System, Problems: problemsJSON(r.Problems),
		MessageModel: modelJSON(r.Model), RequestModes: modesJSON(r.Modes), waitingJSON: waitingOf(r.Lag, r.RetryLag, r.DeadLetters),
	}
	if r.Type != 0 {
		j.ConsumeType = namedOrNull(r.Type.String())
	}
	if r.Kind != inspect.KindUnknown {
		j.Kind = namedOrNull(string(r.Kind))
	}
	j.Members, j.MembersError = numberJSON(r.Members)
	j.KindError, j.ModelError, j.TypeError = unsaid(j.Kind, r.Members), unsaid(j.MessageModel, r.Members), unsaid(j.ConsumeType, r.Members)
	return j
}

// unsaid is why something that only members tell is not known; "" where it is.
func unsaid(told *string, members inspect.Number) string {
	switch {
	case told != nil:
		return ""
	case !members.Known:
		return members.Why.String()
	case members.Value == 0:
		return "no member is online, and only members say it"
	}
	return "no member says it"
}

func modelJSON(m protocol.MessageModel) *string {
	if m == 0 {
		return nil
	}
	return namedOrNull(m.String())
}

// lagText says how many queues are missing from a sum.
func lagText(n inspect.Number, unknown int) string {
	if n.Known && unknown > 0 {
		return fmt.Sprintf("%d + %s unknown", n.Value, inspect.Plural(unknown, "queue"))
	}
	return numberText(n)
}

func kindText(r *inspect.GroupRow) string {
	kind := string(r.Kind)
	if r.Kind == inspect.KindUnknown {
		kind = textUnknown
	}
	if share := inspect.PopShare(r.Modes); r.Kind == inspect.KindPop && share != "" {
		kind += " " + share
	}
	if r.Orderly {
		kind += " orderly"
	}
	return kind
}

// unknownFirst is a number to sort by in which what is not known may be the largest.
func unknownFirst(n inspect.Number) int64 {
	if !n.Known {
		return math.MaxInt64
	}
	return n.Value
}
