package protocol

import (
	"maps"
	"slices"
	"strings"
)

// runtimeInfo is the answer to 28.
type runtimeInfo struct {
	Table map[string]string `json:"table"`
}

// EncodeRuntimeInfo writes the answer to 28.
func EncodeRuntimeInfo(table map[string]string) []byte { return encodeBody(runtimeInfo{table}) }

// DecodeRuntimeInfo reads the answer to 28 (and 219): texts by name.
func DecodeRuntimeInfo(body []byte) (map[string]string, error) {
	w, err := decodeBody[runtimeInfo](body, "runtime info")
	return w.Table, err
}

// EncodeConfig writes the answer to 26 and 319: lines of key=value.
func EncodeConfig(config map[string]string) []byte {
	var dst []byte
	for _, name := range slices.Sorted(maps.Keys(config)) {
		dst = append(append(append(append(dst, name...), '='), config[name]...), '\n')
	}
	return dst
}

// DecodeConfig reads the answer to 26 and 319. A line without '=' is a name without
// value; comments and blank lines are left out.
func DecodeConfig(body []byte) map[string]string {
	config := map[string]string{}
	for line := range strings.Lines(string(body)) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, _ := strings.Cut(line, "=")
		config[name] = value
	}
	return config
}
