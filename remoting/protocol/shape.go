package protocol

import (
	"encoding"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// What strictJSON has to know of the types that JSON is read into.

// field is what a member of an object is read into. The name is set where the peer's
// is another one.
type field struct {
	name string
	t    reflect.Type
}

// members says what the member of that name is read into, the zero field if nothing
// knows it.
type members func(name []byte) field

// membersOf are those of an object that is read into t.
func (r *rewriter) membersOf(t reflect.Type) members {
	switch {
	case t == nil:
		return func([]byte) field { return field{} }
	case t.Kind() == reflect.Map:
		return func([]byte) field { return field{t: t.Elem()} }
	case t.Kind() == reflect.Struct:
		fields := r.fieldsOf(t)
		return func(name []byte) field {
			if f, ok := fields[string(name)]; ok {
				return f
			}
			for known, f := range fields { // as the standard decoder does
				if strings.EqualFold(known, view(name)) {
					return f
				}
			}
			return field{}
		}
	}
	return func([]byte) field { return field{} }
}

// queueWithOffset are the members of a queue that has its value in t, a map, as one of them.
func (r *rewriter) queueWithOffset(t reflect.Type) members {
	queue := r.membersOf(t.Key())
	return func(name []byte) field {
		if string(name) == "offset" {
			return field{t: t.Elem()}
		}
		return queue(name)
	}
}

// fieldsOf are the fields of a struct by the names that peers give them: the one in the
// tag json, and one more in the tag also. The tag as:"time" makes one a timestamp.
func (r *rewriter) fieldsOf(t reflect.Type) map[string]field {
	if fields, ok := r.fields[t]; ok {
		return fields
	}
	fields := map[string]field{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			continue
		}
		t := f.Type
		if f.Tag.Get("as") == "time" {
			t = reflect.TypeFor[timestamp]()
		}
		fields[name] = field{t: t}
		if also := f.Tag.Get("also"); also != "" {
			fields[also] = field{name: name, t: t}
		}
	}
	if r.fields == nil {
		r.fields = map[reflect.Type]map[string]field{}
	}
	r.fields[t] = fields
	return fields
}

// isText reports whether t is read from a string: an enum is too, by its name.
func isText(t reflect.Type) bool {
	return t != nil && (t.Kind() == reflect.String || t.Kind() == reflect.Uint8 && reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()))
}

// isScalar reports whether t is a number or a truth.
func isScalar(t reflect.Type) bool {
	return t != nil && !isText(t) && (t.Kind() == reflect.Bool || t.Kind() == reflect.Float64 || isSigned(t))
}

func isSigned(t reflect.Type) bool { return t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64 }

// appendScalar appends the number or truth of type t that text means. What is no number to
// those who count (NaN) is null, as if the member were not there.
func appendScalar(dst []byte, text string, t reflect.Type) ([]byte, bool) {
	switch {
	case !isScalar(t):
		return dst, false
	case t.Kind() == reflect.Bool:
		switch strings.ToLower(text) {
		case "true", "1":
			return append(dst, "true"...), true
		case "false", "0":
			return append(dst, "false"...), true
		}
		return dst, false
	case t == reflect.TypeFor[timestamp]():
		return appendTimestamp(dst, text), true
	case isSigned(t):
		n, ok := integer(text, t.Bits())
		if !ok {
			return dst, false
		}
		return appendInt(dst, n), true
	}
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return dst, false
	case math.IsNaN(f) || math.IsInf(f, 0):
		return append(dst, "null"...), true
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64), true
}

// integer reads a whole number, which others write as a floating one (1.0, 1E3) and C++,
// where it is a small negative one, from an unsigned variable (18446744073709551615).
func integer(text string, bits int) (int64, bool) {
	if n, err := strconv.ParseInt(text, 10, bits); err == nil {
		return n, true
	}
	if u, err := strconv.ParseUint(text, 10, bits); err == nil && bits == 64 && int64(u) > math.MinInt32 {
		return int64(u), true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !strings.ContainsAny(text, ".eE") || f != math.Trunc(f) || math.Abs(f) >= math.Ldexp(1, min(bits-1, 53)) {
		return 0, false
	}
	return int64(f), true
}

// timestamp is a field of milliseconds since 1970, by its tag as:"time". What no clock
// shows (the C++ client gives away memory that it never wrote) is null.
type timestamp int64

const (
	earliestTimestamp = 100_000_000_000   // 1973: a count of seconds is less
	latestTimestamp   = 4_102_444_800_000 // 2100: one of microseconds is more
)

func appendTimestamp(dst []byte, text string) []byte {
	n, ok := integer(text, 64)
	if !ok || n < earliestTimestamp || n > latestTimestamp {
		return append(dst, "null"...)
	}
	return appendInt(dst, n)
}
