package inspect

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"eyeq/remoting/protocol"
)

func sortedQueues[V any](m map[protocol.MessageQueue]V) []protocol.MessageQueue {
	return slices.SortedFunc(maps.Keys(m), protocol.CompareMessageQueues)
}

// throttledFor is how long a backlog must have waited for its throttling to be worth
// a word: that a burst fills the cache for seconds is what limits are for.
const throttledFor = 2 * time.Minute

// throttle is one of the limits that stop a member from pulling.
type throttle struct {
	code, property, name string
	// hits reports whether the limit stops the queue about now, and the figure to
	// show. A throttled queue is pulled again as soon as it is one below its limit, so
	// what is found between two pulls lies within a batch of it. An empty one is not
	// throttled, however small the limit is.
	hits func(q *protocol.ProcessQueueInfo, limit, batch int64) (value int64, hit bool)
	next string
}

var throttles = []throttle{
	{CodeThrottledByCount, countLimit, "count", func(q *protocol.ProcessQueueInfo, limit, batch int64) (int64, bool) {
		return cached(q), cached(q) > max(limit-batch, 0)
	}, "The backlog sits in the members: their listeners are slower than what comes in. More members (while there are queues), more threads, or a faster listener; a larger limit only costs memory."},
	{CodeThrottledBySize, sizeLimit, "size", func(q *protocol.ProcessQueueInfo, limit, _ int64) (int64, bool) {
		return int64(q.CachedMsgSizeInMiB), int64(q.CachedMsgSizeInMiB) >= limit
	}, "Large messages fill the members' caches: listeners are slower than what comes in. Make them faster, or put the bodies elsewhere."},
	{CodeThrottledBySpan, spanLimit, "span", func(q *protocol.ProcessQueueInfo, limit, batch int64) (int64, bool) {
		span := q.CachedMsgMaxOffset - q.CachedMsgMinOffset
		return span, q.CachedMsgCount > 0 && span > max(limit-batch, 0)
	}, "One message at the beginning takes long, and all behind it wait for its commit: find out what its listener does, eyeq message get shows the message."},
}

// judgeThrottling finds members that a limit keeps from pulling at every look, with a
// backlog that has waited for minutes.
func judgeThrottling(v *visit) {
	if v.paused || !v.two() {
		return
	}
	// Of a queue that one message blocks the span is as long as what was pulled last takes
	// to be finished: it is over the limit by chance, and the message is told already.
	blocked := map[protocol.MessageQueue]bool{}
	for _, s := range v.stillQueues() {
		blocked[s.mq] = v.stall(&s) == stallBlocked
	}
	for _, t := range throttles {
		var lines []string
		waited := time.Duration(0)
		for i := range v.last.Members.Members {
			m := &v.last.Members.Members[i]
			before := v.before[m.ClientID]
			if m.Info == nil || before == nil || before.Info == nil || t.name == "span" && m.orderly() {
				continue
			}
			own, batch := m.limit(t.property), settingOf(m, "pullBatchSize", 32)
			limit, whose := own.Likely(), ""
			if !own.Known() {
				whose = ", the default of its client, which does not report its own"
			}
			for _, mq := range sortedQueues(m.Info.MQTable) {
				q, was := m.Info.MQTable[mq], before.Info.MQTable[mq]
				value, hit := t.hits(&q, limit, batch)
				_, hitBefore := t.hits(&was, limit, batch)
				if !hit || !hitBefore || limit <= 0 {
					continue
				}
				row := v.rows[mq]
				if row == nil || v.waits(row) < throttledFor && v.moved < throttledFor || t.name == "span" && blocked[mq] {
					continue
				}
				waited = max(waited, v.waits(row))
				if t.name != "size" && value <= limit {
					whose += fmt.Sprintf(" (between two pulls, which bring up to %d)", batch)
				}
				lines = append(lines, fmt.Sprintf("%v at %s: %s %s of %s%s, lag %s, next message stored %s ago", mq, m.ClientID, t.name, Grouped(value), Grouped(limit), whose, numberText(row.Lag), Span(v.waits(row))))
			}
		}
		if len(lines) == 0 {
			continue
		}
		v.find(t.code, SeverityWarning, fmt.Sprintf("flow control by %s holds %s back, whose messages have waited for up to %s", t.name, Plural(len(lines), "queue"), Span(waited)),
			t.next, append(capped(lines), v.seen()+", as the members say")...)
	}
}

