package tui

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"eyeq/engine/audit"
	"eyeq/engine/inspect"
	"eyeq/tui/change"
	"eyeq/tui/tail"
	"eyeq/tui/words"
)

// auditOf gives what the two lines of a change in the audit file say.
func auditOf(t *testing.T, change func(a audit.Begin)) (wanted, after string, failed error) {
	t.Helper()
	text := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	change(func(e audit.Entry) (audit.Record, error) {
		wanted = text(e.After)
		return audit.Record{Done: func(v any, err error) error { after, failed = text(v), err; return nil }}, nil
	})
	return wanted, after, failed
}

func TestTheAuditFileTellsAPauseAsItCameOut(t *testing.T) {
	f := fullCluster()
	d := driveCluster(t, 120, 36, defaultOptions(), f)
	plan := inspect.PausePlan{Request: inspect.PauseRequest{Group: "g"}, Brokers: []inspect.PauseRow{
		{Broker: "broker-a", After: true}, {Broker: "broker-b", After: true, Missing: true, Error: "it has no configuration of the group"}}}
	for name, tt := range map[string]struct {
		error  string
		after  string
		failed bool
	}{
		"a broker without the group counts for nothing": {"", `{"broker-a":true}`, false},
		"what cannot be read back is not known":         {"written, but it cannot be read back", `{"broker-a":null}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			f.applyPause = func(p inspect.PausePlan) (inspect.PauseResult, error) {
				r := inspect.PauseResult{Plan: p, Rows: append([]inspect.PauseRow(nil), p.Brokers...)}
				r.Rows[0].Error, r.Rows[0].Verified = tt.error, tt.error == ""
				return r, nil
			}
			wanted, after, failed := auditOf(t, func(a audit.Begin) {
				d.send(change.ApplyPause(d.a.cmds, f, a, change.ApplyPauseRequest{Plan: plan})())
			})
			if wanted != `{"broker-a":true}` || after != tt.after || (failed != nil) != tt.failed {
				t.Errorf("wanted %s, after %s, failed %v; want after %s, failed %v", wanted, after, failed, tt.after, tt.failed)
			}
			if got := d.a.note.sev == words.Failure; got != tt.failed {
				t.Errorf("the status line says %q", d.a.note.text)
			}
		})
	}
}

func TestTheAuditFileTellsAResetThatDidNotHold(t *testing.T) {
	f := fullCluster()
	d := driveCluster(t, 120, 36, defaultOptions(), f)
	plan := inspect.ResetPlan{Request: inspect.ResetRequest{Group: "g"}, Rows: []inspect.ResetRow{{MessageQueue: mq("t", "broker-a", 0), Before: -1, After: 7}}}
	f.applyReset = func(p inspect.ResetPlan) (inspect.ResetResult, error) {
		r := inspect.ResetResult{Plan: p, Rows: append([]inspect.ResetRow(nil), p.Rows...)}
		r.Rows[0].Tried, r.Rows[0].ReadBack, r.Rows[0].Obeyed = true, 9, "overwritten by a member"
		return r, nil
	}
	_, after, failed := auditOf(t, func(a audit.Begin) { change.ApplyReset(d.a.cmds, f, a, change.ApplyResetRequest{Plan: plan})() })
	if want := `[{"topic":"t","broker":"broker-a","queue":0,"offset":9}]`; after != want || failed == nil {
		t.Errorf("after %s, failed %v; want %s and what did not hold", after, failed, want)
	}
}

func TestAQueueThatWasThereAlreadyIsNoFailure(t *testing.T) {
	p := fixturePlan(inspect.ResetRequest{Group: "g"})
	result := fixtureResult(p)
	result.Rows[0].Tried, result.Rows[0].Verified, result.Rows[0].Error, result.Rows[0].Obeyed = false, true, "", "was there already"
	d := change.ResetDialog{Env: driveCluster(t, 120, 36, defaultOptions(), fullCluster()).a.env, Any: true, Plan: p, Safe: p}
	d.TakeResult(change.ResetAnyDoneMsg{Result: result})
	if err := d.Rows[0].Err; err != nil {
		t.Errorf("a queue that was there already is told as %q", err)
	}
}

// A line of the audit file is as long as a part, however many are sent back; the last
// one adds them up and names a few that failed.
func TestTheAuditFileTellsOfManyDeadLettersInParts(t *testing.T) {
	f := fullCluster()
	d := driveCluster(t, 120, 36, defaultOptions(), f)
	plan := inspect.ResendPlan{Group: "g", Rows: make([]inspect.ResendRow, 2*audit.ResendPart+6)}
	for i := range plan.Rows {
		plan.Rows[i] = inspect.ResendRow{ID: "ID", Error: "it is of another topic"}
	}
	var entry audit.Entry
	var parts []int
	var end audit.ResendSum
	var failed error
	begin := func(e audit.Entry) (audit.Record, error) {
		entry = e
		return audit.Record{
			Part: func(wanted, v any) error {
				if wanted != nil {
					t.Errorf("%v is announced, and none can be sent", wanted)
				}
				parts = append(parts, reflect.ValueOf(v).Len())
				return nil
			},
			Done: func(v any, err error) error { end, failed = v.(audit.ResendSum), err; return nil },
		}, nil
	}
	m := tail.ApplyResend(d.a.cmds, f, begin, plan, "bad batch")().(tail.ResendDoneMsg)
	if n := len(plan.Rows); len(m.Rows) != n || end.DeadLetters != n || end.NotSent != n || failed == nil || strings.Count(failed.Error(), ": it is of another topic") != 5 || !strings.HasSuffix(failed.Error(), "and 65 more") {
		t.Errorf("%d rows, the end says %+v and %v", len(m.Rows), end, failed)
	}
	if before := entry.Before.(map[string]any); len(parts) != 3 || parts[2] != 6 || before["ids"] != nil || entry.Reason != "bad batch" {
		t.Errorf("parts of %d, before %v, reason %q", parts, before, entry.Reason)
	}
}
