package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
)

// doctorFlags are the flags of group doctor.
type doctorFlags struct {
	samples  int
	interval time.Duration
}

const (
	minDoctorInterval = time.Second
	maxDoctorSamples  = 1000
)

func newGroupDoctor(e *env) *cobra.Command {
	f := &doctorFlags{}
	r := &reading{}
	cmd := &cobra.Command{
		Use:   "doctor GROUP",
		Short: "Say what is wrong with a group, by what, and what to do next",
		Long: `Looks at a group twice, a few seconds apart, and says what is wrong with it: members that
disagree, queues without an owner, a message that blocks, throttling, failing listeners,
messages about to expire, brokers and clocks. docs/doctor.md lists every finding.

Nothing is joined or changed. While a queue stands still and its listener may only be slow, it looks
on for up to a minute, which standard error says. What could not be learned is named as not checked; it is neither a finding nor health.

Exit status: 0 healthy (information may stand there), 6 findings, 1 nothing was found but not
everything could be checked, 3 no such group, 5 the cluster cannot be reached.`,
		Example: `  eyeq group doctor orders --namesrv 127.0.0.1:9876
  eyeq group doctor orders -o json | jq -r '.findings[].code'
  eyeq group doctor orders --samples 7 --interval 10s`,
		Args:              oneName("group"),
		ValidArgsFunction: e.completion(true, groupNames),
	}
	r.register(cmd.Flags())
	cmd.Flags().IntVar(&f.samples, "samples", 2, "how often to look; with 1 nothing is said about what moves")
	cmd.Flags().DurationVar(&f.interval, "interval", 6*time.Second, "the time between two looks; members commit every 5s")
	cmd.RunE = e.cobraRun(func(ctx context.Context, e *env, args []string) error { return f.run(ctx, e, cmd, r, args[0]) })
	return cmd
}

func (f *doctorFlags) run(ctx context.Context, e *env, cmd *cobra.Command, r *reading, group string) error {
	switch {
	case f.samples < 1 || f.samples > maxDoctorSamples:
		return usagef("--samples %d: must be between 1 and %d", f.samples, maxDoctorSamples)
	case f.interval < minDoctorInterval:
		return usagef("--interval %v: at least %v", f.interval, minDoctorInterval)
	}
	var last inspect.Report
	err := r.run(ctx, e, cmd, func(ctx context.Context, x *inspection, format string) ([]byte, error) {
		report, err := x.DoctorWith(ctx, group, inspect.DoctorOptions{
			Samples: f.samples, Interval: f.interval, Longer: func(queues int) {
				e.say("%s still while messages wait: looking for up to a minute whether the listener is only slow", standing(queues))
			},
		})
		if err != nil {
			return nil, err
		}
		last = report
		if format == "json" {
			return reportJSON(&report)
		}
		return e.appendReport(nil, &report), nil
	})
	switch {
	case err != nil || r.watch != 0:
		return err
	case !last.Healthy():
		return &findingsError{draw.SafeText(group), len(last.Findings)}
	case last.Doubtful():
		return fmt.Errorf("group %s: nothing was found, but not everything could be checked", draw.SafeText(group))
	}
	return nil
}

func standing(queues int) string {
	if queues == 1 {
		return "1 queue stands"
	}
	return inspect.Plural(queues, "queue") + " stand"
}

// findingJSON is a finding for a script.
type findingJSON struct {
	Code     string           `json:"code"`
	Severity inspect.Severity `json:"severity"`
	Summary  string           `json:"summary"`
	Evidence []string         `json:"evidence"`
	Next     string           `json:"next"`
}

// reportJSON writes a report for a script. healthy is null when nothing was found but
// what it takes to be sure could not be asked.
func reportJSON(r *inspect.Report) ([]byte, error) {
	out := struct {
		Group        string        `json:"group"`
		Time         timeJSON      `json:"time"`
		Healthy      *bool         `json:"healthy"`
		HealthyError string        `json:"healthy_error,omitempty"`
		Findings     []findingJSON `json:"findings"`
		Unchecked    []string      `json:"unchecked"`
	}{Group: r.Group, Time: timeJSON(r.At), Findings: []findingJSON{}, Unchecked: problemsJSON(r.Unchecked)}
	for _, f := range r.Findings {
		out.Findings = append(out.Findings, findingJSON{f.Code, f.Severity, f.Summary, emptyList(f.Evidence), f.Next})
	}
	if healthy := r.Healthy(); !healthy || !r.Doubtful() {
		out.Healthy = &healthy
	} else {
		out.HealthyError = "not everything could be checked"
	}
	return marshal(out)
}

// appendReport writes a report for people.
func (e *env) appendReport(dst []byte, r *inspect.Report) []byte {
	name := draw.SafeText(r.Group)
	switch {
	case !r.Healthy():
		dst = fmt.Appendf(dst, "group %s: %s\n", name, severities(r.Findings))
	case r.Doubtful():
		dst = fmt.Appendf(dst, "group %s: nothing found, but not everything could be checked\n", name)
	default:
		dst = fmt.Appendf(dst, "group %s: healthy\n", name)
	}
	for _, f := range r.Findings {
		dst = fmt.Appendf(dst, "\n%s  %s  %s\n", strings.ToUpper(string(f.Severity)), f.Code, draw.SafeText(f.Summary))
		for _, line := range f.Evidence {
			dst = fmt.Appendf(dst, "    %s\n", draw.SafeText(line))
		}
		dst = fmt.Appendf(dst, "  → %s\n", draw.SafeText(f.Next))
	}
	if len(r.Unchecked) > 0 {
		dst = append(dst, "\nnot checked:\n"...)
		for _, p := range r.Unchecked {
			dst = fmt.Appendf(dst, "    %s\n", draw.SafeText(p.String()))
		}
	}
	return dst
}

// severities counts findings: "2 critical, 2 warnings, 1 info".
func severities(findings []inspect.Finding) string {
	var parts []string
	for _, s := range []inspect.Severity{inspect.SeverityCritical, inspect.SeverityWarning, inspect.SeverityInfo} {
		n := 0
		for _, f := range findings {
			if f.Severity == s {
				n++
			}
		}
		switch {
		case n > 1 && s == inspect.SeverityWarning:
			parts = append(parts, inspect.Plural(n, string(s)))
		case n > 0:
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	return strings.Join(parts, ", ")
}
