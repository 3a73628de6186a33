package protocol

// RequestCode says what a request asks for (Java: RequestCode).
type RequestCode int32

// The request codes that eyeq sends, answers or names.
const (
	SendMessage                      RequestCode = 10
	PullMessage                      RequestCode = 11
	QueryMessage                     RequestCode = 12
	QueryConsumerOffset              RequestCode = 14
	UpdateConsumerOffset             RequestCode = 15
	UpdateAndCreateTopic             RequestCode = 17
	GetAllTopicConfig                RequestCode = 21
	GetBrokerConfig                  RequestCode = 26
	GetBrokerRuntimeInfo             RequestCode = 28
	SearchOffsetByTimestamp          RequestCode = 29
	GetMaxOffset                     RequestCode = 30
	GetMinOffset                     RequestCode = 31
	GetEarliestMsgStoreTime          RequestCode = 32
	ViewMessageByID                  RequestCode = 33
	HeartBeat                        RequestCode = 34
	UnregisterClient                 RequestCode = 35
	ConsumerSendMsgBack              RequestCode = 36
	GetConsumerListByGroup           RequestCode = 38
	NotifyConsumerIDsChanged         RequestCode = 40
	LockBatchMQ                      RequestCode = 41
	UnlockBatchMQ                    RequestCode = 42
	GetAllConsumerOffset             RequestCode = 43
	CheckClientConfig                RequestCode = 46
	GetRouteInfoByTopic              RequestCode = 105
	GetBrokerClusterInfo             RequestCode = 106
	UpdateAndCreateSubscriptionGroup RequestCode = 200
	GetAllSubscriptionGroupConfig    RequestCode = 201
	GetTopicStatsInfo                RequestCode = 202
	GetConsumerConnectionList        RequestCode = 203
	GetProducerConnectionList        RequestCode = 204
	GetAllTopicListFromNamesrv       RequestCode = 206
	DeleteSubscriptionGroup          RequestCode = 207
	GetConsumeStats                  RequestCode = 208
	DeleteTopicInBroker              RequestCode = 215
	DeleteTopicInNamesrv             RequestCode = 216
	ResetConsumerClientOffset        RequestCode = 220
	GetConsumerStatusFromClient      RequestCode = 221
	InvokeBrokerToResetOffset        RequestCode = 222
	// GetConsumerStatusOfMembers asks a broker, which asks members with 221 (Java:
	// INVOKE_BROKER_TO_GET_CONSUMER_STATUS).
	GetConsumerStatusOfMembers  RequestCode = 223
	GetTopicsByCluster          RequestCode = 224
	QueryTopicConsumeByWho      RequestCode = 300
	QueryConsumeTimeSpan        RequestCode = 303
	GetConsumerRunningInfo      RequestCode = 307
	ConsumeMessageDirectly      RequestCode = 309
	SendMessageV2               RequestCode = 310
	CloneGroupOffset            RequestCode = 314
	GetBrokerConsumeStats       RequestCode = 317
	SendBatchMessage            RequestCode = 320
	QueryTopicsByConsumer       RequestCode = 343
	QuerySubscriptionByConsumer RequestCode = 345
	GetTopicConfig              RequestCode = 351
	GetSubscriptionGroupConfig  RequestCode = 352
	UpdateAndGetGroupForbidden  RequestCode = 353
	QueryAssignment             RequestCode = 400
	SetMessageRequestMode       RequestCode = 401
	GetAllMessageRequestMode    RequestCode = 402
)

// ResponseCode says how a request ended (Java: ResponseCode).
type ResponseCode int32

// The response codes that eyeq tells apart.
const (
	Success                   ResponseCode = 0
	SystemError               ResponseCode = 1
	SystemBusy                ResponseCode = 2
	RequestCodeNotSupported   ResponseCode = 3
	FlushDiskTimeout          ResponseCode = 10
	SlaveNotAvailable         ResponseCode = 11
	FlushSlaveTimeout         ResponseCode = 12
	MessageIllegal            ResponseCode = 13
	ServiceNotAvailable       ResponseCode = 14
	NoPermission              ResponseCode = 16
	TopicNotExist             ResponseCode = 17
	PullNotFound              ResponseCode = 19
	PullRetryImmediately      ResponseCode = 20
	PullOffsetMoved           ResponseCode = 21
	QueryNotFound             ResponseCode = 22
	SubscriptionParseFailed   ResponseCode = 23
	SubscriptionNotExist      ResponseCode = 24
	SubscriptionNotLatest     ResponseCode = 25
	SubscriptionGroupNotExist ResponseCode = 26
	FilterDataNotExist        ResponseCode = 27
	FilterDataNotLatest       ResponseCode = 28
	InvalidParameter          ResponseCode = 29
	ConsumerNotOnline         ResponseCode = 206
	ConsumeMsgTimeout         ResponseCode = 207
	BroadcastConsumption      ResponseCode = 213
	FlowControl               ResponseCode = 215
	GoAway                    ResponseCode = 1500
)

// LanguageCode says what a peer is written in; the number is its place in a
// ROCKETMQ header, the name its value in a JSON header.
type LanguageCode uint8

// The language codes that matter here; String knows the others too.
const (
	LanguageJava  LanguageCode = 0
	LanguageCPP   LanguageCode = 1
	LanguageOther LanguageCode = 7
	LanguageGo    LanguageCode = 9
)

// Version is the protocol version that eyeq announces: V4_9_3. It is high
// enough for a broker to relay 220, 221, 307 and 309 and to honour a group's
// retry limit, and low enough for one signature of code 12 to be right on both
// broker lines.
const Version = 399

// VersionFive is the first version of the 5.x line, V5_0_0_SNAPSHOT.
const VersionFive = 412

// VersionName is what the Java tools call Version.
const VersionName = "V4_9_3"
