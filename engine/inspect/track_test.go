package inspect_test

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// trackOf is one group's track of the message at a place.
func (d *desk) trackOf(group string, mq protocol.MessageQueue, offset int64) inspect.Track {
	d.t.Helper()
	m, err := d.Head(d.t.Context(), mq, offset)
	if err != nil {
		d.t.Fatal(err)
	}
	tracks, err := d.Tracks(d.t.Context(), &m)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, track := range tracks {
		if track.Group == mq.Topic {
			d.t.Errorf("the topic itself is tracked as a group: %+v", track)
		}
		if !track.Inferred {
			d.t.Errorf("%+v is not said to be inferred", track)
		}
	}
	for _, track := range tracks {
		if track.Group == group {
			return track
		}
	}
	return inspect.Track{}
}

// What offline groups have done is told by what they have committed.
func TestTracksOffline(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 5)
		mq := d.queues(topic)[0]
		d.makeGroup(tg, group)
		if got := d.trackOf(group, mq, 0); got.Group != "" {
			t.Errorf("a group that has nothing to do with the topic: %+v", got)
		}
		d.commit(group, 2, mq)
		for offset, want := range []inspect.Track{
			{State: inspect.TrackConsumed, Passed: true, Detail: "the committed offset passed it; no member is online"},
			{State: inspect.TrackConsumed, Passed: true, Detail: "the committed offset passed it; no member is online"},
			{Behind: 1, Detail: "it is the next one"},
			{Behind: 2, Detail: "1 message waits before it"},
			{Behind: 3, Detail: "2 messages wait before it"},
		} {
			want.Group, want.State, want.Inferred, want.Committed = group, cmp.Or(want.State, inspect.TrackOffline), true, true
			if got := d.trackOf(group, mq, int64(offset)); got != want {
				t.Errorf("offset %d: %+v, want %+v", offset, got, want)
			}
		}
	})
}

// A message that a group has buried is told so, and so is the dead letter itself.
func TestTracksOfADeadLetter(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		dead := d.deadLetters(tg, 1)
		track := d.trackOf(dead.group, dead.original, 0)
		if track.State != inspect.TrackDead || !track.Passed || track.Detail != "in the dead letters; no member is online" {
			t.Errorf("track = %+v", track)
		}
		tracks, err := d.Tracks(t.Context(), &dead.messages[0])
		if err != nil || len(tracks) != 1 || tracks[0].Group != dead.group || tracks[0].State != inspect.TrackDead {
			t.Errorf("tracks of the dead letter = %+v, %v", tracks, err)
		}
	})
}

// A copy may wait until it is due where nobody could look: then "consumed" is not all that
// there is to say.
func TestTracksWhereNobodyCouldLook(t *testing.T) {
	bothLines(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, group, other := tg.Topic(t, 1), tg.Group(t), tg.Group(t)
		tg.Produce(t, topic, 1, property(protocol.PropertyUniqKey, uniqueID(0)))
		mq := d.queues(topic)[0]
		d.makeGroup(tg, group)
		d.makeGroup(tg, other)
		d.commit(group, 1, mq)
		d.commit(other, 1, mq)
		d.makeRetryTopic(tg, group)
		tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault {
			if searched, _ := r.Command.ExtFields.Get("topic"); r.Command.Code == int32(protocol.QueryMessage) && searched == "SCHEDULE_TOPIC_XXXX" {
				return sandbox.Fault{Code: protocol.SystemError, Remark: "refused"}
			}
			return sandbox.Fault{}
		})
		passed := "the committed offset passed it; no member is online"
		if got := d.trackOf(group, mq, 0); got.State != inspect.TrackConsumed || !strings.HasPrefix(got.Detail, passed+"; SCHEDULE_TOPIC_XXXX could not be searched: ") {
			t.Errorf("a group with retries: %+v", got)
		}
		if got := d.trackOf(other, mq, 0); got.Detail != passed {
			t.Errorf("a group that has none: %+v", got)
		}
	})
}

