package tail

import (
	"context"
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
	"eyeq/engine/audit"
	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/words"
)

// directLimit is how long a member may take that is to consume a message, and who asks
// for it: the broker waits 10 s.
const directLimit = 30 * time.Second

type (
	// ConsumeHereMsg asks for the message under the cursor to be consumed by a member.
	ConsumeHereMsg struct{ Group, Client string }
	// directPlanMsg is what having a member consume a message would do.
	directPlanMsg struct {
		ticket int
		raw    inspect.DirectPlan
		err    string
	}
	// DirectDoneMsg is what it came to.
	DirectDoneMsg struct {
		Consumed bool
		Words    string // safe to print
		Err      string
	}
)

func (m directPlanMsg) tailTicket() int { return m.ticket }

func planDirect(c page.Commands, cl page.Cluster, r inspect.DirectRequest, ticket int) tea.Cmd {
	return c.Within(directLimit, func(ctx context.Context) tea.Msg {
		plan, err := cl.PlanDirect(ctx, r)
		return directPlanMsg{ticket, plan, page.ErrorText(err)}
	})
}

// applyDirect has the message consumed between its two lines in the audit file.
func applyDirect(c page.Commands, cl page.Cluster, begin audit.Begin, p inspect.DirectPlan, reason string) tea.Cmd {
	return c.Within(directLimit, func(ctx context.Context) tea.Msg {
		var res inspect.DirectResult
		err := audit.Note(begin, audit.Direct(&p, reason), func() (after any, failed, err error) {
			if res, err = cl.ApplyDirect(ctx, p); err != nil {
				return nil, err, err
			}
			return audit.DirectDone(&res), res.Failed(), nil
		})
		m := DirectDoneMsg{Err: page.ErrorText(err)}
		switch {
		case res.Sent:
			m.Consumed, m.Words = res.Consumed(), draw.SafeText(fmt.Sprintf("%s, in %d ms", res.Words(), res.Answer.SpentTimeMills))
		case m.Err == "":
			m.Err = draw.SafeText(res.Error)
		}
		return m
	})
}

// askDirect asks what having a member consume the message under the cursor would do.
func (v View) askDirect(m ConsumeHereMsg) (page.Page, page.Request) {
	group := m.Group
	if group == "" {
		group = v.Group
	}
	row := v.Current()
	switch {
	case v.env.ReadOnly():
		return v, page.RefuseRequest{Text: v.env.ReadOnlyText("consume")}
	case v.env.Options.Inspect == nil:
		return v, page.RefuseRequest{Text: "there is no cluster to ask"}
	case row == nil || row.Message == nil:
		return v, page.RefuseRequest{Text: "there is no message under the cursor"}
	case group == "":
		return v, page.RefuseRequest{Text: "consume: by which group? :consume GROUP [CLIENT-ID]"}
	}
	v.stand()
	return v, page.RunRequest{Cmd: planDirect(v.cmds, v.env.Options.Inspect, inspect.DirectRequest{Group: group, ClientID: m.Client, Message: *row.Message}, v.Ticket)}
}

// directDialog shows who would get a message, asks for the group's name, and then what
// the listener made of it.
type directDialog struct {
	env    *page.Env
	lines  []string
	apply  func(reason string) tea.Cmd
	form   page.ChangeForm
	result DirectDoneMsg
}

func newDirectDialog(e *page.Env, cmds page.Commands, p inspect.DirectPlan) directDialog {
	m := engine.Message(p.Request.Message)
	d := directDialog{env: e, form: page.NewChangeForm(e, p.Request.Group, p.Why, "the member has it"),
		apply: func(reason string) tea.Cmd { return applyDirect(cmds, e.Options.Inspect, e.Options.Audit, p, reason) }}
	d.lines = append(d.lines, draw.SafeText(fmt.Sprintf("message %s of %s, %s/%d offset %d", m.MessageID(), m.OriginalTopic(), m.BrokerName(), m.QueueID(), m.QueueOffset())))
	if who := &p.Member; who.ClientID != "" {
		d.lines = append(d.lines, draw.SafeText(fmt.Sprintf("to the listener of %s (%s %s) of %s", who.ClientID, who.Language, who.Version, p.Request.Group)))
	}
	for _, note := range p.Notes {
		d.lines = append(d.lines, draw.SafeText(note))
	}
	return d
}

// Update implements page.Dialog.
func (d directDialog) Update(msg tea.Msg) (page.Dialog, page.Request) {
	switch msg := msg.(type) {
	case DirectDoneMsg:
		if d.form.Finish() {
			d.result = msg
		}
	case tea.KeyMsg:
		switch leave, apply := d.form.Key(msg); {
		case leave:
			return d, page.CloseRequest{}
		case apply:
			return d, page.RunRequest{Cmd: d.apply(d.form.ReasonText()), Writing: "a message that a member is to consume"}
		}
	}
	return d, nil
}

// View implements page.Dialog.
func (d directDialog) View(w, h int) string {
	e := d.env
	var lines [][]draw.Segment
	put := func(text string) {
		for _, part := range draw.WrapText(text, max(w-4, 10)) {
			lines = append(lines, page.Line(e.Plain(" "+part)))
		}
	}
	for _, text := range d.lines {
		put(text)
	}
	if d.form.Why != "" {
		put(words.Failure.Sign() + " " + d.form.Why)
	}
	lines = append(lines, page.Line())
	if d.form.Done {
		switch {
		case d.result.Words != "" && !d.result.Consumed:
			put(words.Failure.Sign() + " " + d.result.Words)
		case d.result.Words != "":
			put(d.result.Words)
		}
		if d.result.Err != "" && d.result.Words == "" {
			put(words.Failure.Sign() + " " + d.result.Err)
		}
		lines = append(lines, page.Line(e.Plain("  "), e.Button("Close", true, true)))
		return page.DrawBox(e, w, h, "CONSUMED by a member", "", lines, len(lines)-1)
	}
	lines = append(lines, d.form.Lines(w, "Consume")...)
	return page.DrawBox(e, w, h, "HAVE a member CONSUME a message — nothing is sent yet", "", lines, len(lines)-1)
}

// Hint implements page.Dialog.
func (d directDialog) Hint(c *draw.Canvas) string {
	return d.form.Hint(c, "the member's listener has the message")
}
