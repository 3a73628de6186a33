package tui

import "eyeq/engine/inspect"

// AuditDirect is the entry of a message that a member is to consume once more.
func AuditDirect(p *inspect.DirectPlan, reason string) AuditEntry {
	m := &p.Request.Message
	return AuditEntry{Command: "message consume", Group: p.Request.Group, Topic: m.Topic(), Reason: reason,
		Before: map[string]any{"message_id": m.MessageID(), "broker": m.BrokerName(), "queue": m.QueueID(), "offset": m.QueueOffset()},
		After:  map[string]any{"client_id": p.Request.ClientID}}
}

// AuditedDirect is what the member made of it; nil when it has not said.
func AuditedDirect(r *inspect.DirectResult) any {
	if !r.Sent {
		return nil
	}
	return map[string]any{"result": r.Answer.ConsumeResult, "remark": r.Answer.Remark, "spent_ms": r.Answer.SpentTimeMills}
}
