package engine

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"eyeq/engine/core"
	"eyeq/remoting/protocol"
)

// Subscription is one topic with its filter expression: tags, where "" and "*"
// mean all, or SQL92, which the brokers evaluate.
type Subscription struct {
	Topic          string
	Expression     string
	ExpressionType string // protocol.ExpressionTAG or ExpressionSQL92; "" is TAG
}

func (s Subscription) data() (SubscriptionData, error) {
	return protocol.ParseSubscription(s.Topic, s.ExpressionType, s.Expression)
}

// Options configure a push consumer. DefaultOptions has RocketMQ's defaults
// (docs/conformance/properties.md 3); Validate applies the reference's checks.
type Options struct {
	Group            string
	Subscriptions    []Subscription
	MessageModel     MessageModel
	ConsumeFromWhere ConsumeFromWhere
	// ConsumeTimestamp is the start for ConsumeFromTimestamp; zero is half an hour
	// before New, as in Java.
	ConsumeTimestamp time.Time
	// Orderly consumes each queue in order, under the three locks.
	Orderly bool
	// Strategy divides the queues among the members.
	Strategy core.Strategy
	// ClientID; empty makes the Java form ip@pid#nanoseconds, or ip@DEFAULT when
	// broadcasting.
	ClientID string
	// InstanceName replaces the pid in a made client id.
	InstanceName string

	ConsumeThreadMin           int
	ConsumeThreadMax           int
	ConsumeMessageBatchMaxSize int
	PullBatchSize              int
	PullInterval               time.Duration
	// PostSubscriptionWhenPull sends the expression with each pull, so that a broker
	// filters by it and not by what the group's last heartbeat said.
	PostSubscriptionWhenPull   bool
	ConsumeConcurrentlyMaxSpan int64
	PullThresholdForQueue      int64
	PullThresholdSizeForQueue  int64 // MiB
	PullThresholdForTopic      int64 // -1: none
	PullThresholdSizeForTopic  int64 // MiB; -1: none
	// MaxReconsumeTimes; -1 is 16 when concurrent, without limit when orderly.
	MaxReconsumeTimes int32
	// SuspendCurrentQueueTime is the pause before an orderly retry.
	SuspendCurrentQueueTime time.Duration
	// ConsumeTimeout labels a slow listener call and is the age at which cleaning
	// sends a message back.
	ConsumeTimeout time.Duration
	// CleanExpired turns expired-message cleaning on (trap T22: off by default,
	// since a message sent back while its listener runs is delivered twice).
	CleanExpired bool
	// RefuseDirect refuses requests of admin tools to consume one message directly
	// (309), which is in addition to its normal delivery.
	RefuseDirect bool
	// PersistInterval is the period of offset persistence.
	PersistInterval time.Duration
	// HeartbeatInterval, RebalanceInterval: Java's 30 s and 20 s.
	HeartbeatInterval time.Duration
	RebalanceInterval time.Duration
	// AwaitTermination bounds how long a leave waits for running listeners.
	AwaitTermination time.Duration
	// ConsumeHooks see each listener call, FilterHooks each pull answer, in this order.
	ConsumeHooks []ConsumeHook
	FilterHooks  []FilterHook
	// EventBuffer is how many events a subscription holds before it drops.
	EventBuffer int
	// Seed makes the engine's choices (client id, retry jitter) repeatable in
	// tests; zero is random.
	Seed uint64
}

// DefaultOptions are RocketMQ's defaults, but for AwaitTermination (trap T10).
func DefaultOptions() Options {
	return Options{
		MessageModel:               protocol.Clustering,
		ConsumeFromWhere:           protocol.ConsumeFromLastOffset,
		Strategy:                   core.AllocateAveragely,
		ConsumeThreadMin:           20,
		ConsumeThreadMax:           20,
		ConsumeMessageBatchMaxSize: 1,
		PullBatchSize:              32,
		ConsumeConcurrentlyMaxSpan: 2000,
		PullThresholdForQueue:      1000,
		PullThresholdSizeForQueue:  100,
		PullThresholdForTopic:      -1,
		PullThresholdSizeForTopic:  -1,
		MaxReconsumeTimes:          -1,
		SuspendCurrentQueueTime:    time.Second,
		ConsumeTimeout:             15 * time.Minute,
		PersistInterval:            5 * time.Second,
		HeartbeatInterval:          30 * time.Second,
		RebalanceInterval:          20 * time.Second,
		AwaitTermination:           3 * time.Second,
		EventBuffer:                4096,
	}
}

