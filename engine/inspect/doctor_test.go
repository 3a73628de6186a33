package inspect

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"eyeq/remoting/protocol"
)

func TestJudge(t *testing.T) {
	for name, tt := range doctorCases {
		t.Run(name, func(t *testing.T) {
			f := healthy()
			tt.edit(f)
			r := Judge(*f)
			var got []string
			for _, finding := range r.Findings {
				got = append(got, string(finding.Severity)+" "+finding.Code)
				if finding.Summary == "" || len(finding.Evidence) == 0 || finding.Next == "" {
					t.Errorf("%s lacks words: %+v", finding.Code, finding)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s\n%s", diff, reportText(r))
			}
			text := reportText(r)
			for _, says := range tt.says {
				if !strings.Contains(text, says) {
					t.Errorf("no %q in\n%s", says, text)
				}
			}
			unchecked := ""
			for _, p := range r.Unchecked {
				unchecked += p.String() + "\n"
			}
			if tt.unchecked == "" && unchecked != "" || !strings.Contains(unchecked, tt.unchecked) {
				t.Errorf("unchecked = %q, want %q", unchecked, tt.unchecked)
			}
			if want := !slices.ContainsFunc(tt.want, func(s string) bool { return !strings.HasPrefix(s, "info ") }); r.Healthy() != want {
				t.Errorf("healthy = %v, want %v", r.Healthy(), want)
			}
		})
	}
}

func reportText(r Report) string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s %s: %s\n", f.Severity, f.Code, f.Summary)
		for _, line := range f.Evidence {
			fmt.Fprintf(&b, "    %s\n", line)
		}
		fmt.Fprintf(&b, "    next: %s\n", f.Next)
	}
	return b.String()
}

// codes are the constants of doctor.go.
func codes(t *testing.T) []string {
	t.Helper()
	source, err := os.ReadFile("doctor.go")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range regexp.MustCompile(`(?m)^\tCode\w+\s+= "(\w+)"$`).FindAllStringSubmatch(string(source), -1) {
		all = append(all, m[1])
	}
	if len(all) < 30 {
		t.Fatalf("only %d codes in doctor.go: %v", len(all), all)
	}
	return all
}

func TestEachCodeHasACase(t *testing.T) {
	tried := map[string]bool{}
	for _, tt := range doctorCases {
		for _, want := range tt.want {
			tried[strings.Fields(want)[1]] = true
		}
	}
	for _, code := range codes(t) {
		if !tried[code] {
			t.Errorf("no case makes %s", code)
		}
		delete(tried, code)
	}
	if len(tried) > 0 {
		t.Errorf("cases make what is no code: %v", slices.Sorted(maps.Keys(tried)))
	}
}

func TestEachCodeIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/doctor.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\|").FindAllStringSubmatch(string(doc), -1) {
		listed[m[1]] = true
	}
	for _, code := range codes(t) {
		if !listed[code] {
			t.Errorf("docs/doctor.md does not list %s", code)
		}
		delete(listed, code)
	}
	if len(listed) > 0 {
		t.Errorf("docs/doctor.md lists what is no code: %v", slices.Sorted(maps.Keys(listed)))
	}
}

// TestJudgeChangesNothing holds that judging is reading only.
func TestJudgeChangesNothing(t *testing.T) {
	for name, tt := range doctorCases {
		f, same := healthy(), healthy()
		tt.edit(f)
		tt.edit(same)
		Judge(*f)
		suspects(*f)
		if diff := cmp.Diff(same, f); diff != "" {
			t.Errorf("%s: judging changed the facts (-before +after):\n%s", name, diff)
		}
	}
}

func TestSuspects(t *testing.T) {
	f := healthy()
	if got := suspects(*f); len(got) > 0 {
		t.Errorf("suspects of a healthy group = %v, want none", got)
	}
	still(f, 1, longAgo)
	still(f, 2, func(i int, q *protocol.ProcessQueueInfo) { longAgo(i, q); q.CachedMsgCount = 0 })
	want := map[protocol.MessageQueue]int64{mqOf("orders", 1): 1000, mqOf("orders", 2): 1000}
	if diff := cmp.Diff(want, suspects(*f)); diff != "" {
		t.Errorf("suspects (-want +got):\n%s", diff)
	}
}

// That the doctor looks on is said once, also when it has taken one look more already,
// for a member that missed a question.
func TestLooksOnIsSaidOnce(t *testing.T) {
	f := healthy()
	still(f, 1, fresh)
	for _, samples := range []int{2, 1} {
		var told []int
		o := DoctorOptions{Samples: samples, Longer: func(queues int) { told = append(told, queues) }}
		if !o.looksOn(f) || !o.looksOn(f) || !slices.Equal(told, []int{1}) {
			t.Errorf("with %d looks to take and 2 taken it tells of %v queues, want of 1 once", samples, told)
		}
	}
}

func TestDoctorWords(t *testing.T) {
	queues := []protocol.MessageQueue{mqOf("t", 7), mqOf("t", 1), mqOf("t", 0), mqOf("t", 2), {Topic: "t", BrokerName: "broker-b", QueueID: 1}, {Topic: "t", BrokerName: "broker-b", QueueID: 3}}
	if got, want := runs(queues), "broker-a/0-2,7 broker-b/1,3"; got != want {
		t.Errorf("runs = %q, want %q", got, want)
	}
	// RocketMQ allows | and % in names, and a client id may be anything.
	v := &visit{f: &Facts{TargetFlags: " --cluster prod"}}
	if got, want := v.eyeq("group members %s --client %s -t %s --queue %s:%d", "a|b", "it's;reboot", "%RETRY%g", "broker-a", 3), `eyeq group members 'a|b' --client 'it'\''s;reboot' -t %RETRY%g --queue broker-a:3 --cluster prod`; got != want {
		t.Errorf("command = %q, want %q", got, want)
	}
}
