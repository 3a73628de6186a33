package cli

import (
	"fmt"
	"strconv"
	"strings"

	"eyeq/engine/core"
	"eyeq/engine/inspect"
	"eyeq/tui/change"
)

// effectText is what a reset does to a queue: skip and gone are loud, since messages
// are not consumed.
func effectText(r *inspect.ResetRow) string {
	if r.Unknown {
		return "unknown"
	}
	switch r.Effect {
	case core.EffectReplay:
		return fmt.Sprintf("replay %d", r.Count)
	case core.EffectSkip:
		return fmt.Sprintf("SKIP %d", r.Count)
	case core.EffectGone:
		return fmt.Sprintf("GONE %d", r.Count)
	}
	return "none"
}

// resetPlanText is the plan as a table, with what it adds up to.
func resetPlanText(e *env, p *inspect.ResetPlan, to string) []byte {
	out := headLine("reset %s to %s%s", p.Request.Group, to, skipsText(p.Rows))
	if p.System {
		out = append(out, headLine("! %s is one of RocketMQ's own groups", p.Request.Group)...)
	}
	out = append(out, headLine("how: %s: %s", p.Method, p.Why)...)
	rows := [][]string{{"TOPIC", "BROKER", "QUEUE", "MIN", "MAX", "BEFORE", "AFTER", "EFFECT", "FIRST MESSAGE", "NOTE"}}
	for i := range p.Rows {
		r := &p.Rows[i]
		first := e.timeText(r.FirstStored)
		if first == "" && r.After >= 0 && r.After == r.Max {
			first = "end of queue"
		}
		rows = append(rows, []string{
			r.Topic, r.BrokerName, strconv.Itoa(int(r.QueueID)), offsetText(r.Min), offsetText(r.Max), offsetText(r.Before), offsetText(r.After),
			effectText(r), first, r.Why,
		})
	}
	out = appendTable(out, "llrrrrrlll", rows)
	out = append(out, headLine("%s", resetSum(p))...)
	return append(out, membersText(p.Members)...)
}

// skipsText is what a plan's title says of messages that the group will never consume; ""
// when there is none.
func skipsText(rows []inspect.ResetRow) string {
	messages, queues := int64(0), 0
	for i := range rows {
		if r := &rows[i]; !r.Unknown && r.Effect == core.EffectSkip {
			messages += r.Count
			queues++
		}
	}
	if queues == 0 {
		return ""
	}
	return fmt.Sprintf(": SKIPS %s in %s", inspect.Plural(messages, "message"), inspect.Plural(queues, "queue"))
}

// resetSum adds a plan up.
func resetSum(p *inspect.ResetPlan) string {
	counts := map[core.ResetEffect]int64{}
	queues := map[core.ResetEffect]int{}
	for i := range p.Rows {
		if r := &p.Rows[i]; !r.Unknown {
			counts[r.Effect] += r.Count
			queues[r.Effect]++
		}
	}
	parts := []string{inspect.Plural(len(p.Rows), "queue")}
	for _, one := range []struct {
		effect core.ResetEffect
		word   string
	}{{core.EffectReplay, "replay"}, {core.EffectSkip, "SKIP"}, {core.EffectGone, "GONE"}} {
		if n := queues[one.effect]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d in %d", one.word, counts[one.effect], n))
		}
	}
	if n := len(p.Blocked()); n > 0 {
		parts = append(parts, fmt.Sprintf("%d UNKNOWN", n))
	}
	return strings.Join(parts, ", ") + fmt.Sprintf(", lag %s → %s", numberText(p.Before), numberText(p.After))
}

// resetResultText is what became of each queue.
func resetResultText(t *target, res *inspect.ResetResult) []byte {
	rows := [][]string{{"TOPIC", "BROKER", "QUEUE", "BEFORE", "AFTER", "READ BACK", "EFFECT", "VERIFIED", "NOTE"}}
	for i := range res.Rows {
		r := &res.Rows[i]
		verified, note := "no", r.Error
		if r.Verified {
			verified = "yes"
		}
		if note == "" {
			note = r.Obeyed
		}
		rows = append(rows, []string{
			r.Topic, r.BrokerName, strconv.Itoa(int(r.QueueID)), offsetText(r.Before), offsetText(r.After), offsetText(r.ReadBack),
			effectText(r), verified, note,
		})
	}
	out := appendTable(nil, "llrrrrlll", rows)
	out = append(out, headLine("%d of %d queues verified", res.Done, len(res.Rows))...)
	if res.SavedTo != "" {
		out = append(out, headLine("offsets before: %s (take it back: eyeq group reset %s --undo %s%s)", res.SavedTo,
			change.ShellWord(res.Plan.Request.Group), change.ShellWord(res.SavedTo), t.flags)...)
	}
	return out
}

