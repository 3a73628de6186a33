package engine_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// breakNext has the wire replace the next answer to a pull of topic at or beyond
// offset, once; done tells how often it did, and which offset was then asked for.
func breakNext(w *wire, topic string, offset int64, how func(h *protocol.PullMessageRequestHeader, answer *protocol.Command) []byte) (done func() (n int, then int64)) {
	var mu sync.Mutex
	n, then := 0, int64(-1)
	w.onAnswer(func(req, answer *protocol.Command) []byte {
		var h protocol.PullMessageRequestHeader
		if protocol.RequestCode(req.Code) != protocol.PullMessage || protocol.DecodeFields(req.ExtFields, &h) != nil || h.Topic != topic || h.QueueOffset < offset ||
			answer.Code != int32(protocol.Success) {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		if n > 0 {
			if then < 0 {
				then = h.QueueOffset
			}
			return nil
		}
		n++
		return how(&h, answer)
	})
	return func() (int, int64) { mu.Lock(); defer mu.Unlock(); return n, then }
}

// field gives an answer another value in its header; "" takes the field away.
func field(answer *protocol.Command, key, value string) []byte {
	out := *answer
	out.ExtFields = nil
	for _, f := range answer.ExtFields {
		switch {
		case f.Key != key:
			out.ExtFields = append(out.ExtFields, f)
		case value != "":
			out.ExtFields = append(out.ExtFields, protocol.ExtField{Key: key, Value: value})
		}
	}
	return framed(out)
}

func body(answer *protocol.Command, b []byte) []byte {
	out := *answer
	out.Body = b
	return framed(out)
}

// An answer that breaks the protocol drops its connection, is told with the
// request it answered, and moves no offset: everything is delivered, once, as if
// it had not come.
func TestBrokenPullAnswers(t *testing.T) {
	type how func(h *protocol.PullMessageRequestHeader, answer *protocol.Command) []byte
	tests := map[string]struct {
		how  how
		want string // in the event
	}{
		"no next offset": {func(_ *protocol.PullMessageRequestHeader, a *protocol.Command) []byte {
			return field(a, "nextBeginOffset", "")
		}, "answer to PULL_MESSAGE from"},
		"next offset is no number": {func(_ *protocol.PullMessageRequestHeader, a *protocol.Command) []byte {
			return field(a, "nextBeginOffset", "many")
		}, "nextBeginOffset"},
		"no header": {func(_ *protocol.PullMessageRequestHeader, a *protocol.Command) []byte {
			out := *a
			out.ExtFields = nil
			return framed(out)
		}, "answer to PULL_MESSAGE from"},
		"negative next offset": {func(_ *protocol.PullMessageRequestHeader, a *protocol.Command) []byte {
			return field(a, "nextBeginOffset", "-7")
		}, "the next offset is -7"},
		"absurd next offset": {func(_ *protocol.PullMessageRequestHeader, a *protocol.Command) []byte {
			return field(a, "nextBeginOffset", "1152921504606846976")
		}, "the next offset is 1152921504606846976, where the queue ends at"},
		"next offset before the messages": {func(h *protocol.PullMessageRequestHeader, a *protocol.Command) []byte {
			return field(a, "nextBeginOffset", "1")
		}, "where the next one is said to have 1"},
		"found nothing": {func(_ *protocol.PullMessageRequestHeader, a *protocol.Command) []byte { return body(a, nil) },
			"it is FOUND and has no message"},
		"body is garbage": {func(_ *protocol.PullMessageRequestHeader, a *protocol.Command) []byte {
			return body(a, []byte(strings.Repeat("garbage ", 64)))
		}, "message at byte 0"},
		"body is cut": {func(_ *protocol.PullMessageRequestHeader, a *protocol.Command) []byte {
			return body(a, a.Body[:len(a.Body)-5])
		}, "message at byte"},
		"of another queue": {func(_ *protocol.PullMessageRequestHeader, a *protocol.Command) []byte {
			b := append([]byte(nil), a.Body...)
			binary.BigEndian.PutUint32(b[12:], 9) // the queue id of the first record
			return body(a, b)
		}, "a message of queue 9"},
		"of another topic": {func(_ *protocol.PullMessageRequestHeader, a *protocol.Command) []byte {
			ms, err := protocol.AppendMessages(nil, a.Body, nil)
			if err != nil {
				panic(err)
			}
			r := ms[0].Record()
			r.Topic = "elsewhere"
			record, err := protocol.AppendRecord(nil, &r)
			if err != nil {
				panic(err)
			}
			return body(a, record)
		}, "a message of topic elsewhere"},
		"answer to nobody": {func(_ *protocol.PullMessageRequestHeader, a *protocol.Command) []byte {
			out := *a
			out.Opaque += 1 << 20
			return framed(out)
		}, "to a call that was never made"},
		"frame of 2 GiB": {func(*protocol.PullMessageRequestHeader, *protocol.Command) []byte {
			return []byte{0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0}
		}, "frame length 2147483647 is not within"},
		"frame of negative length": {func(*protocol.PullMessageRequestHeader, *protocol.Command) []byte {
			return []byte{0xff, 0xff, 0xff, 0xff}
		}, "frame length -1 is not within"},
		"header is garbage": {func(*protocol.PullMessageRequestHeader, *protocol.Command) []byte {
			return []byte{0, 0, 0, 12, 0, 0, 0, 8, 'g', 'a', 'r', 'b', 'a', 'g', 'e', '!'}
		}, "undecodable frame of 12 bytes"},
		"header longer than its frame": {func(*protocol.PullMessageRequestHeader, *protocol.Command) []byte {
			return []byte{0, 0, 0, 12, 0, 0, 1, 0, '{', '}', ' ', ' ', ' ', ' ', ' ', ' '}
		}, "undecodable frame of 12 bytes"},
	}
	// One member for all of them: over real brokers a join and a leave for each would
	// take minutes.
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		w := newWire(tg)
		m := joinOver(t, tg, w, group, topic, nil)
		mq := queueOf(m, topic, 0)
		tg.Produce(t, topic, 5)
		awaitCommit(m, topic, 5)
		at := int64(5)
		for _, name := range slices.Sorted(maps.Keys(tests)) {
			tt := tests[name]
			recovered, dropped := count[engine.PullRecovered](m, nil), w.drops()
			done := breakNext(w, topic, at, tt.how)
			tg.Produce(t, topic, 5)
			e := untilEvent(m, name+": the error is told", func(e engine.PullError) bool { return e.MQ == mq && e.Offset == at })
			if !strings.Contains(e.Error, tt.want) || !strings.Contains(e.Error, fmt.Sprintf("pull %v at %d", mq, at)) {
				t.Errorf("%s: pull_error = %+v, want %q in it", name, e, tt.want)
			}
			awaitCommit(m, topic, at+5)
			if n, then := done(); n != 1 || then != at {
				t.Errorf("%s: broken %d times, then asked for offset %d, want once and %d", name, n, then, at)
			}
			untilEvents[engine.PullRecovered](m, recovered+1)
			m.until(name+": the connection was dropped", func() bool { return w.drops() > dropped })
			at += 5
		}
		m.leave()
		if m.duplicates() != 0 || int64(m.distinct()) != at {
			t.Errorf("%d messages, %d duplicates, want %d and 0", m.distinct(), m.duplicates(), at)
		}
		checkCommitted(t, tg, group, topic)
	})
}

