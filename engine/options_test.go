package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/remoting/protocol"
)

func goodOptions() engine.Options {
	o := engine.DefaultOptions()
	o.Group, o.Subscriptions = "g", []engine.Subscription{{Topic: "t"}}
	return o
}

// The defaults are RocketMQ's (docs/conformance/properties.md 3), each in the unit of its name.
// AwaitTermination differs on purpose (trap T10).
func TestDefaultsAreRocketMQs(t *testing.T) {
	o := engine.DefaultOptions()
	for _, p := range []struct {
		property  string
		got, want any
	}{
		{"consumerGroup", o.Group, ""},
		{"messageModel", o.MessageModel.String(), "CLUSTERING"},
		{"consumeFromWhere", o.ConsumeFromWhere.String(), "CONSUME_FROM_LAST_OFFSET"},
		{"consumeTimestamp", o.ConsumeTimestamp.IsZero(), true}, // New makes it half an hour ago
		{"allocateMessageQueueStrategy", o.Strategy.Name(), "AVG"},
		{"subscription", len(o.Subscriptions), 0},
		{"consumeThreadMin", o.ConsumeThreadMin, 20},
		{"consumeThreadMax", o.ConsumeThreadMax, 20},
		{"consumeConcurrentlyMaxSpan", o.ConsumeConcurrentlyMaxSpan, int64(2000)},
		{"pullThresholdForQueue", o.PullThresholdForQueue, int64(1000)},
		{"pullThresholdSizeForQueue", o.PullThresholdSizeForQueue, int64(100)},
		{"pullThresholdForTopic", o.PullThresholdForTopic, int64(-1)},
		{"pullThresholdSizeForTopic", o.PullThresholdSizeForTopic, int64(-1)},
		{"pullInterval", o.PullInterval, time.Duration(0)},
		{"consumeMessageBatchMaxSize", o.ConsumeMessageBatchMaxSize, 1},
		{"pullBatchSize", o.PullBatchSize, 32},
		{"postSubscriptionWhenPull", o.PostSubscriptionWhenPull, false},
		{"maxReconsumeTimes", o.MaxReconsumeTimes, int32(-1)},
		{"suspendCurrentQueueTimeMillis", o.SuspendCurrentQueueTime, 1000 * time.Millisecond},
		{"consumeTimeout", o.ConsumeTimeout, 15 * time.Minute},
		{"awaitTerminationMillisWhenShutdown", o.AwaitTermination, 3 * time.Second},
		{"persistConsumerOffsetInterval", o.PersistInterval, 5000 * time.Millisecond},
		{"heartbeatBrokerInterval", o.HeartbeatInterval, 30000 * time.Millisecond},
		{"rebalance wait interval", o.RebalanceInterval, 20000 * time.Millisecond},
		{"instanceName", o.InstanceName, ""}, // DEFAULT, and what it becomes when clustering
		{"orderly", o.Orderly, false},
		{"clean expired messages (T22)", o.CleanExpired, false},
	} {
		if p.got != p.want {
			t.Errorf("%s = %v, want %v", p.property, p.got, p.want)
		}
	}
}

// number is a property with bounds, and how it is set in the unit of its name.
type number struct {
	property string
	lo, hi   int64
	minusOne bool
	field    string
	unit     time.Duration // of a duration
}

