package protocol

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What peers write in place of a type's own form is read as they mean it.
func TestStrictJSONReadsWhatIsMeant(t *testing.T) {
	type inner struct {
		Count int32 `json:"count"`
	}
	type all struct {
		N       int64                  `json:"n"`
		F       float64                `json:"f"`
		B       bool                   `json:"droped" also:"dropped"`
		S       string                 `json:"s"`
		At      int64                  `json:"at" as:"time"`
		Model   MessageModel           `json:"model"`
		List    []int32                `json:"list"`
		Inner   *inner                 `json:"inner"`
		Texts   map[string]string      `json:"texts"`
		ByQueue ByQueue[inner]         `json:"byQueue"`
		Deep    map[string]map[int]int `json:"deep"`
	}
	byQueue := ByQueue[inner]{{Topic: "T", BrokerName: "b", QueueID: 2}: {Count: 3}}
	for src, want := range map[string]all{
		`{"n":"7"}`: {N: 7}, `{"n":7.0}`: {N: 7}, `{"n":"1.7E3"}`: {N: 1700}, `{n:" 7 "}`: {N: 7}, `{"N":'7'}`: {N: 7},
		`{"n":"18446744073709551615"}`: {N: -1}, `{"n":null}`: {},
		`{"f":"1.5"}`: {F: 1.5}, `{"f":NaN}`: {}, `{"f":"Infinity"}`: {}, `{"f":3}`: {F: 3},
		`{"dropped":true}`: {B: true}, `{"droped":"True"}`: {B: true}, `{"droped":1}`: {B: true}, `{"droped":"0"}`: {},
		`{"s":7}`: {S: "7"}, `{"s":true}`: {S: "true"}, `{"s":{"a":[1, "}"]}}`: {S: `{"a":[1, "}"]}`}, `{"s":null}`: {},
		`{"at":"1796090212718"}`: {At: 1796090212718}, `{"at":84}`: {}, `{"at":"7710535679914756096"}`: {}, `{"at":-1}`: {}, `{"at":"soon"}`: {},
		`{"model":1}`: {Model: Clustering}, `{"model":"0"}`: {Model: Broadcasting}, `{"model":clustering}`: {Model: Clustering}, `{"model":9}`: {},
		`{"list":["1",2,"-3"]}`: {List: []int32{1, 2, -3}}, `{"list":{}}`: {List: []int32{}},
		`{"inner":{"count":"5"}}`: {Inner: &inner{5}}, `{"inner":[]}`: {Inner: &inner{}},
		`{"texts":{"a":1,"b":"x"}}`: {Texts: map[string]string{"a": "1", "b": "x"}}, `{"texts":[]}`: {Texts: map[string]string{}},
		`{"byQueue":{{"topic":"T","brokerName":"b","queueId":"2"}:{"count":"3"}}}`:                            {ByQueue: byQueue},
		"{\"byQueue\":{{\n \"topic\" : \"T\",\n \"brokerName\" : \"b\",\n \"queueId\" : 2\n}:{\"count\":3}}}": {ByQueue: byQueue},
		`{"byQueue":[[{"topic":"T","brokerName":"b","queueId":"2"},{"count":"3"}]]}`:                          {ByQueue: byQueue},
		`{"deep":{"a":{1:"2"}}}`: {Deep: map[string]map[int]int{"a": {1: 2}}},
		"\uFEFF{\"n\":7}\n\x00":  {N: 7},
	} {
		var got all
		if err := decodeLenient([]byte(src), &got); err != nil {
			t.Errorf("%s: %v", src, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", src, diff)
		}
	}
	for _, src := range []string{`{"n":"x"}`, `{"n":1.5}`, `{"n":""}`, `{"n":9223372036854775808}`, `{"n":"1e30"}`, `{"list":{"a":1}}`, `{"droped":"perhaps"}`, `{"inner":[1]}`, `{"n":[7]}`} {
		var got all
		if err := decodeLenient([]byte(src), &got); err == nil {
			t.Errorf("%s is read as %+v", src, got)
		}
	}
}

// A type changes what stands for a value, never how much comes out.
func TestStrictJSONStaysBounded(t *testing.T) {
	for name, src := range map[string]string{
		"numbers as texts": `{"table":{` + strings.Repeat(`"a":1,`, 1000) + `"b":1}}`,
		"truths":           `{"table":{` + strings.Repeat(`"a":true,`, 1000) + `"b":[]}}`,
	} {
		var w struct {
			Table map[string]string `json:"table"`
		}
		strict, err := strictJSON([]byte(src), reflect.TypeOf(&w))
		if err != nil || len(strict) > 6*len(src) {
			t.Errorf("%s: %d bytes of %d, %v", name, len(strict), len(src), err)
		}
	}
}
