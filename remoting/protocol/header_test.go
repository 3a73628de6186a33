package protocol

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type header interface {
	Fields() ExtFields
	Parse(ExtFields) error
}

// coded is a typed header that has no methods of its own.
type coded[T any] struct{ H *T }

func (c coded[T]) Fields() ExtFields       { return EncodeFields(c.H) }
func (c coded[T]) Parse(f ExtFields) error { return DecodeFields(f, c.H) }

func codedOf[T any](h *T) header { return coded[T]{h} }
func newCoded[T any]() header    { return codedOf(new(T)) }

// sendV2 is SendMessageRequestHeader with its short names.
type sendV2 struct{ SendMessageRequestHeader }

func (h *sendV2) Fields() ExtFields       { return h.FieldsV2() }
func (h *sendV2) Parse(f ExtFields) error { return h.ParseV2(f) }
func newOf[T any, P interface {
	*T
	header
}]() header {
	return P(new(T))
}

// requestHeaders and responseHeaders make the typed header of a code.
var requestHeaders = map[RequestCode]func() header{
	SendMessage:                 newCoded[SendMessageRequestHeader],
	SendMessageV2:               newOf[sendV2],
	SendBatchMessage:            newOf[sendV2],
	PullMessage:                 newCoded[PullMessageRequestHeader],
	QueryConsumerOffset:         newCoded[QueryConsumerOffsetRequestHeader],
	UpdateConsumerOffset:        newCoded[UpdateConsumerOffsetRequestHeader],
	UpdateAndCreateTopic:        newCoded[CreateTopicRequestHeader],
	SearchOffsetByTimestamp:     newCoded[SearchOffsetRequestHeader],
	GetMaxOffset:                newCoded[QueueOffsetRequestHeader],
	GetMinOffset:                newCoded[QueueOffsetRequestHeader],
	UnregisterClient:            newCoded[UnregisterClientRequestHeader],
	ConsumerSendMsgBack:         newCoded[ConsumerSendMsgBackRequestHeader],
	GetConsumerListByGroup:      newCoded[ConsumerGroupRequestHeader],
	NotifyConsumerIDsChanged:    newCoded[ConsumerGroupRequestHeader],
	GetRouteInfoByTopic:         newCoded[TopicRequestHeader],
	GetTopicStatsInfo:           newCoded[TopicRequestHeader],
	GetConsumerConnectionList:   newCoded[ConsumerGroupRequestHeader],
	DeleteSubscriptionGroup:     newCoded[GroupNameRequestHeader],
	GetConsumeStats:             newCoded[ConsumerGroupRequestHeader],
	DeleteTopicInBroker:         newCoded[TopicRequestHeader],
	DeleteTopicInNamesrv:        newCoded[TopicRequestHeader],
	ResetConsumerClientOffset:   newCoded[ResetOffsetRequestHeader],
	GetConsumerStatusFromClient: newCoded[ConsumerStatusRequestHeader],
	GetConsumerStatusOfMembers:  newCoded[MembersStatusRequestHeader],
	GetConsumerRunningInfo:      newCoded[ConsumerRunningInfoRequestHeader],
	ConsumeMessageDirectly:      newCoded[ConsumeMessageDirectlyRequestHeader],
	QueryMessage:                newCoded[QueryMessageRequestHeader],
	ViewMessageByID:             newCoded[ViewMessageRequestHeader],
	GetProducerConnectionList:   newCoded[ProducerGroupRequestHeader],
	InvokeBrokerToResetOffset:   newOf[InvokeResetOffsetRequestHeader],
	GetTopicsByCluster:          newCoded[ClusterRequestHeader],
	QueryTopicConsumeByWho:      newCoded[TopicRequestHeader],
	QueryConsumeTimeSpan:        newCoded[GroupRequestHeader],
	CloneGroupOffset:            newCoded[CloneGroupOffsetRequestHeader],
	GetBrokerConsumeStats:       newCoded[BrokerConsumeStatsRequestHeader],
	QueryTopicsByConsumer:       newCoded[GroupRequestHeader],
	QuerySubscriptionByConsumer: newCoded[GroupRequestHeader],
	GetTopicConfig:              newCoded[TopicRequestHeader],
	GetSubscriptionGroupConfig:  newCoded[GroupRequestHeader],
	UpdateAndGetGroupForbidden:  newCoded[GroupForbiddenRequestHeader],
}

