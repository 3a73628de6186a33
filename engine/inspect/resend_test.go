package inspect_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// A dead letter that is sent back is a message of the group's retry topic, new in its
// attempts and else as it was; to plan it writes nothing.
func TestResend(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		dead := d.deadLetters(tg, 2)
		d.makeRetryTopic(tg, dead.group)
		retry := protocol.MessageQueue{Topic: protocol.RetryTopic(dead.group), BrokerName: dead.original.BrokerName}
		before, err := d.client.MaxOffset(t.Context(), retry)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := d.PlanResend(t.Context(), dead.group, dead.messages)
		if err != nil || plan.Why != "" || len(plan.Rows) != 2 || plan.Note == "" {
			t.Fatalf("plan = %+v, %v", plan, err)
		}
		if r := plan.Rows[0]; r.ID != uniqueID(0) || r.Original != dead.original.Topic || !r.SentBefore.IsZero() || r.Tried {
			t.Errorf("row = %+v", r)
		}
		if after, err := d.client.MaxOffset(t.Context(), retry); err != nil || after != before {
			t.Errorf("a plan writes: %d → %d, %v", before, after, err)
		}
		done, err := d.ApplyResend(t.Context(), plan)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range done.Rows {
			if !row.Tried || !row.Verified || row.Error != "" {
				t.Errorf("row %d = %+v", i, row)
				continue
			}
			found := d.find(inspect.FindRequest{OffsetID: row.NewID}).Messages
			m, was := &found[0], &dead.messages[i]
			if m.Topic() != retry.Topic || m.ReconsumeTimes() != 0 || string(m.StoredBody()) != string(was.StoredBody()) || m.Flag() != was.Flag() {
				t.Errorf("copy of %s, attempt %d, body %q", m.Topic(), m.ReconsumeTimes(), m.StoredBody())
			}
			got := maps.Collect(m.Properties)
			for name, want := range map[string]string{
				"KEYS": "k", "TAGS": "T", "shop": "x=y", "UNIQ_KEY": uniqueID(i), "RETRY_TOPIC": dead.original.Topic, "DELAY": "", "REAL_TOPIC": "",
			} {
				if got[name] != want {
					t.Errorf("property %s = %q, want %q", name, got[name], want)
				}
			}
			if got["ORIGIN_MESSAGE_ID"] != maps.Collect(was.Properties)["ORIGIN_MESSAGE_ID"] {
				t.Errorf("it comes from %q", got["ORIGIN_MESSAGE_ID"])
			}
		}
		// Once more is possible, and said.
		d.awaitFound(inspect.FindRequest{Topic: retry.Topic, UniqueKey: uniqueID(1)}, 1)
		if again, err := d.PlanResend(t.Context(), dead.group, dead.messages); err != nil || again.Rows[1].SentBefore.IsZero() {
			t.Errorf("a second plan does not know of the first: %v, %v", again.Rows[1].SentBefore, err)
		}
	})
}

// A broker of 4.x makes one more dead letter of a copy for a group that may not retry at
// all: of the first one, and no more are sent to it then. One of 5.x takes them.
func TestResendToAGroupWithoutRetries(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		dead := d.deadLetters(tg, 3)
		config := protocol.NewGroupConfig(dead.group)
		if err := config.Set("retryMaxTimes", "0"); err != nil {
			t.Fatal(err)
		}
		for _, addr := range tg.Masters(t) {
			if err := d.client.UpdateGroupConfig(t.Context(), addr, config); err != nil {
				t.Fatal(err)
			}
		}
		d.makeRetryTopic(tg, dead.group)
		plan, err := d.PlanResend(t.Context(), dead.group, dead.messages)
		if err != nil {
			t.Fatal(err)
		}
		done, err := d.ApplyResend(t.Context(), plan)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range done.Rows {
			switch {
			case tg.Line == "5" && !row.Verified:
				t.Errorf("row %d = %+v", i, row)
			case tg.Line == "4" && (row.Tried != (i == 0) || row.Verified || !strings.Contains(row.Error, "into the dead letters again")):
				t.Errorf("row %d: tried %v, verified %v, %q", i, row.Tried, row.Verified, row.Error)
			}
		}
		plan.Buries = done.Buries
		if rest, err := d.ApplyResend(t.Context(), plan); err != nil || rest.Rows[0].Tried != (tg.Line == "5") {
			t.Errorf("what is left is sent to it all the same: %+v, %v", rest.Rows[0], err)
		}
		letters := protocol.MessageQueue{Topic: protocol.DLQTopic(dead.group), BrokerName: dead.original.BrokerName}
		want := map[string]int64{"4": 4, "5": 3}[tg.Line]
		tg.AwaitOffset(t, letters, want)
		if n, err := d.client.MaxOffset(t.Context(), letters); err != nil || n != want {
			t.Errorf("%d dead letters, %v; want %d", n, err, want)
		}
	})
}

