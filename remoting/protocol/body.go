package protocol

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// decodeBody reads a body in any of its known forms by the json tags of T; what names
// it in an error.
func decodeBody[T any](body []byte, what string) (T, error) {
	var v T
	if err := decodeLenient(body, &v); err != nil {
		var none T
		return none, fmt.Errorf("decode %s: %w", what, err)
	}
	return v, nil
}

// encodeBody writes a struct by its json tags as Java's library does: members in the
// order of their names, an enum by its name, one that is not known (or is zero and
// tagged omitzero) left out, numbers with a decimal where Java has a double, queues and
// integers as keys of a map as they are.
func encodeBody(v any) []byte { return appendValue(nil, reflect.ValueOf(v)) }

func appendValue(dst []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.String:
		return appendString(dst, v.String())
	case reflect.Bool:
		return strconv.AppendBool(dst, v.Bool())
	case reflect.Int32, reflect.Int64:
		return strconv.AppendInt(dst, v.Int(), 10)
	case reflect.Float64:
		return appendDouble(dst, v.Float())
	case reflect.Uint8:
		return appendString(dst, fmt.Sprint(v.Interface()))
	case reflect.Pointer:
		return appendValue(dst, v.Elem())
	case reflect.Slice:
		dst = append(dst, '[')
		for i := range v.Len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendValue(dst, v.Index(i))
		}
		return append(dst, ']')
	case reflect.Map:
		return appendMap(dst, v)
	case reflect.Struct:
		return appendStruct(dst, v)
	}
	panic(fmt.Sprintf("%v is no type of a body", v.Type()))
}

func appendStruct(dst []byte, v reflect.Value) []byte {
	members := map[string]reflect.Value{}
	for sf, value := range v.Fields() {
		name, option, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if (option == "omitzero" || value.Kind() == reflect.Uint8) && value.IsZero() {
			continue
		}
		members[name] = value
	}
	o := beginObject(dst)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		o.name(name)
		o.dst = appendValue(o.dst, members[name])
	}
	return o.end()
}

// appendMap writes a map by text or by queue in the order of its keys.
func appendMap(dst []byte, v reflect.Value) []byte {
	o := beginObject(dst)
	if v.Type().Key() == reflect.TypeFor[MessageQueue]() {
		queues := make(map[MessageQueue]reflect.Value, v.Len())
		for key, value := range v.Seq2() {
			queues[key.Interface().(MessageQueue)] = value
		}
		for _, mq := range sortedQueues[reflect.Value](queues) {
			o.queueName(mq)
			o.dst = appendValue(o.dst, queues[mq])
		}
		return o.end()
	}
	texts := make(map[string]reflect.Value, v.Len())
	for key, value := range v.Seq2() {
		texts[key.String()] = value
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		o.textName(name)
		o.dst = appendValue(o.dst, texts[name])
	}
	return o.end()
}
