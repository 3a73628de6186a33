package protocol

import "strings"

// Property keys (MessageConst).
const (
	PropertyKeys              = "KEYS"
	PropertyTags              = "TAGS"
	PropertyUniqKey           = "UNIQ_KEY"
	PropertyWait              = "WAIT"
	PropertyDelay             = "DELAY"
	PropertyRealTopic         = "REAL_TOPIC"
	PropertyRealQueueID       = "REAL_QID"
	PropertyRetryTopic        = "RETRY_TOPIC"
	PropertyOriginMessageID   = "ORIGIN_MESSAGE_ID"
	PropertyReconsumeTime     = "RECONSUME_TIME"
	PropertyMaxReconsumeTimes = "MAX_RECONSUME_TIMES"
	PropertyTranMsg           = "TRAN_MSG"
	PropertyCluster           = "CLUSTER"
	PropertyMsgRegion         = "MSG_REGION"
	PropertyTraceOn           = "TRACE_ON"
	PropertyConsumeStartTime  = "CONSUME_START_TIME"
	PropertyTimerDelaySec     = "TIMER_DELAY_SEC"
	PropertyTimerDelayMillis  = "TIMER_DELAY_MS"
	PropertyTimerDeliver      = "TIMER_DELIVER_MS"
	PropertyTimerOut          = "TIMER_OUT_MS"
)

// Property is one name and value of a message.
type Property struct{ Name, Value string }

// What separates a name from its value, and properties from each other.
const (
	nameValueSeparator = 0x01
	propertySeparator  = 0x02
)

// AppendProperties appends properties in their stored text form.
func AppendProperties(dst []byte, properties []Property, trailingSeparator bool) []byte {
	for i, p := range properties {
		if i > 0 {
			dst = append(dst, propertySeparator)
		}
		dst = append(dst, p.Name...)
		dst = append(dst, nameValueSeparator)
		dst = append(dst, p.Value...)
	}
	if trailingSeparator && len(properties) > 0 {
		dst = append(dst, propertySeparator)
	}
	return dst
}

// ParseProperties reads the text form. As Java does, it passes over items that
// have no separator, an empty name or an empty value. What it returns shares
// text.
func ParseProperties(text string) []Property {
	if text == "" {
		return nil
	}
	properties := make([]Property, 0, min(strings.Count(text, "\x02")+1, len(text)/3+1))
	for name, value := range eachProperty(text) {
		properties = append(properties, Property{Name: name, Value: value})
	}
	return properties
}

// eachProperty yields what ParseProperties returns.
func eachProperty(text string) func(yield func(name, value string) bool) {
	return func(yield func(name, value string) bool) {
		for text != "" {
			item := text
			if end := strings.IndexByte(text, propertySeparator); end >= 0 {
				item, text = text[:end], text[end+1:]
			} else {
				text = ""
			}
			at := strings.IndexByte(item, nameValueSeparator)
			if at > 0 && at < len(item)-1 && !yield(item[:at], item[at+1:]) {
				return
			}
		}
	}
}

// findProperty returns the last value of name. It looks for the name as a whole
// item's beginning instead of taking every item apart: what it finds behind a
// separator and before one is a name, since values hold no 0x02 and names
// neither.
func findProperty(text, name string) (value string, ok bool) {
	if name == "" || strings.IndexByte(name, nameValueSeparator) >= 0 || strings.IndexByte(name, propertySeparator) >= 0 {
		return "", false
	}
	for at := 0; ; {
		found := strings.Index(text[at:], name)
		if found < 0 {
			return value, ok
		}
		begin := at + found
		at = begin + len(name)
		if at == len(text) {
			return value, ok
		}
		if text[at] != nameValueSeparator || begin > 0 && text[begin-1] != propertySeparator {
			at = begin + 1
			continue
		}
		at++
		item := text[at:]
		if end := strings.IndexByte(item, propertySeparator); end >= 0 {
			item = item[:end]
		}
		at += len(item)
		if item != "" {
			value, ok = item, true
		}
	}
}