var responseHeaders = map[RequestCode]func() header{
	SendMessage:             newCoded[SendMessageResponseHeader],
	SendMessageV2:           newCoded[SendMessageResponseHeader],
	SendBatchMessage:        newCoded[SendMessageResponseHeader],
	PullMessage:             newCoded[PullMessageResponseHeader],
	QueryMessage:            newCoded[QueryMessageResponseHeader],
	QueryConsumerOffset:     newCoded[OffsetResponseHeader],
	SearchOffsetByTimestamp: newCoded[OffsetResponseHeader],
	GetMaxOffset:            newCoded[OffsetResponseHeader],
	GetMinOffset:            newCoded[OffsetResponseHeader],
}

// What a header gives back is what the frame has, for each field it knows; and
// nothing the peer sent is unknown but what the list says.
func TestRecordedHeaders(t *testing.T) {
	// Fields that eyeq has no use for, and those of access control.
	unknown := []string{
		"AccessKey", "Signature", // added to any header
		"MSG_REGION", "TRACE_ON", // of every answer to a send
		"committed",   // 30, 5.x
		"clusterName", // 216
		"queueId",     // 220, 5.x
		"topic",       // 309, 5.x
		"lo",          // 351, 5.x
	}
	parsed, seen := 0, map[string]bool{}
	for _, f := range recordedFrames(t) {
		table := requestHeaders
		if f.isResponse() {
			table = responseHeaders
		}
		make, ok := table[f.requestCode()]
		if !ok || f.isResponse() && !hasHeader(&f) {
			continue
		}
		c := f.command(t)
		h := make()
		if err := h.Parse(c.ExtFields); len(c.ExtFields) == 0 {
			if err == nil {
				t.Errorf("%s: no field is missing, but it has none", f.File)
			}
			continue
		} else if err != nil {
			t.Errorf("%s: %v", f.File, err)
			continue
		}
		parsed++
		again := make()
		fields := h.Fields()
		if err := again.Parse(fields); err != nil || !cmp.Equal(h, again) {
			t.Errorf("%s: parsed again, %v: %+v, want %+v", f.File, err, again, h)
		}
		for _, field := range fields {
			if want, ok := c.ExtFields.Get(field.Key); ok && want != field.Value {
				t.Errorf("%s: field %s = %q, want %q", f.File, field.Key, field.Value, want)
			}
		}
		for _, field := range c.ExtFields {
			if _, ok := fields.Get(field.Key); ok || field.Value == "" || field.Value == "0" {
				continue
			}
			if seen[field.Key] = true; !slices.Contains(unknown, field.Key) {
				t.Errorf("%s: field %s=%s is lost", f.File, field.Key, field.Value)
			}
		}
	}
	for _, name := range unknown {
		if !seen[name] {
			t.Errorf("field %s is in the list for nothing", name)
		}
	}
	if parsed < 100 {
		t.Errorf("%d headers parsed, want 100 and more", parsed)
	}
}

// hasHeader reports whether a response is one that comes with a typed header.
func hasHeader(f *recordedFrame) bool {
	switch ResponseCode(f.Code) {
	case Success:
		return true
	case PullNotFound, PullRetryImmediately, PullOffsetMoved:
		return f.requestCode() == PullMessage
	}
	return false
}

