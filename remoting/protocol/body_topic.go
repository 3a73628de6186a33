package protocol

import "fmt"

// EncodeTopicList writes the answer to 206, 224 and 343.
func EncodeTopicList(topics []string) []byte {
	o := beginObject(nil)
	o.name("topicList")
	o.dst = appendArray(o.dst, topics, appendString)
	return o.end()
}

// DecodeTopicList reads the answer to 206, 224 and 343.
func DecodeTopicList(body []byte) ([]string, error) {
	var w struct {
		TopicList []string `json:"topicList"`
	}
	if err := decodeLenient(body, &w); err != nil {
		return nil, fmt.Errorf("decode topic list: %w", err)
	}
	return w.TopicList, nil
}

// EncodeGroupList writes the answer to 300.
func EncodeGroupList(groups []string) []byte {
	o := beginObject(nil)
	o.name("groupList")
	o.dst = appendArray(o.dst, groups, appendString)
	return o.end()
}

// DecodeGroupList reads the answer to 300.
func DecodeGroupList(body []byte) ([]string, error) {
	var w struct {
		GroupList []string `json:"groupList"`
	}
	if err := decodeLenient(body, &w); err != nil {
		return nil, fmt.Errorf("decode group list: %w", err)
	}
	return w.GroupList, nil
}

// TopicConfig is a topic's configuration at one broker.
type TopicConfig struct {
	TopicName      string
	ReadQueueNums  int32
	WriteQueueNums int32
	Perm           int32
	TopicSysFlag   int32
	Order          bool
	Attributes     map[string]string // 5.x; nil: the broker says none
}

// topicConfigJSON is TopicConfig as brokers write it.
type topicConfigJSON struct {
	TopicName      string            `json:"topicName"`
	ReadQueueNums  int32             `json:"readQueueNums"`
	WriteQueueNums int32             `json:"writeQueueNums"`
	Perm           int32             `json:"perm"`
	TopicSysFlag   int32             `json:"topicSysFlag"`
	Order          bool              `json:"order"`
	Attributes     map[string]string `json:"attributes"`
}

func (w *topicConfigJSON) config() TopicConfig {
	return TopicConfig{
		TopicName: w.TopicName, ReadQueueNums: w.ReadQueueNums, WriteQueueNums: w.WriteQueueNums,
		Perm: w.Perm, TopicSysFlag: w.TopicSysFlag, Order: w.Order, Attributes: w.Attributes,
	}
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
		o.dst = appendTexts(o.dst, c.Attributes)
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
	var w topicConfigJSON
	if err := decodeLenient(body, &w); err != nil {
		return TopicConfig{}, fmt.Errorf("decode topic configuration: %w", err)
	}
	return w.config(), nil
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
	var w struct {
		TopicConfigTable map[string]topicConfigJSON `json:"topicConfigTable"`
	}
	if err := decodeLenient(body, &w); err != nil {
		return nil, fmt.Errorf("decode topic configurations: %w", err)
	}
	table := make(map[string]TopicConfig, len(w.TopicConfigTable))
	for name, c := range w.TopicConfigTable {
		table[name] = c.config()
	}
	return table, nil
}
