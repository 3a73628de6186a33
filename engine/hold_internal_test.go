package engine

import "testing"

// A verdict that was carried out while its queue ended is answered with what became
// of the messages: halt came after the sender had looked at it.
func TestHeldSentIsAnsweredByAnEndedQueue(t *testing.T) {
	q := &queue{e: &Engine{}, phase: phaseGone, gone: make(chan struct{}), inbox: newMailbox[queueCommand]()}
	reply := make(chan []SettleRow, 1)
	q.inbox.put(heldSent{settleHeld{verdict: SettleDeadLetter, reply: reply}, []SettleRow{{Offset: 7, Became: "dead letter"}}, nil})
	q.run(t.Context())
	select {
	case rows := <-reply:
		if len(rows) != 1 || rows[0].Became != "dead letter" || rows[0].Err != nil {
			t.Errorf("answered %+v", rows)
		}
	default:
		t.Error("never answered")
	}
}
