package sandbox_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

func TestPullStatusOfEachOffset(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		check := func(queueOffset int64, code protocol.ResponseCode, remark string, next int64, messages int) {
			t.Helper()
			cmd, r := f.pull(f.header(queueOffset))
			got := fmt.Sprint(cmd.Code, cmd.Remark, r.NextBeginOffset, r.SuggestWhichBrokerID, len(f.messages(r)))
			if want := fmt.Sprint(int32(code), remark, next, 0, messages); got != want {
				t.Errorf("pull at %d: got %s, want %s", queueOffset, got, want)
			}
		}
		check(0, protocol.PullNotFound, "NO_MESSAGE_IN_QUEUE", 0, 0)
		check(5, protocol.PullOffsetMoved, "NO_MESSAGE_IN_QUEUE", 0, 0)
		check(-1, protocol.PullOffsetMoved, "NO_MESSAGE_IN_QUEUE", 0, 0)
		tg.Produce(t, f.topic, 10)
		check(0, protocol.Success, "FOUND", 10, 10)
		check(7, protocol.Success, "FOUND", 10, 3)
		check(10, protocol.PullNotFound, "OFFSET_OVERFLOW_ONE", 10, 0)
		check(11, protocol.PullOffsetMoved, "OFFSET_OVERFLOW_BADLY", 10, 0)
		check(100, protocol.PullOffsetMoved, "OFFSET_OVERFLOW_BADLY", 10, 0)
		check(-1, protocol.PullOffsetMoved, "OFFSET_TOO_SMALL", 0, 0)

		_, r := f.pull(f.header(4))
		if r.MinOffset != 0 || r.MaxOffset != 10 {
			t.Errorf("got bounds %d to %d, want 0 to 10", r.MinOffset, r.MaxOffset)
		}
		m := f.messages(r)[0]
		if m.QueueOffset() != 4 || m.Topic() != f.topic || m.QueueID() != f.mq.QueueID || len(m.Keys()) != 1 || m.Keys()[0] != "key-4" {
			t.Errorf("got message %v at %d with keys %v", m.MessageQueue(), m.QueueOffset(), m.Keys())
		}
	})
}

func TestPullIsRefused(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 2)
		check := func(what string, want protocol.ResponseCode, change func(*protocol.PullMessageRequestHeader)) {
			t.Helper()
			h := f.header(0)
			change(&h)
			if cmd, _ := f.pull(h); protocol.ResponseCode(cmd.Code) != want {
				t.Errorf("%s: got %v (%s), want %v", what, protocol.ResponseCode(cmd.Code), cmd.Remark, want)
			}
		}
		noSubscription := func(h *protocol.PullMessageRequestHeader) { h.SysFlag = 0 }
		check("unknown topic", protocol.TopicNotExist, func(h *protocol.PullMessageRequestHeader) { h.Topic += "-none" })
		check("queue id too large", f.invalid(), func(h *protocol.PullMessageRequestHeader) { h.QueueID = 2 })
		check("negative queue id", f.invalid(), func(h *protocol.PullMessageRequestHeader) { h.QueueID = -1 })
		check("expression of separators", protocol.SubscriptionParseFailed, func(h *protocol.PullMessageRequestHeader) { h.Subscription = "||" })
		check("no heartbeat", protocol.SubscriptionNotExist, noSubscription)

		m := f.member("a")
		m.join(1000, map[string]string{protocol.RetryTopic(f.group): "*"})
		check("topic not subscribed", protocol.SubscriptionNotExist, noSubscription)
		m.join(1000, map[string]string{f.topic: "*"})
		check("subscribed", protocol.PullNotFound, noSubscription)
		check("same version", protocol.PullNotFound, func(h *protocol.PullMessageRequestHeader) { h.SysFlag, h.SubVersion = 0, 1000 })
		check("older version", protocol.PullNotFound, func(h *protocol.PullMessageRequestHeader) { h.SysFlag, h.SubVersion = 0, 999 })
		check("later version", protocol.SubscriptionNotLatest, func(h *protocol.PullMessageRequestHeader) { h.SysFlag, h.SubVersion = 0, 1001 })
		check("later version, own subscription", protocol.PullNotFound, func(h *protocol.PullMessageRequestHeader) { h.SubVersion = 1001 })
	})
}

