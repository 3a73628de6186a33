package cli

import (
	"fmt"
	"slices"
	"strings"

	"eyeq/engine"
	"eyeq/tui/cli/config"
)

// configStrategy is the strategy by which each member reads the queues that its own
// configuration lists (Java: AllocateMessageQueueByConfig).
const configStrategy = "CONFIG"

// memberLists are the lists of all members at once, which no member has: what they
// give together can be looked at before it is run. It is a core.Strategy.
type memberLists map[string][]config.QueueChoice

// parseMemberLists reads MEMBER=[TOPIC=]BROKER:ID,… for each member.
func parseMemberLists(texts []string) (memberLists, error) {
	lists := memberLists{}
	for _, text := range texts {
		member, list, ok := strings.Cut(text, "=")
		if member = strings.TrimSpace(member); !ok || member == "" {
			return nil, fmt.Errorf("%q: must be MEMBER=BROKER:ID,…", text)
		}
		choices, err := config.ParseQueueChoices(config.SplitList([]string{list}))
		if err != nil {
			return nil, fmt.Errorf("%s=%w", member, err)
		}
		lists[member] = append(lists[member], choices...)
	}
	return lists, nil
}

// Name gives RocketMQ's name of the strategy.
func (l memberLists) Name() string { return configStrategy }

// Allocate gives what a member's list has of the queues.
func (l memberLists) Allocate(_, member string, mqs []engine.MessageQueue, _ []string) ([]engine.MessageQueue, error) {
	var share []engine.MessageQueue
	for _, mq := range mqs {
		if slices.ContainsFunc(l[member], func(q config.QueueChoice) bool { return q.Names(mq) }) {
			share = append(share, mq)
		}
	}
	return share, nil
}

// check refuses a list of who is no member, and one that names what is not there: the
// member would pull it in vain.
func (l memberLists) check(w *allocationWorld) error {
	for _, member := range sortedKeys(l) {
		if !slices.Contains(w.before, member) && !slices.Contains(w.after, member) {
			return usagef("--list %s: is not among the members %s", member, strings.Join(w.everybody(), ", "))
		}
		for _, q := range l[member] {
			there := map[int32]bool{}
			for _, t := range w.topics {
				for _, mq := range w.queues[t] {
					there[mq.QueueID] = there[mq.QueueID] || q.Names(mq)
				}
			}
			for id := q.From; id <= q.To; id++ {
				if !there[id] {
					return usagef("--list %s=%v: there is no queue %s:%d", member, q, q.Broker, id)
				}
			}
		}
	}
	return nil
}