// resetJSON is `group reset`.
type resetJSON struct {
	Group     string             `json:"group"`
	DryRun    bool               `json:"dry_run"`
	Method    string             `json:"method"`
	Why       string             `json:"why"`
	Online    bool               `json:"online"`
	System    bool               `json:"system"`
	SavedTo   *string            `json:"saved_to"`
	LagBefore *int64             `json:"lag_before"`
	BeforeWhy string             `json:"lag_before_error,omitempty"`
	LagAfter  *int64             `json:"lag_after"`
	AfterWhy  string             `json:"lag_after_error,omitempty"`
	Members   []memberEffectJSON `json:"members"`
	Queues    []resetQueueJSON   `json:"queues"`
	Problems  []string           `json:"problems"`
}

type resetQueueJSON struct {
	Topic       string   `json:"topic"`
	Broker      string   `json:"broker"`
	Queue       int32    `json:"queue"`
	Before      *int64   `json:"before"`
	BeforeError string   `json:"before_error,omitempty"`
	After       *int64   `json:"after"`
	AfterError  string   `json:"after_error,omitempty"`
	MinOffset   *int64   `json:"min_offset"`
	MaxOffset   *int64   `json:"max_offset"`
	Effect      *string  `json:"effect"`
	Count       int64    `json:"count"`
	FirstStored timeJSON `json:"first_stored"`
	Method      string   `json:"method"`
	ClientID    *string  `json:"client_id"`
	Note        string   `json:"note,omitempty"`
	Verified    *bool    `json:"verified"`
	ReadBack    *int64   `json:"read_back"`
	Obeyed      string   `json:"obeyed,omitempty"`
	Error       string   `json:"error,omitempty"`
}

// resetJSONOf is a plan, and with res what became of it.
func resetJSONOf(p *inspect.ResetPlan, res *inspect.ResetResult) *resetJSON {
	j := &resetJSON{
		Group: p.Request.Group, DryRun: res == nil, Method: string(p.Method), Why: p.Why, Online: p.Online, System: p.System,
		Members: memberEffectsJSON(p.Members), Queues: []resetQueueJSON{}, Problems: problemsJSON(p.Problems),
	}
	j.LagBefore, j.BeforeWhy = numberJSON(p.Before)
	j.LagAfter, j.AfterWhy = numberJSON(p.After)
	rows := p.Rows
	if res != nil {
		rows, j.SavedTo = res.Rows, namedOrNull(res.SavedTo)
	}
	for i := range rows {
		j.Queues = append(j.Queues, resetQueueJSONOf(&rows[i], res != nil))
	}
	return j
}

func resetQueueJSONOf(r *inspect.ResetRow, done bool) resetQueueJSON {
	q := resetQueueJSON{
		Topic: r.Topic, Broker: r.BrokerName, Queue: r.QueueID, Before: knownOffset(r.Before), After: knownOffset(r.After),
		MinOffset: knownOffset(r.Min), MaxOffset: knownOffset(r.Max), Count: r.Count, FirstStored: timeJSON(r.FirstStored),
		Method: string(r.Method), ClientID: namedOrNull(r.Owner), Note: r.Why, Obeyed: r.Obeyed, Error: r.Error,
	}
	switch {
	case r.Unknown:
		q.Note, q.BeforeError, q.AfterError = "", r.Why, r.Why
	case r.Before < 0:
		q.BeforeError = inspect.ReasonNoCommit.String()
	}
	if !r.Unknown {
		effect := r.Effect.String()
		q.Effect = &effect
	}
	if done {
		q.Verified, q.ReadBack = &r.Verified, knownOffset(r.ReadBack)
	}
	return q
}