// The same for the other requests that a member's offsets and queues hang on: the
// answer is an error that names its request, its connection is dropped, and the
// member goes on as before.
func TestBrokenAnswersToOtherRequests(t *testing.T) {
	garbage := func(a *protocol.Command) []byte { return body(a, []byte("garbage")) }
	tests := map[string]struct {
		code    protocol.RequestCode
		how     func(a *protocol.Command) []byte
		orderly bool
		told    func(e engine.Event) string // the error that an event carries
	}{
		"committed offset without an offset": {protocol.QueryConsumerOffset, func(a *protocol.Command) []byte { return field(a, "offset", "") }, false,
			func(e engine.Event) string { return textOf[engine.QueueAddFailed](e).Error }},
		"committed offset is no number": {protocol.QueryConsumerOffset, func(a *protocol.Command) []byte { return field(a, "offset", "ten") }, false,
			func(e engine.Event) string { return textOf[engine.QueueAddFailed](e).Error }},
		"members are garbage": {protocol.GetConsumerListByGroup, garbage, false,
			func(e engine.Event) string { return textOf[engine.RebalanceSkipped](e).Error }},
		"locks are garbage": {protocol.LockBatchMQ, garbage, true,
			func(e engine.Event) string { return textOf[engine.LockRequestFailed](e).Error }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
				topic, group := tg.Topic(t, 1), tg.Group(t)
				tg.Produce(t, topic, 10)
				before := join(t, tg, group, topic, nil) // so that there is an offset to be read
				awaitCommit(before, topic, 10)
				before.leave()
				tg.Produce(t, topic, 5)
				w := newWire(tg)
				var once sync.Once
				w.onAnswer(func(req, answer *protocol.Command) (frame []byte) {
					if protocol.RequestCode(req.Code) == tt.code && answer.Code == int32(protocol.Success) {
						once.Do(func() { frame = tt.how(answer) })
					}
					return frame
				})
				m := joinOver(t, tg, w, group, topic, nil, func(o *engine.Options) { o.Orderly = tt.orderly })
				m.until("the error is told", func() bool {
					for _, e := range m.events {
						if strings.Contains(tt.told(e), "answer to "+tt.code.String()+" from") && strings.Contains(tt.told(e), "breaks the protocol") {
							return true
						}
					}
					return false
				})
				awaitCommit(m, topic, 15)
				m.leave()
				if m.distinct() != 5 || m.duplicates() != 0 {
					t.Errorf("%d messages, %d duplicates, want the 5 that were left, once", m.distinct(), m.duplicates())
				}
				checkCommitted(t, tg, group, topic)
			})
		})
	}
}

