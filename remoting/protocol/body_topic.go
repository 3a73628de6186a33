package protocol

// topicList is the answer to 206, 224 and 343.
type topicList struct {
	TopicList []string `json:"topicList"`
}

// EncodeTopicList writes the answer to 206, 224 and 343.
func EncodeTopicList(topics []string) []byte { return encodeBody(topicList{topics}) }

// DecodeTopicList reads the answer to 206, 224 and 343.
func DecodeTopicList(body []byte) ([]string, error) {
	w, err := decodeBody[topicList](body, "topic list")
	return w.TopicList, err
}

// groupList is the answer to 300.
type groupList struct {
	GroupList []string `json:"groupList"`
}

// EncodeGroupList writes the answer to 300.
func EncodeGroupList(groups []string) []byte { return encodeBody(groupList{groups}) }

// DecodeGroupList reads the answer to 300.
func DecodeGroupList(body []byte) ([]string, error) {
	w, err := decodeBody[groupList](body, "group list")
	return w.GroupList, err
}

// TopicConfig is a topic's configuration at one broker.
type TopicConfig struct {
	TopicName      string            `json:"topicName"`
	ReadQueueNums  int32             `json:"readQueueNums"`
	WriteQueueNums int32             `json:"writeQueueNums"`
	Perm           int32             `json:"perm"`
	TopicSysFlag   int32             `json:"topicSysFlag"`
	Order          bool              `json:"order"`
	Attributes     map[string]string `json:"attributes"` // 5.x; nil: the broker says none
}

// MessageTypeAttribute names the attribute that says what messages a topic is for:
// NORMAL, FIFO, DELAY, TRANSACTION, MIXED (5.x).
const MessageTypeAttribute = "message.type"

// EncodeTopicConfig writes the answer to 351.
func EncodeTopicConfig(c *TopicConfig) []byte { return appendTopicConfig(nil, *c) }

func appendTopicConfig(dst []byte, c TopicConfig) []byte {
	o := beginObject(dst)
	if c.Attributes != nil {
		o.name("attributes")
		o.dst = append(o.dst, encodeBody(c.Attributes)...)
	}
	o.bool("order", c.Order)
	o.number("perm", int64(c.Perm))
	o.number("readQueueNums", int64(c.ReadQueueNums))
	o.text("topicFilterType", "SINGLE_TAG")
	o.text("topicName", c.TopicName)
	o.number("topicSysFlag", int64(c.TopicSysFlag))
	o.number("writeQueueNums", int64(c.WriteQueueNums))
	return o.end()
}

// DecodeTopicConfig reads the answer to 351.
func DecodeTopicConfig(body []byte) (TopicConfig, error) {
	return decodeBody[TopicConfig](body, "topic configuration")
}

// EncodeTopicConfigs writes the answer to 21.
func EncodeTopicConfigs(table map[string]TopicConfig) []byte {
	o := beginObject(nil)
	o.name("dataVersion")
	o.dst = append(o.dst, dataVersion...)
	o.name("topicConfigTable")
	o.dst = appendTable(o.dst, table, appendTopicConfig)
	return o.end()
}

// DecodeTopicConfigs reads the answer to 21: configurations by topic.
func DecodeTopicConfigs(body []byte) (map[string]TopicConfig, error) {
	w, err := decodeBody[struct {
		TopicConfigTable map[string]TopicConfig `json:"topicConfigTable"`
	}](body, "topic configurations")
	if err == nil && w.TopicConfigTable == nil {
		w.TopicConfigTable = map[string]TopicConfig{}
	}
	return w.TopicConfigTable, err
}
