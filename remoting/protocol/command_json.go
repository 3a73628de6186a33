package protocol

import (
	"fmt"
	"strconv"
)

// extFieldsHint is the room made for ext fields at first: enough for a pull
// answer of either broker line.
const extFieldsHint = 8

// decodeJSONHeader scans a JSON header in place.
func decodeJSONHeader(c *Command, header []byte) error {
	s := scanner{src: header}
	if s.peek() != '{' {
		return s.unexpected("'{'")
	}
	s.at++
	if s.peek() == '}' {
		s.at++
		return s.end()
	}
	for {
		name, err := s.memberName()
		if err != nil {
			return err
		}
		if err := c.readMember(&s, name); err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
		more, err := s.comma('}')
		if err != nil {
			return err
		}
		if !more {
			return s.end()
		}
	}
}

func (c *Command) readMember(s *scanner, name string) error {
	switch name {
	case "extFields":
		return c.readExtFields(s)
	case "code":
		return s.int32(&c.Code)
	case "version":
		return s.int32(&c.Version)
	case "opaque":
		return s.int32(&c.Opaque)
	case "flag":
		return s.int32(&c.Flag)
	}
	text, null, err := s.scalarOrRaw()
	if err != nil || null {
		return err
	}
	switch name {
	case "language":
		c.Language = languageOf(text)
	case "remark":
		c.Remark = internRemark(text)
	}
	return nil
}

// int32 reads a number, which may be given as a string; null leaves n alone.
func (s *scanner) int32(n *int32) error {
	text, null, err := s.scalarOrRaw()
	if err != nil || null {
		return err
	}
	v, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return fmt.Errorf("%.20q is no 32-bit number", text)
	}
	*n = int32(v)
	return nil
}

// languageOf takes a name or an ordinal.
func languageOf(text string) LanguageCode {
	if text == "" || !isDigit(text[0]) {
		return parseLanguage(text) // as nearly always; a failed parse would allocate
	}
	n, err := strconv.ParseUint(text, 10, 8)
	if err != nil {
		return LanguageOther
	}
	return LanguageCode(n)
}

// readExtFields reads the custom header. A null value is left out: Java treats
// it like a missing one.
func (c *Command) readExtFields(s *scanner) error {
	if s.peek() != '{' {
		start := s.at
		if string(s.word()) == "null" {
			c.ExtFields = nil
			return nil
		}
		s.at = start
		return s.unexpected("'{'")
	}
	s.at++
	c.ExtFields = ExtFields{}
	if s.peek() == '}' {
		s.at++
		return nil
	}
	fields := make(ExtFields, 0, extFieldsHint)
	for {
		name, err := s.memberName()
		if err != nil {
			return err
		}
		value, null, err := s.scalarOrRaw()
		if err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
		if !null {
			if fields, err = fields.decoded(name, value); err != nil {
				return err
			}
		}
		more, err := s.comma('}')
		if err != nil {
			return err
		}
		if !more {
			c.ExtFields = fields
			return nil
		}
	}
}

// appendJSONHeader writes the members in the order of Java's peers. What they
// would leave out is left out.
func appendJSONHeader(dst []byte, c *Command) []byte {
	o := beginObject(dst)
	o.number("code", int64(c.Code))
	if c.ExtFields != nil {
		o.name("extFields")
		o.dst = appendExtFields(o.dst, c.ExtFields)
	}
	o.number("flag", int64(c.Flag))
	o.text("language", languageName(c.Language))
	o.number("opaque", int64(c.Opaque))
	if c.Remark != "" {
		o.text("remark", c.Remark)
	}
	o.number("version", int64(c.Version))
	return o.end()
}

// languageName is a name that every peer knows.
func languageName(c LanguageCode) string {
	if int(c) < len(languageNames) {
		return languageNames[c]
	}
	return languageNames[LanguageOther]
}

func appendExtFields(dst []byte, fields ExtFields) []byte {
	dst = append(dst, '{')
	for i := range fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, fields[i].Key)
		dst = append(dst, ':')
		dst = appendString(dst, fields[i].Value)
	}
	return append(dst, '}')
}