// letters are dead letters of a group.
type letters struct {
	group    string
	original protocol.MessageQueue
	messages []protocol.MessageExt
}

// deadLetters makes n of them, with keys, tags and properties of their own.
func (d *desk) deadLetters(tg *sandboxtest.Target, n int) letters {
	d.t.Helper()
	topic, group := tg.Topic(d.t, 1), tg.Group(d.t)
	mq := d.queues(topic)[0]
	d.makeGroup(tg, group)
	for i := range n {
		sandboxtest.Send(d.t, d.client, mq, protocol.BatchItem{Flag: 7, Body: []byte("dead " + string(rune('a'+i))), Properties: []protocol.Property{
			property(protocol.PropertyUniqKey, uniqueID(i)), property(protocol.PropertyKeys, "k"), property(protocol.PropertyTags, "T"), property("shop", "x=y")}})
	}
	tg.AwaitOffset(d.t, mq, int64(n))
	d.commit(group, int64(n), mq)
	for i := range n {
		bury(d.t, d.client, group, mq, int64(i))
	}
	dlq := protocol.MessageQueue{Topic: protocol.DLQTopic(group), BrokerName: mq.BrokerName}
	tg.AwaitRoute(d.t, dlq.Topic, 1)
	tg.AwaitOffset(d.t, dlq, int64(n))
	*d = *newDesk(d.t, tg) // it knows the topics that have come
	for i := range n {     // the index, from which tracks are told, is behind the queue
		d.awaitFound(inspect.FindRequest{Topic: dlq.Topic, UniqueKey: uniqueID(i)}, 1)
	}
	return letters{group: group, original: mq, messages: d.awaitFound(inspect.FindRequest{Topic: dlq.Topic}, n).Messages}
}

// makeRetryTopic makes a group's retry topic at all brokers, as a member's heartbeat does.
func (d *desk) makeRetryTopic(tg *sandboxtest.Target, group string) {
	d.t.Helper()
	topic := protocol.RetryTopic(group)
	masters := tg.Masters(d.t)
	for name, addr := range masters {
		h := &protocol.CreateTopicRequestHeader{Topic: topic, DefaultTopic: "TBW102", ReadQueueNums: 1, WriteQueueNums: 1, Perm: protocol.PermRead | protocol.PermWrite}
		if err := d.client.CreateTopic(d.t.Context(), addr, h); err != nil {
			d.t.Fatalf("%s: %v", name, err)
		}
	}
	tg.AwaitRoute(d.t, topic, len(masters))
	*d = *newDesk(d.t, tg) // it knows the topics that have come
}

func uniqueID(i int) string { return "7F0000010DFC1EB2C6F60000000000" + string(rune('A'+i)) + "0" }

// join makes a client a member of a group, as far as brokers know, until the end of
// the test.
func join(t *testing.T, tg *sandboxtest.Target, group string, change func(d *protocol.ConsumerData), subscriptions ...protocol.SubscriptionData) {
	t.Helper()
	c := tg.Client(t, nil)
	data := protocol.ConsumerData{
		GroupName: group, ConsumeType: protocol.ConsumePassively, MessageModel: protocol.Clustering,
		ConsumeFromWhere: protocol.ConsumeFromFirstOffset, SubscriptionDataSet: subscriptions,
	}
	if change != nil {
		change(&data)
	}
	for _, addr := range tg.Masters(t) {
		if _, err := c.Heartbeat(t.Context(), addr, &protocol.HeartbeatData{ClientID: "192.0.2.9@" + group, ConsumerDataSet: []protocol.ConsumerData{data}}); err != nil {
			t.Fatal(err)
		}
	}
}

