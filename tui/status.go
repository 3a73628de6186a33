package tui

import (
	"fmt"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/tui/draw"
	"eyeq/tui/live"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// drawStatus is the last line: how the engine is, the last note, the mode.
func (a *app) drawStatus(c *draw.Canvas, word string) {
	th := a.env.Theme
	if a.leave.on || a.leave.after {
		word = "LEAVING"
	}
	var left []draw.Segment
	switch {
	case a.leave.on || a.leave.after:
		left = append(left, draw.Styled(th.Warn, " "+a.leavingText()))
	case a.page() != nil:
		left = append(left, a.pageHealth(a.page().Status()))
	case a.frozen():
		f := a.source().Frozen
		left = append(left, draw.Styled(th.Warn, fmt.Sprintf(" FROZEN %s · %s · %s waiting · %s to go on", a.env.Clock(f.Now, words.ClockSeconds), words.Age(a.env.Now.Sub(f.Now)),
			words.Plural(a.source().Hidden(), "change"), a.env.Keys.First("freeze"))))
	default:
		left = append(left, a.health())
	}
	note := draw.Styled(words.SeverityStyle(th, a.note.sev), strings.TrimSpace(a.note.sev.Sign())+lead(a.note.sev)+a.note.text)
	room := a.w - table.Width(word) - 4
	// What was said on another view stands beside what the shown one says of itself, not
	// in its place; a failure is to be read wherever the operator goes.
	elsewhere := a.note.at.Before(a.turned) && a.note.sev != words.Failure && draw.WidthOf(left)+3+table.Width(note.Text) > room
	if a.note.text != "" && a.env.Now.Sub(a.note.at) < page.NoteFor && !elsewhere {
		if draw.WidthOf(left)+3+table.Width(note.Text) > room { // the answer to a key is what matters
			switch {
			case !strings.HasPrefix(left[0].Text, " ✓"):
				left[0].Text = table.Cut(left[0].Text, max(room-3-table.Width(note.Text), leastHealth))
			case table.Width(note.Text) > room-5:
				left = nil
			default:
				left[0].Text = " ✓"
			}
		}
		if len(left) > 0 {
			left = append(left, draw.Styled(th.Dim, " · "))
		} else {
			left = append(left, draw.Styled(draw.Style{}, " "))
		}
		left = append(left, note)
	} else if !a.frozen() && !a.leave.on && a.page() == nil {
		left = append(left, a.latest())
	}
	right := []draw.Segment{draw.Styled(th.Mode, " "+word+" ")}
	if n := a.source().Log.Unseen; n > 0 && a.h < tabsFrom && !a.frozen() { // the tabs are not there to tell
		right = append([]draw.Segment{draw.Styled(th.Bad, fmt.Sprintf("events %s%s ", words.Failure.Sign(), words.Grouped(int64(n))))}, right...)
	}
	c.Spread(earned(th, left), right)
}

// earned takes the green sign away from a line that says something is wrong further on.
func earned(th *draw.Theme, line []draw.Segment) []draw.Segment {
	if len(line) < 2 || !strings.HasPrefix(line[0].Text, " ✓") {
		return line
	}
	for _, s := range line[1:] {
		text := strings.TrimPrefix(strings.TrimSpace(s.Text), "· ")
		if !strings.HasPrefix(text, words.Failure.Sign()) && !strings.HasPrefix(text, words.Warning.Sign()) {
			continue
		}
		if rest := strings.TrimPrefix(line[0].Text, " ✓"); rest != "" {
			line[0] = draw.Styled(th.Text, rest)
			return line
		}
		for i := range line[1:] { // nothing is left to stand before it
			line[1+i].Text = strings.TrimPrefix(line[1+i].Text, " · ")
		}
		line[0].Text = " "
		return line
	}
	return line
}

// leastHealth is the room of what is wrong beside a long note.
const leastHealth = 16

func lead(s words.Severity) string {
	if strings.TrimSpace(s.Sign()) == "" {
		return ""
	}
	return " "
}

func (a *app) leavingText() string {
	switch {
	case a.leave.after:
		return "leaving: " + a.writing + " is still being written · ctrl-c again leaves at once"
	case a.source().Log.Leaving != "":
		return fmt.Sprintf("leaving: %s … %s · ctrl-c again leaves at once", a.source().Log.Leaving, words.Age(a.env.Now.Sub(a.leave.began)))
	}
	return fmt.Sprintf("leaving: stopping, %s · ctrl-c again leaves at once", words.Age(a.env.Now.Sub(a.leave.began)))
}

// health is the worst thing that is wrong, or that nothing is.
func (a *app) health() draw.Segment {
	th, s := a.env.Theme, a.source().Scene
	switch {
	case a.watchedNow() != nil:
		return a.watchHealth()
	case len(a.engines) == 0:
		return draw.Segment{}
	case a.ended:
		return draw.Styled(th.Bad, " "+words.Failure.Sign()+" the consumer has ended")
	case s == nil && a.env.Young():
		return draw.Segment{}
	case s == nil:
		return draw.Styled(th.Warn, " ! waiting for the engine's first figures")
	case s.State != engine.Running:
		return draw.Styled(th.Warn, " ! "+s.State.String()+words.Because(s.StateCause))
	case s.NamesrvError != "":
		return draw.Styled(th.Bad, " "+words.Failure.Sign()+" name server: "+live.Unrepeated(s.NamesrvError))
	}
	if old, stale := a.stale(); stale {
		return draw.Styled(th.Bad, " ! figures are "+words.Age(old)+" old: the engine does not answer")
	}
	beat, slow := time.Time{}, draw.Segment{}
	for i := range s.Brokers {
		b := &s.Brokers[i]
		if b.Error != "" {
			trying := ""
			if s.PullsFail(b.Name) {
				trying = ", trying each second"
			}
			gone := ""
			if b.Gone && !strings.Contains(b.Error, "names it any more") {
				gone = ", in no route any more"
			}
			return draw.Styled(th.Bad, fmt.Sprintf(" %s %s %s: %s, since %s%s%s", words.Failure.Sign(), b.Name, b.Address, words.Cause(b.Error), words.Since(b.ErrorSince, a.env.Now), trying, gone))
		}
		if b.LastHeartbeat.IsZero() {
			if waits := a.env.Now.Sub(b.Waiting); !b.Waiting.IsZero() && waits > slowBeat {
				slow = draw.Styled(th.Warn, fmt.Sprintf(" ! %s %s has not answered the first heartbeat for %s", b.Name, b.Address, words.Age(waits)))
			}
			continue
		}
		if beat.IsZero() || b.LastHeartbeat.Before(beat) {
			beat = b.LastHeartbeat
		}
	}
	if slow.Text != "" {
		return slow
	}
	for i := range s.Topics {
		switch t := &s.Topics[i]; {
		case t.Missing != "" && !t.Retry:
			return draw.Styled(th.Warn, " ! topic "+t.Topic+": "+t.Missing)
		case t.MembersError != "":
			return draw.Styled(th.Warn, " ! members of "+t.Topic+" "+words.Unknown+": "+t.MembersError)
		}
	}
	if s.PersistError != "" {
		return draw.Styled(th.Bad, fmt.Sprintf(" %s offsets are not saved since %s: %s", words.Failure.Sign(), words.Since(s.PersistErrorSince, a.env.Now), s.PersistError))
	}
	if text := s.RedRows(); text != "" {
		return draw.Styled(th.Bad, " "+words.Failure.Sign()+" "+text)
	}
	if s.Told != nil {
		if text, sev := s.Told.Wrong(); text != "" {
			return draw.Styled(words.SeverityStyle(th, sev), fmt.Sprintf(" %s %s, told %s", sev.Sign(), text, words.Ago(s.Told.At, a.env.Now)))
		}
	}
	if s.Pause != nil {
		return draw.Styled(th.Accent, fmt.Sprintf(" PAUSED by %s%s, %s", s.Pause.By, words.Quoted(s.Pause.Reason), resumeText(s.Pause, a.env.Now)))
	}
	if a.w < 100 {
		return draw.Styled(th.Good, fmt.Sprintf(" ✓ ok · hb %s", words.Since(beat, a.env.Now)))
	}
	return draw.Styled(th.Good, fmt.Sprintf(" ✓ engine ok · %s · heartbeat %s", words.Plural(len(s.Brokers), "broker"), words.Ago(beat, a.env.Now)))
}

// slowBeat is when a heartbeat that is not answered yet is worth a word.
const slowBeat = time.Second

func resumeText(p *engine.PauseState, now time.Time) string {
	if p.ResumeAt.IsZero() {
		return "until resumed"
	}
	return "resumes in " + words.Age(p.ResumeAt.Sub(now))
}

// newsFor is how long an error or an operator's act that only the snapshot tells of
// is repeated in the status line.
const newsFor = 30 * time.Second

// latest is what the engine says happened last; else how fresh the allocation is.
func (a *app) latest() draw.Segment {
	th, s := a.env.Theme, a.source().Scene
	if s == nil || a.watchedNow() != nil {
		return draw.Segment{}
	}
	failed := s.LastError != "" && a.env.Now.Sub(s.LastErrorAt) < newsFor && !s.BrokerFails(s.LastError)
	acted := s.LastOperator != "" && a.env.Now.Sub(s.LastOperatorAt) < newsFor
	switch {
	case failed && (!acted || s.LastErrorAt.After(s.LastOperatorAt)):
		return draw.Styled(th.Bad, fmt.Sprintf(" · %s %s ago: %s", words.Failure.Sign(), words.Since(s.LastErrorAt, a.env.Now), live.Unrepeated(s.LastError)))
	case acted:
		return draw.Styled(th.Accent, fmt.Sprintf(" · %s ago: %s", words.Since(s.LastOperatorAt, a.env.Now), s.LastOperator))
	case a.w < 100:
		return draw.Segment{}
	}
	return draw.Styled(th.Dim, a.membersText())
}

// membersText says how fresh the allocation is.
func (a *app) membersText() string {
	t, _ := a.live[a.cur].ShownTopic()
	if t == nil || t.MembersAt.IsZero() {
		return ""
	}
	s := a.source().Scene
	switch {
	case s.Told != nil && s.Told.Wrongs():
		return "" // the left end says it
	case s.Told != nil:
		return fmt.Sprintf(" · %s agree on allocation, told %s", words.Plural(len(t.Members), "member"), words.Ago(s.Told.At, a.env.Now))
	case s.ToldWhy != "":
		return " · what other members hold is computed: " + s.ToldWhy
	}
	return fmt.Sprintf(" · %s, told %s by %s", words.Plural(len(t.Members), "member"), words.Ago(t.MembersAt, a.env.Now), words.OrUnknown(t.MembersFrom))
}
