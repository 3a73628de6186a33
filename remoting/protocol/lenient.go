package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// RocketMQ's JSON library writes, and its servers read, more than JSON: objects
// and integers as keys of a map, single quotes, unquoted names; other languages'
// clients leave control characters in strings, and write numbers as texts, enums by
// their ordinals and names that differ by a letter. strictJSON rewrites all of that in
// one pass, and the standard decoder does the rest. It knows which type each value is
// read into (shape.go), so that no structure has to say what its peers get wrong.

var errReference = errors.New(`a {"$ref":…} to another part of the text, which is not supported`)

// decodeLenient decodes src, which must be an object, into the value that v points at.
func decodeLenient(src []byte, v any) error {
	src = bytes.TrimRight(bytes.TrimPrefix(src, []byte("\uFEFF")), "\x00 \t\r\n") // .NET begins with a mark, C ends with a zero
	if s := (scanner{src: src}); s.peek() != '{' {
		return s.unexpected("'{'")
	}
	strict, err := strictJSON(src, reflect.TypeOf(v))
	if err != nil {
		return err
	}
	return json.Unmarshal(strict, v)
}

// strictJSON returns src as JSON that can be read into a value of type t; nil is for
// any type. An object that stands as a key becomes a string that holds its text. A value
// from which none of its type can be made stays as it is. The result is at most six
// times as long as src, and nothing may follow the value.
func strictJSON(src []byte, t reflect.Type) ([]byte, error) {
	r := rewriter{scanner: scanner{src: src}, dst: make([]byte, 0, len(src)+len(src)/8+16)}
	if err := r.value(0, t); err != nil {
		return nil, err
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	return r.dst, nil
}

type rewriter struct {
	scanner
	dst    []byte
	fields map[reflect.Type]map[string]field
}

func (r *rewriter) value(depth int, t reflect.Type) error {
	if depth == maxJSONDepth {
		return fmt.Errorf("JSON nested deeper than %d at byte %d", maxJSONDepth, r.at)
	}
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch c := r.peek(); {
	case (c == '{' || c == '[') && isText(t):
		raw, err := r.balanced()
		if err != nil {
			return err
		}
		r.dst = appendString(r.dst, view(raw))
		return nil
	case c == '{':
		return r.object(depth, r.membersOf(t), t)
	case c == '[':
		return r.array(depth, t)
	case c == '"' || c == '\'':
		return r.stringAs(t)
	}
	start := r.at
	word := r.word()
	switch {
	case string(word) == "null":
		r.dst = append(r.dst, word...)
		return nil
	case isText(t) && len(word) > 0:
		r.dst = appendString(r.dst, view(word))
		return nil
	}
	if dst, ok := appendScalar(r.dst, view(word), t); ok {
		r.dst = dst
		return nil
	}
	if !isLiteral(word) && !isNumber(word) {
		r.at = start
		return r.unexpected("a value")
	}
	r.dst = append(r.dst, word...)
	return nil
}

// stringAs rewrites a string, to what it says of a number or a truth where t is one.
func (r *rewriter) stringAs(t reflect.Type) error {
	start := r.at
	if isScalar(t) {
		text, err := r.text()
		if err != nil {
			return err
		}
		if dst, ok := appendScalar(r.dst, strings.TrimSpace(text), t); ok {
			r.dst = dst
			return nil
		}
		r.at = start
	}
	return r.string()
}

// array rewrites what is read into a list, or into a map by queue. An empty one may
// stand for an object.
func (r *rewriter) array(depth int, t reflect.Type) error {
	var kind reflect.Kind
	if t != nil {
		kind = t.Kind()
	}
	start := len(r.dst)
	n, err := r.list(func(int) error {
		switch kind {
		case reflect.Map:
			return r.entry(depth+1, t)
		case reflect.Slice:
			return r.value(depth+1, t.Elem())
		}
		return r.value(depth+1, nil)
	})
	if n == 0 && (kind == reflect.Map || kind == reflect.Struct) {
		r.dst = append(r.dst[:start], "{}"...)
	}
	return err
}

// entry rewrites an entry of t, a map by queue, in a list: a pair of a queue and its
// value, or a queue that has its value as the member offset.
func (r *rewriter) entry(depth int, t reflect.Type) error {
	if r.peek() == '{' {
		return r.object(depth, r.queueWithOffset(t), nil)
	}
	if r.peek() != '[' {
		return r.value(depth, nil)
	}
	_, err := r.list(func(i int) error {
		if i == 0 {
			return r.value(depth+1, t.Key())
		}
		return r.value(depth+1, t.Elem())
	})
	return err
}

// list rewrites the array that begins here, and each of its items by item.
func (r *rewriter) list(item func(i int) error) (n int, err error) {
	r.at++
	r.dst = append(r.dst, '[')
	if r.peek() == ']' {
		r.at++
		r.dst = append(r.dst, ']')
		return 0, nil
	}
	for ; ; n++ {
		if err := item(n); err != nil {
			return n, err
		}
		more, err := r.comma(']')
		if err != nil {
			return n, err
		}
		if !more {
			r.dst = append(r.dst, ']')
			return n + 1, nil
		}
		r.dst = append(r.dst, ',')
	}
}

// object rewrites an object whose members are as of says. An empty one may stand for
// a list.
func (r *rewriter) object(depth int, of members, t reflect.Type) error {
	r.at++
	if r.peek() == '}' {
		r.at++
		if t != nil && t.Kind() == reflect.Slice {
			r.dst = append(r.dst, "[]"...)
		} else {
			r.dst = append(r.dst, "{}"...)
		}
		return nil
	}
	r.dst = append(r.dst, '{')
	for n := 1; ; n++ {
		nameAt := len(r.dst)
		if err := r.key(); err != nil {
			return err
		}
		reference := n == 1 && string(r.dst[nameAt:]) == `"$ref"`
		f := of(r.dst[nameAt+1 : len(r.dst)-1])
		if f.name != "" {
			r.dst = appendString(r.dst[:nameAt], f.name)
		}
		if r.peek() != ':' {
			return r.unexpected("':'")
		}
		r.at++
		r.dst = append(r.dst, ':')
		if err := r.value(depth+1, f.t); err != nil {
			return err
		}
		more, err := r.comma('}')
		if err != nil {
			return err
		}
		if !more {
			if reference {
				return errReference
			}
			r.dst = append(r.dst, '}')
			return nil
		}
		r.dst = append(r.dst, ',')
	}
}

// key rewrites what stands before a colon.
func (r *rewriter) key() error {
	switch r.peek() {
	case '"', '\'':
		return r.string()
	case '{':
		raw, err := r.balanced()
		if err != nil {
			return err
		}
		r.dst = appendString(r.dst, view(raw))
		return nil
	}
	word := r.word()
	if len(word) == 0 {
		return r.unexpected("a name")
	}
	r.dst = appendString(r.dst, view(word))
	return nil
}

// string rewrites a string of either quote. Escapes pass, but for \' which JSON
// does not have; the standard decoder refuses unknown ones.
func (r *rewriter) string() error {
	single := r.src[r.at] == '\''
	raw, escaped, err := r.quoted()
	if err != nil {
		return err
	}
	if !escaped {
		r.dst = appendString(r.dst, view(raw))
		return nil
	}
	r.dst = append(r.dst, '"')
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '\\':
			i++
			if raw[i] == '\'' {
				r.dst = append(r.dst, '\'')
			} else {
				r.dst = append(r.dst, '\\', raw[i])
			}
		case c < ' ' || c == '"' && single:
			r.dst = appendEscaped(r.dst, c)
		default:
			r.dst = append(r.dst, c)
		}
	}
	r.dst = append(r.dst, '"')
	return nil
}