// fullHeaders holds each header with every field set, and its ext fields.
func fullHeaders() map[string]struct {
	header header
	fields string
} {
	at, readable := time.UnixMilli(1_700_000_000_123), false
	send := SendMessageRequestHeader{
		ProducerGroup: "PG", Topic: "T", DefaultTopic: "TBW102", DefaultTopicQueueNums: 4, QueueID: -1, SysFlag: 1, Born: at,
		Flag: 7, Properties: "a\x01b", ReconsumeTimes: 2, UnitMode: true, MaxReconsumeTimes: 16, Batch: true, BrokerName: "b",
	}
	return map[string]struct {
		header header
		fields string
	}{
		"pull": {codedOf(&PullMessageRequestHeader{
			ConsumerGroup: "G", Topic: "T", QueueID: 3, QueueOffset: 5, MaxMsgNums: 32, SysFlag: PullCommitOffset | PullSuspend,
			CommitOffset: 4, SuspendTimeout: 15 * time.Second, Subscription: "*", SubVersion: 9, ExpressionType: "TAG",
			MaxMsgBytes: 262144, BrokerName: "b",
		}), "consumerGroup=G topic=T queueId=3 maxMsgNums=32 suspendTimeoutMillis=15000 subscription=* subVersion=9 " +
			"expressionType=TAG maxMsgBytes=262144 bname=b queueOffset=5 commitOffset=4 sysFlag=3"},
		"pull answer": {codedOf(&PullMessageResponseHeader{SuggestWhichBrokerID: 1, NextBeginOffset: 2, MinOffset: 3, MaxOffset: 4, OffsetDelta: 5}),
			"suggestWhichBrokerId=1 nextBeginOffset=2 minOffset=3 maxOffset=4 offsetDelta=5"},
		"min and max offset": {codedOf(&QueueOffsetRequestHeader{Topic: "T", QueueID: 1, BrokerName: "b"}), "topic=T queueId=1 bname=b"},
		"search offset": {codedOf(&SearchOffsetRequestHeader{Topic: "T", QueueID: 1, Timestamp: at, BoundaryType: "lower", BrokerName: "b"}),
			"topic=T queueId=1 timestamp=1700000000123 boundaryType=lower bname=b"},
		"offset answer": {codedOf(&OffsetResponseHeader{Offset: -1}), "offset=-1"},
		"query offset": {codedOf(&QueryConsumerOffsetRequestHeader{ConsumerGroup: "G", Topic: "T", QueueID: 1, BrokerName: "b"}),
			"consumerGroup=G topic=T queueId=1 setZeroIfNotFound=false bname=b"},
		"update offset": {codedOf(&UpdateConsumerOffsetRequestHeader{ConsumerGroup: "G", Topic: "T", QueueID: 1, CommitOffset: 8, BrokerName: "b"}),
			"consumerGroup=G topic=T queueId=1 commitOffset=8 bname=b"},
		"unregister": {codedOf(&UnregisterClientRequestHeader{ClientID: "c", ProducerGroup: "P", ConsumerGroup: "G"}),
			"clientID=c producerGroup=P consumerGroup=G"},
		"group":        {codedOf(&ConsumerGroupRequestHeader{ConsumerGroup: "G", Topic: "T"}), "consumerGroup=G topic=T"},
		"topic":        {codedOf(&TopicRequestHeader{Topic: "T"}), "topic=T"},
		"delete group": {codedOf(&GroupNameRequestHeader{GroupName: "G"}), "groupName=G removeOffset=true cleanOffset=true"},
		"create topic": {codedOf(&CreateTopicRequestHeader{Topic: "T", DefaultTopic: "TBW102", ReadQueueNums: 8, WriteQueueNums: 4, Perm: 6, Order: true, Attributes: "+k=v"}),
			"topic=T defaultTopic=TBW102 readQueueNums=8 writeQueueNums=4 perm=6 topicFilterType=SINGLE_TAG topicSysFlag=0 order=true attributes=+k=v"},
		"send back": {codedOf(&ConsumerSendMsgBackRequestHeader{Offset: 1, Group: "G", DelayLevel: -1, OriginMsgID: "id", OriginTopic: "T",
			UnitMode: true, MaxReconsumeTimes: 16, BrokerName: "b"}),
			"offset=1 group=G delayLevel=-1 originMsgId=id originTopic=T unitMode=true maxReconsumeTimes=16 bname=b"},
		"send": {codedOf(&send), "producerGroup=PG topic=T defaultTopic=TBW102 defaultTopicQueueNums=4 queueId=-1 sysFlag=1 " +
			"bornTimestamp=1700000000123 flag=7 properties=a\x01b reconsumeTimes=2 unitMode=true maxReconsumeTimes=16 batch=true bname=b"},
		"send, short names": {&sendV2{send}, "a=PG b=T c=TBW102 d=4 e=-1 f=1 g=1700000000123 h=7 i=a\x01b j=2 k=true l=16 m=true n=b"},
		"send answer": {codedOf(&SendMessageResponseHeader{MsgID: "id", QueueID: 1, QueueOffset: 2, TransactionID: "tx"}),
			"msgId=id queueId=1 queueOffset=2 transactionId=tx"},
		"reset":          {codedOf(&ResetOffsetRequestHeader{Topic: "T", Group: "G", Timestamp: 5, IsForce: true}), "topic=T group=G timestamp=5 isForce=true"},
		"status":         {codedOf(&ConsumerStatusRequestHeader{Topic: "T", Group: "G"}), "topic=T group=G"},
		"members status": {codedOf(&MembersStatusRequestHeader{Topic: "T", Group: "G", ClientID: "c"}), "topic=T group=G clientAddr=c"},
		"running info": {codedOf(&ConsumerRunningInfoRequestHeader{ConsumerGroup: "G", ClientID: "c", JstackEnable: true}),
			"consumerGroup=G clientId=c jstackEnable=true"},
		"consume directly": {codedOf(&ConsumeMessageDirectlyRequestHeader{ConsumerGroup: "G", ClientID: "c", MsgID: "id", BrokerName: "b"}),
			"consumerGroup=G clientId=c msgId=id brokerName=b"},
		"cluster":         {codedOf(&ClusterRequestHeader{Cluster: "C"}), "cluster=C"},
		"producer group":  {codedOf(&ProducerGroupRequestHeader{ProducerGroup: "P"}), "producerGroup=P"},
		"group and topic": {codedOf(&GroupRequestHeader{Group: "G", Topic: "T"}), "group=G topic=T"},
		"forbidden":       {codedOf(&GroupForbiddenRequestHeader{Group: "G", Topic: "T", Readable: &readable}), "group=G topic=T readable=false"},
		"invoke reset": {&InvokeResetOffsetRequestHeader{Topic: "T", Group: "G", Timestamp: -1, IsForce: true, Queue: &ResetQueue{ID: 3, Offset: 7}},
			"topic=T group=G timestamp=-1 isForce=true queueId=3 offset=7"},
		"clone":     {codedOf(&CloneGroupOffsetRequestHeader{SrcGroup: "A", DestGroup: "B", Topic: "T", Offline: true}), "srcGroup=A destGroup=B topic=T offline=true"},
		"all stats": {codedOf(&BrokerConsumeStatsRequestHeader{IsOrder: true}), "isOrder=true"},
		"query": {codedOf(&QueryMessageRequestHeader{Topic: "T", Key: "k", MaxNum: 64, BeginTimestamp: 1, EndTimestamp: 2, Unique: true}),
			"topic=T key=k maxNum=64 beginTimestamp=1 endTimestamp=2 _UNIQUE_KEY_QUERY=true"},
		"query answer": {codedOf(&QueryMessageResponseHeader{IndexLastUpdateTimestamp: 1, IndexLastUpdatePhyOffset: 2}),
			"indexLastUpdateTimestamp=1 indexLastUpdatePhyoffset=2"},
		"view": {codedOf(&ViewMessageRequestHeader{Offset: 1, Topic: "T"}), "offset=1 topic=T"},
	}
}

