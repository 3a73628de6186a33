package change

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/words"
)

// NewResetAnyDialog is a resetDialog for any group of the cluster. Its first preview is
// to be served.
func NewResetAnyDialog(e *page.Env, r page.ResetAnyRequest) (ResetDialog, page.Request) {
	d := emptyResetDialog(e, r.Group, r.Topic, r.Rate)
	d.Any = true
	if n := len(r.Queues); n > 0 {
		label := "queue " + draw.SafeText(r.Queues[0].Short())
		if n > 1 {
			label = fmt.Sprintf("only marked (%d)", n)
		}
		var topics []string
		for _, mq := range r.Queues {
			if !slices.Contains(topics, mq.Topic) {
				topics = append(topics, mq.Topic)
			}
		}
		d.scopes = append(d.scopes, ResetScope{Label: label, Queues: r.Queues, topics: topics})
	}
	if r.Topic != "" {
		d.scopes = append(d.scopes, ResetScope{Label: "topic " + words.TopicLabel(r.Group, r.Topic), topics: []string{r.Topic}})
	}
	d.scopes = append(d.scopes, ResetScope{Label: "all topics"}, ResetScope{Label: "all and %RETRY%", retry: true})
	if len(r.Queues) == 1 { // rarely what is meant, and the broker may not be able to
		d.scope = 1
	}
	req := d.preview()
	return d, req
}

// planRequest is what a plan is asked for.
func (d *ResetDialog) planRequest(target core.ResetTarget) inspect.ResetRequest {
	s := &d.scopes[d.scope]
	r := inspect.ResetRequest{Group: d.group, Topics: s.topics, Queues: s.Queues, Retry: s.retry, Target: target}
	for mq, out := range d.exclude {
		if out {
			r.Exclude = append(r.Exclude, mq)
		}
	}
	slices.SortFunc(r.Exclude, func(a, b engine.MessageQueue) int { return strings.Compare(a.String(), b.String()) })
	return r
}

// takePlan takes a plan. Rows that are left out are no part of it and stay as they
// were read last, so that they can be taken in again.
func (d *ResetDialog) takePlan(msg ResetPlanMsg) {
	for i := range d.Rows {
		if r := d.Rows[i]; d.exclude[r.MessageQueue] {
			d.gone[r.MessageQueue] = r
		}
	}
	d.Plan, d.Safe, d.at, d.err, d.loading, d.saved = msg.raw, msg.safe, msg.at, msg.err, false, msg.saved
	d.old = false
	d.Rows = planRows(msg.raw.Rows, msg.safe.Rows, d.unchosen())
	left := slices.SortedFunc(maps.Keys(d.gone), func(a, b engine.MessageQueue) int { return strings.Compare(a.String(), b.String()) })
	for _, mq := range left {
		if d.exclude[mq] {
			d.Rows = append(d.Rows, d.gone[mq])
		}
	}
	d.setRows()
}

// planRows are rows as the dialog shows them; an unknown one, and one that cannot be reset
// to the target that was chosen, has its reason as Err.
func planRows(raw, safe []inspect.ResetRow, unchosen bool) []engine.ResetRow {
	rows := make([]engine.ResetRow, len(raw))
	for i := range raw {
		r := &raw[i]
		rows[i] = engine.ResetRow{MessageQueue: r.MessageQueue, MinOffset: r.Min, MaxOffset: r.Max, Before: r.Before, After: r.After,
			Effect: r.Effect, Count: r.Count, FirstStored: r.FirstStored, Verified: r.Verified}
		switch {
		case r.Error != "":
			rows[i].Err = errors.New(safe[i].Error)
		case r.Unknown || r.Method == inspect.MethodNone && !unchosen:
			rows[i].Err = errors.New(words.OrUnknown(safe[i].Why))
		}
	}
	return rows
}

// TakeResult shows what the reset came to.
func (d *ResetDialog) TakeResult(msg ResetAnyDoneMsg) {
	d.applying, d.done, d.focus, d.err, d.savedTo = false, true, onCancel, msg.Err, msg.Result.SavedTo
	if d.savedTo != "" {
		d.Env.SavedTo[d.group] = d.savedTo
	}
	d.notes = make(map[engine.MessageQueue]string)
	d.result = planRows(d.Plan.Rows, d.Safe.Rows, false)
	for i := range msg.Result.Rows {
		if i >= len(d.result) {
			break
		}
		r, row := &msg.Result.Rows[i], &d.result[i]
		row.Before, row.After, row.Verified, row.Err = r.Before, r.After, r.Verified, nil
		switch {
		case r.Error != "":
			row.Err = errors.New(r.Error)
		case r.Lost != "":
			row.Err = errors.New(r.Obeyed)
		case !r.Tried && !r.Verified: // one that was there already is verified
			row.Err = errors.New("not written")
		case !r.Verified && r.ReadBack >= 0:
			row.Err = fmt.Errorf("the broker says %s", words.Grouped(r.ReadBack))
		}
		d.notes[row.MessageQueue] = r.Obeyed
	}
	d.Rows = d.result
	d.setRows()
	if err := msg.Result.Failed(); err != nil && msg.Err == "" {
		d.failed = strings.Split(err.Error(), "\n")[1:] // how many it are is said already
	}
}

