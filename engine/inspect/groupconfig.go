package inspect

import (
	"context"
	"slices"

	"eyeq/remoting/protocol"
)

// configs reads a group's configuration at every broker, all of it and as it is
// written there, and counts the group's queues at each. The whole table is asked for
// (201): the question about one group (352) makes a group that the broker does not know.
func (in *Inspector) configs(ctx context.Context, s *survey, group string, queues []QueueLag) []GroupConfig {
	configs := make([]GroupConfig, len(s.brokers))
	each(len(configs), 0, func(i int) {
		b := &s.brokers[i]
		configs[i] = GroupConfig{Broker: b.name, Addr: b.addr}
		for k := range queues {
			if queues[k].BrokerName == b.name {
				configs[i].Queues++
			}
		}
		all, err := askTable(ctx, in, b.addr, func(ctx context.Context) (protocol.GroupConfigs, error) {
			return in.client.GroupConfigs(ctx, b.addr)
		})
		c, ok := all.Groups[group]
		switch {
		case err != nil:
			configs[i].Why = ReasonOf(err)
		case !ok:
			configs[i].Why = Reason{ReasonNotFound, "the broker has no configuration of it"}
		default:
			configs[i].Fields = map[string]string{}
			for _, m := range c.Members() {
				configs[i].Fields[m.Name] = m.Value
			}
		}
	})
	return configs
}

// groupNameField is the field in which a broker without a configuration differs.
const groupNameField = "groupName"

// missed reports whether a broker lacks a configuration of the group while the group
// has queues there: else it needs none.
func (c *GroupConfig) missed() bool {
	return c.Fields == nil && c.Why.Kind == ReasonNotFound && c.Queues > 0
}

// configDifferences names the fields in which brokers differ; one that misses the
// configuration differs in the group's name.
func configDifferences(configs []GroupConfig) []string {
	var first *GroupConfig
	var differ []string
	missing := false
	for i := range configs {
		c := &configs[i]
		switch {
		case c.Fields == nil:
			missing = missing || c.missed()
		case first == nil:
			first = c
		default:
			differ = append(differ, fieldDifferences(first.Fields, c.Fields)...)
		}
	}
	if missing && first != nil {
		differ = append(differ, groupNameField)
	}
	slices.Sort(differ)
	return slices.Compact(differ)
}

func fieldDifferences(a, b map[string]string) []string {
	var differ []string
	for name, value := range a {
		if other, ok := b[name]; !ok || other != value {
			differ = append(differ, name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			differ = append(differ, name)
		}
	}
	return differ
}
