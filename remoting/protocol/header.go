package protocol

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A typed header has two methods: Fields gives its ext fields for a request (or
// an answer), and Parse reads them on the other side. Parse refuses a required
// field that is missing or does not parse and names it; an optional field that
// is absent keeps the value that is in the struct, and so does one that does not
// parse, since servers treat it as absent. Fields leaves empty optional texts
// out. Strings that Parse stores are those of the ext fields, views into a frame
// where the command was decoded from one.

// add appends a field; an empty optional text is left out by addText.
func (f ExtFields) add(key, value string) ExtFields {
	return append(f, ExtField{Key: key, Value: value})
}

func (f ExtFields) addText(key, value string) ExtFields {
	if value == "" {
		return f
	}
	return f.add(key, value)
}

func (f ExtFields) addInt(key string, value int64) ExtFields {
	return f.add(key, strconv.FormatInt(value, 10))
}

func (f ExtFields) addBool(key string, value bool) ExtFields {
	return f.add(key, strconv.FormatBool(value))
}

// fieldReader reads ext fields into a struct and keeps the first error.
type fieldReader struct {
	fields ExtFields
	err    error
}

// need returns the value of a required field.
func (r *fieldReader) need(key string) (string, bool) {
	value, ok := r.fields.Get(key)
	if !ok {
		r.fail("ext field %s is missing", key)
	}
	return value, ok
}

func (r *fieldReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

func (r *fieldReader) text(key string, dst *string) {
	if value, ok := r.need(key); ok {
		*dst = value
	}
}

func (r *fieldReader) optText(key string, dst *string) {
	if value, ok := r.fields.Get(key); ok {
		*dst = value
	}
}

func (r *fieldReader) int64(key string, dst *int64) {
	value, ok := r.need(key)
	if !ok {
		return
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		r.fail("ext field %s: %.20q is no 64-bit number", key, value)
		return
	}
	*dst = n
}

func (r *fieldReader) optInt64(key string, dst *int64) {
	if value, ok := r.fields.Get(key); ok {
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			*dst = n
		}
	}
}

func (r *fieldReader) int32(key string, dst *int32) {
	value, ok := r.need(key)
	if !ok {
		return
	}
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil {
		r.fail("ext field %s: %.20q is no 32-bit number", key, value)
		return
	}
	*dst = int32(n)
}

func (r *fieldReader) optInt32(key string, dst *int32) {
	if value, ok := r.fields.Get(key); ok {
		if n, err := strconv.ParseInt(value, 10, 32); err == nil {
			*dst = int32(n)
		}
	}
}

// optBool reads as Java does: whatever is not "true" is false.
func (r *fieldReader) optBool(key string, dst *bool) {
	if value, ok := r.fields.Get(key); ok {
		*dst = strings.EqualFold(value, "true")
	}
}

func (r *fieldReader) time(key string, dst *time.Time) {
	var ms int64
	if r.int64(key, &ms); r.err == nil {
		*dst = fromMillis(ms)
	}
}

// millis is t on the wire, where the zero time is 0.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// fromMillis undoes millis.
func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}