// typedName is what is typed to apply: RocketMQ's own groups want their name twice, so
// that nobody changes one by mistake.
func (d *ResetDialog) typedName() string {
	if d.Any && d.Plan.System {
		return d.group + " " + d.group
	}
	return d.group
}

// howLines say how it is done and what it means for the members.
func (d *ResetDialog) howLines(w int, wide bool) [][]draw.Segment {
	e := d.Env
	if d.at.IsZero() || d.err != "" {
		return [][]draw.Segment{page.Line(draw.Styled(e.Theme.Dim, " How    "), e.Plain("…"))}
	}
	if d.Plan.Method == inspect.MethodNone && !d.impossible() { // it is said of a target, and there is none yet
		return [][]draw.Segment{page.Line(draw.Styled(e.Theme.Dim, " How    "), e.Plain("depends on the target"))}
	}
	st := e.Theme.Text
	if d.Plan.Method == inspect.MethodNone {
		st = e.Theme.Bad
	}
	var lines [][]draw.Segment
	before := " How    "
	for i, part := range draw.WrapText(d.Safe.Why, max(w-12, 20)) {
		if i == 2 && !wide {
			break
		}
		lines = append(lines, page.Line(draw.Styled(e.Theme.Dim, before), draw.Styled(st, part)))
		before = "        "
	}
	deaf := 0
	var sample *inspect.MemberEffect
	for i := range d.Safe.Members {
		m := &d.Safe.Members[i]
		if !m.Obeys {
			deaf++
		}
		if sample == nil || sample.Obeys && !m.Obeys {
			sample = m
		}
	}
	switch {
	case d.Plan.Method == inspect.MethodNone: // nothing will be verified
	case len(d.Safe.Members) == 0:
		lines = append(lines, page.Line(draw.Styled(e.Theme.Dim, "        "), e.Plain("start no member until all queues are verified")))
	case deaf > 0:
		text := fmt.Sprintf("%s %d of %s: %s %s", words.Warning.Sign(), deaf, words.Plural(len(d.Safe.Members), "member"), sample.ClientID, sample.Effect)
		lines = append(lines, indented(w, e.Theme.Warn, text)...)
	case len(d.Safe.Members) == 1:
		lines = append(lines, indented(w, e.Theme.Text, "1 member online: it "+sample.Effect)...)
	default:
		lines = append(lines, indented(w, e.Theme.Text, words.Plural(len(d.Safe.Members), "member")+" online: each "+sample.Effect)...)
	}
	return lines
}

// indented is a text beside the labels, in two lines at most.
func indented(w int, st draw.Style, text string) (lines [][]draw.Segment) {
	parts := draw.WrapText(text, max(w-12, 20))
	for _, part := range parts[:min(len(parts), 2)] {
		lines = append(lines, page.Line(draw.Styled(st, draw.Pad("", 8)+part)))
	}
	return lines
}

// riskLines say what else is to be known, and the command that does the same.
func (d *ResetDialog) riskLines() [][]draw.Segment {
	e := d.Env
	risk := "consumers must be idempotent"
	if !d.scopes[d.scope].retry {
		risk += " · the retry topic is not touched"
	}
	return [][]draw.Segment{
		page.Line(draw.Styled(e.Theme.Dim, " Risk   "), e.Plain(risk)),
		page.Line(draw.Styled(e.Theme.Dim, " CLI    "), e.Plain(d.commandLine())),
	}
}

// commandLine is the command that shows the same preview.
func (d *ResetDialog) commandLine() string {
	text := "eyeq group reset " + ShellWord(d.group)
	s := &d.scopes[d.scope]
	for _, t := range s.topics {
		text += " -t " + ShellWord(t)
	}
	for _, mq := range s.Queues {
		text += " --queue " + ShellWord(mq.BrokerName) + ":" + fmt.Sprint(mq.QueueID)
	}
	if s.retry {
		text += " --retry"
	}
	to := map[core.ResetKind]string{core.ResetEarliest: "earliest", core.ResetLatest: "latest"}[d.asked.Kind]
	switch d.asked.Kind {
	case core.ResetTime:
		to = d.asked.Time.In(d.Env.Options.Location).Format(time.RFC3339)
	case core.ResetOffset:
		to = fmt.Sprintf("offset:%d", d.asked.Offset)
	case core.ResetShift:
		to = fmt.Sprintf("shift:%+d", d.asked.Offset)
	}
	if d.unchosen() {
		to = "TARGET"
	}
	if d.from != "" { // no shell replaces a ~ within a word
		to = ShellWord("file:" + page.HomeDir(d.from))
	}
	return text + " --to " + to + " --dry-run" + draw.SafeText(d.Env.Options.TargetFlags)
}

// ShellWord makes one word of s for a shell; safe to print.
func ShellWord(s string) string { return draw.SafeText(inspect.ShellWord(s)) }
