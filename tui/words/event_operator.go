package words

import (
	"fmt"
	"strings"

	"eyeq/engine"
)

// describeOperator is describe for what an operator did.
func (r *EventRow) describeOperator(e engine.Event) bool {
	whole := "the whole consumer"
	if r.Queue != "" {
		whole = ""
	}
	switch e := e.(type) {
	case engine.Pause:
		resume := ""
		if e.ResumeAfterMS > 0 {
			resume = " · resumes in " + Span(ms(e.ResumeAfterMS))
		}
		return r.say("OPER", "pause", Notice, true, "%s by %s%s%s", whole, e.By, Quoted(e.Reason), resume)
	case engine.Resume:
		return r.say("OPER", "resume", Notice, true, "%s by %s after %s", whole, e.By, Span(ms(e.DurationMS)))
	case engine.HoldSettled:
		what := map[string]string{"ack": "acknowledged", "refuse": "refused", "dead_letter": "to the dead letters"}[e.Verdict]
		failed, sev := "", Notice
		if e.Failed > 0 {
			failed, sev = fmt.Sprintf(", %d FAILED", e.Failed), Failure
		}
		return r.say("OPER", strings.ReplaceAll(e.Verdict, "_letter", ""), sev, true, "%s %s by %s, offsets %s … %s%s", Plural(e.Count, "held message"), what, e.By,
			Offset(e.First), Offset(e.Last), failed)
	case engine.ResetBegin:
		return r.say("OPER", "reset", Notice, true, "begins: offset %s → %s by %s", Offset(e.From), Offset(e.To), e.By)
	case engine.ResetEnd:
		done, sev := "read back and verified", Notice
		if !e.Verified {
			done, sev = "NOT VERIFIED", Failure
		}
		return r.say("OPER", "reset", worse(e.Error, sev), true, "offset %s → %s by %s, %s%s", Offset(e.From), Offset(e.To), e.By, done, Because(e.Error))
	}
	return false
}

// Quoted is an operator's reason in quotes, after a blank; "" where none was given.
func Quoted(reason string) string {
	if reason == "" {
		return ""
	}
	return " “" + reason + "”"
}
