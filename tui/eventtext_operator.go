package tui

import (
	"fmt"
	"strings"

	"eyeq/engine"
)

// describeOperator is describe for what an operator did.
func (r *eventRow) describeOperator(e engine.Event) bool {
	whole := "the whole consumer"
	if r.queue != "" {
		whole = ""
	}
	switch e := e.(type) {
	case engine.Pause:
		resume := ""
		if e.ResumeAfterMS > 0 {
			resume = " · resumes in " + span(ms(e.ResumeAfterMS))
		}
		return r.say("OPER", "pause", notice, true, "%s by %s%s%s", whole, e.By, quoted(e.Reason), resume)
	case engine.Resume:
		return r.say("OPER", "resume", notice, true, "%s by %s after %s", whole, e.By, span(ms(e.DurationMS)))
	case engine.HoldSettled:
		what := map[string]string{"ack": "acknowledged", "refuse": "refused", "dead_letter": "to the dead letters"}[e.Verdict]
		failed, sev := "", notice
		if e.Failed > 0 {
			failed, sev = fmt.Sprintf(", %d FAILED", e.Failed), failure
		}
		return r.say("OPER", strings.ReplaceAll(e.Verdict, "_letter", ""), sev, true, "%s %s by %s, offsets %s … %s%s", plural(e.Count, "held message"), what, e.By,
			offset(e.First), offset(e.Last), failed)
	case engine.ResetBegin:
		return r.say("OPER", "reset", notice, true, "begins: offset %s → %s by %s", offset(e.From), offset(e.To), e.By)
	case engine.ResetEnd:
		done, sev := "read back and verified", notice
		if !e.Verified {
			done, sev = "NOT VERIFIED", failure
		}
		return r.say("OPER", "reset", worse(e.Error, sev), true, "offset %s → %s by %s, %s%s", offset(e.From), offset(e.To), e.By, done, because(e.Error))
	}
	return false
}

func quoted(reason string) string {
	if reason == "" {
		return ""
	}
	return " “" + reason + "”"
}