var numbers = []number{
	{property: "consumeThreadMin", lo: 1, hi: 1000, field: "ConsumeThreadMin"},
	{property: "consumeThreadMax", lo: 1, hi: 1000, field: "ConsumeThreadMax"},
	{property: "consumeConcurrentlyMaxSpan", lo: 1, hi: 65535, field: "ConsumeConcurrentlyMaxSpan"},
	{property: "pullThresholdForQueue", lo: 1, hi: 65535, field: "PullThresholdForQueue"},
	{property: "pullThresholdForTopic", lo: 1, hi: 6553500, minusOne: true, field: "PullThresholdForTopic"},
	{property: "pullThresholdSizeForQueue", lo: 1, hi: 1024, field: "PullThresholdSizeForQueue"},
	{property: "pullThresholdSizeForTopic", lo: 1, hi: 102400, minusOne: true, field: "PullThresholdSizeForTopic"},
	{property: "pullInterval", lo: 0, hi: 65535, field: "PullInterval", unit: time.Millisecond},
	{property: "consumeMessageBatchMaxSize", lo: 1, hi: 1024, field: "ConsumeMessageBatchMaxSize"},
	{property: "pullBatchSize", lo: 1, hi: 1024, field: "PullBatchSize"},
	{property: "maxReconsumeTimes", lo: 0, hi: math.MaxInt32, minusOne: true, field: "MaxReconsumeTimes"},
	{property: "suspendCurrentQueueTimeMillis", lo: 10, hi: 30000, field: "SuspendCurrentQueueTime", unit: time.Millisecond},
	{property: "consumeTimeout", lo: 1, hi: 10080, field: "ConsumeTimeout", unit: time.Minute},
	{property: "persistConsumerOffsetInterval", lo: 100, hi: 3600000, field: "PersistInterval", unit: time.Millisecond},
	{property: "heartbeatBrokerInterval", lo: 1000, hi: 100000, field: "HeartbeatInterval", unit: time.Millisecond},
	{property: "rebalanceInterval", lo: 1000, hi: 3600000, field: "RebalanceInterval", unit: time.Millisecond},
	{property: "awaitTerminationMillisWhenShutdown", lo: 0, hi: 3600000, field: "AwaitTermination", unit: time.Millisecond},
	{property: "eventBuffer", lo: 16, hi: 1 << 20, field: "EventBuffer"},
}

// set sets the number; threads stay in order with each other, so that only the
// bound is tried.
func (n *number) set(o *engine.Options, value int64) {
	if n.unit != 0 {
		value *= int64(n.unit)
	}
	f := reflect.ValueOf(o).Elem().FieldByName(n.field)
	f.SetInt(value)
	if n.field == "ConsumeThreadMax" {
		o.ConsumeThreadMin = int(max(1, min(value, 1000)))
	}
	if n.field == "ConsumeThreadMin" {
		o.ConsumeThreadMax = 1000
	}
}

// Each number is taken at its bounds and refused one beyond them, with name, value
// and rule.
func TestBoundsOfNumbers(t *testing.T) {
	for _, n := range numbers {
		try := func(value int64, want bool) {
			t.Helper()
			if n.field == "MaxReconsumeTimes" && value > n.hi {
				return // no such int32
			}
			o := goodOptions()
			n.set(&o, value)
			err := o.Validate()
			if want {
				if err != nil {
					t.Errorf("%s = %d: %v, want it taken", n.property, value, err)
				}
				return
			}
			ce, ok := errors.AsType[*engine.ConfigError](err)
			if !ok || ce.Property != n.property || ce.Value != any(value) || !strings.Contains(ce.Rule, fmt.Sprintf("%d to %d", n.lo, n.hi)) {
				t.Errorf("%s = %d: %v, want it refused by name, value and bounds", n.property, value, err)
			}
			if n.minusOne && ok && !strings.Contains(ce.Rule, "-1") {
				t.Errorf("%s: rule %q does not say that -1 is allowed", n.property, ce.Rule)
			}
		}
		try(n.lo-1, n.minusOne && n.lo-1 == -1)
		try(n.lo, true)
		try(n.hi, true)
		try(n.hi+1, false)
		try(-1, n.minusOne)
		try(-2, false)
		if n.unit == 0 {
			continue
		}
		for _, part := range []time.Duration{time.Duration(n.lo)*n.unit - 1, time.Duration(n.hi)*n.unit + 1} {
			o := goodOptions()
			reflect.ValueOf(&o).Elem().FieldByName(n.field).SetInt(int64(part))
			if err := o.Validate(); err == nil {
				t.Errorf("%s = %v: taken, want a part of a unit beyond a bound refused", n.property, part)
			}
		}
	}
}

// No number of the options is without bounds.
func TestEveryNumberHasBounds(t *testing.T) {
	known := map[string]bool{"Seed": true} // any
	for _, n := range numbers {
		known[n.field] = true
	}
	for f := range reflect.TypeFor[engine.Options]().Fields() {
		switch f.Type.Kind() {
		case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint64:
			if !known[f.Name] {
				t.Errorf("Options.%s is a number that no row of the test bounds", f.Name)
			}
		}
	}
}

