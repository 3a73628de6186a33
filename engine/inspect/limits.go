package inspect

import "slices"

// Limit is a setting of a member that bounds what it does. Of one that no member
// reports (Value 0) Why says so; Default is then what its client has unless it was told
// otherwise, where that is known.
type Limit struct {
	Value   int64
	Default int64
	Why     Reason
}

// Known reports whether the member itself names the limit.
func (l Limit) Known() bool { return l.Value > 0 }

// Likely is the limit as the member names it, else its client's default; 0: neither is
// known.
func (l Limit) Likely() int64 {
	if l.Known() {
		return l.Value
	}
	return l.Default
}

// MemberLimits are what one member bounds itself by, each queue for itself: the limits
// of flow control, and its threads.
type MemberLimits struct {
	Count, SizeMiB, Span   Limit
	ThreadsMin, ThreadsMax Limit
}

// The properties by which members name their limits.
const (
	countLimit      = "pullThresholdForQueue"
	sizeLimit       = "pullThresholdSizeForQueue"
	spanLimit       = "consumeConcurrentlyMaxSpan"
	threadsMinLimit = "consumeThreadMin"
	threadsMaxLimit = "consumeThreadMax"
)

// clientDefaults are what clients have unless they are told otherwise, by language. Java
// members report theirs, the Go client's of the line 2.1 (consumer/push_consumer.go,
// validate) are what is known of it.
var clientDefaults = map[string]map[string]int64{
	"JAVA": {countLimit: 1000, sizeLimit: 100, spanLimit: 2000},
	"GO":   {countLimit: 1024, sizeLimit: 512, spanLimit: 1000, threadsMinLimit: 20, threadsMaxLimit: 20},
}

// Limits are a member's own, as far as it tells them.
func (m *Member) Limits() MemberLimits {
	return MemberLimits{Count: m.limit(countLimit), SizeMiB: m.limit(sizeLimit), Span: m.limit(spanLimit),
		ThreadsMin: m.limit(threadsMinLimit), ThreadsMax: m.limit(threadsMaxLimit)}
}

func (m *Member) limit(property string) Limit {
	l := Limit{Default: clientDefaults[m.Language][property]}
	switch {
	case m.Info == nil:
		l.Why = m.Why
	default:
		l.Value = max(settingOf(m, property, 0), 0)
		if l.Value == 0 {
			l.Why = Reason{ReasonUnsupported, m.client() + " does not report its limits"}
		}
	}
	return l
}

// client names a member's client by its language.
func (m *Member) client() string {
	if m.Language == "" {
		return "its client"
	}
	return "a " + m.Language + " client"
}

// orderly reports whether a member says that it takes the brokers' locks.
func (m *Member) orderly() bool {
	return m.Info != nil && m.Info.Properties["PROP_CONSUMEORDERLY"] == "true"
}

// limitsDiffer names the limits in which members that report them differ.
func limitsDiffer(members []Member) []string {
	var differ []string
	for _, property := range []string{spanLimit, threadsMaxLimit, threadsMinLimit, countLimit, sizeLimit} {
		var said int64
		for i := range members {
			l := members[i].limit(property)
			if l.Known() && said > 0 && l.Value != said {
				differ = addOnce(differ, property)
			}
			if l.Known() {
				said = l.Value
			}
		}
	}
	slices.Sort(differ)
	return differ
}

// RatesWhy is why it is not known how fast the member consumes; no reason when it tells. A
// client that counts nothing leaves the whole table out: one that counts has a row for
// each topic that it subscribes to.
func (m *Member) RatesWhy() Reason {
	switch {
	case m.Info == nil:
		return m.Why
	case len(m.Info.StatusTable) == 0:
		return Reason{ReasonUnsupported, m.client() + " does not report its rates"}
	}
	return Reason{}
}
