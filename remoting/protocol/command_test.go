package protocol

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

// frameOf puts a header and a body into a frame without its length.
func frameOf(serialize SerializeType, header, body string) []byte {
	frame := binary.BigEndian.AppendUint32(nil, uint32(serialize)<<24|uint32(len(header)))
	return append(append(frame, header...), body...)
}

// What RocketMQ's servers read in a header, and what they make of it.
func TestDecodeJSONHeader(t *testing.T) {
	tests := map[string]struct {
		header string
		want   Command
	}{
		"empty":                     {`{}`, Command{}},
		"all":                       {`{"code":30,"language":"GO","version":317,"opaque":-7,"flag":3,"remark":"r","extFields":{"topic":"H1"}}`, Command{Code: 30, Language: LanguageGo, Version: 317, Opaque: -7, Flag: 3, Remark: "r", ExtFields: ExtFields{{"topic", "H1"}}}},
		"blanks":                    {" {\t\"code\" :\r\n 30 , \"flag\": 1 } \n", Command{Code: 30, Flag: 1}},
		"single quotes":             {`{'code':30,'extFields':{'a':'say "x"'}}`, Command{Code: 30, ExtFields: ExtFields{{"a", `say "x"`}}}},
		"unquoted names":            {`{code:30,extFields:{queueId:"0",$x_1:"y"}}`, Command{Code: 30, ExtFields: ExtFields{{"queueId", "0"}, {"$x_1", "y"}}}},
		"numbers as strings":        {`{"code":"30","opaque":"-7"}`, Command{Code: 30, Opaque: -7}},
		"other kinds as ext values": {`{"extFields":{"a":1,"b":true,"c":-1.5e3,"d":{"x":["}"]},"e":[1,2]}}`, Command{ExtFields: ExtFields{{"a", "1"}, {"b", "true"}, {"c", "-1.5e3"}, {"d", `{"x":["}"]}`}, {"e", "[1,2]"}}}},
		"nulls":                     {`{"code":null,"language":null,"remark":null,"extFields":null}`, Command{}},
		"null as ext value":         {`{"extFields":{"a":null,"b":"null"}}`, Command{ExtFields: ExtFields{{"b", "null"}}}},
		"no ext field":              {`{"extFields":{}}`, Command{ExtFields: ExtFields{}}},
		"language as ordinal":       {`{"language":9}`, Command{Language: LanguageGo}},
		"language unknown":          {`{"language":"COBOL"}`, Command{Language: LanguageOther}},
		"language beyond a byte":    {`{"language":300}`, Command{Language: LanguageOther}},
		"unknown members":           {`{"x":{"y":[{},"]"]},"serializeTypeCurrentRPC":"JSON","z":[],"code":1}`, Command{Code: 1}},
		"repeated members":          {`{"code":1,"code":2,"extFields":{"a":"1","b":"2","a":"3"}}`, Command{Code: 2, ExtFields: ExtFields{{"a", "3"}, {"b", "2"}}}},
		"escapes":                   {`{"remark":"\"\\\/\b\f\n\r\t\'\u00e9\ud83d\ude80","extFields":{"i":"a\u0001b\u0002"}}`, Command{Remark: "\"\\/\b\f\n\r\t'é🚀", ExtFields: ExtFields{{"i", "a\x01b\x02"}}}},
		"broken surrogates":         {`{"remark":"\ud83d \ude80\ud83dA"}`, Command{Remark: "\uFFFD \uFFFD\uFFFDA"}},
		"escaped name":              {`{"\u0063ode":7}`, Command{Code: 7}},
		"raw control characters":    {"{\"remark\":\"a\x01\nb\"}", Command{Remark: "a\x01\nb"}},
		"UTF-8":                     {`{"remark":"über 中文 🚀"}`, Command{Remark: "über 中文 🚀"}},
		"body":                      {`{"code":1}`, Command{Code: 1, Body: []byte("body")}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := DecodeCommand(frameOf(SerializeJSON, tt.header, string(tt.want.Body)))
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("header %s: %v (-want +got):\n%s", tt.header, err, diff)
			}
		})
	}
}