func TestResendRefuses(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 1)
		m, err := d.Head(t.Context(), d.queues(topic)[0], 0)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := d.PlanResend(t.Context(), group, []protocol.MessageExt{m})
		if err != nil || plan.Why == "" || plan.Rows[0].Error == "" {
			t.Errorf("plan = %+v, %v; want it to be impossible", plan, err)
		}
		if _, err := d.ApplyResend(t.Context(), plan); !isType[*inspect.NotPossibleError](err) {
			t.Errorf("apply = %v", err)
		}
	})
}

// That brokers do not tell of copies is not that there are none.
func TestResendPlanWithoutAWordOfCopies(t *testing.T) {
	sandboxtest.RunSandbox(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		dead := d.deadLetters(tg, 1)
		tg.Sandbox.CreateTopic(protocol.RetryTopic(dead.group), 1)
		tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault {
			if protocol.RequestCode(r.Command.Code) == protocol.QueryMessage {
				return sandbox.Fault{Code: protocol.SystemError, Remark: "not now"}
			}
			return sandbox.Fault{}
		})
		plan, err := d.PlanResend(t.Context(), dead.group, dead.messages)
		if err != nil || plan.Why != "" || len(plan.Rows) != 1 {
			t.Fatalf("plan = %+v, %v", plan, err)
		}
		if r := plan.Rows[0]; !r.SentBefore.IsZero() || !strings.HasSuffix(r.SentBeforeWhy.Text, "failed: not now") {
			t.Errorf("sent before: %v, unknown because %v; want it not to be known", r.SentBefore, r.SentBeforeWhy)
		}
		tg.Sandbox.SetFault(nil)
		if plan, err = d.PlanResend(t.Context(), dead.group, dead.messages); err != nil || plan.Rows[0].SentBeforeWhy != (inspect.Reason{}) {
			t.Errorf("told that there is none: unknown because %v, %v", plan.Rows[0].SentBeforeWhy, err)
		}
	})
}

// A copy whose answer is lost may have been stored: that is said, not that it was not.
// One that was not sent for that is no such case.
func TestResendUnanswered(t *testing.T) {
	sandboxtest.RunSandbox(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		dead := d.deadLetters(tg, 2)
		d.makeRetryTopic(tg, dead.group)
		plan, err := d.PlanResend(t.Context(), dead.group, dead.messages)
		if err != nil {
			t.Fatal(err)
		}
		tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault {
			return sandbox.Fault{Lose: protocol.RequestCode(r.Command.Code) == protocol.SendMessageV2}
		})
		done, err := d.ApplyResend(t.Context(), plan)
		tg.Sandbox.SetFault(nil)
		if err != nil {
			t.Fatal(err)
		}
		if r := done.Rows[1]; r.Tried || r.Unknown || !strings.HasPrefix(r.Error, "not sent: not asked again so soon") {
			t.Errorf("the one behind it: %+v", r)
		}
		if r := done.Rows[0]; !r.Tried || !r.Unknown || r.Verified || !strings.HasPrefix(r.Error, "not known whether it was sent") {
			t.Errorf("row = %+v", r)
		}
	})
}

// A copy that was sent before is not sent twice, unless that is what is asked for.
func TestWhatWasSentBeforeIsLeftOut(t *testing.T) {
	sent, fresh := inspect.ResendRow{SentBefore: time.Unix(1, 0)}, inspect.ResendRow{}
	unsure := inspect.ResendRow{SentBeforeWhy: inspect.Reason{Kind: inspect.ReasonUnreachable}}
	tests := map[string]struct {
		rows  []inspect.ResendRow
		again bool
		want  []bool
		all   bool
	}{
		"a mixture":        {rows: []inspect.ResendRow{sent, fresh, sent}, want: []bool{true, false, true}},
		"again":            {rows: []inspect.ResendRow{sent, fresh}, again: true, want: []bool{false, false}},
		"all sent before":  {rows: []inspect.ResendRow{sent, sent}, want: []bool{true, true}, all: true},
		"one is not known": {rows: []inspect.ResendRow{unsure, sent}, want: []bool{false, true}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := inspect.ResendPlan{Rows: tt.rows}
			if all := p.AllSentBefore(); all != tt.all {
				t.Errorf("all were sent before: %v, want %v", all, tt.all)
			}
			p.LeaveOut(tt.again)
			var got []bool
			for _, r := range p.Rows {
				got = append(got, r.Skip)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("skips %v, want %v", got, tt.want)
			}
		})
	}
}
