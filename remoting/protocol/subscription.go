package protocol

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// MessageModel says whether a group shares the queues or each member has all.
type MessageModel uint8

// The message models.
const (
	Clustering MessageModel = iota + 1
	Broadcasting
)

// ConsumeFromWhere says where a group without committed offset starts.
type ConsumeFromWhere uint8

// The start positions.
const (
	ConsumeFromLastOffset ConsumeFromWhere = iota + 1
	ConsumeFromFirstOffset
	ConsumeFromTimestamp
)

// ConsumeType says how a member gets its messages.
type ConsumeType uint8

// The consume types.
const (
	ConsumeActively  ConsumeType = iota + 1 // pull
	ConsumePassively                        // push
	ConsumePop
)

// The names on the wire, by value; the first is that of the zero value.
var (
	messageModelNames     = []string{"", "CLUSTERING", "BROADCASTING"}
	consumeFromWhereNames = []string{"", "CONSUME_FROM_LAST_OFFSET", "CONSUME_FROM_FIRST_OFFSET", "CONSUME_FROM_TIMESTAMP"}
	consumeTypeNames      = []string{"", "CONSUME_ACTIVELY", "CONSUME_PASSIVELY", "CONSUME_POP"}
)

// The values by their ordinals in Java's enums, which some clients write in place of
// names. Java starts from the deprecated three between the two as from the last offset.
var (
	messageModelOrdinals     = []MessageModel{Broadcasting, Clustering}
	consumeFromWhereOrdinals = []ConsumeFromWhere{
		ConsumeFromLastOffset, ConsumeFromLastOffset, ConsumeFromLastOffset, ConsumeFromLastOffset,
		ConsumeFromFirstOffset, ConsumeFromTimestamp,
	}
	consumeTypeOrdinals = []ConsumeType{ConsumeActively, ConsumePassively, ConsumePop}
)

// nameOf is the wire name of v, or "MessageModel(7)".
func nameOf[E ~uint8](names []string, v E, kind string) string {
	if v != 0 && int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("%s(%d)", kind, uint8(v))
}

// readName is the value whose name or ordinal text is, whatever the case; the zero value
// when there is none.
func readName[E ~uint8](names []string, ordinals []E, text []byte) E {
	for i := range names {
		if strings.EqualFold(names[i], string(text)) {
			return E(i)
		}
	}
	if n, err := strconv.ParseUint(string(text), 10, 8); err == nil && int(n) < len(ordinals) {
		return ordinals[n]
	}
	return 0
}

// String gives the name on the wire: CLUSTERING, BROADCASTING.
func (m MessageModel) String() string { return nameOf(messageModelNames, m, "MessageModel") }

// MarshalText gives the name on the wire.
func (m MessageModel) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads the name on the wire or the ordinal; one it does not know is the
// zero value, so that a newer peer's answer can still be read.
func (m *MessageModel) UnmarshalText(text []byte) error {
	*m = readName(messageModelNames, messageModelOrdinals, text)
	return nil
}

// String gives the name on the wire: CONSUME_FROM_LAST_OFFSET and so on.
func (w ConsumeFromWhere) String() string {
	return nameOf(consumeFromWhereNames, w, "ConsumeFromWhere")
}

// MarshalText gives the name on the wire.
func (w ConsumeFromWhere) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText reads the name on the wire or the ordinal; one it does not know is the
// zero value.
func (w *ConsumeFromWhere) UnmarshalText(text []byte) error {
	*w = readName(consumeFromWhereNames, consumeFromWhereOrdinals, text)
	return nil
}

// String gives the name on the wire: CONSUME_ACTIVELY, CONSUME_PASSIVELY, CONSUME_POP.
func (t ConsumeType) String() string { return nameOf(consumeTypeNames, t, "ConsumeType") }

// MarshalText gives the name on the wire.
func (t ConsumeType) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads the name on the wire or the ordinal; one it does not know is the
// zero value.
func (t *ConsumeType) UnmarshalText(text []byte) error {
	*t = readName(consumeTypeNames, consumeTypeOrdinals, text)
	return nil
}

// Expression types of a subscription.
const (
	ExpressionTAG   = "TAG"
	ExpressionSQL92 = "SQL92"
)