func text(f ExtFields) string {
	var parts []string
	for _, field := range f {
		parts = append(parts, field.Key+"="+field.Value)
	}
	return strings.Join(parts, " ")
}

func TestHeaderFields(t *testing.T) {
	for name, tt := range fullHeaders() {
		t.Run(name, func(t *testing.T) {
			fields := tt.header.Fields()
			if got := text(fields); got != tt.fields {
				t.Errorf("fields\n got %q\nwant %q", got, tt.fields)
			}
			if len(fields) != cap(fields) && name != "invoke reset" {
				t.Errorf("room for %d fields, %d used", cap(fields), len(fields))
			}
		})
	}
}

// optionalFields may be absent; the rest of fullHeaders' fields may not.
var optionalFields = []string{
	"suspendTimeoutMillis", "subscription", "expressionType", "maxMsgBytes", "bname", "offsetDelta", "boundaryType",
	"setZeroIfNotFound", "producerGroup/unregister", "consumerGroup/unregister", "topic/group", "removeOffset", "cleanOffset",
	"topicFilterType", "topicSysFlag", "order", "originMsgId", "originTopic", "unitMode", "maxReconsumeTimes", "properties",
	"reconsumeTimes", "batch", "i", "j", "k", "l", "m", "n", "transactionId", "isForce", "topic/status", "clientAddr", "jstackEnable",
	"topic/group and topic", "isOrder", "_UNIQUE_KEY_QUERY", "topic/clone", "offline", "topic/view", "attributes", "readable",
	"queueId/invoke reset", "offset/invoke reset", "clientId/consume directly", "msgId/consume directly", "brokerName", "commitOffset/pull",
}