// The checks of docs/conformance/client.md 2.4 in its order: of several violations the
// first is told.
func TestConfigChecksInOrder(t *testing.T) {
	long := strings.Repeat("g", 256)
	checks := []struct {
		property, rule string
		violate, mend  func(*engine.Options)
	}{
		{"consumerGroup", "must be given", func(o *engine.Options) { o.Group = " " }, func(o *engine.Options) { o.Group = long + "!" }},
		{"consumerGroup", "at most 255", nil, func(o *engine.Options) { o.Group = "g.g" }},
		{"consumerGroup", "only letters", nil, func(o *engine.Options) { o.Group = "DEFAULT_CONSUMER" }},
		{"consumerGroup", "reserved", nil, func(o *engine.Options) { o.Group = "%g|-_9" }},
		{"messageModel", "CLUSTERING or", func(o *engine.Options) { o.MessageModel = 0 }, func(o *engine.Options) { o.MessageModel = protocol.Clustering }},
		{"consumeFromWhere", "must be last", func(o *engine.Options) { o.ConsumeFromWhere = 0 }, func(o *engine.Options) { o.ConsumeFromWhere = protocol.ConsumeFromLastOffset }},
		// Checked although nothing starts from it.
		{"consumeTimestamp", "before 1970", func(o *engine.Options) { o.ConsumeTimestamp = time.Date(1969, 12, 31, 23, 0, 0, 0, time.UTC) },
			func(o *engine.Options) { o.ConsumeTimestamp = time.Time{} }},
		{"allocateMessageQueueStrategy", "must be given", func(o *engine.Options) { o.Strategy = nil }, func(o *engine.Options) { o.Strategy = engine.DefaultOptions().Strategy }},
		{"consumeThreadMin", "1 to 1000", func(o *engine.Options) { o.ConsumeThreadMin = 0 }, func(o *engine.Options) { o.ConsumeThreadMin = 1000 }},
		{"consumeThreadMax", "1 to 1000", func(o *engine.Options) { o.ConsumeThreadMax = 1001 }, func(o *engine.Options) { o.ConsumeThreadMax = 999 }},
		{"consumeThreadMin", "not be above consumeThreadMax", nil, func(o *engine.Options) { o.ConsumeThreadMin = 1 }},
		{"consumeConcurrentlyMaxSpan", "", func(o *engine.Options) { o.ConsumeConcurrentlyMaxSpan = 0 }, func(o *engine.Options) { o.ConsumeConcurrentlyMaxSpan = 1 }},
		{"pullThresholdForQueue", "", func(o *engine.Options) { o.PullThresholdForQueue = 0 }, func(o *engine.Options) { o.PullThresholdForQueue = 1 }},
		{"pullThresholdForTopic", "", func(o *engine.Options) { o.PullThresholdForTopic = 0 }, func(o *engine.Options) { o.PullThresholdForTopic = 1 }},
		{"pullThresholdSizeForQueue", "", func(o *engine.Options) { o.PullThresholdSizeForQueue = 0 }, func(o *engine.Options) { o.PullThresholdSizeForQueue = 1 }},
		{"pullThresholdSizeForTopic", "", func(o *engine.Options) { o.PullThresholdSizeForTopic = 0 }, func(o *engine.Options) { o.PullThresholdSizeForTopic = 1 }},
		{"pullInterval", "", func(o *engine.Options) { o.PullInterval = -1 }, func(o *engine.Options) { o.PullInterval = 0 }},
		{"consumeMessageBatchMaxSize", "", func(o *engine.Options) { o.ConsumeMessageBatchMaxSize = 0 }, func(o *engine.Options) { o.ConsumeMessageBatchMaxSize = 1 }},
		{"pullBatchSize", "", func(o *engine.Options) { o.PullBatchSize = 0 }, func(o *engine.Options) { o.PullBatchSize = 1 }},
		{"maxReconsumeTimes", "", func(o *engine.Options) { o.MaxReconsumeTimes = -2 }, func(o *engine.Options) { o.MaxReconsumeTimes = -1 }},
		{"consumeTimeout", "", func(o *engine.Options) { o.ConsumeTimeout = 0 }, func(o *engine.Options) { o.ConsumeTimeout = time.Minute }},
	}
	o := goodOptions()
	for _, c := range checks {
		if c.violate != nil {
			c.violate(&o)
		}
	}
	for i, c := range checks {
		ce, ok := errors.AsType[*engine.ConfigError](o.Validate())
		if !ok || ce.Property != c.property || !strings.Contains(ce.Rule, c.rule) {
			t.Fatalf("check %d: %v, want %s: … %s", i+1, o.Validate(), c.property, c.rule)
		}
		c.mend(&o)
	}
	if err := o.Validate(); err != nil {
		t.Errorf("all mended: %v", err)
	}
}

