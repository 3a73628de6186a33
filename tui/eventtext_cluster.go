package tui

import (
	"strings"

	"eyeq/engine"
)

// brokerAt names a broker with its address, where that is known.
func brokerAt(name, address string) string { return strings.TrimSpace(name + " " + address) }

// describeCluster is describe for routes, name servers, brokers and heartbeats.
func (r *eventRow) describeCluster(e engine.Event) bool {
	switch e := e.(type) {
	case engine.RouteChanged:
		r.topic = e.Topic
		return r.say("ROUTE", "changed", notice, true, "%s: %d → %s on %s", e.Topic, e.OldQueues, plural(e.ReadQueues, "queue"), strings.Join(e.Brokers, ", "))
	case engine.RouteMissing:
		r.topic = e.Topic
		return r.say("ROUTE", "missing", failure, true, "%s: no name server knows the topic; it is waited for", e.Topic)
	case engine.NamesrvUnreachable:
		return r.say("NAMESRV", "down", failure, true, "no name server answers (%s)%s", strings.Join(e.Addrs, ", "), because(e.Error))
	case engine.NamesrvRecovered:
		return r.say("NAMESRV", "up", notice, true, "%s answers again after %s", e.Addr, span(ms(e.DurationMS)))
	case engine.BrokerOffline:
		r.queue = e.Broker
		return r.say("BROKER", "offline", failure, true, "%s%s", brokerAt(e.Broker, e.Address), because(cause(e.Error)))
	case engine.BrokerOnline:
		r.queue = e.Broker
		if e.DurationMS == 0 {
			return r.say("BROKER", "online", notice, true, "%s", brokerAt(e.Broker, e.Address))
		}
		return r.say("BROKER", "online", notice, true, "%s after %s", brokerAt(e.Broker, e.Address), span(ms(e.DurationMS)))
	case engine.HeartbeatSent:
		if e.Error != "" {
			return r.say("BEAT", "failed", failure, true, "%s: %s", e.Address, cause(e.Error))
		}
		return r.say("BEAT", "sent", info, false, "%s answered in %s", e.Address, span(msFloat(e.RTTMS)))
	case engine.HeartbeatSkipped:
		return r.say("BEAT", "skipped", info, false, "%s", map[string]string{"busy": "one is under way, another follows", "no_broker": "no broker is known yet"}[e.Cause])
	}
	return false
}
