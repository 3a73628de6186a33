package cli

import (
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/remoting/protocol"
)

// scenario is what happens in the demo: everything in it is data, so that it can
// be read as a script.
type scenario struct {
	brokers []string
	topics  map[string]int32 // queues on each broker
	loads   []load
	members []demoMember
	turns   []turn
	period  time.Duration // after which the turns begin anew
}

// load is one stream of messages.
type load struct {
	topic  string
	broker string // "" and queue -1: all queues by turns
	queue  int32
	first  int           // put at once at the beginning
	every  time.Duration // then count messages each time
	count  int
	tags   []string      // by turns
	cost   time.Duration // how long a listener works on one
	refuse int           // how often a listener refuses it
}

// demoMember is one member of a group.
type demoMember struct {
	clientID string
	o        engine.Options
	shown    bool // has a place on the screen; the others come and go
}

// turn is a member that joins or leaves at a time of the period.
type turn struct {
	at       time.Duration
	clientID string
	join     bool
}

// The properties by which the demo's listeners know what to do with a message.
const (
	propertyCost   = "DEMO_COST"
	propertyRefuse = "DEMO_REFUSE"
)

// demoScenario has in its first seconds: an allocation that moves twice, one queue
// stopped by count and one by span, a message that comes back as a retry, and an
// orderly group. All in all some two hundred messages a second.
func demoScenario() scenario {
	settle := func(id string, shown bool) demoMember {
		o := demoOptions("order-settle", engine.Subscription{Topic: "orders", Expression: "paid||refund"})
		o.PullThresholdForQueue = 60
		o.ConsumeConcurrentlyMaxSpan = 100
		o.MaxReconsumeTimes = 3
		return demoMember{id, o, shown}
	}
	ledger := func(id string, shown bool) demoMember {
		o := demoOptions("ledger", engine.Subscription{Topic: "payments"})
		o.Orderly = true
		return demoMember{id, o, shown}
	}
	report := demoOptions("report", engine.Subscription{Topic: "orders"}, engine.Subscription{Topic: "payments"})
	report.Strategy = core.AllocateAveragelyByCircle
	return scenario{
		brokers: []string{"broker-a", "broker-b"},
		topics:  map[string]int32{"orders": 6, "payments": 2},
		loads: []load{
			{topic: "orders", queue: -1, first: 240, every: 100 * time.Millisecond, count: 10, tags: []string{"paid", "refund", "paid", "other"}, cost: 8 * time.Millisecond},
			// One message that takes long stands at the head of a busy queue: the ones
			// behind it are done, but the span grows.
			{topic: "orders", broker: "broker-a", queue: 1, first: 1, every: 9 * time.Second, count: 1, tags: []string{"paid"}, cost: 5 * time.Second},
			{topic: "orders", broker: "broker-a", queue: 1, first: 40, every: 100 * time.Millisecond, count: 6, tags: []string{"paid"}, cost: 2 * time.Millisecond},
			// Bursts of slow messages: the queue's cache fills.
			{topic: "orders", broker: "broker-a", queue: 3, first: 260, every: 7 * time.Second, count: 160, tags: []string{"refund"}, cost: 150 * time.Millisecond},
			// A poison message: refused until it is a dead letter.
			{topic: "orders", broker: "broker-a", queue: 0, first: 1, every: 6 * time.Second, count: 1, tags: []string{"paid"}, refuse: 9},
			{topic: "payments", queue: -1, first: 40, every: 200 * time.Millisecond, count: 6, tags: []string{"card", "cash"}, cost: 5 * time.Millisecond},
			// The head of an orderly queue that fails twice holds up all behind it.
			{topic: "payments", broker: "broker-b", queue: 1, first: 1, every: 8 * time.Second, count: 1, tags: []string{"card"}, refuse: 2},
		},
		members: []demoMember{
			settle("settle-1@demo", true), ledger("ledger-1@demo", true), {"report-1@demo", report, true},
			settle("settle-2@demo", false), settle("settle-3@demo", false), ledger("ledger-2@demo", false),
		},
		turns: []turn{
			{1500 * time.Millisecond, "settle-2@demo", true},
			{2500 * time.Millisecond, "ledger-2@demo", true},
			{4 * time.Second, "settle-3@demo", true},
			{16 * time.Second, "settle-3@demo", false},
			{22 * time.Second, "settle-2@demo", false},
			{27 * time.Second, "ledger-2@demo", false},
		},
		period: 32 * time.Second,
	}
}

func demoOptions(group string, subscriptions ...engine.Subscription) engine.Options {
	o := engine.DefaultOptions()
	o.Group, o.Subscriptions = group, subscriptions
	o.ConsumeFromWhere = protocol.ConsumeFromFirstOffset
	o.PersistInterval = 2 * time.Second
	o.AwaitTermination = 300 * time.Millisecond
	return o
}
