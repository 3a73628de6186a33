package protocol

import (
	"cmp"
	"slices"
)

// The names of the ways in which a 5.x broker has a group's members get a topic's
// messages, where they let it allocate.
const (
	ModePull = "PULL" // they pull the queues that it gives them
	ModePop  = "POP"  // it gives messages to whoever asks, queues are shared
)

// RequestMode is how the members of a group that let the broker allocate are to get a
// topic's messages (Java: SetMessageRequestModeRequestBody).
type RequestMode struct {
	Topic string `json:"topic"`
	Group string `json:"consumerGroup"`
	Mode  string `json:"mode"` // ModePull or ModePop
	// Share is for POP the number of other members whose queues a member pops besides
	// its own; up to zero, or from the number of other members on: of all.
	Share int32 `json:"popShareQueueNum"`
}

// EncodeRequestMode writes the body of 401.
func EncodeRequestMode(m *RequestMode) []byte { return encodeBody(m) }

// DecodeRequestMode reads the body of 401.
func DecodeRequestMode(body []byte) (RequestMode, error) {
	return decodeBody[RequestMode](body, "request mode")
}

// requestModes is the answer to 402: modes by topic and group.
type requestModes struct {
	Modes map[string]map[string]RequestMode `json:"messageRequestModeMap"`
}

// EncodeRequestModes writes the answer to 402.
func EncodeRequestModes(modes []RequestMode) []byte {
	w := requestModes{Modes: map[string]map[string]RequestMode{}}
	for _, m := range modes {
		if w.Modes[m.Topic] == nil {
			w.Modes[m.Topic] = map[string]RequestMode{}
		}
		w.Modes[m.Topic][m.Group] = m
	}
	return encodeBody(w)
}

func compareModes(a, b RequestMode) int {
	return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Group, b.Group))
}

// DecodeRequestModes reads the answer to 402, in the order of topics and groups.
func DecodeRequestModes(body []byte) ([]RequestMode, error) {
	w, err := decodeBody[requestModes](body, "request modes")
	if err != nil {
		return nil, err
	}
	var modes []RequestMode
	for topic, groups := range w.Modes {
		for group, m := range groups {
			m.Topic, m.Group = topic, group
			modes = append(modes, m)
		}
	}
	slices.SortFunc(modes, compareModes)
	return modes, nil
}

// AssignmentQuestion asks which queues of a topic the broker gives to a member
// (Java: QueryAssignmentRequestBody).
type AssignmentQuestion struct {
	Topic    string       `json:"topic"`
	Group    string       `json:"consumerGroup"`
	ClientID string       `json:"clientId"`
	Strategy string       `json:"strategyName"` // by its name: AVG, AVG_BY_CIRCLE, …
	Model    MessageModel `json:"messageModel"`
}

// EncodeAssignmentQuestion writes the body of 400.
func EncodeAssignmentQuestion(q *AssignmentQuestion) []byte { return encodeBody(q) }

// DecodeAssignmentQuestion reads the body of 400.
func DecodeAssignmentQuestion(body []byte) (AssignmentQuestion, error) {
	return decodeBody[AssignmentQuestion](body, "question about an assignment")
}

// Assigned is one queue that the broker gives to a member; by POP it may be all of
// one broker, with the number -1 (Java: MessageQueueAssignment).
type Assigned struct {
	Queue MessageQueue `json:"messageQueue"`
	Mode  string       `json:"mode"`
}

// Assignment is the answer to 400.
type Assignment struct {
	Known  bool // the broker knows the topic and the strategy
	Queues []Assigned
}

// assignment is Assignment as brokers write it.
type assignment struct {
	Queues *[]Assigned `json:"messageQueueAssignments,omitzero"`
}

// EncodeAssignment writes the answer to 400.
func EncodeAssignment(a *Assignment) []byte {
	var w assignment
	if a.Known {
		w.Queues = &a.Queues
	}
	return encodeBody(w)
}

// DecodeAssignment reads the answer to 400, in the order of the queues.
func DecodeAssignment(body []byte) (Assignment, error) {
	w, err := decodeBody[assignment](body, "assignment")
	if err != nil || w.Queues == nil {
		return Assignment{}, err
	}
	slices.SortFunc(*w.Queues, func(a, b Assigned) int { return CompareMessageQueues(a.Queue, b.Queue) })
	return Assignment{Known: true, Queues: *w.Queues}, nil
}
