package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"eyeq/engine/inspect"
	"eyeq/remoting/sandbox/sandboxtest"
)

// doctorReport is what a script reads of group doctor.
type doctorReport struct {
	Group    string
	Healthy  *bool
	Findings []struct {
		Code, Severity, Summary, Next string
		Evidence                      []string
	}
	Unchecked []string
}

func (r *doctorReport) codes() []string {
	var codes []string
	for _, f := range r.Findings {
		codes = append(codes, f.Severity+" "+f.Code)
	}
	return codes
}

// text is all words of the findings.
func (r *doctorReport) text() string {
	var b strings.Builder
	for _, f := range r.Findings {
		b.WriteString(f.Severity + " " + f.Code + ": " + f.Summary + "\n    " + strings.Join(f.Evidence, "\n    ") + "\n  → " + f.Next + "\n")
	}
	return b.String() + strings.Join(r.Unchecked, "\n")
}

// examine runs group doctor to its end.
func examine(t *testing.T, namesrv, group string, more ...string) (doctorReport, int) {
	t.Helper()
	p := start(t, slices.Concat([]string{"group", "doctor", group, "--namesrv", namesrv, "-o", "json"}, more))
	<-p.done // it looks as long as it was told to
	var r doctorReport
	if p.out.String() == "" {
		return r, p.status
	}
	if err := json.Unmarshal([]byte(p.out.String()), &r); err != nil {
		t.Fatalf("%v in %q", err, p.out)
	}
	return r, p.status
}

func TestGroupDoctorOfAnOfflineGroup(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 2))
	put(t, sb, "orders", 10)
	runs(t, []string{"consume", "-g", "audit", "-t", "orders", "--from", "first", "--max", "10", "-o", "none", "--namesrv", namesrv}).want(t, statusDone, "")
	r, status := examine(t, namesrv, "audit", "--interval", "1s")
	if status != statusDone || r.Healthy == nil || !*r.Healthy || len(r.Findings) > 0 || len(r.Unchecked) > 0 {
		t.Errorf("of a group that has read all: status %d, %s", status, r.text())
	}

	put(t, sb, "orders", 4)
	r, status = examine(t, namesrv, "audit", "--interval", "1s")
	if diff := cmp.Diff([]string{"critical offline_with_lag"}, r.codes()); diff != "" || status != statusFindings || r.Healthy == nil || *r.Healthy {
		t.Errorf("of a group that left: status %d, healthy %v, findings (-want +got):\n%s%s", status, r.Healthy, diff, r.text())
	}
	p := runs(t, []string{"group", "doctor", "audit", "--namesrv", namesrv, "--interval", "1s"}).want(t, statusFindings, "eyeq group doctor: group audit: 1 finding\n")
	for _, want := range []string{
		"group audit: 1 critical\n", "\nCRITICAL  offline_with_lag  no member is connected, and 4 messages wait\n", "    orders broker-a/0: committed at 5, lag 2, next message stored ", "\n  → Start the consumers.",
	} {
		if !strings.Contains(p.out.String(), want) {
			t.Errorf("no %q in %q", want, p.out)
		}
	}
}

// TestGroupDoctorNamesTheCluster: what it advises works in any shell, whoever named the
// cluster here.
func TestGroupDoctorNamesTheCluster(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 2))
	put(t, sb, "orders", 4)
	runs(t, []string{"consume", "-g", "audit", "-t", "orders", "--from", "first", "--max", "1", "-o", "none", "--namesrv", namesrv}).want(t, statusDone, "")
	path := filepath.Join(t.TempDir(), "config.toml")
	must(t, os.WriteFile(path, []byte("[clusters.\"my prod\"]\nnamesrv = [\""+namesrv+"\"]\n"), 0o600))
	look := []string{"group", "doctor", "audit", "--samples", "1"}
	for name, tt := range map[string]struct {
		args []string
		env  []string
		want string
	}{
		"by address":          {args: []string{"--namesrv", namesrv}, want: " --namesrv " + namesrv},
		"by name":             {args: []string{"--config", path, "--cluster", "my prod"}, want: " --config " + path + " --cluster 'my prod'"},
		"by Java's variable":  {env: []string{"NAMESRV_ADDR", namesrv}, want: " --namesrv " + namesrv},
		"by a variable":       {env: []string{"EYEQ_NAMESRV", namesrv}, want: " --namesrv " + namesrv},
		"the only one of all": {args: []string{"--config", path}, want: " --config " + path},
	} {
		t.Run(name, func(t *testing.T) {
			p := runs(t, append(look, tt.args...), withEnv(tt.env...)).want(t, statusFindings, "1 finding")
			if want := "eyeq group delete audit" + tt.want + "\n"; !strings.Contains(p.out.String(), want) {
				t.Errorf("no %q in %q", want, p.out)
			}
		})
	}
}

