package tui

import (
	"strings"
	"testing"

	"eyeq/engine"
	"eyeq/engine/audit"
	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
	"eyeq/tui/page"
	"eyeq/tui/words"
)

// A message under the cursor goes to a member's listener by the typed name of its group
// only, between two lines of the audit file; what the listener says is shown.
func TestAMessageIsConsumedByAMember(t *testing.T) {
	for name, tt := range map[string]struct {
		answer inspect.DirectResult
		says   string
		failed bool
	}{
		"taken":     {inspect.DirectResult{Sent: true, Answer: protocol.ConsumeMessageDirectlyResult{ConsumeResult: "CR_SUCCESS", SpentTimeMills: 7}}, "consumed, in 7 ms", false},
		"refused":   {inspect.DirectResult{Sent: true, Answer: protocol.ConsumeMessageDirectlyResult{ConsumeResult: "CR_THROW_EXCEPTION", Remark: "no stock\x1b[2J"}}, "its listener failed: no stock", true},
		"not known": {inspect.DirectResult{Unknown: true, Error: "not known whether its listener has the message"}, "not known whether its listener has the message", true},
	} {
		t.Run(name, func(t *testing.T) {
			f := fixtureCluster()
			var asked inspect.DirectRequest
			f.planDirect = func(r inspect.DirectRequest) (inspect.DirectPlan, error) {
				asked = r
				r.ClientID = "10.0.0.7@1"
				return inspect.DirectPlan{Request: r, Member: inspect.Member{ClientID: "10.0.0.7@1", Language: "JAVA", Version: "V5_3_3"}, Notes: []string{"no offset moves"}}, nil
			}
			f.applyDirect = func(p inspect.DirectPlan) (inspect.DirectResult, error) {
				tt.answer.Plan = p
				return tt.answer, nil
			}
			o := defaultOptions()
			var entries []audit.Entry
			var ends []error
			o.Audit = func(e audit.Entry) (audit.Record, error) {
				entries = append(entries, e)
				return audit.Record{Done: func(_ any, err error) error { ends = append(ends, err); return nil }}, nil
			}
			d, _ := tailing(t, 120, 36, o, "%DLQ%order-settle", f, &page.TailBatch{Messages: []engine.Message{tailRecord(t, func(r *protocol.Record) { r.Topic = "%DLQ%order-settle" })}})
			d.keys(":").typing("consume").keys("enter").see("HAVE a member CONSUME a message").see("10.0.0.7@1 (JAVA V5_3_3) of order-settle").see("no offset moves")
			if asked.Group != "order-settle" || asked.ClientID != "" {
				t.Errorf("asked for %q, %q", asked.Group, asked.ClientID)
			}
			d.keys("enter") // the focus starts on Cancel
			d.keys(":").typing("consume").keys("enter", "tab").typing("fixed?").keys("tab").typing("order-settl").keys("tab", "enter").see("the group's name is not typed")
			if len(entries) != 0 {
				t.Fatal("noted before it was confirmed")
			}
			d.keys("shift+tab").typing("e").keys("tab", "enter").see("CONSUMED by a member").see(tt.says)
			if n := strings.Count(strings.Join(f.asked, "\n"), "apply direct"); n != 1 || len(entries) != 1 || entries[0].Reason != "fixed?" || entries[0].Command != "message consume" || len(ends) != 1 || (ends[0] != nil) != tt.failed {
				t.Errorf("applied %d times, audit %+v, ends %v", n, entries, ends)
			}
			if got := d.a.note.sev == words.Failure; got != tt.failed {
				t.Errorf("the status line says %q", d.a.note.text)
			}
		})
	}
}

func TestReadOnlyHasNothingConsumed(t *testing.T) {
	o := defaultOptions()
	o.Mode, o.ModeWhy = "read-only", "flag --read-only"
	f := fixtureCluster()
	d, _ := tailing(t, 120, 36, o, "orders", f, &page.TailBatch{Messages: []engine.Message{tailRecord(t, nil)}})
	d.keys(":").typing("consume audit").keys("enter").see("read-only (flag --read-only), nothing sent")
	if asked := strings.Join(f.asked, "\n"); strings.Contains(asked, "direct") {
		t.Errorf("asked %q", asked)
	}
}
