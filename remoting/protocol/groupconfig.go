package protocol

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unsafe"
)

// GroupConfig is a group's configuration as one broker wrote it (Java:
// SubscriptionGroupConfig). It is kept as text, so that whoever changes one member
// and writes the rest back changes nothing else: not the order, not the spelling of
// a number, not a member that nobody here has heard of. The zero value has no member.
type GroupConfig struct{ text string }

// ConfigMember is one member of a GroupConfig: its name, and its value as JSON text.
type ConfigMember struct{ Name, Value string }

// ParseGroupConfig takes the text of one configuration.
func ParseGroupConfig(text string) (GroupConfig, error) {
	c := GroupConfig{text}
	if text == "" {
		return c, fmt.Errorf("group configuration: %w", errJSONEnd)
	}
	if err := c.walk(func(string, int, int) {}); err != nil {
		return GroupConfig{}, fmt.Errorf("group configuration: %w", err)
	}
	return c, nil
}

// NewGroupConfig is the configuration of a group for which every default shall hold.
func NewGroupConfig(group string) GroupConfig {
	o := beginObject(nil)
	o.text("groupName", group)
	return GroupConfig{string(o.end())}
}

// String gives the whole text.
func (c GroupConfig) String() string {
	if c.text == "" {
		return "{}"
	}
	return c.text
}

// walk calls f with each member's name and where its value stands in the text.
func (c GroupConfig) walk(f func(name string, from, to int)) error {
	s := scanner{src: bytesOf(c.String())}
	if err := s.members(f); err != nil {
		return err
	}
	return s.end()
}

// members reads the object that begins here and calls f with each member's name and
// where its value stands.
func (s *scanner) members(f func(name string, from, to int)) error {
	if s.peek() != '{' {
		return s.unexpected("'{'")
	}
	s.at++
	if s.peek() == '}' {
		s.at++
		return nil
	}
	for {
		name, err := s.memberName()
		if err != nil {
			return err
		}
		s.peek()
		from := s.at
		if _, _, err := s.scalarOrRaw(); err != nil {
			return err
		}
		f(name, from, s.at)
		more, err := s.comma('}')
		if err != nil || !more {
			return err
		}
	}
}

// bytesOf views s without copying; nobody may write to the result.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// Members gives the members in their order.
func (c GroupConfig) Members() []ConfigMember {
	var all []ConfigMember
	text := c.String()
	_ = c.walk(func(name string, from, to int) { // the text was read once already
		all = append(all, ConfigMember{name, text[from:to]})
	})
	return all
}

// find says where the value of a member stands; ok is false when there is none.
// A name that is there twice counts the second time, as for the broker.
func (c GroupConfig) find(name string) (from, to int, ok bool) {
	_ = c.walk(func(n string, f, t int) {
		if n == name {
			from, to, ok = f, t, true
		}
	})
	return from, to, ok
}

// Get gives the value of a member as JSON text.
func (c GroupConfig) Get(name string) (value string, ok bool) {
	from, to, ok := c.find(name)
	return c.String()[from:to], ok
}

// Bool gives the value of a member that is true or false, as a word or in quotes.
func (c GroupConfig) Bool(name string) (value, ok bool) {
	text, ok := c.Get(name)
	if !ok {
		return false, false
	}
	value, err := strconv.ParseBool(strings.Trim(text, `"'`))
	return value, err == nil
}

// Int gives the value of a member that is a whole number, in quotes or not.
func (c GroupConfig) Int(name string) (value int64, ok bool) {
	text, ok := c.Get(name)
	if !ok {
		return 0, false
	}
	value, err := strconv.ParseInt(strings.Trim(text, `"'`), 10, 64)
	return value, err == nil
}

// GroupName is the group's own name; "" when it is missing.
func (c GroupConfig) GroupName() string {
	value, ok := c.Get("groupName")
	if !ok {
		return ""
	}
	s := scanner{src: bytesOf(value)}
	name, null, err := s.scalarOrRaw()
	if null || err != nil {
		return ""
	}
	return name
}

var errNotOneValue = errors.New("not one JSON value")

