package tui

import (
	"strings"
	"testing"
	"time"

	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
	"eyeq/tui/live"
	"eyeq/tui/words"
)

// bounded gives a member other properties, and its queues what is cached.
func bounded(l *inspect.Live, id string, properties map[string]string, language string, cached int32) {
	for i := range l.Members.Members {
		m := &l.Members.Members[i]
		if m.ClientID != id {
			continue
		}
		info := *m.Info
		info.Properties, m.Info, m.Language = properties, &info, language
		for j := range l.Queues {
			if q := &l.Queues[j]; q.Owner == id {
				inside := *q.Info
				inside.CachedMsgCount, inside.CachedMsgMinOffset, inside.CachedMsgMaxOffset = cached, inside.CommitOffset, inside.CommitOffset+int64(cached)-1
				q.Pulled, q.Info, q.Limits = inspect.Exact(inside.CommitOffset+int64(cached)), &inside, m.Limits()
			}
		}
	}
}

// Each queue is judged by the limits of the member that holds it, and sums say how they
// are made up.
func TestQueuesAreJudgedByTheirHoldersLimits(t *testing.T) {
	l := fixtureLive(0)
	bounded(&l, memberA, map[string]string{"pullThresholdForQueue": "100", "pullThresholdSizeForQueue": "100", "consumeConcurrentlyMaxSpan": "2000"}, "JAVA", 50)
	bounded(&l, memberB, map[string]string{"pullThresholdForQueue": "1000", "pullThresholdSizeForQueue": "100", "consumeConcurrentlyMaxSpan": "500"}, "JAVA", 115)
	bounded(&l, memberC, map[string]string{"pullThresholdForQueue": "100", "pullThresholdSizeForQueue": "100", "consumeConcurrentlyMaxSpan": "2000"}, "JAVA", 101)
	d := watching(t, 120, 36, defaultOptions(), l)
	d.see("5 of 16 queues now: count 5").see("cached 101 > limit 100").miss("cached 115 > limit 100")
	d.see("1,380 / 6,100 msgs").see("(11 × 100 + 5 × 1,000)").see("─ own limit")
	d.see(" 115 ██████··················") // on the scale of its holder: 500
}

// A Go member reports no limits: what is known of it is named as its default, and nobody
// says that no limit is hit.
func TestLimitsThatAreNotReported(t *testing.T) {
	l := fixtureLive(0)
	for _, id := range []string{memberA, memberB, memberC} {
		bounded(&l, id, map[string]string{"PROP_CONSUMEORDERLY": "false", "PROP_THREADPOOL_CORE_SIZE": "-1"}, "GO", 1019)
	}
	d := watching(t, 120, 36, defaultOptions(), l)
	d.see("16,304 / 16,384 msgs").see("(16×1,024 by default)").see("? for 16 of 16 queues: a GO client does not report its limits").miss("flow   none").see("run, flow ?")
	d.keys("enter").see("1,019 messages, limit 1,024 by default (a GO client does not report its limits)").miss("no limit hit")

	for _, id := range []string{memberA, memberB, memberC} {
		bounded(&l, id, nil, "CPP", 1019)
	}
	watching(t, 120, 36, defaultOptions(), l).see("16,304 / ? msgs").see("(16 × ?)").see("/ ? MiB").miss("/ 0 ")
	watching(t, 80, 24, defaultOptions(), l).see("cache 16k/?  flow").see("flow ? ")
}

// A Java member that is blocked on one message pulls and finishes those behind it: what it
// has cached is one message at one look and thousands of offsets at the next, and what it
// has in flight grows all the same.
func TestInFlightOfABlockedMemberDoesNotFlip(t *testing.T) {
	for name, line := range map[string]struct {
		tells bool // the broker says how far it was pulled
		want  []string
	}{
		"5.x": {true, []string{" 3,151 █▒", " 3,183 █▒", " 3,215 █▒"}},
		"4.9": {false, []string{" ≥ 1 █·", " ≥ 3,183 █▒", " ≥ 3,183 █▒"}},
	} {
		t.Run(name, func(t *testing.T) {
			for n, want := range line.want {
				var list []inspect.Live
				for i := range n + 1 {
					l := fixtureLive(2 * (len(line.want) - i))
					q := &l.Queues[7]
					info := protocol.ProcessQueueInfo{CommitOffset: 97, CachedMsgMinOffset: 97, CachedMsgMaxOffset: 97, CachedMsgCount: 1}
					if i == 1 {
						info.CachedMsgMaxOffset, info.CachedMsgCount = 97+3183-1, 33
					}
					q.Info, q.Committed, q.Max, q.Lag = &info, inspect.Exact(97), inspect.Exact(5000), inspect.Exact(4903)
					if q.Pulled = inspect.Exact(97 + 3151 + int64(32*i)); !line.tells {
						q.Pulled = inspect.Unknown(inspect.Reason{Kind: inspect.ReasonUnsupported})
					}
					list = append(list, l)
				}
				d := watching(t, 120, 36, defaultOptions(), list...).keys("/").typing("broker-a/7").keys("enter")
				if !strings.Contains(d.frame(), want) {
					t.Errorf("picture %d: no %q in\n%s", n+1, want, d.frame())
				}
			}
		})
	}
}

// There is nothing beyond the end of a queue that could be in flight: a bound that reaches
// it is exact.
func TestInFlightEndsWithTheQueue(t *testing.T) {
	p := live.NewWatchPast()
	q := inspect.LiveQueue{Info: &protocol.ProcessQueueInfo{CommitOffset: 100}}
	q.Committed, q.Pulled = inspect.Exact(100), inspect.Unknown(inspect.Reason{Kind: inspect.ReasonUnsupported})
	for _, tt := range []struct {
		max  inspect.Number
		want bool
	}{{inspect.Exact(100), false}, {inspect.Exact(101), true}, {inspect.Unknown(watchSilent), true}} {
		q.Max = tt.max
		if end, atLeast := p.PulledUpTo(&q); end != 100 || atLeast != tt.want {
			t.Errorf("of a queue to %v: %d, at least: %v", words.NumberText(tt.max), end, atLeast)
		}
	}
}

// The span is one thing everywhere: from the first to the last cached, which is what the
// member's limit counts.
func TestSpanIsWhatTheLimitCounts(t *testing.T) {
	l := fixtureLive(0)
	q := &l.Queues[7]
	q.Info = &protocol.ProcessQueueInfo{CommitOffset: 97, CachedMsgMinOffset: 97, CachedMsgMaxOffset: 97, CachedMsgCount: 1, LastPullTimestamp: l.At.Add(-time.Second).UnixMilli()}
	q.Committed, q.Pulled, q.Max, q.Lag = inspect.Exact(97), inspect.Exact(1591), inspect.Exact(5000), inspect.Exact(4903)
	d := watching(t, 160, 40, defaultOptions(), l).keys("/").typing("broker-a/7").keys("enter").see(" 1,494 █▒")
	d.keys("enter").see("1,494 pulled and not committed: 1 not done, 1,493 done and waiting").see("0 from the first to the last cached, 97 … 97, limit 2,000")
}