func TestGroupDoctorEnds(t *testing.T) {
	_, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 2))
	for name, tt := range map[string]struct {
		args   []string
		status int
		stderr string
	}{
		"no group":      {[]string{"--namesrv", namesrv}, statusUsage, "which group?"},
		"unknown group": {[]string{"nobody", "--namesrv", namesrv}, statusNotFound, `there is no group "nobody" on this cluster`},
		"no cluster":    {[]string{"audit", "--namesrv", deadAddress(t)}, statusUnreachable, "no name server answers"},
		"no samples":    {[]string{"audit", "--samples", "0", "--namesrv", namesrv}, statusUsage, "--samples 0: must be between 1 and 1000"},
		"no interval":   {[]string{"audit", "--interval", "1ms", "--namesrv", namesrv}, statusUsage, "--interval 1ms: at least 1s"},
		"another form":  {[]string{"audit", "-o", "yaml", "--namesrv", namesrv}, statusUsage, "yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			p := runs(t, append([]string{"group", "doctor"}, tt.args...)).want(t, tt.status, tt.stderr)
			if p.out.String() != "" {
				t.Errorf("stdout = %q, want none", p.out)
			}
		})
	}
}

func TestGroupDoctorWords(t *testing.T) {
	r := &inspect.Report{
		Group: "g\x1b[31m", At: time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC),
		Findings:  []inspect.Finding{{Code: "queue_unowned", Severity: inspect.SeverityWarning, Summary: "a\x1b[2J", Evidence: []string{"b\nc"}, Next: "d"}},
		Unchecked: []inspect.Problem{{What: "queues", Where: "m\x07", Why: inspect.Reason{Kind: inspect.ReasonUnsupported}}},
	}
	e := &env{location: time.UTC}
	text := string(e.appendReport(nil, r))
	if strings.ContainsAny(text, "\x1b\x07") || strings.Count(text, "\n") != 8 {
		t.Errorf("text = %q, want 8 lines without control characters", text)
	}
	got, err := reportJSON(r)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"group":"g\u001b[31m","time":"2026-11-30T03:00:00.000Z","healthy":false,` +
		`"findings":[{"code":"queue_unowned","severity":"warning","summary":"a\u001b[2J","evidence":["b\nc"],"next":"d"}],"unchecked":["queues from m\u0007: not supported"]}` + "\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}

	for name, tt := range map[string]struct {
		findings []inspect.Finding
		why      inspect.ReasonKind
		want     string
	}{
		"nothing":                  {want: `"healthy":true,`},
		"information":              {findings: []inspect.Finding{{Severity: inspect.SeverityInfo}}, want: `"healthy":true,`},
		"not asked for":            {why: inspect.ReasonNotAsked, want: `"healthy":true,`},
		"could not be asked":       {why: inspect.ReasonDenied, want: `"healthy":null,"healthy_error":"not everything could be checked",`},
		"a finding all the same":   {findings: []inspect.Finding{{Severity: inspect.SeverityWarning}}, why: inspect.ReasonDenied, want: `"healthy":false,`},
		"information and no reply": {findings: []inspect.Finding{{Severity: inspect.SeverityInfo}}, why: inspect.ReasonUnreachable, want: `"healthy":null,`},
	} {
		r := &inspect.Report{Findings: tt.findings}
		if tt.why != inspect.ReasonNone {
			r.Unchecked = []inspect.Problem{{Why: inspect.Reason{Kind: tt.why}}}
		}
		if got, err := reportJSON(r); err != nil || !strings.Contains(string(got), tt.want) {
			t.Errorf("%s: %s, %v, want %s", name, got, err, tt.want)
		}
	}
}