// The bounds of judgeRates. Members' figures are averages of about a minute.
const (
	busyShare    = 0.8  // of the threads that are in a listener
	slowLag      = 100  // messages of a member's queues, below which it keeps up
	failingShare = 0.05 // of what is consumed
	failingTPS   = 0.05 // 3 a minute
)

// judgeRates finds members whose threads are all in listeners while a backlog waits,
// and those whose listeners fail.
func judgeRates(v *visit) {
	var slow, failing []string
	for i := range v.last.Members.Members {
		m := &v.last.Members.Members[i]
		if m.Info == nil {
			continue
		}
		if line := v.slowText(m); line != "" {
			slow = append(slow, line)
		}
		for _, topic := range slices.Sorted(maps.Keys(m.Info.StatusTable)) {
			s := m.Info.StatusTable[topic]
			if all := s.ConsumeOKTPS + s.ConsumeFailedTPS; s.ConsumeFailedTPS >= failingTPS && s.ConsumeFailedTPS >= failingShare*all {
				line := fmt.Sprintf("%s at %s: %.1f of %.1f messages/s fail", topic, m.ClientID, s.ConsumeFailedTPS, all)
				if s.ConsumeFailedMsgs > 0 { // the hour's count comes later than the minute's rate
					line += fmt.Sprintf(", %s in the last hour", Grouped(s.ConsumeFailedMsgs))
				}
				failing = append(failing, line)
			}
		}
	}
	if len(failing) > 0 {
		v.find(CodeConsumptionFailing, SeverityWarning, "listeners fail, and their messages are tried again",
			"Read the members' logs for the exception; a message that can never succeed goes to the dead letters after its attempts. The messages: "+v.eyeq("tail %s --from -10m", protocol.RetryTopic(v.f.Group)), append(capped(failing), "rates are the members' own, of about a minute")...)
	}
	if len(slow) > 0 {
		v.find(CodeConsumerSlow, SeverityWarning, fmt.Sprintf("the listeners of %s are the bottleneck", Plural(len(slow), "member")),
			"Find out what a message's time goes into. More threads help when it is waiting, more members while there are queues for them.", append(capped(slow), "rates are the members' own, of about a minute")...)
	}
}

// slowText says that a member's threads are busy while its queues lag; "" otherwise.
func (v *visit) slowText(m *Member) string {
	threads, queues, lag := settingOf(m, "consumeThreadMin", 20), int64(0), int64(0)
	for mq, q := range m.Info.MQTable {
		if row := v.rows[mq]; !q.Dropped && row != nil && row.Lag.Known {
			queues++
			lag += max(row.Lag.Value, 0)
		}
	}
	if m.orderly() {
		threads = min(threads, queues) // one listener a queue at a time
	}
	if threads <= 0 || lag < slowLag {
		return ""
	}
	batch := float64(max(settingOf(m, "consumeMessageBatchMaxSize", 1), 1))
	busy, rt := 0.0, 0.0
	for _, s := range m.Info.StatusTable {
		// RT is a call's, which takes up to batch messages: so many threads at least.
		busy += s.ConsumeRT / 1000 * (s.ConsumeOKTPS + s.ConsumeFailedTPS) / batch
		rt = max(rt, s.ConsumeRT)
	}
	if busy < busyShare*float64(threads) {
		return ""
	}
	return fmt.Sprintf("%s: about %.0f of %d threads in listeners, %.0f ms a call, and %s wait", m.ClientID, min(busy, float64(threads)), threads, rt, Plural(lag, "message"))
}

