package protocol

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// recode decodes a body and encodes it again.
type recode func(body []byte) ([]byte, error)

func recodeOf[T any](decode func([]byte) (T, error), encode func(*T) []byte) recode {
	return func(body []byte) ([]byte, error) {
		v, err := decode(body)
		if err != nil {
			return nil, err
		}
		return encode(&v), nil
	}
}

// byValue turns an encoder of a value into one of a pointer.
func byValue[T any](encode func(T) []byte) func(*T) []byte {
	return func(v *T) []byte { return encode(*v) }
}

// bodyRecoders holds each body family, under the name of its fuzz target's seeds.
var bodyRecoders = map[string]recode{
	"route":            recodeOf(DecodeTopicRouteData, func(d *TopicRouteData) []byte { return EncodeTopicRouteData(d, false) }),
	"strict route":     recodeOf(DecodeTopicRouteData, func(d *TopicRouteData) []byte { return EncodeTopicRouteData(d, true) }),
	"cluster":          recodeOf(DecodeClusterInfo, EncodeClusterInfo),
	"heartbeat":        recodeOf(DecodeHeartbeatData, EncodeHeartbeatData),
	"members":          recodeOf(DecodeConsumerIDList, byValue(EncodeConsumerIDList)),
	"lock":             recodeOf(DecodeLockBatch, EncodeLockBatch),
	"locked":           recodeOf(DecodeLockOK, byValue(EncodeLockOK)),
	"reset":            recodeOf(DecodeResetOffset, byValue(EncodeResetOffset)),
	"status":           recodeOf(DecodeConsumerStatus, byValue(EncodeConsumerStatus)),
	"consume stats":    recodeOf(DecodeConsumeStats, EncodeConsumeStats),
	"topic stats":      recodeOf(DecodeTopicStats, byValue(EncodeTopicStats)),
	"connections":      recodeOf(DecodeConsumerConnection, EncodeConsumerConnection),
	"running info":     recodeOf(DecodeRunningInfo, EncodeRunningInfo),
	"consume directly": recodeOf(DecodeConsumeDirectlyResult, EncodeConsumeDirectlyResult),
	"topics":           recodeOf(DecodeTopicList, byValue(EncodeTopicList)),
	"groups":           recodeOf(DecodeGroupList, byValue(EncodeGroupList)),
	"topic config":     recodeOf(DecodeTopicConfig, EncodeTopicConfig),
	"topic configs":    recodeOf(DecodeTopicConfigs, byValue(EncodeTopicConfigs)),
	"group config":     recodeOf(parseGroupConfig, func(c *GroupConfig) []byte { return []byte(c.String()) }),
	"group configs":    recodeOf(DecodeGroupConfigs, EncodeGroupConfigs),
	"runtime info":     recodeOf(DecodeRuntimeInfo, byValue(EncodeRuntimeInfo)),
	"producers":        recodeOf(DecodeProducerConnection, byValue(EncodeProducerConnection)),
	"subscription":     recodeOf(DecodeSubscriptionOfGroup, EncodeSubscriptionOfGroup),
	"forbidden":        recodeOf(DecodeGroupForbidden, EncodeGroupForbidden),
	"all offsets":      recodeOf(DecodeAllOffsets, byValue(EncodeAllOffsets)),
	"all stats":        recodeOf(DecodeBrokerConsumeStats, EncodeBrokerConsumeStats),
	"time spans":       recodeOf(DecodeTimeSpans, byValue(EncodeTimeSpans)),
	"request mode":     recodeOf(DecodeRequestMode, EncodeRequestMode),
	"request modes":    recodeOf(DecodeRequestModes, byValue(EncodeRequestModes)),
	"assign":           recodeOf(DecodeAssignmentQuestion, EncodeAssignmentQuestion),
	"assignment":       recodeOf(DecodeAssignment, EncodeAssignment),
	"local offsets":    recodeOf(DecodeLocalOffsets, byValue(EncodeLocalOffsets)),
}

func parseGroupConfig(body []byte) (GroupConfig, error) { return ParseGroupConfig(string(body)) }

