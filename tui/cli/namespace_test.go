package cli

import (
	"strings"
	"testing"

	"eyeq/remoting/sandbox/sandboxtest"
)

// Names with a namespace (Java: NamespaceUtil) are names: nothing takes them apart or
// leaves a part out.
func TestNamesWithANamespace(t *testing.T) {
	const topic, group = "MQ_INST_7%orders", "MQ_INST_7%audit"
	_, ns := serveSandbox(t, sandboxtest.Topic(topic, 2))
	on := func(args ...string) *program {
		t.Helper()
		return runs(t, append(args, "--namesrv", ns)).want(t, statusDone, "")
	}
	on("send", topic, "hello", "-n", "4")
	if p := on("tail", topic, "--from", "earliest", "--until", "now", "-o", "json"); strings.Count(p.out.String(), `"topic":"`+topic+`"`) != 4 {
		t.Errorf("tail: %s", p.out)
	}
	p := on("consume", "-g", group, "-t", topic, "--from", "first", "--headless", "--max", "4", "-o", "json")
	if strings.Count(p.out.String(), `"topic":"`+topic+`"`) != 4 || !strings.Contains(p.out.String(), `"group":"`+group+`"`) {
		t.Errorf("consume: %s", p.out)
	}
	for _, want := range []struct {
		args  []string
		shown []string
	}{
		{[]string{"group", "list"}, []string{group, topic}},
		{[]string{"group", "lag", group}, []string{group, topic, "%RETRY%" + group}},
		{[]string{"topic", "show", topic}, []string{topic, group}},
		{[]string{"topic", "list"}, []string{topic}},
		{[]string{"group", "lag", group, "-o", "json"}, []string{`"group":"` + group + `"`, `"topic":"` + topic + `"`}},
	} {
		p := on(want.args...)
		for _, s := range want.shown {
			if !strings.Contains(p.out.String(), s) {
				t.Errorf("%v shows no %s: %s", want.args, s, p.out)
			}
		}
	}
}