func TestHeaderParse(t *testing.T) {
	for name, tt := range fullHeaders() {
		for i, field := range tt.header.Fields() {
			optional := slices.Contains(optionalFields, field.Key) || slices.Contains(optionalFields, field.Key+"/"+name)
			t.Run(fmt.Sprintf("%s/without %s", name, field.Key), func(t *testing.T) {
				fields := tt.header.Fields()
				err := tt.header.Parse(slices.Delete(fields, i, i+1))
				if optional != (err == nil) {
					t.Errorf("error %v, optional %t", err, optional)
				}
				if err != nil && !strings.Contains(err.Error(), " "+field.Key+" ") {
					t.Errorf("error %q does not name %s", err, field.Key)
				}
				// Parsed into the full struct: what is absent keeps its value.
				if got := text(tt.header.Fields()); got != tt.fields {
					t.Errorf("absent field changed the header:\n got %q\nwant %q", got, tt.fields)
				}
			})
			if field.Value != "" && strings.Trim(field.Value, "-0123456789") == "" {
				t.Run(fmt.Sprintf("%s/%s=abc", name, field.Key), func(t *testing.T) {
					fields := tt.header.Fields()
					fields[i].Value = "abc"
					if err := tt.header.Parse(fields); optional != (err == nil) {
						t.Errorf("error %v, optional %t", err, optional)
					}
					if got := text(tt.header.Fields()); got != tt.fields {
						t.Errorf("bad field changed the header:\n got %q\nwant %q", got, tt.fields)
					}
				})
			}
		}
	}
}

