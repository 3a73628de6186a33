package protocol

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Answers that are not among the recorded frames, as brokers wrote them to eyeq; a
// comment says which line. What is read and written again says the same.
func TestAdminBodiesSayWhatBrokersSaid(t *testing.T) {
	tests := map[string]string{
		// Both lines; 5.3.3 adds the last member.
		"all stats":    `{"brokerAddr":"127.0.0.1:10911","consumeStatsList":[{"CID_ONSAPI_PULL":[]},{"G":[{"consumeTps":0.0,"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"T"}:{"brokerOffset":2,"consumerOffset":2,"lastTimestamp":1796001070835,"pullOffset":1},{"brokerName":"broker-a","queueId":1,"topic":"T"}:{"brokerOffset":2,"consumerOffset":0,"lastTimestamp":0,"pullOffset":0}}}]}],"totalDiff":2,"totalInflightDiff":-2}`,
		"time spans":   `{"consumeTimeSpanSet":[{"consumeTimeStamp":1796001070835,"delayTime":0,"maxTimeStamp":1796001070835,"messageQueue":{"brokerName":"broker-a","queueId":0,"topic":"T"},"minTimeStamp":1796001070835},{"consumeTimeStamp":-1,"delayTime":1796001071577,"maxTimeStamp":-1,"messageQueue":{"brokerName":"broker-a","queueId":2,"topic":"T"},"minTimeStamp":-1}]}`,
		"topics":       `{"topicList":["OTHER","TOPIC"]}`,
		"subscription": `{"group":"G","subscriptionData":{"classFilterMode":false,"codeSet":[],"expressionType":"TAG","subString":"*","subVersion":1,"tagsSet":[],"topic":"T"},"topic":"T"}`,
		"forbidden":    `{"group":"G","readable":false,"topic":"T"}`,
		"producers":    `{"connectionSet":[{"clientAddr":"127.0.0.1:54290","clientId":"a","language":"GO","version":399}]}`,
		"runtime info": `{"table":{"brokerVersionDesc":"V4_9_7","commitLogDiskRatio_/tmp/rmq/497/store/commitlog":"0.4","putTps":"0.0 0.25098826629855053 "}}`,
		"all offsets":  `{"offsetTable":{"%RETRY%G@G":{0:1},"T@G":{0:5,1:2},"T@a b":{3:-1}}}`,
		// 5.3.3; the question as its Java client sends it.
		"request mode":  `{"consumerGroup":"G","mode":"POP","popShareQueueNum":2,"topic":"T"}`,
		"request modes": `{"messageRequestModeMap":{"T":{"G":{"consumerGroup":"G","mode":"POP","popShareQueueNum":2,"topic":"T"},"H":{"consumerGroup":"H","mode":"PULL","popShareQueueNum":-1,"topic":"T"}}}}`,
		"assign":        `{"clientId":"192.0.2.2@inst-a","consumerGroup":"G","messageModel":"CLUSTERING","strategyName":"AVG","topic":"T"}`,
		"assignment":    `{"messageQueueAssignments":[{"messageQueue":{"brokerName":"broker-a","queueId":-1,"topic":"T"},"mode":"POP"},{"messageQueue":{"brokerName":"broker-b","queueId":0,"topic":"T"},"mode":"PULL"}]}`,
		"topic config":  `{"attributes":{"message.type":"FIFO"},"order":false,"perm":6,"readQueueNums":2,"topicFilterType":"SINGLE_TAG","topicName":"H1","topicSysFlag":0,"writeQueueNums":2}`,
	}
	for family, body := range tests {
		t.Run(family, func(t *testing.T) {
			got, err := bodyRecoders[family]([]byte(body))
			if err != nil || string(got) != body {
				t.Errorf("%v\n got %s\nwant %s", err, got, body)
			}
		})
	}
	if s, err := DecodeSubscriptionOfGroup([]byte(`{"group":"G","topic":"T"}`)); err != nil || s.Subscription != nil {
		t.Errorf("offline group: got %+v, %v", s, err)
	}
}