// ConfigError is a property outside its bounds.
type ConfigError struct {
	Property string // RocketMQ's name, in camel case
	Value    any
	Rule     string
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("%s = %v: %s", e.Property, e.Value, e.Rule)
}

var legalName = regexp.MustCompile(`^[%|a-zA-Z0-9_-]+$`)

// goodClientID refuses what other tools, logs and the folder of a broadcasting
// member's offsets cannot have in a name; "" is one that is to be made.
func goodClientID(id string) bool {
	return len(id) <= 255 && id != "." && id != ".." && utf8.ValidString(id) && !strings.ContainsFunc(id, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || r == '/' || r == '\\'
	})
}

// Validate applies the checks of docs/conformance/client.md 2.4, in its order, and those
// that the reference forgets (topic names, timeouts). The first violation is
// returned as a *ConfigError.
func (o *Options) Validate() error {
	bad := func(property string, value any, rule string) error {
		return &ConfigError{property, value, rule}
	}
	switch {
	case strings.TrimSpace(o.Group) == "":
		return bad("consumerGroup", strconv.Quote(o.Group), "must be given")
	case len(o.Group) > 255:
		return bad("consumerGroup", o.Group, "must be at most 255 characters")
	case !legalName.MatchString(o.Group):
		return bad("consumerGroup", o.Group, "may hold only letters, digits, %, |, - and _")
	case o.Group == "DEFAULT_CONSUMER":
		return bad("consumerGroup", o.Group, "is reserved, choose another")
	case o.MessageModel != protocol.Clustering && o.MessageModel != protocol.Broadcasting:
		return bad("messageModel", o.MessageModel, "must be CLUSTERING or BROADCASTING")
	case o.ConsumeFromWhere < protocol.ConsumeFromLastOffset || o.ConsumeFromWhere > protocol.ConsumeFromTimestamp:
		return bad("consumeFromWhere", o.ConsumeFromWhere, "must be last, first or a time")
	case !o.ConsumeTimestamp.IsZero() && o.ConsumeTimestamp.UnixMilli() < 0:
		return bad("consumeTimestamp", o.ConsumeTimestamp.Format(time.RFC3339), "must not lie before 1970")
	case o.Strategy == nil:
		return bad("allocateMessageQueueStrategy", "none", "must be given")
	}
	for _, b := range o.bounds() {
		if b.minusOne && b.value == -1 {
			continue
		}
		if b.value < b.lo || b.value > b.hi {
			rule := fmt.Sprintf("must be %d to %d", b.lo, b.hi)
			if b.minusOne {
				rule = fmt.Sprintf("must be -1, or %d to %d", b.lo, b.hi)
			}
			return bad(b.property, b.value, rule)
		}
		if b.property == "consumeThreadMax" && o.ConsumeThreadMin > o.ConsumeThreadMax {
			return bad("consumeThreadMin", o.ConsumeThreadMin, fmt.Sprintf("must not be above consumeThreadMax (%d)", o.ConsumeThreadMax))
		}
	}
	for _, name := range []struct{ property, value string }{{"clientId", o.ClientID}, {"instanceName", o.InstanceName}} {
		if !goodClientID(name.value) {
			return bad(name.property, name.value, `must be at most 255 bytes without blanks, control characters, / and \, and not . or ..`)
		}
	}
	for _, h := range o.ConsumeHooks {
		if h.Before == nil && h.After == nil {
			return bad("consumeHook", h.Name, "needs Before or After")
		}
	}
	for _, h := range o.FilterHooks {
		if h.Filter == nil {
			return bad("filterHook", h.Name, "needs Filter")
		}
	}
	seen := map[string]bool{}
	for _, s := range o.Subscriptions {
		if s.Topic == protocol.RetryTopic(o.Group) && o.MessageModel == protocol.Clustering {
			return bad("topic", s.Topic, "is the group's retry topic, which every member reads")
		}
		if err := s.validate(); err != nil {
			return err
		}
		if seen[s.Topic] {
			return bad("topic", s.Topic, "is subscribed twice")
		}
		seen[s.Topic] = true
	}
	return nil
}