func TestDecodeCommandRefuses(t *testing.T) {
	many := strings.Builder{}
	for i := range maxExtFields + 1 {
		fmt.Fprintf(&many, `"%d":"",`, i)
	}
	headers := map[string]string{
		"nothing":                "",
		"no object":              `[]`,
		"a text":                 `"code"`,
		"text after":             `{"code":1}x`,
		"another object":         `{"code":1}{}`,
		"cut":                    `{"code":1`,
		"cut in a string":        `{"remark":"x`,
		"cut in an escape":       `{"remark":"x\`,
		"cut in a nested value":  `{"x":{"y":[1,`,
		"no colon":               `{"code" 1}`,
		"no comma":               `{"code":1 "flag":1}`,
		"comma at last":          `{"code":1,}`,
		"comma at first":         `{,"code":1}`,
		"no value":               `{"code":}`,
		"no name":                `{:1}`,
		"word as value":          `{"code":one}`,
		"word as ext value":      `{"extFields":{"a":one}}`,
		"code over 32 bits":      `{"code":2147483648}`,
		"code with fraction":     `{"code":1.0}`,
		"code as object":         `{"code":{}}`,
		"ext fields as text":     `{"extFields":"x"}`,
		"ext fields as array":    `{"extFields":[]}`,
		"unknown escape":         `{"remark":"\x41"}`,
		"short unicode escape":   `{"remark":"\u12"}`,
		"signed unicode escape":  `{"remark":"\u+123"}`,
		"brackets that mismatch": `{"x":[}]}`,
		"nested too deep":        `{"x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`,
		"too many ext fields":    `{"extFields":{` + strings.TrimSuffix(many.String(), ",") + `}}`,
	}
	for name, header := range headers {
		t.Run(name, func(t *testing.T) {
			if c, err := DecodeCommand(frameOf(SerializeJSON, header, "")); err == nil {
				t.Errorf("%.100s decoded to %+v, want an error", header, c)
			}
		})
	}
	frames := map[string][]byte{
		"empty":               nil,
		"no header word":      {0, 0, 0},
		"header longer":       {0, 0, 0, 3, '{', '}'},
		"unknown encoding":    frameOf(2, `{}`, ""),
		"ROCKETMQ too short":  frameOf(SerializeRocketMQ, strings.Repeat("\x00", rocketMQFixed-1), ""),
		"ROCKETMQ text after": frameOf(SerializeRocketMQ, strings.Repeat("\x00", rocketMQFixed+1), ""),
	}
	for name, frame := range frames {
		t.Run(name, func(t *testing.T) {
			if c, err := DecodeCommand(frame); err == nil {
				t.Errorf("decoded to %+v, want an error", c)
			}
		})
	}
}

func TestDecodeRocketMQHeaderRefuses(t *testing.T) {
	c := Command{Code: 30, Remark: "r", ExtFields: ExtFields{{"topic", "H1"}}}
	good, err := AppendFrame(nil, &c, SerializeRocketMQ)
	if err != nil {
		t.Fatal(err)
	}
	good = good[4:]
	const remarkAt, extAt = 4 + 13, 4 + 18
	tests := map[string]func(b []byte){
		"remark longer":       func(b []byte) { b[remarkAt+3] = 100 },
		"remark negative":     func(b []byte) { b[remarkAt] = 0xFF },
		"ext fields longer":   func(b []byte) { b[extAt+3]++ },
		"ext fields shorter":  func(b []byte) { b[extAt+3]-- },
		"ext fields negative": func(b []byte) { b[extAt] = 0xFF },
		"key longer":          func(b []byte) { b[extAt+5] = 100 },
		"key negative":        func(b []byte) { b[extAt+4] = 0xFF },
		"value longer":        func(b []byte) { b[extAt+6+5+3] = 100 },
		"value negative":      func(b []byte) { b[extAt+6+5] = 0xFF },
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			frame := append([]byte{}, good...)
			spoil(frame)
			if c, err := DecodeCommand(frame); err == nil {
				t.Errorf("decoded to %+v, want an error", c)
			}
		})
	}
	if _, err := DecodeCommand(good); err != nil {
		t.Errorf("the unspoilt frame: %v", err)
	}
}

func TestAppendFrameEscapes(t *testing.T) {
	want := Command{
		Remark:    "quote \" backslash \\ controls \x00\x01\x02\b\f\n\r\t\x1f del \x7f über 🚀",
		ExtFields: ExtFields{{"i", "KEYS\x01a b\x02"}, {`"`, ""}},
	}
	frame, err := AppendFrame(nil, &want, SerializeJSON)
	if err != nil {
		t.Fatal(err)
	}
	header := frame[8:]
	var standard struct {
		Remark    string
		ExtFields map[string]string
	}
	if err := json.Unmarshal(header, &standard); err != nil {
		t.Fatalf("%s is no JSON: %v", header, err)
	}
	if standard.Remark != want.Remark || standard.ExtFields["i"] != "KEYS\x01a b\x02" {
		t.Errorf("read by the standard library as %+v", standard)
	}
	got, err := DecodeCommand(frame[4:])
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if !strings.Contains(string(header), `KEYS\u0001a b\u0002`) {
		t.Errorf("separators are not escaped as other peers do: %s", header)
	}
}

func TestAppendFrameRefuses(t *testing.T) {
	fits := Command{Body: make([]byte, MaxFrameLength)}
	for fits.Body != nil {
		frame, err := AppendFrame(nil, &fits, SerializeJSON)
		if err == nil {
			if len(frame) != MaxFrameLength {
				t.Errorf("longest frame has %d bytes, want %d", len(frame), MaxFrameLength)
			}
			break
		}
		over := 8 + len(`{"code":0,"flag":0,"language":"JAVA","opaque":0,"version":0}`)
		if fits.Body = fits.Body[:MaxFrameLength-over]; len(fits.Body)+over != MaxFrameLength {
			t.Fatal("the test is wrong about the header")
		}
	}
	tests := map[string]struct {
		command Command
		encode  SerializeType
	}{
		"over the limit":           {Command{Body: make([]byte, MaxFrameLength)}, SerializeJSON},
		"over the limit, ROCKETMQ": {Command{Body: make([]byte, MaxFrameLength)}, SerializeRocketMQ},
		"code over 16 bits":        {Command{Code: 200050}, SerializeRocketMQ},
		"version over 16 bits":     {Command{Version: 40000}, SerializeRocketMQ},
		"name over 15 bits":        {Command{ExtFields: ExtFields{{strings.Repeat("k", 40000), ""}}}, SerializeRocketMQ},
		"unknown encoding":         {Command{}, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := AppendFrame([]byte("before"), &tt.command, tt.encode); err == nil || string(got) != "before" {
				t.Errorf("%d bytes, error %v, want what was there and an error", len(got), err)
			}
		})
	}
}