// 5.x adds tables to 43, and a broadcasting group behind a proxy has a name of its own.
func TestDecodeAllOffsets(t *testing.T) {
	got, err := DecodeAllOffsets([]byte(`{"dataVersion":{"counter":3},"groupTopicMap":{},"offsetTable":{"H1@GH1":{0:1,"1":"7"},"H2@GH1":{0:2},"%RETRY%a@b@a@b":{0:4},"%RETRY%GH1@GH1":{0:9},"H1@GH1@broadcast":{0:3}}}`))
	want := AllOffsets{
		"GH1":           {"H1": {0: 1, 1: 7}, "H2": {0: 2}, "%RETRY%GH1": {0: 9}},
		"a@b":           {"%RETRY%a@b": {0: 4}},
		"GH1@broadcast": {"H1": {0: 3}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestDecodeConfig(t *testing.T) {
	got := DecodeConfig([]byte("# a comment\nbrokerName=broker-a\r\nmessageDelayLevel=1s 5s=x\n\nmessageStorePlugIn=\nalone\n"))
	want := map[string]string{"brokerName": "broker-a", "messageDelayLevel": "1s 5s=x", "messageStorePlugIn": "", "alone": ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := string(EncodeConfig(map[string]string{"b": "2", "a": "1=1"})); got != "a=1=1\nb=2\n" {
		t.Errorf("written as %q", got)
	}
}

// Texts that Java's library may also write as something else.
func TestDecodeRuntimeInfoLoosely(t *testing.T) {
	got, err := DecodeRuntimeInfo([]byte(`{"table":{"a":1,b:'x',"c":true,"d":null,"e":{"f":[]}}}`))
	want := map[string]string{"a": "1", "b": "x", "c": "true", "d": "", "e": `{"f":[]}`}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// Answers of a large cluster. Twice as much must not take much more than twice as long.
func BenchmarkDecodeLargeAnswers(b *testing.B) {
	var topics []string
	configs, offsets := map[string]TopicConfig{}, AllOffsets{}
	stats := BrokerConsumeStats{Groups: map[string][]ConsumeStats{}}
	for i := range 2_000 {
		topic, group := fmt.Sprintf("topic-of-some-service-%05d", i), fmt.Sprintf("group-of-some-service-%05d", i)
		topics = append(topics, topic)
		configs[topic] = TopicConfig{TopicName: topic, ReadQueueNums: 8, WriteQueueNums: 8, Perm: 6, Attributes: map[string]string{}}
		one := ConsumeStats{OffsetTable: map[MessageQueue]OffsetWrapper{}}
		queues := map[int32]int64{}
		for id := range int32(8) {
			one.OffsetTable[MessageQueue{topic, "broker-a", id}] = OffsetWrapper{BrokerOffset: 1 << 40, ConsumerOffset: 1 << 39}
			queues[id] = 1 << 40
		}
		stats.Groups[group] = []ConsumeStats{one}
		offsets[group] = map[string]map[int32]int64{topic: queues}
	}
	for family, body := range map[string][]byte{
		"topics": EncodeTopicList(topics), "topic configs": EncodeTopicConfigs(configs),
		"all offsets": EncodeAllOffsets(offsets), "all stats": EncodeBrokerConsumeStats(&stats),
	} {
		b.Run(strings.ReplaceAll(family, " ", "_"), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if err := decodeFamily(family, body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func decodeFamily(family string, body []byte) (err error) {
	switch family {
	case "topics":
		_, err = DecodeTopicList(body)
	case "topic configs":
		_, err = DecodeTopicConfigs(body)
	case "all offsets":
		_, err = DecodeAllOffsets(body)
	default:
		_, err = DecodeBrokerConsumeStats(body)
	}
	return err
}
