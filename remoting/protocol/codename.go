package protocol

import "strconv"

// requestNames holds RocketMQ's own names, so that a reader can search for them.
var requestNames = map[RequestCode]string{
	SendMessage:                      "SEND_MESSAGE",
	PullMessage:                      "PULL_MESSAGE",
	QueryMessage:                     "QUERY_MESSAGE",
	13:                               "QUERY_BROKER_OFFSET",
	QueryConsumerOffset:              "QUERY_CONSUMER_OFFSET",
	UpdateConsumerOffset:             "UPDATE_CONSUMER_OFFSET",
	UpdateAndCreateTopic:             "UPDATE_AND_CREATE_TOPIC",
	18:                               "UPDATE_AND_CREATE_TOPIC_LIST",
	GetAllTopicConfig:                "GET_ALL_TOPIC_CONFIG",
	22:                               "GET_TOPIC_CONFIG_LIST",
	23:                               "GET_TOPIC_NAME_LIST",
	25:                               "UPDATE_BROKER_CONFIG",
	GetBrokerConfig:                  "GET_BROKER_CONFIG",
	27:                               "TRIGGER_DELETE_FILES",
	GetBrokerRuntimeInfo:             "GET_BROKER_RUNTIME_INFO",
	SearchOffsetByTimestamp:          "SEARCH_OFFSET_BY_TIMESTAMP",
	GetMaxOffset:                     "GET_MAX_OFFSET",
	GetMinOffset:                     "GET_MIN_OFFSET",
	GetEarliestMsgStoreTime:          "GET_EARLIEST_MSG_STORETIME",
	ViewMessageByID:                  "VIEW_MESSAGE_BY_ID",
	HeartBeat:                        "HEART_BEAT",
	UnregisterClient:                 "UNREGISTER_CLIENT",
	ConsumerSendMsgBack:              "CONSUMER_SEND_MSG_BACK",
	37:                               "END_TRANSACTION",
	GetConsumerListByGroup:           "GET_CONSUMER_LIST_BY_GROUP",
	39:                               "CHECK_TRANSACTION_STATE",
	NotifyConsumerIDsChanged:         "NOTIFY_CONSUMER_IDS_CHANGED",
	LockBatchMQ:                      "LOCK_BATCH_MQ",
	UnlockBatchMQ:                    "UNLOCK_BATCH_MQ",
	GetAllConsumerOffset:             "GET_ALL_CONSUMER_OFFSET",
	45:                               "GET_ALL_DELAY_OFFSET",
	CheckClientConfig:                "CHECK_CLIENT_CONFIG",
	50:                               "UPDATE_AND_CREATE_ACL_CONFIG",
	51:                               "DELETE_ACL_CONFIG",
	52:                               "GET_BROKER_CLUSTER_ACL_INFO",
	53:                               "UPDATE_GLOBAL_WHITE_ADDRS_CONFIG",
	54:                               "GET_BROKER_CLUSTER_ACL_CONFIG",
	60:                               "GET_TIMER_CHECK_POINT",
	61:                               "GET_TIMER_METRICS",
	100:                              "PUT_KV_CONFIG",
	101:                              "GET_KV_CONFIG",
	102:                              "DELETE_KV_CONFIG",
	103:                              "REGISTER_BROKER",
	104:                              "UNREGISTER_BROKER",
	GetRouteInfoByTopic:              "GET_ROUTEINFO_BY_TOPIC",
	GetBrokerClusterInfo:             "GET_BROKER_CLUSTER_INFO",
	UpdateAndCreateSubscriptionGroup: "UPDATE_AND_CREATE_SUBSCRIPTIONGROUP",
	GetAllSubscriptionGroupConfig:    "GET_ALL_SUBSCRIPTIONGROUP_CONFIG",
	GetTopicStatsInfo:                "GET_TOPIC_STATS_INFO",
	GetConsumerConnectionList:        "GET_CONSUMER_CONNECTION_LIST",
	GetProducerConnectionList:        "GET_PRODUCER_CONNECTION_LIST",
	205:                              "WIPE_WRITE_PERM_OF_BROKER",
	GetAllTopicListFromNamesrv:       "GET_ALL_TOPIC_LIST_FROM_NAMESERVER",
	DeleteSubscriptionGroup:          "DELETE_SUBSCRIPTIONGROUP",
	GetConsumeStats:                  "GET_CONSUME_STATS",
	DeleteTopicInBroker:              "DELETE_TOPIC_IN_BROKER",
	DeleteTopicInNamesrv:             "DELETE_TOPIC_IN_NAMESRV",
	217:                              "REGISTER_TOPIC_IN_NAMESRV",
	219:                              "GET_KVLIST_BY_NAMESPACE",
	ResetConsumerClientOffset:        "RESET_CONSUMER_CLIENT_OFFSET",
	GetConsumerStatusFromClient:      "GET_CONSUMER_STATUS_FROM_CLIENT",
	InvokeBrokerToResetOffset:        "INVOKE_BROKER_TO_RESET_OFFSET",
	GetConsumerStatusOfMembers:       "INVOKE_BROKER_TO_GET_CONSUMER_STATUS",
	GetTopicsByCluster:               "GET_TOPICS_BY_CLUSTER",
	225:                              "UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST",
	QueryTopicConsumeByWho:           "QUERY_TOPIC_CONSUME_BY_WHO",
	QueryConsumeTimeSpan:             "QUERY_CONSUME_TIME_SPAN",
	304:                              "GET_SYSTEM_TOPIC_LIST_FROM_NS",
	305:                              "GET_SYSTEM_TOPIC_LIST_FROM_BROKER",
	306:                              "CLEAN_EXPIRED_CONSUMEQUEUE",
	GetConsumerRunningInfo:           "GET_CONSUMER_RUNNING_INFO",
	308:                              "QUERY_CORRECTION_OFFSET",
	ConsumeMessageDirectly:           "CONSUME_MESSAGE_DIRECTLY",
	SendMessageV2:                    "SEND_MESSAGE_V2",
	311:                              "GET_UNIT_TOPIC_LIST",
	312:                              "GET_HAS_UNIT_SUB_TOPIC_LIST",
	313:                              "GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST",
	CloneGroupOffset:                 "CLONE_GROUP_OFFSET",
	315:                              "VIEW_BROKER_STATS_DATA",
	316:                              "CLEAN_UNUSED_TOPIC",
	GetBrokerConsumeStats:            "GET_BROKER_CONSUME_STATS",
	318:                              "UPDATE_NAMESRV_CONFIG",
	319:                              "GET_NAMESRV_CONFIG",
	SendBatchMessage:                 "SEND_BATCH_MESSAGE",
	321:                              "QUERY_CONSUME_QUEUE",
	322:                              "QUERY_DATA_VERSION",
	323:                              "RESUME_CHECK_HALF_MESSAGE",
	324:                              "SEND_REPLY_MESSAGE",
	325:                              "SEND_REPLY_MESSAGE_V2",
	326:                              "PUSH_REPLY_MESSAGE_TO_CLIENT",
	327:                              "ADD_WRITE_PERM_OF_BROKER",
	328:                              "GET_ALL_PRODUCER_INFO",
	329:                              "DELETE_EXPIRED_COMMITLOG",
	QueryTopicsByConsumer:            "QUERY_TOPICS_BY_CONSUMER",
	QuerySubscriptionByConsumer:      "QUERY_SUBSCRIPTION_BY_CONSUMER",
	GetTopicConfig:                   "GET_TOPIC_CONFIG",
	GetSubscriptionGroupConfig:       "GET_SUBSCRIPTIONGROUP_CONFIG",
	UpdateAndGetGroupForbidden:       "UPDATE_AND_GET_GROUP_FORBIDDEN",
	361:                              "LITE_PULL_MESSAGE",
	370:                              "RECALL_MESSAGE",
	400:                              "QUERY_ASSIGNMENT",
	401:                              "SET_MESSAGE_REQUEST_MODE",
	402:                              "GET_ALL_MESSAGE_REQUEST_MODE",
	901:                              "GET_BROKER_MEMBER_GROUP",
	904:                              "BROKER_HEARTBEAT",
	907:                              "GET_BROKER_HA_STATUS",
	2003:                             "GET_COLD_DATA_FLOW_CTR_INFO",
	3001:                             "AUTH_CREATE_USER",
	3002:                             "AUTH_UPDATE_USER",
	3003:                             "AUTH_DELETE_USER",
	3004:                             "AUTH_GET_USER",
	3005:                             "AUTH_LIST_USER",
	3006:                             "AUTH_CREATE_ACL",
	3007:                             "AUTH_UPDATE_ACL",
	3008:                             "AUTH_DELETE_ACL",
	3009:                             "AUTH_GET_ACL",
	3010:                             "AUTH_LIST_ACL",
	200050:                           "POP_MESSAGE",
	200051:                           "ACK_MESSAGE",
	200052:                           "PEEK_MESSAGE",
	200053:                           "CHANGE_MESSAGE_INVISIBLETIME",
	200054:                           "NOTIFICATION",
	200055:                           "POLLING_INFO",
	200056:                           "POP_ROLLBACK",
	200151:                           "BATCH_ACK_MESSAGE",
}