// SubscriptionData is one topic with its filter as a member announces it.
type SubscriptionData struct {
	ClassFilterMode bool     `json:"classFilterMode"`
	CodeSet         []int32  `json:"codeSet"`
	ExpressionType  string   `json:"expressionType"`
	SubString       string   `json:"subString"`
	SubVersion      int64    `json:"subVersion"` // milliseconds
	TagsSet         []string `json:"tagsSet"`
	Topic           string   `json:"topic"`
}

// UnmarshalJSON reads what a member announces; one that names no type of expression
// means TAG, as to Java.
func (s *SubscriptionData) UnmarshalJSON(b []byte) error {
	type plain SubscriptionData
	if err := json.Unmarshal(b, (*plain)(s)); err != nil {
		return err
	}
	s.ExpressionType = cmp.Or(s.ExpressionType, ExpressionTAG)
	return nil
}

// NewSubscriptionData parses a TAG expression as Java's FilterAPI does: "" and
// "*" mean all, else tags split at "||" and trimmed. An expression of only
// separators is an error. SubVersion is left 0.
func NewSubscriptionData(topic, expression string) (SubscriptionData, error) {
	s := SubscriptionData{
		Topic:          topic,
		SubString:      expression,
		ExpressionType: ExpressionTAG,
		CodeSet:        []int32{},
		TagsSet:        []string{},
	}
	if expression == "" || expression == "*" {
		s.SubString = "*"
		return s, nil
	}
	for tag := range strings.SplitSeq(expression, "||") {
		tag = strings.TrimFunc(tag, func(r rune) bool { return r <= ' ' }) // Java's trim
		if tag != "" {
			s.addTag(tag)
		}
	}
	if len(s.TagsSet) == 0 {
		return SubscriptionData{}, errors.New("filter expression has no tag: " + expression)
	}
	return s, nil
}

// NewSQLSubscription takes an SQL92 expression as it is: the broker compiles it
// and filters by it, so there are no tags. An empty one is an error.
func NewSQLSubscription(topic, expression string) (SubscriptionData, error) {
	if strings.TrimSpace(expression) == "" {
		return SubscriptionData{}, errors.New("the SQL92 expression is empty")
	}
	return SubscriptionData{
		Topic: topic, SubString: expression, ExpressionType: ExpressionSQL92, CodeSet: []int32{}, TagsSet: []string{},
	}, nil
}

// ParseSubscription is NewSubscriptionData or NewSQLSubscription, as the
// expression's type says; "" is TAG.
func ParseSubscription(topic, expressionType, expression string) (SubscriptionData, error) {
	switch expressionType {
	case "", ExpressionTAG:
		return NewSubscriptionData(topic, expression)
	case ExpressionSQL92:
		return NewSQLSubscription(topic, expression)
	}
	return SubscriptionData{}, fmt.Errorf("the expression type %.40q is neither %s nor %s", expressionType, ExpressionTAG, ExpressionSQL92)
}

// SameFilter reports whether a broker filters by both alike: the order of tags, blanks
// around them and a tag that is named twice do not matter to it.
func (s *SubscriptionData) SameFilter(o *SubscriptionData) bool {
	if cmp.Or(s.ExpressionType, ExpressionTAG) != cmp.Or(o.ExpressionType, ExpressionTAG) {
		return false
	}
	a, err := ParseSubscription(s.Topic, s.ExpressionType, s.SubString)
	b, otherErr := ParseSubscription(o.Topic, o.ExpressionType, o.SubString)
	if err != nil || otherErr != nil || a.ExpressionType != ExpressionTAG {
		return s.SubString == o.SubString
	}
	slices.Sort(a.TagsSet)
	slices.Sort(b.TagsSet)
	return slices.Equal(a.TagsSet, b.TagsSet)
}

// addTag keeps both lists sets, as Java's are.
func (s *SubscriptionData) addTag(tag string) {
	for _, have := range s.TagsSet {
		if have == tag {
			return
		}
	}
	s.TagsSet = append(s.TagsSet, tag)
	code := TagsCode(tag)
	for _, have := range s.CodeSet {
		if have == code {
			return
		}
	}
	s.CodeSet = append(s.CodeSet, code)
}

// TagsCode is the number brokers filter tags by: Java's String.hashCode over
// UTF-16 units, 0 for "".
func TagsCode(tags string) int32 {
	var h int32
	for _, r := range tags {
		if r >= 0x10000 {
			high, low := utf16.EncodeRune(r)
			h = 31*h + high
			r = low
		}
		h = 31*h + r
	}
	return h
}
