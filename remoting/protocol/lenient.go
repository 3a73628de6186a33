package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
)

// RocketMQ's JSON library writes, and its servers read, more than JSON: objects
// and integers as keys of a map, single quotes, unquoted names; other languages'
// clients leave control characters in strings. strictJSON rewrites all of that in
// one pass, and the standard decoder does the rest.

var errReference = errors.New(`a {"$ref":…} to another part of the text, which is not supported`)

// decodeLenient decodes src, which must be an object, into v.
func decodeLenient(src []byte, v any) error {
	if s := (scanner{src: src}); s.peek() != '{' {
		return s.unexpected("'{'")
	}
	strict, err := strictJSON(src)
	if err != nil {
		return err
	}
	return json.Unmarshal(strict, v)
}

// strictJSON returns src as JSON. An object that stands as a key becomes a
// string that holds its text. The result is at most six times as long as src,
// and nothing may follow the value.
func strictJSON(src []byte) ([]byte, error) {
	r := rewriter{scanner: scanner{src: src}, dst: make([]byte, 0, len(src)+len(src)/8+16)}
	if err := r.value(0); err != nil {
		return nil, err
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	return r.dst, nil
}

type rewriter struct {
	scanner
	dst []byte
}

func (r *rewriter) value(depth int) error {
	if depth == maxJSONDepth {
		return fmt.Errorf("JSON nested deeper than %d at byte %d", maxJSONDepth, r.at)
	}
	switch r.peek() {
	case '{':
		return r.object(depth)
	case '[':
		return r.array(depth)
	case '"', '\'':
		return r.string()
	}
	start := r.at
	word := r.word()
	if !isLiteral(word) && !isNumber(word) {
		r.at = start
		return r.unexpected("a value")
	}
	r.dst = append(r.dst, word...)
	return nil
}

func (r *rewriter) array(depth int) error {
	r.at++
	r.dst = append(r.dst, '[')
	if r.peek() == ']' {
		r.at++
		r.dst = append(r.dst, ']')
		return nil
	}
	for {
		if err := r.value(depth + 1); err != nil {
			return err
		}
		more, err := r.comma(']')
		if err != nil {
			return err
		}
		if !more {
			r.dst = append(r.dst, ']')
			return nil
		}
		r.dst = append(r.dst, ',')
	}
}

func (r *rewriter) object(depth int) error {
	r.at++
	r.dst = append(r.dst, '{')
	if r.peek() == '}' {
		r.at++
		r.dst = append(r.dst, '}')
		return nil
	}
	for members := 1; ; members++ {
		nameAt := len(r.dst)
		if err := r.key(); err != nil {
			return err
		}
		reference := members == 1 && string(r.dst[nameAt:]) == `"$ref"`
		if r.peek() != ':' {
			return r.unexpected("':'")
		}
		r.at++
		r.dst = append(r.dst, ':')
		if err := r.value(depth + 1); err != nil {
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
