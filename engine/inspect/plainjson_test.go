package inspect

import (
	"encoding/json"
	"testing"
)

func TestPlainJSON(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"plain":         {`{"a":"orders 订单 é 👍"}`, `{"a":"orders 订单 é 👍"}`},
		"DEL":           {"\"a\x7fb\"", `"a\u007fb"`},
		"C1":            {"\"\u0080\u009b31m\u009f\u00a0\"", "\"\\u0080\\u009b31m\\u009f\u00a0\""},
		"bidi":          {"\"\u061c\u200e\u200f\u202a\u202e\u2066\u2069\"", `"\u061c\u200e\u200f\u202a\u202e\u2066\u2069"`},
		"line breaks":   {"\"\u2028\u2029\"", `"\u2028\u2029"`},
		"neighbours":    {"\"\u061b\u061d\u200d\u2010\u2027\u202f\u2065\u206a\"", "\"\u061b\u061d\u200d\u2010\u2027\u202f\u2065\u206a\""},
		"no UTF-8":      {"\"\xff\"", "\"\xff\""},
		"first and end": {"\x7f", `\u007f`},
	} {
		t.Run(name, func(t *testing.T) {
			got := string(PlainJSON([]byte(tt.in)))
			if got != tt.want {
				t.Errorf("PlainJSON(%q)\n got %q\nwant %q", tt.in, got, tt.want)
			}
			var before, after string
			if json.Unmarshal([]byte(tt.in), &before) == nil && (json.Unmarshal([]byte(got), &after) != nil || after != before) {
				t.Errorf("%q stands for %q, not for %q", got, after, before)
			}
		})
	}
}