// What online groups have done is told by their commits and their subscriptions: tags
// that leave a message out make it "filtered", whether it was passed or not, and
// say that they are the tags of now.
func TestTracksOnline(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic := tg.Topic(t, 1)
		tg.Produce(t, topic, 4, property(protocol.PropertyTags, "A"))
		mq := d.queues(topic)[0]
		sub := func(kind, expression string) protocol.SubscriptionData {
			s, err := protocol.ParseSubscription(topic, kind, expression)
			if err != nil {
				t.Fatal(err)
			}
			s.SubVersion = 1
			return s
		}
		tag := protocol.ExpressionTAG
		tests := []struct {
			name      string
			change    func(d *protocol.ConsumerData)
			sub       protocol.SubscriptionData
			committed int64
			want      inspect.Track // of the message at offset 1
		}{
			{"all", nil, sub(tag, "*"), 2, inspect.Track{State: inspect.TrackConsumed, Detail: "the committed offset passed it"}},
			{"its tag", nil, sub(tag, "B||A"), 2, inspect.Track{State: inspect.TrackConsumed, Detail: "the committed offset passed it"}},
			{"not yet", nil, sub(tag, "*"), 1, inspect.Track{State: inspect.TrackUnknown, Behind: 1, Detail: "it is the next one"}},
			{"other tag", nil, sub(tag, "B"), 2, inspect.Track{State: inspect.TrackFiltered, Detail: "its members subscribe to B now"}},
			{"other tag, not yet", nil, sub(tag, "B"), 1, inspect.Track{State: inspect.TrackFiltered, Behind: 1, Detail: "its members subscribe to B now"}},
			{"broadcasting", func(d *protocol.ConsumerData) { d.MessageModel = protocol.Broadcasting }, sub(tag, "*"), 1,
				inspect.Track{State: inspect.TrackBroadcasting, Behind: 1, Detail: "each member keeps its own offset"}},
			{"pull", func(d *protocol.ConsumerData) { d.ConsumeType = protocol.ConsumeActively }, sub(tag, "*"), 2,
				inspect.Track{State: inspect.TrackPull, Detail: "the committed offset passed it"}},
		}
		for _, tt := range tests {
			group := tg.Group(t)
			d.makeGroup(tg, group)
			d.commit(group, tt.committed, mq)
			join(t, tg, group, tt.change, tt.sub)
			tt.want.Group, tt.want.Inferred, tt.want.Committed, tt.want.Passed = group, true, true, tt.committed > 1
			got := newDesk(t, tg).trackOf(group, mq, 1)
			if (got.Why.Kind != inspect.ReasonNone) != (got.State == inspect.TrackUnknown) { // its member answers nothing
				t.Errorf("%s: %+v", tt.name, got)
			}
			if got.Why = (inspect.Reason{}); got != tt.want {
				t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
			}
		}
	})
}

// A message behind the one that blocks its queue is finished, as far as its member and
// the brokers tell: those of 5.x say how far a queue was pulled, of the others it shows by
// a pull that waits at the end.
func TestTracksBehindABlockedHead(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 6)
		mq := d.queues(topic)[0]
		d.makeGroup(tg, group)
		member := newStub(t, tg, group, "192.0.2.1@blocked", 1, []protocol.MessageQueue{mq}, func(s *stub) {
			s.still = true
			s.says = &protocol.ProcessQueueInfo{CommitOffset: 1, CachedMsgMinOffset: 1, CachedMsgMaxOffset: 1, CachedMsgCount: 1, LastPullTimestamp: time.Now().UnixMilli()}
		})
		d.commit(group, 1, mq)
		addr, err := d.client.MasterOf(t.Context(), mq)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []int64{1, 6} { // as its member has: up to the end, where the next pull waits
			if _, err := member.client.Pull(t.Context(), addr, &protocol.PullMessageRequestHeader{ConsumerGroup: group, Topic: topic, QueueOffset: at, MaxMsgNums: 32, SubVersion: 1, BrokerName: mq.BrokerName}); err != nil {
				t.Fatal(err)
			}
		}
		d = newDesk(t, tg)
		for offset, want := range []inspect.TrackState{inspect.TrackConsumed, inspect.TrackFetched, inspect.TrackFinished, inspect.TrackFinished, inspect.TrackFinished, inspect.TrackFinished} {
			if got := d.trackOf(group, mq, int64(offset)); got.State != want {
				t.Errorf("offset %d: %+v, want %s", offset, got, want)
			}
		}
	})
}
