package words

import (
	"strings"

	"eyeq/engine"
)

// brokerAt names a broker with its address, where that is known.
func brokerAt(name, address string) string { return strings.TrimSpace(name + " " + address) }

// describeCluster is describe for routes, name servers, brokers and heartbeats.
func (r *EventRow) describeCluster(e engine.Event) bool {
	switch e := e.(type) {
	case engine.RouteChanged:
		r.Topic = e.Topic
		return r.say("ROUTE", "changed", Notice, true, "%s: %d → %s on %s", e.Topic, e.OldQueues, Plural(e.ReadQueues, "queue"), strings.Join(e.Brokers, ", "))
	case engine.RouteMissing:
		r.Topic = e.Topic
		return r.say("ROUTE", "missing", Failure, true, "%s: no name server knows the topic; it is waited for", e.Topic)
	case engine.NamesrvUnreachable:
		return r.say("NAMESRV", "down", Failure, true, "no name server answers (%s)%s", strings.Join(e.Addrs, ", "), Because(e.Error))
	case engine.NamesrvRecovered:
		return r.say("NAMESRV", "up", Notice, true, "%s answers again after %s", e.Addr, Span(ms(e.DurationMS)))
	case engine.BrokerOffline:
		r.Queue = e.Broker
		return r.say("BROKER", "offline", Failure, true, "%s%s", brokerAt(e.Broker, e.Address), Because(Cause(e.Error)))
	case engine.BrokerOnline:
		r.Queue = e.Broker
		if e.DurationMS == 0 {
			return r.say("BROKER", "online", Notice, true, "%s", brokerAt(e.Broker, e.Address))
		}
		return r.say("BROKER", "online", Notice, true, "%s after %s", brokerAt(e.Broker, e.Address), Span(ms(e.DurationMS)))
	case engine.HeartbeatSent:
		if e.Error != "" {
			return r.say("BEAT", "failed", Failure, true, "%s: %s", e.Address, Cause(e.Error))
		}
		return r.say("BEAT", "sent", Info, false, "%s answered in %s", e.Address, Span(msFloat(e.RTTMS)))
	case engine.HeartbeatSkipped:
		return r.say("BEAT", "skipped", Info, false, "%s", map[string]string{"busy": "one is under way, another follows", "no_broker": "no broker is known yet"}[e.Cause])
	}
	return false
}
