package page

import (
	"eyeq/tui/draw"
	"reflect"
	"time"
)

// CleanCopy lets an answer of a cluster in: a copy of v in which every text, at any
// depth and as a key of a map too, is safe to print. Unexported fields and times are
// taken as they are. It is called by commands, which have the time, and never changes v.
func CleanCopy[T any](v T) T {
	in := reflect.ValueOf(&v).Elem()
	if allTextsSafe(in) {
		return v
	}
	out := reflect.New(in.Type()).Elem()
	cleanValue(out, in)
	return out.Interface().(T)
}

var timeType = reflect.TypeFor[time.Time]()

// allTextsSafe spares the copy in the usual case.
func allTextsSafe(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		return draw.IsSafe(v.String())
	case reflect.Pointer, reflect.Interface:
		return v.IsNil() || allTextsSafe(v.Elem())
	case reflect.Struct:
		for i := 0; v.Type() != timeType && i < v.NumField(); i++ {
			if v.Type().Field(i).IsExported() && !allTextsSafe(v.Field(i)) {
				return false
			}
		}
	case reflect.Slice, reflect.Array:
		if !mayHoldText(v.Type().Elem()) {
			return true
		}
		for i := range v.Len() {
			if !allTextsSafe(v.Index(i)) {
				return false
			}
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			if !allTextsSafe(entries.Key()) || !allTextsSafe(entries.Value()) {
				return false
			}
		}
	}
	return true
}

// mayHoldText keeps bytes and numbers from being looked at one by one.
func mayHoldText(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Pointer, reflect.Interface, reflect.Struct, reflect.Slice, reflect.Array, reflect.Map:
		return true
	}
	return false
}

func cleanValue(out, in reflect.Value) {
	out.Set(in)
	switch in.Kind() {
	case reflect.String:
		out.SetString(draw.SafeText(in.String()))
	case reflect.Pointer:
		if !in.IsNil() {
			out.Set(reflect.New(in.Type().Elem()))
			cleanValue(out.Elem(), in.Elem())
		}
	case reflect.Interface:
		if !in.IsNil() {
			inner := reflect.New(in.Elem().Type()).Elem()
			cleanValue(inner, in.Elem())
			out.Set(inner)
		}
	case reflect.Struct:
		for i := 0; in.Type() != timeType && i < in.NumField(); i++ {
			if in.Type().Field(i).IsExported() {
				cleanValue(out.Field(i), in.Field(i))
			}
		}
	case reflect.Array:
		for i := range in.Len() {
			cleanValue(out.Index(i), in.Index(i))
		}
	case reflect.Slice:
		if in.IsNil() || !mayHoldText(in.Type().Elem()) {
			return
		}
		out.Set(reflect.MakeSlice(in.Type(), in.Len(), in.Len()))
		for i := range in.Len() {
			cleanValue(out.Index(i), in.Index(i))
		}
	case reflect.Map:
		if in.IsNil() {
			return
		}
		out.Set(reflect.MakeMapWithSize(in.Type(), in.Len()))
		for entries := in.MapRange(); entries.Next(); {
			k, v := reflect.New(in.Type().Key()).Elem(), reflect.New(in.Type().Elem()).Elem()
			cleanValue(k, entries.Key())
			cleanValue(v, entries.Value())
			out.SetMapIndex(k, v)
		}
	}
}