// requestBodies and responseBodies say which family a recorded body is of.
var (
	requestBodies = map[RequestCode]string{
		UpdateAndCreateSubscriptionGroup: "group config",
		HeartBeat:                        "heartbeat", LockBatchMQ: "lock", UnlockBatchMQ: "lock", ResetConsumerClientOffset: "reset",
	}
	responseBodies = map[RequestCode]string{
		GetRouteInfoByTopic: "route", GetBrokerClusterInfo: "cluster", GetConsumerListByGroup: "members", LockBatchMQ: "locked",
		GetAllTopicListFromNamesrv: "topics", GetTopicsByCluster: "topics", QueryTopicConsumeByWho: "groups",
		GetAllTopicConfig: "topic configs", GetTopicConfig: "topic config", QueryConsumeTimeSpan: "time spans",
		InvokeBrokerToResetOffset: "reset", GetConsumerStatusFromClient: "status", GetConsumeStats: "consume stats", GetTopicStatsInfo: "topic stats",
		GetConsumerConnectionList: "connections", GetConsumerRunningInfo: "running info", ConsumeMessageDirectly: "consume directly",
	}
)

func (f *recordedFrame) bodyFamily() (string, bool) {
	table := requestBodies
	if f.isResponse() {
		table = responseBodies
	}
	family, ok := table[f.requestCode()]
	return family, ok && f.BodyKind == "json"
}