// responseNames takes the 5.x meaning of 209 to 211, which 4.9 used for failed
// changes of its access control file.
var responseNames = map[ResponseCode]string{
	Success:                   "SUCCESS",
	SystemError:               "SYSTEM_ERROR",
	SystemBusy:                "SYSTEM_BUSY",
	RequestCodeNotSupported:   "REQUEST_CODE_NOT_SUPPORTED",
	4:                         "TRANSACTION_FAILED",
	FlushDiskTimeout:          "FLUSH_DISK_TIMEOUT",
	SlaveNotAvailable:         "SLAVE_NOT_AVAILABLE",
	FlushSlaveTimeout:         "FLUSH_SLAVE_TIMEOUT",
	MessageIllegal:            "MESSAGE_ILLEGAL",
	ServiceNotAvailable:       "SERVICE_NOT_AVAILABLE",
	15:                        "VERSION_NOT_SUPPORTED",
	NoPermission:              "NO_PERMISSION",
	TopicNotExist:             "TOPIC_NOT_EXIST",
	18:                        "TOPIC_EXIST_ALREADY",
	PullNotFound:              "PULL_NOT_FOUND",
	PullRetryImmediately:      "PULL_RETRY_IMMEDIATELY",
	PullOffsetMoved:           "PULL_OFFSET_MOVED",
	QueryNotFound:             "QUERY_NOT_FOUND",
	SubscriptionParseFailed:   "SUBSCRIPTION_PARSE_FAILED",
	SubscriptionNotExist:      "SUBSCRIPTION_NOT_EXIST",
	SubscriptionNotLatest:     "SUBSCRIPTION_NOT_LATEST",
	SubscriptionGroupNotExist: "SUBSCRIPTION_GROUP_NOT_EXIST",
	FilterDataNotExist:        "FILTER_DATA_NOT_EXIST",
	FilterDataNotLatest:       "FILTER_DATA_NOT_LATEST",
	InvalidParameter:          "INVALID_PARAMETER",
	200:                       "TRANSACTION_SHOULD_COMMIT",
	201:                       "TRANSACTION_SHOULD_ROLLBACK",
	202:                       "TRANSACTION_STATE_UNKNOW",
	203:                       "TRANSACTION_STATE_GROUP_WRONG",
	204:                       "NO_BUYER_ID",
	205:                       "NOT_IN_CURRENT_UNIT",
	ConsumerNotOnline:         "CONSUMER_NOT_ONLINE",
	ConsumeMsgTimeout:         "CONSUME_MSG_TIMEOUT",
	208:                       "NO_MESSAGE",
	209:                       "POLLING_FULL",
	210:                       "POLLING_TIMEOUT",
	211:                       "BROKER_NOT_EXIST",
	212:                       "BROKER_DISPATCH_NOT_COMPLETE",
	BroadcastConsumption:      "BROADCAST_CONSUMPTION",
	FlowControl:               "FLOW_CONTROL",
	501:                       "NOT_LEADER_FOR_QUEUE",
	604:                       "ILLEGAL_OPERATION",
	GoAway:                    "GO_AWAY",
	3001:                      "USER_NOT_EXIST",
	3002:                      "POLICY_NOT_EXIST",
}

