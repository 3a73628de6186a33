package protocol

import (
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"
)

// A typed header is a struct whose fields say by a tag which ext fields they are, in
// the order in which they are written:
//
//	Topic      string    `rmq:"topic"`                // must be there
//	BrokerName string    `rmq:"bname,opt"`            // may be missing
//	Delta      int64     `rmq:"offsetDelta,omitzero"` // may be missing, and 0 is not written
//	_          string    `rmq:"topicSysFlag=0"`       // is written as it stands here and never read
//
// A field is a string, a bool or a pointer to one, an int32, an int64 or a type of
// theirs, a time.Time or a time.Duration (both milliseconds on the wire, where the
// zero time is 0). An empty string that is optional is not written, nor is a nil
// pointer. A field without tag is no ext field.
//
// Two headers have methods of their own, because they have a rule that no tag says:
// SendMessageRequestHeader and InvokeResetOffsetRequestHeader.

// EncodeFields gives the ext fields of h, a typed header.
func EncodeFields[T any](h *T) ExtFields {
	fields := headerFields(reflect.TypeFor[T]())
	out := make(ExtFields, 0, len(fields))
	for i := range fields {
		f := &fields[i]
		if value, ok := f.encode(unsafe.Add(unsafe.Pointer(h), f.offset)); ok {
			out = append(out, ExtField{Key: f.name, Value: value})
		}
	}
	return out
}

// DecodeFields reads fields into h, a typed header. A required field that is missing or
// does not parse is an error that names it. An optional field that is absent keeps the
// value that is in h, and so does one that does not parse, since servers treat it as
// absent. The strings in h are those of the ext fields: views into a frame where the
// command was decoded from one.
func DecodeFields[T any](fields ExtFields, h *T) error {
	known := headerFields(reflect.TypeFor[T]())
	for i := range known {
		f := &known[i]
		if f.kind == constantField {
			continue
		}
		value, ok := fields.Get(f.name)
		if !ok {
			if f.optional {
				continue
			}
			return fmt.Errorf("ext field %s is missing", f.name)
		}
		err := f.decode(unsafe.Add(unsafe.Pointer(h), f.offset), value)
		if err != nil && !f.optional {
			return f.notNumber(value)
		}
	}
	return nil
}

func (f *headerField) notNumber(value string) error {
	bits := 64
	if f.kind == int32Field {
		bits = 32
	}
	return fmt.Errorf("ext field %s: %.20q is no %d-bit number", f.name, value, bits)
}

// headerField is one ext field of a typed header.
type headerField struct {
	name     string
	kind     fieldKind
	offset   uintptr // in the struct
	optional bool
	omitZero bool
	constant string
}

// fieldKind says what stands at the offset of a headerField.
type fieldKind uint8

const (
	constantField fieldKind = iota
	textField
	boolField
	maybeBoolField // *bool
	int32Field
	int64Field
	timeField
	durationField
)

// encode gives the value of the field at p; ok is false when it is not written.
func (f *headerField) encode(p unsafe.Pointer) (value string, ok bool) {
	var n int64
	switch f.kind {
	case constantField:
		return f.constant, true
	case textField:
		value = *(*string)(p)
		return value, value != "" || !f.optional
	case boolField:
		return strconv.FormatBool(*(*bool)(p)), true
	case maybeBoolField:
		if b := *(**bool)(p); b != nil {
			return strconv.FormatBool(*b), true
		}
		return "", false
	case int32Field:
		n = int64(*(*int32)(p))
	case int64Field:
		n = *(*int64)(p)
	case timeField:
		n = millis(*(*time.Time)(p))
	case durationField:
		n = (*(*time.Duration)(p)).Milliseconds()
	}
	if n == 0 && f.omitZero {
		return "", false
	}
	return strconv.FormatInt(n, 10), true
}

// decode stores value at p, unless it does not parse.
func (f *headerField) decode(p unsafe.Pointer, value string) error {
	var n int64
	var err error
	switch f.kind {
	case textField:
		*(*string)(p) = value
	case boolField:
		*(*bool)(p) = isTrue(value)
	case maybeBoolField:
		b := isTrue(value)
		*(**bool)(p) = &b
	case int32Field:
		if n, err = strconv.ParseInt(value, 10, 32); err == nil {
			*(*int32)(p) = int32(n)
		}
	case int64Field:
		if n, err = parseInt64(value); err == nil {
			*(*int64)(p) = n
		}
	case timeField:
		if n, err = parseInt64(value); err == nil {
			*(*time.Time)(p) = fromMillis(n)
		}
	case durationField:
		if n, err = parseInt64(value); err == nil {
			*(*time.Duration)(p) = boundedMillis(n)
		}
	}
	return err
}

// parseInt64 is strconv.ParseInt; Atoi has a shorter way for a number of few digits.
func parseInt64(s string) (int64, error) {
	if strconv.IntSize < 64 {
		return strconv.ParseInt(s, 10, 64)
	}
	n, err := strconv.Atoi(s)
	return int64(n), err
}

// isTrue reads as Java does: whatever is not "true" is false.
func isTrue(value string) bool { return strings.EqualFold(value, "true") }

// headerTypes holds what the tags of each header type say that was used so far. Who
// adds one stores a whole new map; when two do at once, one is worked out again later.
var headerTypes atomic.Pointer[map[reflect.Type][]headerField]

func headerFields(t reflect.Type) []headerField {
	var known map[reflect.Type][]headerField
	if p := headerTypes.Load(); p != nil {
		known = *p
	}
	fields, ok := known[t]
	if !ok {
		fields = readTags(t)
		more := make(map[reflect.Type][]headerField, len(known)+1)
		maps.Copy(more, known)
		more[t] = fields
		headerTypes.Store(&more)
	}
	return fields
}

// readTags panics for a struct that is no typed header, which is a fault of ours.
func readTags(t reflect.Type) []headerField {
	var fields []headerField
	for sf := range t.Fields() {
		tag, ok := sf.Tag.Lookup("rmq")
		if !ok {
			continue
		}
		f := headerField{offset: sf.Offset}
		name, option, _ := strings.Cut(tag, ",")
		f.omitZero = option == "omitzero"
		f.optional = f.omitZero || option == "opt"
		if f.name, f.constant, ok = strings.Cut(name, "="); !ok {
			f.kind = fieldKindOf(sf.Type)
		}
		if f.name == "" || option != "" && !f.optional {
			panic(fmt.Sprintf("%v: %s: the tag %q", t, sf.Name, tag))
		}
		fields = append(fields, f)
	}
	if len(fields) == 0 {
		panic(fmt.Sprintf("%v has no ext field", t))
	}
	return fields
}

func fieldKindOf(t reflect.Type) fieldKind {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return timeField
	case t == reflect.TypeFor[time.Duration]():
		return durationField
	case t == reflect.TypeFor[*bool]():
		return maybeBoolField
	}
	switch t.Kind() {
	case reflect.String:
		return textField
	case reflect.Bool:
		return boolField
	case reflect.Int32:
		return int32Field
	case reflect.Int64:
		return int64Field
	}
	panic(fmt.Sprintf("%v is no type of an ext field", t))
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

// boundedMillis keeps a duration from the wire from overflowing.
func boundedMillis(ms int64) time.Duration {
	const limit = int64(24 * time.Hour / time.Millisecond)
	return time.Duration(max(-limit, min(ms, limit))) * time.Millisecond
}
