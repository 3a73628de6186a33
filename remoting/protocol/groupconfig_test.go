package protocol

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// strangeConfig has what a change of another member must not touch: an order of its
// own, blanks, numbers as somebody wrote them, names that nobody here knows.
const strangeConfig = `{ "zeta":1.50, 'groupName':'G''s "own"' ,"consumeEnable": true ,"big":12345678901234567890,` +
	`"more":{"a":[1,{"}":"]"}],"b":null},"consumeEnabled":"x","e":1E+2}`

func TestGroupConfigKeepsWhatIsNotChanged(t *testing.T) {
	tests := map[string]struct{ text, name, value, want string }{
		"one of many":  {strings.Replace(strangeConfig, "G''s", "G", 1), "consumeEnable", "false", strings.Replace(strings.Replace(strangeConfig, "G''s", "G", 1), ": true ", ": false ", 1)},
		"an object":    {`{"a":{"b":1},"c":2}`, "a", `{"d":[]}`, `{"a":{"d":[]},"c":2}`},
		"a new one":    {`{"a":1 }`, "b", `"x"`, `{"a":1 ,"b":"x"}`},
		"a first one":  {` { } `, "b", `2`, ` { "b":2} `},
		"of nothing":   {"", "b", `2`, `{"b":2}`},
		"a twin":       {`{"a":1,"a":2}`, "a", `3`, `{"a":1,"a":3}`},
		"name escaped": {`{"a":1}`, `q"`, `3`, `{"a":1,"q\"":3}`},
		"same as name": {`{"v":"consumeEnable","consumeEnable":1}`, "consumeEnable", `2`, `{"v":"consumeEnable","consumeEnable":2}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var c GroupConfig
			if tt.text != "" {
				var err error
				if c, err = ParseGroupConfig(tt.text); err != nil {
					t.Fatal(err)
				}
			}
			before := c
			if err := c.Set(tt.name, tt.value); err != nil || c.String() != tt.want {
				t.Errorf("got %s, %v, want %s", c, err, tt.want)
			}
			if got, ok := c.Get(tt.name); !ok || got != tt.value {
				t.Errorf("reading back: got %s, %v", got, ok)
			}
			if tt.text != "" && before.String() != tt.text {
				t.Errorf("the copy became %s", before)
			}
		})
	}
}

func TestGroupConfigMembers(t *testing.T) {
	c, err := ParseGroupConfig(`{"groupName":"a\"b\u00e9","consumeEnable":"true","retryMaxTimes":"16","odd":[ 1 ],"n":-3,"d":1.5}`)
	if err != nil {
		t.Fatal(err)
	}
	want := []ConfigMember{
		{"groupName", `"a\"b\u00e9"`}, {"consumeEnable", `"true"`}, {"retryMaxTimes", `"16"`}, {"odd", "[ 1 ]"}, {"n", "-3"}, {"d", "1.5"},
	}
	if diff := cmp.Diff(want, c.Members()); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
	if got := c.GroupName(); got != `a"bé` {
		t.Errorf("group name %q", got)
	}
	enabled, ok := c.Bool("consumeEnable")
	times, okTimes := c.Int("retryMaxTimes")
	n, okN := c.Int("n")
	if !enabled || !ok || times != 16 || !okTimes || n != -3 || !okN {
		t.Errorf("got %v %v, %d %v, %d %v", enabled, ok, times, okTimes, n, okN)
	}
	_, okOdd := c.Bool("odd")
	_, okD := c.Int("d")
	_, okNone := c.Get("none")
	if okOdd || okD || okNone {
		t.Errorf("values that are not: %v %v %v", okOdd, okD, okNone)
	}
	for _, value := range []string{"", "{", "1 2", "x", `"a`, "{}{}", "1,"} {
		if err := c.Set("n", value); err == nil {
			t.Errorf("value %q is taken", value)
		}
	}
	if got, _ := c.Get("n"); got != "-3" {
		t.Errorf("n became %s", got)
	}
	if got := NewGroupConfig(`G"`).String(); got != `{"groupName":"G\""}` {
		t.Errorf("a new one: %s", got)
	}
}

// Attributes as they were read would be refused, changes of them are wanted.
func TestGroupConfigIsWrittenWithoutItsAttributes(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1}`:                                     `{"a":1}`,
		`{"attributes":{},"a":1}`:                     `{"attributes":{},"a":1}`,
		`{"attributes":{"k":"v"},"a":1}`:              `{"attributes":{},"a":1}`,
		`{"attributes":{"+k":"v","-l":""},"a":1}`:     `{"attributes":{"+k":"v","-l":""},"a":1}`,
		`{"attributes":{"+k":"v","plain":"1"},"a":1}`: `{"attributes":{},"a":1}`,
		`{"attributes":null,"a":1}`:                   `{"attributes":{},"a":1}`,
	} {
		c, err := ParseGroupConfig(text)
		if got := c.Update(); got != want || err != nil {
			t.Errorf("%s is written as %s, %v, want %s", text, got, err, want)
		}
	}
}

// Answers to 201 as brokers wrote them.
func TestDecodeGroupConfigs(t *testing.T) {
	const four = `{"brokerId":0,"consumeBroadcastEnable":true,"consumeEnable":true,"consumeFromMinEnable":true,"groupName":"G1","notifyConsumerIdsChangedEnable":true,"retryMaxTimes":16,"retryQueueNums":1,"whichBrokerWhenConsumeSlowly":1}`
	const five = `{"attributes":{},"brokerId":2,"consumeBroadcastEnable":false,"consumeEnable":false,"consumeFromMinEnable":false,"consumeMessageOrderly":true,"consumeTimeoutMinute":30,"groupName":"G2","groupRetryPolicy":{"exponentialRetryPolicy":{"initial":5000,"max":7200000,"multiplier":2},"type":"EXPONENTIAL"},"groupSysFlag":4,"notifyConsumerIdsChangedEnable":false,"retryMaxTimes":3,"retryQueueNums":2,"whichBrokerWhenConsumeSlowly":3}`
	got, err := DecodeGroupConfigs([]byte(`{"dataVersion":{"counter":16,"stateVersion":0,"timestamp":1796001071909},"forbiddenTable":{"G2":{"T":4,"U":"6"}},"subscriptionGroupTable":{"G1":` + four + `,"G2":` + five + `,"a \"b\"":{}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Groups) != 3 || got.Groups["G1"].String() != four || got.Groups["G2"].String() != five || got.Groups[`a "b"`].String() != "{}" {
		t.Errorf("got %v", got.Groups)
	}
	if diff := cmp.Diff(map[string]map[string]int32{"G2": {"T": 4, "U": 6}}, got.Forbidden); diff != "" {
		t.Errorf("forbidden (-want +got):\n%s", diff)
	}
	for _, body := range []string{
		`{"subscriptionGroupTable":{"G":1}}`, `{"subscriptionGroupTable":[]}`, `{"subscriptionGroupTable":{"G":{"a"}}}`,
		`{"subscriptionGroupTable":{"G":{}}`, `{"forbiddenTable":{"G":{"T":"x"}}}`, `{"forbiddenTable":3}`,
	} {
		if got, err := DecodeGroupConfigs([]byte(body)); err == nil {
			t.Errorf("%s: got %v, want an error", body, got)
		}
	}
	if got, err := DecodeGroupConfigs([]byte(`{"subscriptionGroupTable":null,"forbiddenTable":null}`)); err != nil || len(got.Groups) != 0 {
		t.Errorf("no table: got %v, %v", got, err)
	}
}

func FuzzGroupConfig(f *testing.F) {
	f.Add(strangeConfig, "consumeEnable", "false")
	f.Add(`{"a":1,"a":{"b":[]}}`, "b", `"x"`)
	f.Add(`{}`, `"`, `{}`)
	f.Fuzz(func(t *testing.T, text, name, value string) {
		before, err := ParseGroupConfig(text)
		if err != nil {
			return
		}
		after := before
		if after.Set(name, value) != nil {
			if after != before {
				t.Errorf("%q was not set, but changed", name)
			}
			return
		}
		if _, err := ParseGroupConfig(after.String()); err != nil {
			t.Fatalf("%q with %q=%q became %q: %v", text, name, value, after, err)
		}
		others := func(c GroupConfig) []ConfigMember {
			return slices.DeleteFunc(c.Members(), func(m ConfigMember) bool { return m.Name == name })
		}
		if b, a := others(before), others(after); !slices.Equal(b, a) {
			t.Errorf("others were %q and are %q", b, a)
		}
		if got, ok := after.Get(name); !ok || strings.TrimSpace(got) != strings.TrimSpace(value) {
			t.Errorf("%q=%q is read as %q, %v", name, value, got, ok)
		}
	})
}

// manyGroups is an answer to 201 of a large cluster.
func manyGroups(n int) []byte {
	configs := GroupConfigs{Groups: map[string]GroupConfig{}, Forbidden: map[string]map[string]int32{}}
	for i := range n {
		group := fmt.Sprintf("group-of-some-service-%05d", i)
		c := NewGroupConfig(group)
		for _, name := range []string{"brokerId", "groupSysFlag", "retryMaxTimes", "retryQueueNums", "consumeTimeoutMinute", "whichBrokerWhenConsumeSlowly"} {
			_ = c.Set(name, "16")
		}
		for _, name := range []string{"consumeEnable", "consumeBroadcastEnable", "consumeFromMinEnable", "consumeMessageOrderly", "notifyConsumerIdsChangedEnable"} {
			c.SetBool(name, true)
		}
		configs.Groups[group] = c
	}
	return EncodeGroupConfigs(&configs)
}

func BenchmarkDecodeGroupConfigs(b *testing.B) {
	body := manyGroups(10_000)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if configs, err := DecodeGroupConfigs(body); err != nil || len(configs.Groups) != 10_000 {
			b.Fatal(len(configs.Groups), err)
		}
	}
}
