package protocol

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseProperties(t *testing.T) {
	tests := map[string]struct {
		text string
		want []Property
	}{
		"empty":                           {"", nil},
		"one, 4.9":                        {"a\x01b", []Property{{"a", "b"}}},
		"one, 5.x":                        {"a\x01b\x02", []Property{{"a", "b"}}},
		"repeated":                        {"a\x01b\x02a\x01c", []Property{{"a", "b"}, {"a", "c"}}},
		"no separator":                    {"ab\x02c\x01d", []Property{{"c", "d"}}},
		"empty name":                      {"\x01b\x02c\x01d", []Property{{"c", "d"}}},
		"empty value":                     {"a\x01\x02c\x01d", []Property{{"c", "d"}}},
		"value holds the inner separator": {"a\x01b\x01c", []Property{{"a", "b\x01c"}}},
		"separators only":                 {"\x02\x02\x01\x02", []Property{}},
		"UTF-8":                           {"键\x01值\x02", []Property{{"键", "值"}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, ParseProperties(tt.text)); diff != "" {
				t.Errorf("ParseProperties(%q) (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

func TestFindProperty(t *testing.T) {
	const text = "KEYS\x01TAGS KEYS\x02XTAGS\x01no\x02TAGS\x01first\x02TAGSX\x01no\x02TAGS\x01last\x02TAGS\x01\x02e\x01\x02z\x01TAGS"
	tests := map[string]struct {
		name, want string
		ok         bool
	}{
		"the last non-empty one": {"TAGS", "last", true},
		"first item":             {"KEYS", "TAGS KEYS", true},
		"last item":              {"z", "TAGS", true},
		"prefix of a name":       {"TAG", "", false},
		"empty value":            {"e", "", false},
		"a value is no name":     {"first", "", false},
		"missing":                {"nothing", "", false},
		"empty name":             {"", "", false},
		"name with a separator":  {"TAGS\x01first", "", false},
		"name over two items":    {"no\x02TAGS", "", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := findProperty(text, tt.name)
			if got != tt.want || ok != tt.ok {
				t.Errorf("findProperty(%q) = %q, %t, want %q, %t", tt.name, got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestAppendProperties(t *testing.T) {
	properties := []Property{{"a", "b"}, {"c", "d"}}
	if got := string(AppendProperties(nil, properties, false)); got != "a\x01b\x02c\x01d" {
		t.Errorf("without trailing separator: %q", got)
	}
	if got := string(AppendProperties(nil, properties, true)); got != "a\x01b\x02c\x01d\x02" {
		t.Errorf("with trailing separator: %q", got)
	}
	if got := string(AppendProperties(nil, nil, true)); got != "" {
		t.Errorf("no properties: %q", got)
	}
}