// A body that is decoded and encoded again says what the recorded one says, but
// for what eyeq has no use for.
func TestRecordedBodies(t *testing.T) {
	seen := map[string]int{}
	for _, f := range recordedFrames(t) {
		family, ok := f.bodyFamily()
		if !ok {
			continue
		}
		seen[family]++
		t.Run(f.File, func(t *testing.T) {
			got, err := bodyRecoders[family](f.command(t).Body)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(canonical(t, []byte(f.BodyText)), canonical(t, got)); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
	for _, family := range responseBodies {
		if seen[family] == 0 {
			t.Errorf("no recorded body is of %s", family)
		}
	}
}

// notOurs are members that eyeq neither reads nor writes, or writes always.
var notOurs = []string{
	"dataVersion", "mappingDataVersion", "topicQueueMappingDetailMap", "topicQueueMappingInfoMap", "consumeTimeStampStr", "maxTimeStampStr", "minTimeStampStr",
	"enableActingMaster", "topicPutTps", "heartbeatFingerprint", "withoutSub", "onlyThisBroker",
}

// canonical is body as plain values, with queues as keys in one form.
func canonical(t *testing.T, body []byte) any {
	t.Helper()
	strict, err := strictJSON(body, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(strict))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return canonicalValue(t, v)
}

func canonicalValue(t *testing.T, v any) any {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = canonicalValue(t, v[i])
		}
	case map[string]any:
		for _, name := range notOurs {
			delete(v, name)
		}
		if v["pullOffset"] == json.Number("0") {
			delete(v, "pullOffset")
		}
		for name, value := range v {
			value = canonicalValue(t, value)
			if strings.HasPrefix(name, "{") {
				var mq MessageQueue
				if err := decodeLenient([]byte(name), &mq); err != nil {
					t.Fatalf("key %s: %v", name, err)
				}
				delete(v, name)
				name = mq.String()
			}
			v[name] = value
		}
	}
	return v
}

var (
	queue0 = MessageQueue{Topic: "H1", BrokerName: "broker-a", QueueID: 0}
	queue1 = MessageQueue{Topic: "H1", BrokerName: "broker-a", QueueID: 1}
)

// What is written is, byte for byte, what brokers and Java clients write.
func TestEncodeBodies(t *testing.T) {
	route := TopicRouteData{
		BrokerDatas: []BrokerData{{Cluster: "DefaultCluster", BrokerName: "broker-ä🚀", BrokerAddrs: map[int64]string{1: "h:2", 0: "h:1"}}},
		QueueDatas:  []QueueData{{BrokerName: "broker-ä🚀", ReadQueueNums: 8, WriteQueueNums: 4, Perm: 6}},
	}
	subscription := SubscriptionData{
		CodeSet: []int32{2598919}, ExpressionType: "TAG", SubString: "TagA", SubVersion: 5, TagsSet: []string{"TagA"}, Topic: "H1",
	}
	const subscriptionText = `{"classFilterMode":false,"codeSet":[2598919],"expressionType":"TAG","subString":"TagA","subVersion":5,"tagsSet":["TagA"],"topic":"H1"}`
	offsets := OffsetTable{queue1: 7, queue0: 12}
	tests := map[string]struct {
		got  []byte
		want string
	}{
		"route": {EncodeTopicRouteData(&route, false),
			`{"brokerDatas":[{"brokerAddrs":{0:"h:1",1:"h:2"},"brokerName":"broker-ä🚀","cluster":"DefaultCluster"}],"filterServerTable":{},"queueDatas":[{"brokerName":"broker-ä🚀","perm":6,"readQueueNums":8,"topicSysFlag":0,"writeQueueNums":4}]}`},
		"strict route": {EncodeTopicRouteData(&route, true),
			`{"brokerDatas":[{"brokerAddrs":{"0":"h:1","1":"h:2"},"brokerName":"broker-\u00e4\ud83d\ude80","cluster":"DefaultCluster"}],"filterServerTable":{},"queueDatas":[{"brokerName":"broker-\u00e4\ud83d\ude80","perm":6,"readQueueNums":8,"topicSysFlag":0,"writeQueueNums":4}]}`},
		"route with order": {EncodeTopicRouteData(&TopicRouteData{OrderTopicConf: "broker-a:8"}, true),
			`{"brokerDatas":[],"filterServerTable":{},"orderTopicConf":"broker-a:8","queueDatas":[]}`},
		"cluster": {EncodeClusterInfo(&ClusterInfo{
			BrokerAddrTable:  map[string]BrokerData{"b": {Cluster: "c", BrokerName: "b", BrokerAddrs: map[int64]string{0: "h:1"}}},
			ClusterAddrTable: map[string][]string{"c": {"b"}},
		}), `{"brokerAddrTable":{"b":{"brokerAddrs":{0:"h:1"},"brokerName":"b","cluster":"c"}},"clusterAddrTable":{"c":["b"]}}`},
		"heartbeat": {EncodeHeartbeatData(&HeartbeatData{
			ClientID: "192.0.2.2@i",
			ConsumerDataSet: []ConsumerData{{
				GroupName: "G", ConsumeType: ConsumePassively, MessageModel: Clustering, ConsumeFromWhere: ConsumeFromFirstOffset,
				SubscriptionDataSet: []SubscriptionData{subscription},
			}},
			ProducerDataSet: []ProducerData{{"CLIENT_INNER_PRODUCER"}},
		}), `{"clientID":"192.0.2.2@i","consumerDataSet":[{"consumeFromWhere":"CONSUME_FROM_FIRST_OFFSET","consumeType":"CONSUME_PASSIVELY","groupName":"G","messageModel":"CLUSTERING","subscriptionDataSet":[` + subscriptionText + `],"unitMode":false}],"producerDataSet":[{"groupName":"CLIENT_INNER_PRODUCER"}]}`},
		"heartbeat without groups": {EncodeHeartbeatData(&HeartbeatData{ClientID: "x"}), `{"clientID":"x","consumerDataSet":[],"producerDataSet":[]}`},
		"members":                  {EncodeConsumerIDList([]string{"a", `b"`}), `{"consumerIdList":["a","b\""]}`},
		"no members":               {EncodeConsumerIDList(nil), `{"consumerIdList":[]}`},
		"check client": {EncodeCheckClient("c", "G", SubscriptionData{Topic: "H1", SubString: "a > 'x'", ExpressionType: ExpressionSQL92, SubVersion: 7}),
			`{"clientId":"c","group":"G","namespace":"","subscriptionData":{"classFilterMode":false,"codeSet":[],"expressionType":"SQL92","subString":"a > 'x'","subVersion":7,"tagsSet":[],"topic":"H1"}}`},
		"lock": {EncodeLockBatch(&LockBatchBody{ConsumerGroup: "G", ClientID: "c", MQSet: []MessageQueue{queue1}}),
			`{"clientId":"c","consumerGroup":"G","mqSet":[{"brokerName":"broker-a","queueId":1,"topic":"H1"}]}`},
		"locked": {EncodeLockOK([]MessageQueue{queue0}), `{"lockOKMQSet":[{"brokerName":"broker-a","queueId":0,"topic":"H1"}]}`},
		"reset": {EncodeResetOffset(offsets),
			`{"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"H1"}:12,{"brokerName":"broker-a","queueId":1,"topic":"H1"}:7}}`},
		"status": {EncodeConsumerStatus(OffsetTable{queue0: 7}),
			`{"consumerTable":{},"messageQueueTable":{{"brokerName":"broker-a","queueId":0,"topic":"H1"}:7}}`},
		"consume stats": {EncodeConsumeStats(&ConsumeStats{OffsetTable: map[MessageQueue]OffsetWrapper{queue1: {BrokerOffset: 2}}}),
			`{"consumeTps":0.0,"offsetTable":{{"brokerName":"broker-a","queueId":1,"topic":"H1"}:{"brokerOffset":2,"consumerOffset":0,"lastTimestamp":0,"pullOffset":0}}}`},
		"topic stats": {EncodeTopicStats(TopicStats{queue1: {MaxOffset: 2, LastUpdateTimestamp: 9}}),
			`{"offsetTable":{{"brokerName":"broker-a","queueId":1,"topic":"H1"}:{"lastUpdateTimestamp":9,"maxOffset":2,"minOffset":0}}}`},
		"connections": {EncodeConsumerConnection(&ConsumerConnection{
			ConnectionSet:     []Connection{{ClientID: "c", ClientAddr: "h:1", Language: "JAVA", Version: 479}},
			SubscriptionTable: map[string]SubscriptionData{"H1": subscription},
			ConsumeType:       ConsumePassively, MessageModel: Clustering, ConsumeFromWhere: ConsumeFromLastOffset,
		}), `{"connectionSet":[{"clientAddr":"h:1","clientId":"c","language":"JAVA","version":479}],"consumeFromWhere":"CONSUME_FROM_LAST_OFFSET","consumeType":"CONSUME_PASSIVELY","messageModel":"CLUSTERING","subscriptionTable":{"H1":` + subscriptionText + `}}`},
		"running info": {EncodeRunningInfo(&ConsumerRunningInfo{
			Properties:      map[string]string{"k": "v"},
			SubscriptionSet: []SubscriptionData{subscription},
			MQTable:         map[MessageQueue]ProcessQueueInfo{queue0: {CommitOffset: 5, Dropped: true}},
			StatusTable:     map[string]ConsumeStatus{"H1": {PullRT: 15.2, ConsumeFailedMsgs: 3}},
			Jstack:          "line\n\"x\"",
		}), `{"jstack":"line\n\"x\"","mqTable":{{"brokerName":"broker-a","queueId":0,"topic":"H1"}:{"cachedMsgCount":0,"cachedMsgMaxOffset":0,"cachedMsgMinOffset":0,"cachedMsgSizeInMiB":0,"commitOffset":5,"droped":true,"lastConsumeTimestamp":0,"lastLockTimestamp":0,"lastPullTimestamp":0,"locked":false,"transactionMsgCount":0,"transactionMsgMaxOffset":0,"transactionMsgMinOffset":0,"tryUnlockTimes":0}},"properties":{"k":"v"},"statusTable":{"H1":{"consumeFailedMsgs":3,"consumeFailedTPS":0.0,"consumeOKTPS":0.0,"consumeRT":0.0,"pullRT":15.2,"pullTPS":0.0}},"subscriptionSet":[` + subscriptionText + `]}`},
		"running info, 5.x": {EncodeRunningInfo(&ConsumerRunningInfo{
			MQPopTable:       map[MessageQueue]PopProcessQueueInfo{queue0: {WaitAckCount: 2, Dropped: true, LastPopTimestamp: 1795966041871}},
			UserConsumerInfo: map[string]string{"mine": "a \"b\""},
		}), `{"mqPopTable":{{"brokerName":"broker-a","queueId":0,"topic":"H1"}:{"droped":true,"lastPopTimestamp":1795966041871,"waitAckCount":2}},"mqTable":{},"properties":{},"statusTable":{},"subscriptionSet":[],"userConsumerInfo":{"mine":"a \"b\""}}`},
		"consume directly": {EncodeConsumeDirectlyResult(&ConsumeMessageDirectlyResult{AutoCommit: true, ConsumeResult: "CR_SUCCESS", SpentTimeMills: 1}),
			`{"autoCommit":true,"consumeResult":"CR_SUCCESS","order":false,"spentTimeMills":1}`},
		"consume directly, failed": {EncodeConsumeDirectlyResult(&ConsumeMessageDirectlyResult{ConsumeResult: "CR_THROW_EXCEPTION", Remark: "no"}),
			`{"autoCommit":false,"consumeResult":"CR_THROW_EXCEPTION","order":false,"remark":"no","spentTimeMills":0}`},
		"local offsets": {EncodeLocalOffsets(offsets),
			"{\n\t\"offsetTable\":{{\n\t\t\t\"brokerName\":\"broker-a\",\n\t\t\t\"queueId\":0,\n\t\t\t\"topic\":\"H1\"\n\t\t}:12,{\n\t\t\t\"brokerName\":\"broker-a\",\n\t\t\t\"queueId\":1,\n\t\t\t\"topic\":\"H1\"\n\t\t}:7\n\t}\n}"},
		"no local offsets": {EncodeLocalOffsets(nil), "{\n\t\"offsetTable\":{}\n}"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if string(tt.got) != tt.want {
				t.Errorf("\n got %s\nwant %s", tt.got, tt.want)
			}
			family, _, _ := strings.Cut(name, ",")
			if again, ok := bodyRecoders[family]; ok {
				if got, err := again(tt.got); err != nil || string(got) != tt.want {
					t.Errorf("decoded and encoded again, %v:\n got %s\nwant %s", err, got, tt.want)
				}
			}
		})
	}
}