func TestEmptyOptionalFieldsAreNotSent(t *testing.T) {
	tests := map[string]struct {
		header header
		want   string
	}{
		"pull": {codedOf(&PullMessageRequestHeader{ConsumerGroup: "G", Topic: "T"}),
			"consumerGroup=G topic=T queueId=0 maxMsgNums=0 suspendTimeoutMillis=0 subVersion=0 queueOffset=0 commitOffset=0 sysFlag=0"},
		"pull answer":           {codedOf(&PullMessageResponseHeader{}), "suggestWhichBrokerId=0 nextBeginOffset=0 minOffset=0 maxOffset=0"},
		"search":                {codedOf(&SearchOffsetRequestHeader{Topic: "T"}), "topic=T queueId=0 timestamp=0"},
		"group":                 {codedOf(&ConsumerGroupRequestHeader{ConsumerGroup: "G"}), "consumerGroup=G"},
		"unregister":            {codedOf(&UnregisterClientRequestHeader{ClientID: "c"}), "clientID=c"},
		"status":                {codedOf(&ConsumerStatusRequestHeader{Group: "G"}), "group=G"},
		"invoke reset":          {&InvokeResetOffsetRequestHeader{Topic: "T", Group: "G"}, "topic=T group=G timestamp=0 isForce=false queueId=-1 offset=-1"},
		"ask whether forbidden": {codedOf(&GroupForbiddenRequestHeader{Group: "G", Topic: "T"}), "group=G topic=T"},
		"all members":           {codedOf(&MembersStatusRequestHeader{Topic: "T", Group: "G"}), "topic=T group=G"},
		"send": {&sendV2{SendMessageRequestHeader{ProducerGroup: "P", Topic: "T"}},
			"a=P b=T c= d=0 e=0 f=0 g=0 h=0 j=0 k=false m=false"},
		"send back": {codedOf(&ConsumerSendMsgBackRequestHeader{Group: "G"}), "offset=0 group=G delayLevel=0 unitMode=false maxReconsumeTimes=0"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := text(tt.header.Fields()); got != tt.want {
				t.Errorf("fields\n got %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestPullSuspendTimeoutIsBounded(t *testing.T) {
	h := PullMessageRequestHeader{ConsumerGroup: "G", Topic: "T"}
	fields := EncodeFields(&h)
	for i := range fields {
		if fields[i].Key == "suspendTimeoutMillis" {
			fields[i].Value = "9223372036854775807"
		}
	}
	if err := DecodeFields(fields, &h); err != nil || h.SuspendTimeout != 24*time.Hour {
		t.Errorf("suspend timeout %v, %v, want a day", h.SuspendTimeout, err)
	}
}

func TestPullRequestEncoder(t *testing.T) {
	full := PullMessageRequestHeader{
		ConsumerGroup: `G"`, Topic: "%RETRY%G", QueueID: 3, MaxMsgNums: 32, SuspendTimeout: 15 * time.Second,
		Subscription: "TagA || 值", SubVersion: 1795967180231, ExpressionType: "TAG", MaxMsgBytes: 1, BrokerName: "broker-a",
	}
	for name, h := range map[string]PullMessageRequestHeader{"full": full, "empty": {}} {
		t.Run(name, func(t *testing.T) {
			e := NewPullRequestEncoder(h, nil)
			for _, n := range []int64{0, 7, -1, 1 << 62} {
				h.QueueOffset, h.CommitOffset, h.SysFlag = n, n+1, PullSysFlag(int32(n&0x1F))
				want := Command{Code: int32(PullMessage), Language: LanguageGo, Version: Version, Opaque: int32(n), ExtFields: EncodeFields(&h)}
				frame := e.AppendFrame([]byte("before"), want.Opaque, h.QueueOffset, h.CommitOffset, h.SysFlag)
				frame = frame[len("before"):]
				got, err := DecodeCommand(frame[4:])
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("request, %v (-want +got):\n%s", err, diff)
				}
				if whole, err := AppendFrame(nil, &want, SerializeJSON); err != nil || len(whole) != len(frame) {
					t.Errorf("%d bytes, AppendFrame makes %d, %v", len(frame), len(whole), err)
				}
			}
		})
	}
}

// A struct whose tags mean nothing is a fault that its first use shows.
func TestHeaderTags(t *testing.T) {
	tests := map[string]func(){
		"no tag": func() { EncodeFields(&struct{ Topic string }{}) },
		"no name": func() {
			EncodeFields(&struct {
				T string `rmq:",opt"`
			}{})
		},
		"an unknown option": func() {
			EncodeFields(&struct {
				T string `rmq:"t,optional"`
			}{})
		},
		"an unknown type": func() {
			EncodeFields(&struct {
				T []string `rmq:"t"`
			}{})
		},
	}
	for name, use := range tests {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("it is used")
				}
			}()
			use()
		})
	}
}
