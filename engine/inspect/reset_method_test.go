package inspect

import (
	"strings"
	"testing"

	"eyeq/engine/core"
	"eyeq/remoting/protocol"
)

// What each broker line can do with a group, online or not ("What a reset does" in docs/operate.md).
func TestChooseMethod(t *testing.T) {
	tests := map[string]struct {
		facts resetFacts
		want  ResetMethod
		why   string
	}{
		"nobody reads it":               {resetFacts{ServerSide: true, Five: true, Target: core.ResetOffset}, MethodCommit, ""},
		"nobody reads it, 4.9":          {resetFacts{Target: core.ResetOffset}, MethodCommit, ""},
		"5.x, one queue":                {resetFacts{Followed: true, ServerSide: true, Five: true, Target: core.ResetOffset}, MethodServer, ""},
		"4.9, all, a time":              {resetFacts{Followed: true, Whole: true, Target: core.ResetTime}, MethodPush, ""},
		"4.9, all, the end":             {resetFacts{Followed: true, Whole: true, Target: core.ResetLatest}, MethodPush, ""},
		"4.9, one queue":                {resetFacts{Followed: true, Target: core.ResetLatest}, MethodNone, "a 4.9 broker resets all queues"},
		"4.9, an offset":                {resetFacts{Followed: true, Whole: true, Target: core.ResetOffset}, MethodNone, "a 4.9 broker resets to a time"},
		"4.9, a file":                   {resetFacts{Followed: true, Whole: true}, MethodNone, "a 4.9 broker resets to a time"},
		"5.x that pushes, the earliest": {resetFacts{Followed: true, Five: true, Whole: true, Target: core.ResetEarliest}, MethodPush, ""},
		"5.x that pushes, a shift":      {resetFacts{Followed: true, Five: true, Whole: true, Target: core.ResetShift}, MethodNone, "useServerSideResetOffset=false"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got, why := chooseMethod(tt.facts); got != tt.want || !strings.Contains(why, tt.why) || (why == "") != (tt.why == "") {
				t.Errorf("%s, %q; want %s, %q", got, why, tt.want, tt.why)
			}
		})
	}
}

// Members that do not heed a reset are named before it.
func TestMemberEffect(t *testing.T) {
	push, pull, pop := protocol.ConsumePassively, protocol.ConsumeActively, protocol.ConsumePop
	tests := map[string]struct {
		language, version string
		consume           protocol.ConsumeType
		method            ResetMethod
		obeys             bool
		words             string
	}{
		"Java, pushed":            {"JAVA", "V4_9_7", push, MethodPush, true, "10 to 30 s"},
		"Java 5, by the broker":   {"JAVA", "V5_3_3", push, MethodServer, true, "next pull"},
		"Java 4, by the broker":   {"JAVA", "V4_9_7", push, MethodServer, true, "10 to 30 s later"},
		"Go, pushed":              {"GO", goClient, push, MethodPush, false, "before 2.1.1 ignore it"},
		"Go, by the broker":       {"GO", goClient, push, MethodServer, true, "next pull"},
		"eyeq, pushed":            {"GO", protocol.VersionName, push, MethodPush, true, "within seconds"},
		"C++, pushed":             {"CPP", "V4_6_0", push, MethodPush, false, "restart it"},
		"C++, by the broker":      {"CPP", "V4_6_0", push, MethodServer, true, "next pull"},
		"a pull consumer, pushed": {"JAVA", "V5_3_3", pull, MethodPush, false, "restart it"},
		"a pull consumer":         {"JAVA", "V5_3_3", pull, MethodServer, false, "restart it"},
		"pop":                     {"JAVA", "V5_3_3", pop, MethodServer, true, "next pop"},
		"another, pushed":         {"DOTNET", "V4_9_0", push, MethodPush, false, "DOTNET client heeds a reset is watched"},
		"another":                 {"DOTNET", "V4_9_0", push, MethodServer, false, "DOTNET client heeds that is watched"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m := Member{ClientID: "c", Language: tt.language, Version: tt.version}
			if e := memberEffect(&m, tt.consume, tt.method); e.Obeys != tt.obeys || !strings.Contains(e.Effect, tt.words) {
				t.Errorf("obeys %v, %q; want %v, %q", e.Obeys, e.Effect, tt.obeys, tt.words)
			}
		})
	}
}