// The forms in which a table of offsets may come.
func TestDecodeOffsetForms(t *testing.T) {
	tests := map[string]string{
		"Java":                   `{"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"H1"}:12,{"brokerName":"broker-a","queueId":1,"topic":"H1"}:7}}`,
		"blanks, order, strings": "{ 'offsetTable' : { { topic:'H1', \"queueId\":\"0\" , brokerName:\"broker-a\", x:[1,{}] } : \"12\" ,\n{\"brokerName\":\"broker-a\",\"queueId\":1,\"topic\":\"H1\"}:7}}",
		"quoted keys":            `{"offsetTable":{"{\"brokerName\":\"broker-a\",\"queueId\":0,\"topic\":\"H1\"}":12,"{\"brokerName\":\"broker-a\",\"queueId\":1,\"topic\":\"H1\"}":7}}`,
		"C++":                    `{"offsetTable":[{"brokerName":"broker-a","offset":12,"queueId":0,"topic":"H1"},{"brokerName":"broker-a","offset":7,"queueId":1,"topic":"H1"}]}`,
		"pairs":                  `{"offsetTable":[[{"brokerName":"broker-a","queueId":0,"topic":"H1"},12],[{"brokerName":"broker-a","queueId":1,"topic":"H1"},7]]}`,
		"repeated queue":         `{"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"H1"}:1,{"brokerName":"broker-a","queueId":0,"topic":"H1"}:12,{"brokerName":"broker-a","queueId":1,"topic":"H1"}:7}}`,
	}
	want := OffsetTable{queue0: 12, queue1: 7}
	for name, body := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := DecodeResetOffset([]byte(body))
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("reset offsets, %v (-want +got):\n%s", err, diff)
			}
			status := strings.Replace(body, "offsetTable", "messageQueueTable", 1)
			if got, err := DecodeConsumerStatus([]byte(status)); !cmp.Equal(want, got) || err != nil {
				t.Errorf("status %v, %v", got, err)
			}
			inner := body[strings.Index(body, ":")+1 : strings.LastIndex(body, "}")]
			all, err := DecodeMembersStatus([]byte(`{"consumerTable":{"c@1":` + inner + `},"messageQueueTable":{}}`))
			if !cmp.Equal(map[string]OffsetTable{"c@1": want}, all) || err != nil {
				t.Errorf("members' status %v, %v", all, err)
			}
			if got, err := DecodeLocalOffsets([]byte(body)); !cmp.Equal(want, got) || err != nil {
				t.Errorf("local offsets %v, %v", got, err)
			}
		})
	}
	if got, err := DecodeResetOffset([]byte(`{}`)); got != nil || err != nil {
		t.Errorf("no table: %v, %v, want nil", got, err)
	}
}

