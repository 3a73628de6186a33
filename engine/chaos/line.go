package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// line is what a member prints: eyeq's JSON or that of the Java member.
type line struct {
	delivery  bool
	topic     string
	queue     int32
	offset    int64
	seq       int64 // of the key
	reconsume int32

	event string // eyeq's; "" for others
	ready bool   // the member knows its share of the queues
}

// parseLine reads one line; false for what says nothing about the run.
func parseLine(b []byte) (line, bool, error) {
	var o struct {
		Kind      string          `json:"kind"`
		Event     string          `json:"event"`
		Started   bool            `json:"started"`
		Topic     string          `json:"topic"`
		Queue     *int32          `json:"queue"`
		Offset    *int64          `json:"offset"`
		Keys      []string        `json:"keys"`
		Key       string          `json:"key"`
		Reconsume int32           `json:"reconsume"`
		Times     int32           `json:"reconsume_times"`
		Seq       json.RawMessage `json:"seq"` // a Java member's; an event of eyeq's may have one too
	}
	if err := json.Unmarshal(b, &o); err != nil {
		return line{}, false, fmt.Errorf("a member's line %.200q: %w", b, err)
	}
	switch {
	case o.Kind == "event":
		return line{event: o.Event, ready: o.Event == "rebalance_end"}, true, nil
	case o.Started:
		return line{ready: true}, true, nil
	case o.Kind == "message" && len(o.Keys) == 1:
		o.Key, o.Reconsume = o.Keys[0], o.Times
	case o.Kind == "" && o.Key != "":
	case o.Kind == "message":
		return line{}, false, fmt.Errorf("a member's line %.200q: a message with the keys %q is none of ours", b, o.Keys)
	default:
		return line{}, false, nil // a summary
	}
	text, ours := strings.CutPrefix(o.Key, keyPrefix)
	seq, err := strconv.ParseInt(text, 10, 64)
	if !ours || err != nil || o.Queue == nil || o.Offset == nil {
		return line{}, false, fmt.Errorf("a member's line %.200q: a message without queue and offset or with a key that is none of ours", b)
	}
	return line{delivery: true, topic: o.Topic, queue: *o.Queue, offset: *o.Offset, seq: seq, reconsume: o.Reconsume}, true, nil
}

// keyPrefix begins the key of each message; its number follows.
const keyPrefix = "k-"
