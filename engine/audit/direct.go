package audit

import "eyeq/engine/inspect"

// Direct is the entry of a message that a member is to consume once more.
func Direct(p *inspect.DirectPlan, reason string) Entry {
	m := &p.Request.Message
	return Entry{Command: "message consume", Group: p.Request.Group, Topic: m.Topic(), Reason: reason,
		Before: map[string]any{"message_id": m.MessageID(), "broker": m.BrokerName(), "queue": m.QueueID(), "offset": m.QueueOffset()},
		After:  map[string]any{"client_id": p.Request.ClientID}}
}

// DirectDone is what the member made of it; nil when it has not said.
func DirectDone(r *inspect.DirectResult) any {
	if !r.Sent {
		return nil
	}
	return map[string]any{"result": r.Answer.ConsumeResult, "remark": r.Answer.Remark, "spent_ms": r.Answer.SpentTimeMills}
}
