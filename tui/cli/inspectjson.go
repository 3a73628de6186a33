package cli

import (
	"encoding/json"
	"strings"
	"time"

	"eyeq/engine/inspect"
)

// jsonNumber gives a number for a script, and the reason when there is none. A bound
// is a number, with the reason why it is not more.
func numberJSON(n inspect.Number) (value *int64, why string) {
	if n.Known {
		value = &n.Value
	}
	return value, n.Why.String()
}

// marshalEach gives rows as a list of objects.
func marshalEach[R, J any](rows []R, of func(*R) J) ([]byte, error) {
	objects := make([]J, len(rows))
	for i := range rows {
		objects[i] = of(&rows[i])
	}
	return marshal(objects)
}

// timeJSON is a time for a script: null when it is not known.
type timeJSON time.Time

// MarshalJSON writes RFC 3339 with milliseconds, in UTC.
func (t timeJSON) MarshalJSON() ([]byte, error) { return appendJSONTime(nil, time.Time(t)), nil }

// millisJSON is a time that a member gives in milliseconds; 0 is none.
func millisJSON(ms int64) timeJSON {
	if ms <= 0 {
		return timeJSON{}
	}
	return timeJSON(time.UnixMilli(ms))
}

// emptyList is a list that is [] and not null.
func emptyList[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// namedOrNull is null for what has no name.
func namedOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// problemsJSON are lines for people.
func problemsJSON(problems []inspect.Problem) []string {
	lines := make([]string, len(problems))
	for i, p := range problems {
		lines[i] = p.String()
	}
	return lines
}

// valueJSON is a value in a broker's own text; what is no JSON becomes a string.
func valueJSON(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, err := marshal(text)
	if err != nil {
		return json.RawMessage("null")
	}
	return json.RawMessage(strings.TrimSpace(string(quoted)))
}