func TestDecodeOffsetsRefuses(t *testing.T) {
	whole := string(EncodeLocalOffsets(OffsetTable{queue0: 12, queue1: 7}))
	for i := range len(whole) {
		if got, err := DecodeLocalOffsets([]byte(whole[:i])); err == nil {
			t.Errorf("cut after %d bytes: %v, want an error", i, got)
		}
	}
	for name, file := range map[string]string{
		"text after":       whole + "x",
		"another document": whole + whole,
		"null":             "null",
		"an array":         "[]",
		"not JSON":         "offsetTable=1",
		"word as offset":   `{"offsetTable":{{"topic":"H1"}:x}}`,
		"text as offset":   `{"offsetTable":{{"topic":"H1"}:"x"}}`,
		"text as queue":    `{"offsetTable":{"H1":1}}`,
		"number as queue":  `{"offsetTable":{1:1}}`,
		"large queue id":   `{"offsetTable":{{"queueId":4294967296}:1}}`,
		"offset over 64":   `{"offsetTable":{{"queueId":0}:9223372036854775808}}`,
		"fraction":         `{"offsetTable":{{"queueId":0}:1.5}}`,
		"triple":           `{"offsetTable":[[{},1,2]]}`,
		"a reference":      `{"offsetTable":{"$ref":"$"}}`,
		"nested too deep":  `{"offsetTable":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`,
	} {
		if got, err := DecodeLocalOffsets([]byte(file)); err == nil {
			t.Errorf("%s: %v, want an error", name, got)
		}
	}
}

