package protocol

import (
	"cmp"
	"fmt"
	"maps"
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
func EncodeRequestMode(m *RequestMode) []byte { return appendRequestMode(nil, *m) }

func appendRequestMode(dst []byte, m RequestMode) []byte {
	o := beginObject(dst)
	o.text("consumerGroup", m.Group)
	o.text("mode", m.Mode)
	o.number("popShareQueueNum", int64(m.Share))
	o.text("topic", m.Topic)
	return o.end()
}

// DecodeRequestMode reads the body of 401.
func DecodeRequestMode(body []byte) (RequestMode, error) {
	var m RequestMode
	if err := decodeLenient(body, &m); err != nil {
		return RequestMode{}, fmt.Errorf("decode request mode: %w", err)
	}
	return m, nil
}

// EncodeRequestModes writes the answer to 402.
func EncodeRequestModes(modes []RequestMode) []byte {
	byTopic := map[string][]RequestMode{}
	for _, m := range modes {
		byTopic[m.Topic] = append(byTopic[m.Topic], m)
	}
	o := beginObject(nil)
	o.name("messageRequestModeMap")
	topics := beginObject(o.dst)
	for _, topic := range slices.Sorted(maps.Keys(byTopic)) {
		topics.textName(topic)
		groups := beginObject(topics.dst)
		for _, m := range slices.SortedFunc(slices.Values(byTopic[topic]), compareModes) {
			groups.textName(m.Group)
			groups.dst = appendRequestMode(groups.dst, m)
		}
		topics.dst = groups.end()
	}
	o.dst = topics.end()
	return o.end()
}

func compareModes(a, b RequestMode) int {
	return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Group, b.Group))
}

// DecodeRequestModes reads the answer to 402, in the order of topics and groups.
func DecodeRequestModes(body []byte) ([]RequestMode, error) {
	var w struct {
		Modes map[string]map[string]RequestMode `json:"messageRequestModeMap"`
	}
	if err := decodeLenient(body, &w); err != nil {
		return nil, fmt.Errorf("decode request modes: %w", err)
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
func EncodeAssignmentQuestion(q *AssignmentQuestion) []byte {
	o := beginObject(nil)
	o.text("clientId", q.ClientID)
	o.text("consumerGroup", q.Group)
	o.enum("messageModel", q.Model != 0, q.Model)
	o.text("strategyName", q.Strategy)
	o.text("topic", q.Topic)
	return o.end()
}

// DecodeAssignmentQuestion reads the body of 400.
func DecodeAssignmentQuestion(body []byte) (AssignmentQuestion, error) {
	var q AssignmentQuestion
	if err := decodeLenient(body, &q); err != nil {
		return AssignmentQuestion{}, fmt.Errorf("decode question about an assignment: %w", err)
	}
	return q, nil
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

// EncodeAssignment writes the answer to 400.
func EncodeAssignment(a *Assignment) []byte {
	o := beginObject(nil)
	if a.Known {
		o.name("messageQueueAssignments")
		o.dst = appendArray(o.dst, a.Queues, appendAssigned)
	}
	return o.end()
}

func appendAssigned(dst []byte, a Assigned) []byte {
	o := beginObject(dst)
	o.name("messageQueue")
	o.dst = appendQueue(o.dst, a.Queue)
	o.text("mode", a.Mode)
	return o.end()
}

// DecodeAssignment reads the answer to 400, in the order of the queues.
func DecodeAssignment(body []byte) (Assignment, error) {
	var w struct {
		Queues *[]Assigned `json:"messageQueueAssignments"`
	}
	if err := decodeLenient(body, &w); err != nil {
		return Assignment{}, fmt.Errorf("decode assignment: %w", err)
	}
	if w.Queues == nil {
		return Assignment{}, nil
	}
	slices.SortFunc(*w.Queues, func(a, b Assigned) int { return CompareMessageQueues(a.Queue, b.Queue) })
	return Assignment{Known: true, Queues: *w.Queues}, nil
}
