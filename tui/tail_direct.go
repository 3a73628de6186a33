package tui

import (
	"cmp"
	"context"
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
	"eyeq/engine/audit"
	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/words"
)

// directLimit is how long a member may take that is to consume a message, and who asks
// for it: the broker waits 10 s.
const directLimit = 30 * time.Second

type (
	// consumeHereMsg asks for the message under the cursor to be consumed by a member.
	consumeHereMsg struct{ group, client string }
	// directPlanMsg is what having a member consume a message would do.
	directPlanMsg struct {
		ticket int
		raw    inspect.DirectPlan
		err    string
	}
	// directDoneMsg is what it came to.
	directDoneMsg struct {
		consumed bool
		words    string // safe to print
		err      string
	}
)

func (m directPlanMsg) tailTicket() int { return m.ticket }

func planDirect(c commands, cl Cluster, r inspect.DirectRequest, ticket int) tea.Cmd {
	return c.within(directLimit, func(ctx context.Context) tea.Msg {
		plan, err := cl.PlanDirect(ctx, r)
		return directPlanMsg{ticket, plan, errorText(err)}
	})
}

// applyDirect has the message consumed between its two lines in the audit file.
func applyDirect(c commands, cl Cluster, begin audit.Begin, p inspect.DirectPlan, reason string) tea.Cmd {
	return c.within(directLimit, func(ctx context.Context) tea.Msg {
		var res inspect.DirectResult
		err := audit.Note(begin, audit.Direct(&p, reason), func() (after any, failed, err error) {
			if res, err = cl.ApplyDirect(ctx, p); err != nil {
				return nil, err, err
			}
			return audit.DirectDone(&res), res.Failed(), nil
		})
		m := directDoneMsg{err: errorText(err)}
		switch {
		case res.Sent:
			m.consumed, m.words = res.Consumed(), draw.SafeText(fmt.Sprintf("%s, in %d ms", res.Words(), res.Answer.SpentTimeMills))
		case m.err == "":
			m.err = draw.SafeText(res.Error)
		}
		return m
	})
}

// askDirect asks what having a member consume the message under the cursor would do.
func (v tailView) askDirect(m consumeHereMsg) (page, request) {
	group := m.group
	if group == "" {
		group = v.group
	}
	row := v.current()
	switch {
	case v.env.readOnly():
		return v, refuseRequest{v.env.readOnlyText("consume")}
	case v.env.o.Inspect == nil:
		return v, refuseRequest{"there is no cluster to ask"}
	case row == nil || row.message == nil:
		return v, refuseRequest{"there is no message under the cursor"}
	case group == "":
		return v, refuseRequest{"consume: by which group? :consume GROUP [CLIENT-ID]"}
	}
	v.stand()
	return v, runRequest{cmd: planDirect(v.cmds, v.env.o.Inspect, inspect.DirectRequest{Group: group, ClientID: m.client, Message: *row.message}, v.ticket)}
}

// directDialog shows who would get a message, asks for the group's name, and then what
// the listener made of it.
type directDialog struct {
	env    *env
	lines  []string
	apply  func(reason string) tea.Cmd
	form   changeForm
	result directDoneMsg
}

func newDirectDialog(e *env, cmds commands, p inspect.DirectPlan) directDialog {
	m := engine.Message(p.Request.Message)
	d := directDialog{env: e, form: newChangeForm(e, p.Request.Group, p.Why, "the member has it"),
		apply: func(reason string) tea.Cmd { return applyDirect(cmds, e.o.Inspect, e.o.Audit, p, reason) }}
	d.lines = append(d.lines, draw.SafeText(fmt.Sprintf("message %s of %s, %s/%d offset %d", m.MessageID(), m.OriginalTopic(), m.BrokerName(), m.QueueID(), m.QueueOffset())))
	if who := &p.Member; who.ClientID != "" {
		d.lines = append(d.lines, draw.SafeText(fmt.Sprintf("to the listener of %s (%s %s) of %s", who.ClientID, who.Language, who.Version, p.Request.Group)))
	}
	for _, note := range p.Notes {
		d.lines = append(d.lines, draw.SafeText(note))
	}
	return d
}

func (d directDialog) update(msg tea.Msg) (dialog, request) {
	switch msg := msg.(type) {
	case directDoneMsg:
		if d.form.finish() {
			d.result = msg
		}
	case tea.KeyMsg:
		switch leave, apply := d.form.key(msg); {
		case leave:
			return d, closeRequest{}
		case apply:
			return d, runRequest{d.apply(d.form.reasonText()), "a message that a member is to consume"}
		}
	}
	return d, nil
}

func (d directDialog) view(w, h int) string {
	e := d.env
	var lines [][]draw.Segment
	put := func(text string) {
		for _, part := range draw.WrapText(text, max(w-4, 10)) {
			lines = append(lines, line(e.plain(" "+part)))
		}
	}
	for _, text := range d.lines {
		put(text)
	}
	if d.form.why != "" {
		put(words.Failure.Sign() + " " + d.form.why)
	}
	lines = append(lines, line())
	if d.form.done {
		switch {
		case d.result.words != "" && !d.result.consumed:
			put(words.Failure.Sign() + " " + d.result.words)
		case d.result.words != "":
			put(d.result.words)
		}
		if d.result.err != "" && d.result.words == "" {
			put(words.Failure.Sign() + " " + d.result.err)
		}
		lines = append(lines, line(e.plain("  "), e.button("Close", true, true)))
		return drawBox(e, w, h, "CONSUMED by a member", "", lines, len(lines)-1)
	}
	lines = append(lines, d.form.lines(w, "Consume")...)
	return drawBox(e, w, h, "HAVE a member CONSUME a message — nothing is sent yet", "", lines, len(lines)-1)
}

func (d directDialog) hint(c *draw.Canvas) string {
	return d.form.hint(c, "the member's listener has the message")
}

// onDirect tells what a member made of a message.
func (a *app) onDirect(msg directDoneMsg) tea.Cmd {
	sev := words.Failure
	if msg.consumed {
		sev = words.Notice
	}
	return a.written(msg, "message: "+cmp.Or(msg.words, msg.err), sev)
}