func TestDecodeBodiesRefuse(t *testing.T) {
	for family, recode := range bodyRecoders {
		for _, body := range []string{"", " ", "null", "[]", `"{}"`, "{", "{}x", "{}{}", `{"a":1,}`, "offset=1", "\xff"} {
			if got, err := recode([]byte(body)); err == nil {
				t.Errorf("%s %q became %q, want an error", family, body, got)
			}
		}
		if _, err := recode([]byte("{ }")); err != nil {
			t.Errorf("%s: an empty object: %v", family, err)
		}
	}
}

// Where it makes sense, what a server accepts in requests.
func TestDecodeLockBatchAsServersDo(t *testing.T) {
	got, err := DecodeLockBatch([]byte(`{clientId:"x",consumerGroup:'G',mqSet:[{brokerName:"b",queueId:"0",topic:"T"}],unknown:{a:[1,'}']}}`))
	want := LockBatchBody{ConsumerGroup: "G", ClientID: "x", MQSet: []MessageQueue{{Topic: "T", BrokerName: "b"}}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := DecodeLockBatch([]byte(`{"clientId":"x"}true`)); err == nil {
		t.Error("text after the object is not refused")
	}
}

func TestDecodeUnknownEnumNames(t *testing.T) {
	got, err := DecodeConsumerConnection([]byte(`{"consumeType":"CONSUME_BY_PIGEON","messageModel":"CLUSTERING","consumeFromWhere":null}`))
	if err != nil || got.ConsumeType != 0 || got.MessageModel != Clustering || got.ConsumeFromWhere != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// The Go client glues its stack on without escaping.
func TestDecodeRunningInfoOfGoClient(t *testing.T) {
	const head = `{"mqTable":{{"brokerName":"broker-a","queueId":0,"topic":"H1"}:{"cachedMsgCount":3}},"properties":{"maxSpan":2000,"say":"\"jstack\""},"statusTable":{},"subscriptionSet":[]`
	tests := map[string]struct{ body, jstack string }{
		"no stack":             {head + `}`, ""},
		"control characters":   {head + `, "jstack":"goroutine 1 [running]:` + "\n\tmain.go:1\x01" + `" }`, "goroutine 1 [running]:\n\tmain.go:1\x01"},
		"quotes as they are":   {head + `, "jstack":"goroutine 1 ["x"]: {"a":1}` + "\n" + `" }`, "goroutine 1 [\"x\"]: {\"a\":1}\n"},
		"a backslash at last":  {head + `, "jstack":"C:\" }`, `C:\`},
		"stack with its own }": {head + `,"jstack":""}" }`, `"}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := DecodeRunningInfo([]byte(tt.body))
			want := ConsumerRunningInfo{
				Properties:      map[string]string{"maxSpan": "2000", "say": `"jstack"`},
				SubscriptionSet: []SubscriptionData{},
				MQTable:         map[MessageQueue]ProcessQueueInfo{queue0: {CachedMsgCount: 3}},
				StatusTable:     map[string]ConsumeStatus{},
				Jstack:          tt.jstack,
			}
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	if got, err := DecodeRunningInfo([]byte(head + `, "jstack":"` + "\n")); err == nil {
		t.Errorf("cut in the stack: %+v, want an error", got)
	}
}

func TestAppendDouble(t *testing.T) {
	tests := map[string]float64{
		"0.0": 0, "15.2": 15.2, "-1.0": -1, "0.016665000166650002": 0.016665000166650002, "0.001": 0.001, "9999999.0": 9999999,
		"1.0E7": 1e7, "1.5E10": 1.5e10, "1.0E-4": 1e-4, "-2.5E-7": -2.5e-7,
	}
	for want, f := range tests {
		if got := string(appendDouble(nil, f)); got != want {
			t.Errorf("appendDouble(%g) = %s, want %s", f, got, want)
		}
	}
}