// Only the list of ext fields is made; strings point into the frame.
func TestDecodedCommandIsAView(t *testing.T) {
	f := recorded(t, pullAnswer)
	frame := f.bytes[4:]
	var c Command
	if allocs := testing.AllocsPerRun(100, func() {
		var err error
		if c, err = DecodeCommand(frame); err != nil {
			t.Fatal(err)
		}
	}); allocs > 1 {
		t.Errorf("%v allocations, want the list of ext fields only", allocs)
	}
	within := func(s *byte) bool {
		at := uintptr(unsafe.Pointer(s)) - uintptr(unsafe.Pointer(&frame[0]))
		return at < uintptr(len(frame))
	}
	for _, field := range c.ExtFields {
		if !within(unsafe.StringData(field.Key)) || !within(unsafe.StringData(field.Value)) {
			t.Errorf("%s=%s was copied", field.Key, field.Value)
		}
	}
	if !within(&c.Body[0]) || within(unsafe.StringData(c.Remark)) {
		t.Error("the body was copied, or the remark FOUND was not shared")
	}
}

func TestCodeNames(t *testing.T) {
	tests := map[string]fmt.Stringer{
		"PULL_MESSAGE": PullMessage, "NOTIFY_CONSUMER_IDS_CHANGED": NotifyConsumerIDsChanged, "RequestCode(123)": RequestCode(123),
		"PULL_OFFSET_MOVED": PullOffsetMoved, "FLOW_CONTROL": FlowControl, "ResponseCode(-1000)": ResponseCode(-1000),
		"JAVA": LanguageJava, "GO": LanguageGo, "OTHER": LanguageOther, "NODE_JS": LanguageCode(13), "LanguageCode(14)": LanguageCode(14),
	}
	for want, code := range tests {
		if got := code.String(); got != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
}