func TestPullIsCapped(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		tg.Produce(t, f.topic, 100)
		h := f.header(0)
		h.MaxMsgNums = 100
		if _, r := f.pull(h); len(f.messages(r)) != 32 || r.NextBeginOffset != 32 {
			t.Errorf("got %d messages, next %d, want 32, 32", len(f.messages(r)), r.NextBeginOffset)
		}
		h.MaxMsgNums = 0
		if _, r := f.pull(h); len(f.messages(r)) != 1 {
			t.Errorf("0 asked for: got %d messages, want 1", len(f.messages(r)))
		}
		var last int64
		for range 12 {
			last = f.send(strings.Repeat("x", 40_000)).QueueOffset
		}
		tg.AwaitOffset(t, f.mq, last+1)
		_, r := f.pull(f.header(100))
		if got := len(f.messages(r)); got != 6 || len(r.Body) > 256<<10 {
			t.Errorf("got %d large messages in %d bytes, want 6 in at most 256 KiB", got, len(r.Body))
		}
	})
}

func TestPullFiltersByTagsHash(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		for _, name := range []string{"Aa", "BB", "C", ""} { // "Aa" and "BB" have the same hash
			var properties []protocol.Property
			if name != "" {
				properties = append(properties, tag(name))
			}
			f.send("tag "+name, properties...)
		}
		tg.AwaitOffset(t, f.mq, 4)
		check := func(expression, want string, next int64) {
			t.Helper()
			h := f.header(0)
			h.Subscription = expression
			_, r := f.pull(h)
			if got := fmt.Sprint(bodies(t, f.messages(r)), " ", r.NextBeginOffset); got != fmt.Sprint(want, " ", next) {
				t.Errorf("%s: got %s, want %s %d", expression, got, want, next)
			}
		}
		check("*", "[tag Aa tag BB tag C tag ]", 4)
		check("Aa", "[tag Aa tag BB]", 4)
		check("C || none", "[tag C]", 4)
		check("none", "[]", 4)

		h := f.header(0)
		h.Subscription = "none"
		if cmd, _ := f.pull(h); cmd.Code != int32(protocol.PullRetryImmediately) || cmd.Remark != "NO_MATCHED_MESSAGE" {
			t.Errorf("nothing matches: got %v %s", protocol.ResponseCode(cmd.Code), cmd.Remark)
		}
	})
}

func TestPullScansAtMost800Messages(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		tg.Produce(t, f.topic, 1000, tag("A"))
		h := f.header(10)
		h.Subscription = "B"
		if cmd, r := f.pull(h); cmd.Code != int32(protocol.PullRetryImmediately) || r.NextBeginOffset != 810 {
			t.Errorf("got %v, next %d, want %v, 810", protocol.ResponseCode(cmd.Code), r.NextBeginOffset, protocol.PullRetryImmediately)
		}
	})
}

func TestPullCommitsWithBit0(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		tg.Produce(t, f.topic, 10)
		committed := func() int64 {
			t.Helper()
			offset, _, err := f.c.QueryConsumerOffset(t.Context(), f.group, f.mq)
			if err != nil {
				t.Fatal(err)
			}
			return offset
		}
		h := f.header(5)
		h.CommitOffset = 3
		f.pull(h)
		if got := committed(); got != 0 {
			t.Errorf("without bit 0: committed %d", got)
		}
		h.SysFlag |= protocol.PullCommitOffset
		f.pull(h)
		if got := committed(); got != 3 {
			t.Errorf("with bit 0: committed %d, want 3", got)
		}
		h.SysFlag |= protocol.PullSuspend
		h.QueueOffset, h.CommitOffset, h.SuspendTimeout = 10, 4, time.Second
		f.pull(h)
		if got := committed(); got != 4 {
			t.Errorf("with a held pull: committed %d, want 4", got)
		}
	})
}

func (f *fixture) held(queueOffset int64, expression string, wait time.Duration) protocol.PullMessageRequestHeader {
	h := f.header(queueOffset)
	h.SysFlag |= protocol.PullSuspend
	h.Subscription, h.SuspendTimeout = expression, wait
	return h
}