// textOf is e when it is an E, else a zero one.
func textOf[E engine.Event](e engine.Event) E {
	x, _ := e.(E)
	return x
}

// A record that is broken in the store is asked for again and again, with one
// event for all tries; after the second look its connection is left alone, so
// that the other queues are pulled as ever.
func TestRecordBrokenInTheStore(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 2), tg.Group(t)
		w := newWire(tg)
		w.onAnswer(func(req, answer *protocol.Command) []byte {
			var h protocol.PullMessageRequestHeader
			if protocol.RequestCode(req.Code) != protocol.PullMessage || protocol.DecodeFields(req.ExtFields, &h) != nil || h.Topic != topic || h.QueueID != 0 ||
				answer.Code != int32(protocol.Success) {
				return nil
			}
			b := append([]byte(nil), answer.Body...)
			b[4] ^= 0xff // the magic of the first record
			return body(answer, b)
		})
		m := joinOver(t, tg, w, group, topic, nil)
		awaitHeld(m, topic, 2)
		tg.Produce(t, topic, 10)
		e := untilEvent[engine.MessageUndecodable](m, "it is told", nil)
		if e.Offset != 0 || e.MQ.QueueID != 0 || !strings.Contains(e.Error, "unknown magic") {
			t.Errorf("message_undecodable = %+v", e)
		}
		m.until("the other queue is read", func() bool { return m.distinct() == 5 })
		time.Sleep(10 * time.Second) // ten tries
		offline := count[engine.BrokerOffline](m, nil)
		tg.Produce(t, topic, 10)
		m.until("the other queue is read on", func() bool { return m.distinct() == 10 })
		time.Sleep(10 * time.Second)
		if n := count[engine.MessageUndecodable](m, nil); n != 1 {
			t.Errorf("message_undecodable was told %d times, want once", n)
		}
		if n := count[engine.BrokerOffline](m, nil); n != offline || n > 1 {
			t.Errorf("the connection was dropped %d times, then %d times, want once in all", offline, n-offline)
		}
		if c := snapOf(m, e.MQ).CommittedOffset; c != 0 {
			t.Errorf("committed %d, want 0", c)
		}
		w.onAnswer(nil)
		m.until("what was broken, once it can be read", func() bool { return m.distinct() == 20 })
	})
}

// An answer that goes back is followed as the reference follows it, but told, and
// not in a hot loop; nothing is delivered twice and no offset goes back.
func TestRegressedAnswer(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		w := newWire(tg)
		m := joinOver(t, tg, w, group, topic, nil)
		mq := queueOf(m, topic, 0)
		tg.Produce(t, topic, 10)
		awaitCommit(m, topic, 10)
		var once sync.Once
		w.onAnswer(func(req, answer *protocol.Command) (frame []byte) {
			var h protocol.PullMessageRequestHeader
			if protocol.RequestCode(req.Code) == protocol.PullMessage && protocol.DecodeFields(req.ExtFields, &h) == nil && h.Topic == topic && h.QueueOffset == 10 {
				once.Do(func() {
					out := *answer
					out.Code, out.Body = int32(protocol.PullNotFound), nil
					frame = field(&out, "nextBeginOffset", "4")
				})
			}
			return frame
		})
		tg.Produce(t, topic, 10)
		e := untilEvent[engine.PullRegressed](m, "it is told", nil)
		if e.Previous != 10 || e.Next != 4 || e.First != engine.Unknown || e.MQ != mq {
			t.Errorf("pull_regressed = %+v, want 10, 4, -1", e)
		}
		awaitCommit(m, topic, 20)
		m.leave()
		if m.distinct() != 20 || m.duplicates() != 0 {
			t.Errorf("%d messages, %d duplicates, want 20 and 0", m.distinct(), m.duplicates())
		}
		checkCommitted(t, tg, group, topic)
	})
}