// The bounds of judgeRetries.
const (
	stormShare   = 0.2  // of what is consumed
	stormMin     = 10   // retries between two samples, or within the minute of the members' figures
	stormBacklog = 1000 // messages waiting in the retry topic
)

// judgeRetries finds a retry topic that fills, and dead letters that come in.
func judgeRetries(v *visit) {
	var retried int64
	for i := range v.last.Lag.Queues {
		q := &v.last.Lag.Queues[i]
		if was := v.queues[q.MessageQueue]; q.Retry && was != nil && q.Max.Known && was.Max.Known {
			retried += max(q.Max.Value-was.Max.Value, 0)
		}
	}
	ok, again := 0.0, 0.0 // by the members' own figures of about a minute
	for _, m := range v.members {
		if m.Info != nil {
			for topic, s := range m.Info.StatusTable {
				ok += s.ConsumeOKTPS
				if isRetry(topic) {
					again += s.ConsumeOKTPS + s.ConsumeFailedTPS
				}
			}
		}
	}
	rate := 0.0
	if v.two() {
		rate = float64(retried) / v.moved.Seconds()
	}
	backlog := v.last.Lag.RetryLag
	// Retries come in waves, each delay's together: within a look there may be all or none.
	storm := v.two() && retried >= stormMin && rate >= stormShare*ok || again*60 >= stormMin && again >= stormShare*ok
	if storm || backlog.Known && backlog.Value >= stormBacklog {
		lines := []string{fmt.Sprintf("%s wait in %s%s; those whose delay is not over are not among them", numberText(backlog), protocol.RetryTopicPrefix, v.f.Group)}
		if v.two() {
			lines = append(lines, fmt.Sprintf("%s came back within %s (%.1f/s), while %.1f/s succeed", Plural(retried, "message"), Span(v.moved), rate, ok))
		}
		if again > 0 {
			lines = append(lines, fmt.Sprintf("members consume %.1f/s that come back, by their own figures of about a minute", again))
		}
		summary := "many messages fail and come back"
		if !storm {
			summary = "many messages have failed and wait to be tried again"
		}
		v.find(CodeRetryStorm, SeverityWarning, summary, "Read the members' logs for the exception; a message that can never succeed goes to the dead letters after its attempts. "+
			"The messages: "+v.eyeq("tail %s --from -10m", protocol.RetryTopic(v.f.Group)), lines...)
	}
	v.judgeDead()
}

// deadLately is how old the last dead letter is at most when they count as growing.
const deadLately = 10 * time.Minute

func (v *visit) judgeDead() {
	now, was := v.last.Lag.DeadLetters, v.first.Lag.DeadLetters
	grew := v.two() && now.Known && was.Known && now.Value > was.Value
	since := v.last.At.Sub(v.f.DeadStored)
	lately := !v.f.DeadStored.IsZero() && since < deadLately
	if !grew && !(lately && now.Known && now.Value > 0) {
		return
	}
	lines := []string{fmt.Sprintf("%s in %s%s", Plural(now.Value, "message"), protocol.DLQTopicPrefix, v.f.Group)}
	if grew {
		lines = append(lines, fmt.Sprintf("%s more within %s", Grouped(now.Value-was.Value), Span(v.moved)))
	}
	if lately {
		lines = append(lines, fmt.Sprintf("the last one was stored %s ago", Span(max(since, 0))))
	}
	v.find(CodeDeadLettersGrowing, SeverityWarning, "messages end in the dead letters",
		fmt.Sprintf("Look at them: %s. When the cause is gone, send them back: %s", v.eyeq("tail %s --from -10m", protocol.DLQTopic(v.f.Group)),
			v.eyeq("message resend -t %s --all --dry-run", protocol.DLQTopic(v.f.Group))), lines...)
}