func TestHeldPullIsReleasedByArrival(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		for _, queueOffset := range []int64{0, 1} { // of an empty queue, and at the end of one that is not
			begun := time.Now()
			answer := f.begin(f.held(queueOffset, "*", 20*time.Second))
			letPass(300 * time.Millisecond)
			select {
			case cmd := <-answer:
				t.Fatalf("answered at once: %v %s", protocol.ResponseCode(cmd.Code), cmd.Remark)
			default:
			}
			f.send("hello")
			cmd := <-answer
			if took := time.Since(begun); cmd.Code != int32(protocol.Success) || tg.Sandbox != nil && took > time.Second {
				t.Errorf("pull at %d: got %v after %v", queueOffset, protocol.ResponseCode(cmd.Code), took)
			}
			if got := bodies(t, messagesOf(t, cmd.Body, "")); len(got) != 1 {
				t.Errorf("pull at %d: got messages %v", queueOffset, got)
			}
		}
	})
}

// A message that does not match does not release a held pull by itself, but the
// broker notices it when it next looks at the pulls it holds, every five seconds.
func TestHeldPullIsReleasedLateByAnotherTag(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		begun := time.Now()
		answer := f.begin(f.held(0, "A", 20*time.Second))
		letPass(300 * time.Millisecond)
		f.send("other", tag("B"))
		f.wantAnswer(<-answer, protocol.PullRetryImmediately, 1)
		if took := time.Since(begun); tg.Sandbox != nil && (took < 3*time.Second || took > 10*time.Second) {
			t.Errorf("answered after %v, want about 5 s", took)
		}
		answer = f.begin(f.held(1, "A", 20*time.Second))
		letPass(300 * time.Millisecond)
		f.send("mine", tag("A"))
		a := <-answer
		f.wantAnswer(a, protocol.Success, 2)
		wantSameText(t, "messages", bodies(t, messagesOf(t, a.Body, "")), []string{"mine"})
	})
}

func (f *fixture) wantAnswer(a pullAnswer, code protocol.ResponseCode, next int64) {
	f.t.Helper()
	if a.err != nil {
		f.t.Fatal(a.err)
	}
	var h protocol.PullMessageResponseHeader
	if err := protocol.DecodeFields(a.ExtFields, &h); err != nil {
		f.t.Fatalf("%v %s: %v", protocol.ResponseCode(a.Code), a.Remark, err)
	}
	if a.Code != int32(code) || h.NextBeginOffset != next {
		f.t.Errorf("got %v %s, next %d, want %v, %d", protocol.ResponseCode(a.Code), a.Remark, h.NextBeginOffset, code, next)
	}
}

func TestHeldPullExpires(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		begun := time.Now()
		cmd := <-f.begin(f.held(0, "*", 2*time.Second))
		if took := time.Since(begun); cmd.Code != int32(protocol.PullNotFound) || took < 2*time.Second || tg.Sandbox != nil && took > 12*time.Second {
			t.Errorf("got %v %s after %v, want %v after 2 s", protocol.ResponseCode(cmd.Code), cmd.Remark, took, protocol.PullNotFound)
		}
		// A message that does not match is noticed at the end.
		answer := f.begin(f.held(0, "A", 2*time.Second))
		letPass(300 * time.Millisecond)
		f.send("other", tag("B"))
		f.wantAnswer(<-answer, protocol.PullRetryImmediately, 1)
	})
}

// A change of the group does not end held pulls: the members get 40 instead.
func TestHeldPullOutlastsAMemberChange(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		f.member("a").join(1, map[string]string{f.topic: "*"})
		begun := time.Now()
		h := f.held(0, "*", 3*time.Second)
		h.SysFlag = protocol.PullSuspend
		answer := f.begin(h)
		letPass(300 * time.Millisecond)
		f.member("b").join(1, map[string]string{f.topic: "*"})
		cmd := <-answer
		if took := time.Since(begun); cmd.Code != int32(protocol.PullNotFound) || took < 3*time.Second {
			t.Errorf("got %v after %v, want %v after 3 s", protocol.ResponseCode(cmd.Code), took, protocol.PullNotFound)
		}
	})
}

func TestHeldPullOfADeletedTopic(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		answer := f.begin(f.held(0, "*", 5*time.Second)) // time for the deletion
		letPass(300 * time.Millisecond)
		if err := f.c.DeleteTopic(t.Context(), f.topic); err != nil {
			t.Fatal(err)
		}
		if cmd := <-answer; cmd.Code != int32(protocol.TopicNotExist) {
			t.Errorf("got %v %s, want %v", protocol.ResponseCode(cmd.Code), cmd.Remark, protocol.TopicNotExist)
		}
	})
}