// Set changes one member to a value in JSON text, or adds it as the last one, and
// leaves every other byte as it is.
func (c *GroupConfig) Set(name, value string) error {
	s := scanner{src: bytesOf(value)}
	_, _, err := s.scalarOrRaw()
	if err == nil && s.end() != nil {
		err = errNotOneValue
	}
	if err != nil {
		return fmt.Errorf("group configuration: %s: %w", name, err)
	}
	text := c.String()
	if from, to, ok := c.find(name); ok {
		c.text = text[:from] + value + text[to:]
		return nil
	}
	end := strings.LastIndexByte(text, '}')
	member := string(appendString(nil, name)) + ":" + value
	if len(c.Members()) > 0 {
		member = "," + member
	}
	c.text = text[:end] + member + text[end:]
	return nil
}

// SetBool is Set for a word.
func (c *GroupConfig) SetBool(name string, value bool) {
	_ = c.Set(name, strconv.FormatBool(value)) // a word is one value
}

// Update gives the text to be written to a broker (200). It is the whole text, but
// for attributes as they were read: a broker takes only changes of attributes, each
// name with a sign before it, and refuses the others. None is written then, which
// leaves them as they are.
func (c GroupConfig) Update() string {
	from, to, ok := c.find("attributes")
	if !ok {
		return c.String()
	}
	text := c.String()
	s, changes := scanner{src: bytesOf(text[from:to])}, true
	err := s.members(func(name string, _, _ int) {
		changes = changes && (strings.HasPrefix(name, "+") || strings.HasPrefix(name, "-"))
	})
	if err == nil && changes {
		return text
	}
	return text[:from] + "{}" + text[to:]
}

// GroupConfigs is the answer to 201.
type GroupConfigs struct {
	Groups map[string]GroupConfig
	// Forbidden holds, by group and topic, the permissions that a group lacks (5.x):
	// PermRead there keeps it from pulling the topic.
	Forbidden map[string]map[string]int32
}

// DecodeGroupConfigs reads the answer to 201. The configurations are views of body.
func DecodeGroupConfigs(body []byte) (GroupConfigs, error) {
	configs := GroupConfigs{Groups: map[string]GroupConfig{}}
	var failed error
	fail := func(err error) {
		if failed == nil {
			failed = err
		}
	}
	s := scanner{src: body}
	err := s.members(func(name string, from, to int) {
		switch name {
		case "subscriptionGroupTable":
			fail(configs.readGroups(body[from:to]))
		case "forbiddenTable":
			fail(configs.readForbidden(body[from:to]))
		}
	})
	if err == nil {
		err = s.end()
	}
	if fail(err); failed != nil {
		return GroupConfigs{}, fmt.Errorf("decode group configurations: %w", failed)
	}
	return configs, nil
}

func (g *GroupConfigs) readGroups(table []byte) error {
	if string(table) == "null" {
		return nil
	}
	var failed error
	s := scanner{src: table}
	err := s.members(func(group string, from, to int) {
		c, err := ParseGroupConfig(view(table[from:to]))
		if err != nil && failed == nil {
			failed = fmt.Errorf("of %.60q: %w", group, err)
		}
		g.Groups[group] = c
	})
	if err == nil {
		err = failed
	}
	return err
}

func (g *GroupConfigs) readForbidden(table []byte) error {
	var w struct {
		Table map[string]map[string]int32 `json:"table"`
	}
	wrapped := append(append([]byte(`{"table":`), table...), '}')
	if err := decodeLenient(wrapped, &w); err != nil {
		return err
	}
	if g.Forbidden = w.Table; g.Forbidden == nil {
		g.Forbidden = map[string]map[string]int32{}
	}
	return nil
}

// EncodeGroupConfigs writes the answer to 201: of 4.9 without, of 5.x with the
// forbidden topics, which may be nil.
func EncodeGroupConfigs(g *GroupConfigs) []byte {
	o := beginObject(nil)
	o.name("dataVersion")
	o.dst = append(o.dst, dataVersion...)
	if g.Forbidden != nil {
		o.name("forbiddenTable")
		o.dst = appendTable(o.dst, g.Forbidden, func(dst []byte, topics map[string]int32) []byte {
			return appendTable(dst, topics, appendInt32)
		})
	}
	o.name("subscriptionGroupTable")
	o.dst = appendTable(o.dst, g.Groups, func(dst []byte, c GroupConfig) []byte { return append(dst, c.String()...) })
	return o.end()
}
