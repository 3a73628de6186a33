package protocol

import (
	"encoding/json"
	"fmt"
	"strings"
)

// ByQueue is a map by queue: as an object whose keys are queues (or, after
// strictJSON or from strict peers, texts of queues), or as an array of pairs.
type ByQueue[V any] map[MessageQueue]V

// UnmarshalJSON reads each of the forms.
func (m *ByQueue[V]) UnmarshalJSON(b []byte) error {
	if b[0] == '[' {
		return m.readPairs(b)
	}
	var byText map[string]V
	if err := json.Unmarshal(b, &byText); err != nil {
		return err
	}
	out := make(ByQueue[V], len(byText))
	keys := queueKeys{}
	for text, value := range byText {
		mq, err := keys.parse(text)
		if err != nil {
			return fmt.Errorf("queue as key %.60q: %w", text, err)
		}
		out[mq] = value
	}
	*m = out
	return nil
}

// readPairs reads [[queue, value], …], and the flat form of code 220 towards C++
// clients where the value is a member of the queue named offset.
func (m *ByQueue[V]) readPairs(b []byte) error {
	var items []json.RawMessage
	if err := json.Unmarshal(b, &items); err != nil {
		return err
	}
	out := make(ByQueue[V], len(items))
	for i, item := range items {
		var mq MessageQueue
		var value V
		if item[0] != '[' {
			flat := struct {
				Offset *V `json:"offset"`
			}{&value}
			if err := json.Unmarshal(item, &mq); err != nil {
				return fmt.Errorf("item %d: %w", i, err)
			}
			if err := json.Unmarshal(item, &flat); err != nil {
				return fmt.Errorf("item %d: %w", i, err)
			}
			out[mq] = value
			continue
		}
		var pair []json.RawMessage
		if err := json.Unmarshal(item, &pair); err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
		if len(pair) != 2 {
			return fmt.Errorf("item %d has %d parts, not a queue and a value", i, len(pair))
		}
		if err := json.Unmarshal(pair[0], &mq); err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
		if err := json.Unmarshal(pair[1], &value); err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
		out[mq] = value
	}
	*m = out
	return nil
}

// queueKeys reads queues that stand as keys. A table has thousands of them with a few
// topics and broker names, which are shared.
type queueKeys map[string]string

func (k queueKeys) parse(text string) (mq MessageQueue, err error) {
	var failed error
	s := scanner{src: bytesOf(text)}
	err = s.members(func(name string, from, to int) {
		if failed != nil {
			return
		}
		switch name {
		case "topic":
			mq.Topic, failed = k.text(text[from:to])
		case "brokerName":
			mq.BrokerName, failed = k.text(text[from:to])
		case "queueId":
			mq.QueueID, failed = queueID(text[from:to])
		case "$ref":
			failed = errReference
		}
	})
	if err == nil {
		err = failed
	}
	if err == nil {
		err = s.end()
	}
	return mq, err
}

// text reads a name: a string, or null for none.
func (k queueKeys) text(value string) (string, error) {
	if value[0] != '"' && value[0] != '\'' && value != "null" {
		return "", fmt.Errorf("%.20q is no text", value)
	}
	s := scanner{src: bytesOf(value)}
	name, null, err := s.scalarOrRaw()
	if null || err != nil {
		return "", err
	}
	if shared, ok := k[name]; ok {
		return shared, nil
	}
	name = strings.ToValidUTF8(name, "\uFFFD") // as the JSON decoder has it
	k[name] = name
	return name, nil
}

func queueID(value string) (int32, error) {
	id, ok := integer(strings.Trim(value, `'"`), 32)
	if !ok {
		return 0, fmt.Errorf("%.20q is no queue id of 32 bits", value)
	}
	return int32(id), nil
}
