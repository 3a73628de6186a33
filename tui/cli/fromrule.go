package cli

import (
	"fmt"
	"strings"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/remoting/protocol"
)

// fromRule looks whether --from is used: it is a rule for queues of which the group
// has no committed offset. A queue that a member takes a second time goes on where
// this run was, whatever the rule.
type fromRule struct {
	from  string // the flag; "" is not given
	group string
	local bool // the offsets are in a file of this member, as of one that broadcasts
	began map[engine.MessageQueue]bool
	text  string // what there is to tell; "" is nothing, yet
}

// see takes in what the engine told; it reports whether there is something to tell now.
func (r *fromRule) see(events []engine.Event) bool {
	if r.from == "" || r.text != "" {
		return false
	}
	for _, ev := range events {
		added, ok := ev.(engine.QueueAdded)
		if !ok || r.began[added.MQ] || strings.HasPrefix(added.MQ.Topic, protocol.RetryTopicPrefix) {
			continue
		}
		if r.began == nil {
			r.began = map[engine.MessageQueue]bool{}
		}
		r.began[added.MQ] = true
		// A 4.x broker answers 0 to a group without offset while the topic is young.
		if added.Source == core.StartStored.String() && added.NextOffset > 0 {
			who, next := "group "+r.group, "; 'eyeq group reset' moves them"
			if r.local {
				who, next = "this member of group "+r.group, ""
			}
			r.text = fmt.Sprintf("--from %s is not used: %s has committed offsets, and goes on there (%v at %d)%s", r.from, who, added.MQ, added.NextOffset, next)
			return true
		}
	}
	return false
}