func TestNamesAreChecked(t *testing.T) {
	tests := map[string]struct {
		change         func(*engine.Options)
		property, rule string // "": taken
	}{
		"topic empty":      {func(o *engine.Options) { o.Subscriptions[0].Topic = "" }, "topic", "must be given"},
		"topic of 128":     {func(o *engine.Options) { o.Subscriptions[0].Topic = strings.Repeat("t", 128) }, "topic", "at most 127"},
		"topic of 127":     {func(o *engine.Options) { o.Subscriptions[0].Topic = strings.Repeat("t", 127) }, "", ""},
		"topic with blank": {func(o *engine.Options) { o.Subscriptions[0].Topic = "a b" }, "topic", "letters, digits"},
		"topic twice": {func(o *engine.Options) { o.Subscriptions = append(o.Subscriptions, engine.Subscription{Topic: "t"}) },
			"topic", "twice"},
		"own retry topic": {func(o *engine.Options) { o.Subscriptions[0].Topic = "%RETRY%g" }, "topic", "retry topic"},
		"own retry topic, broadcasting": {func(o *engine.Options) {
			o.Subscriptions[0].Topic, o.MessageModel = "%RETRY%g", protocol.Broadcasting
		}, "", ""},
		"another's retry topic":     {func(o *engine.Options) { o.Subscriptions[0].Topic = "%RETRY%h" }, "", ""},
		"expression of separators":  {func(o *engine.Options) { o.Subscriptions[0].Expression = "||" }, "subscription", ""},
		"SQL92 without expression":  {func(o *engine.Options) { o.Subscriptions[0].ExpressionType = "SQL92" }, "subscription", ""},
		"unknown kind":              {func(o *engine.Options) { o.Subscriptions[0].ExpressionType = "XPATH" }, "subscription", ""},
		"namespace":                 {func(o *engine.Options) { o.Group, o.Subscriptions[0].Topic = "ns%g", "ns%t" }, "", ""},
		"client id with blank":      {func(o *engine.Options) { o.ClientID = "a b" }, "clientId", "without blanks"},
		"client id with escape":     {func(o *engine.Options) { o.ClientID = "a\x1b[1m" }, "clientId", "without blanks"},
		"client id of bad bytes":    {func(o *engine.Options) { o.ClientID = "a\xff" }, "clientId", "without blanks"},
		"client id of 256":          {func(o *engine.Options) { o.ClientID = strings.Repeat("c", 256) }, "clientId", "255"},
		"client id of Java":         {func(o *engine.Options) { o.ClientID = "192.0.2.2@19834#856143726635@u1" }, "", ""},
		"client id with slash":      {func(o *engine.Options) { o.ClientID = "a/b" }, "clientId", "/ and"},
		"client id of dots":         {func(o *engine.Options) { o.ClientID = ".." }, "clientId", "not . or .."},
		"instance name with blank":  {func(o *engine.Options) { o.InstanceName = "a\t" }, "instanceName", "without blanks"},
		"instance name, backslash":  {func(o *engine.Options) { o.InstanceName = `a\b` }, "instanceName", "/ and"},
		"instance name is accepted": {func(o *engine.Options) { o.InstanceName = "blue-1" }, "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := goodOptions()
			tt.change(&o)
			err := o.Validate()
			if tt.property == "" {
				if err != nil {
					t.Errorf("%v, want it taken", err)
				}
				return
			}
			ce, ok := errors.AsType[*engine.ConfigError](err)
			if !ok || ce.Property != tt.property || !strings.Contains(ce.Rule, tt.rule) {
				t.Errorf("%v, want %s: … %s", err, tt.property, tt.rule)
			}
		})
	}
}

// An engine is not made without what it works with.
func TestNewRefuses(t *testing.T) {
	listen := engine.ListenerFunc(func(context.Context, []engine.Message, *engine.ConsumeContext) (engine.Status, error) {
		return engine.ConsumeSuccess, nil
	})
	_, err := engine.New(goodOptions(), engine.Deps{})
	if ce, ok := errors.AsType[*engine.ConfigError](err); !ok || ce.Property != "messageListener" {
		t.Errorf("without a listener: %v", err)
	}
	if _, err := engine.New(goodOptions(), engine.Deps{Listener: listen}); err == nil {
		t.Error("without a client: no error")
	}
}