// validate checks one subscription.
func (s *Subscription) validate() error {
	switch {
	case s.Topic == "":
		return &ConfigError{"topic", `""`, "must be given"}
	case len(s.Topic) > 127 || !legalName.MatchString(s.Topic):
		return &ConfigError{"topic", s.Topic, "must be at most 127 of letters, digits, %, |, - and _"}
	}
	if _, err := s.data(); err != nil {
		return &ConfigError{"subscription", s.Topic + ":" + s.Expression, err.Error()}
	}
	return nil
}

// bound is a property that has a smallest and a largest value, in the unit of its
// name. minusOne: -1 is allowed too.
type bound struct {
	property      string
	value, lo, hi int64
	minusOne      bool
}

// bounds are the numbers that Validate checks, in the reference's order.
func (o *Options) bounds() []bound {
	return []bound{
		{"consumeThreadMin", int64(o.ConsumeThreadMin), 1, 1000, false},
		{"consumeThreadMax", int64(o.ConsumeThreadMax), 1, 1000, false},
		{"consumeConcurrentlyMaxSpan", o.ConsumeConcurrentlyMaxSpan, 1, 65535, false},
		{"pullThresholdForQueue", o.PullThresholdForQueue, 1, 65535, false},
		{"pullThresholdForTopic", o.PullThresholdForTopic, 1, 6553500, true},
		{"pullThresholdSizeForQueue", o.PullThresholdSizeForQueue, 1, 1024, false},
		{"pullThresholdSizeForTopic", o.PullThresholdSizeForTopic, 1, 102400, true},
		inUnits("pullInterval", o.PullInterval, time.Millisecond, 0, 65535),
		{"consumeMessageBatchMaxSize", int64(o.ConsumeMessageBatchMaxSize), 1, 1024, false},
		{"pullBatchSize", int64(o.PullBatchSize), 1, 1024, false},
		// The reference checks none of these. consumeTimeout 0 would break its start.
		{"maxReconsumeTimes", int64(o.MaxReconsumeTimes), 0, math.MaxInt32, true},
		inUnits("suspendCurrentQueueTimeMillis", o.SuspendCurrentQueueTime, time.Millisecond, 10, 30000),
		inUnits("consumeTimeout", o.ConsumeTimeout, time.Minute, 1, 10080),
		inUnits("persistConsumerOffsetInterval", o.PersistInterval, time.Millisecond, 100, 3600000),
		// A broker forgets a member that it has not heard of for 120 s.
		inUnits("heartbeatBrokerInterval", o.HeartbeatInterval, time.Millisecond, 1000, 100000),
		inUnits("rebalanceInterval", o.RebalanceInterval, time.Millisecond, 1000, 3600000),
		inUnits("awaitTerminationMillisWhenShutdown", o.AwaitTermination, time.Millisecond, 0, 3600000),
		{"eventBuffer", int64(o.EventBuffer), 16, 1 << 20, false},
	}
}

// inUnits is a bound in whole units; a part of one beyond a limit is beyond it.
func inUnits(property string, d, unit time.Duration, lo, hi int64) bound {
	value := int64(d / unit)
	if part := d % unit; part < 0 {
		value--
	} else if part > 0 && value == hi {
		value++
	}
	return bound{property, value, lo, hi, false}
}