// languageNames is indexed by LanguageCode.
var languageNames = [...]string{
	"JAVA", "CPP", "DOTNET", "PYTHON", "DELPHI", "ERLANG", "RUBY", "OTHER",
	"HTTP", "GO", "PHP", "OMS", "RUST", "NODE_JS",
}

// String gives RocketMQ's name of c, or "RequestCode(123)".
func (c RequestCode) String() string {
	if name, ok := requestNames[c]; ok {
		return name
	}
	return "RequestCode(" + strconv.Itoa(int(c)) + ")"
}

// String gives RocketMQ's name of c, or "ResponseCode(123)".
func (c ResponseCode) String() string {
	if name, ok := responseNames[c]; ok {
		return name
	}
	return "ResponseCode(" + strconv.Itoa(int(c)) + ")"
}

// String gives the name of c as JSON headers have it, or "LanguageCode(123)".
func (c LanguageCode) String() string {
	if int(c) < len(languageNames) {
		return languageNames[c]
	}
	return "LanguageCode(" + strconv.Itoa(int(c)) + ")"
}

// parseLanguage is LanguageOther for a name that nobody here has heard of, as
// newer clients may announce.
func parseLanguage(name string) LanguageCode {
	for i := range languageNames {
		if languageNames[i] == name {
			return LanguageCode(i)
		}
	}
	return LanguageOther
}
