package core

import (
	"fmt"
	"testing"

	"eyeq/remoting/protocol"
)

// Figures are a message: ns/msg. one: results come back message by message, out
// of order within the answer; whole: a batch at a time.
func BenchmarkPutSettle(b *testing.B) {
	for _, each := range []int{32, 1024} {
		const rounds = 64
		answers := answersFor(b, rounds, each)
		for name, settle := range map[string]func(q *ProcessQueue, seq uint64){
			"whole": func(q *ProcessQueue, seq uint64) { q.Settle(seq, each) },
			"tens": func(q *ProcessQueue, seq uint64) {
				for k := 0; k < each; k += 10 {
					q.Settle(seq+uint64(k), min(10, each-k))
				}
			},
			"one": func(q *ProcessQueue, seq uint64) {
				for k := range each {
					q.Settle(seq+uint64(k^1), 1)
				}
			},
		} {
			b.Run(fmt.Sprintf("batch=%d/%s", each, name), func(b *testing.B) {
				b.ReportAllocs()
				var q ProcessQueue
				var held [16]uint64 // settled a few answers late, as workers do
				i := 0
				for b.Loop() {
					if i%rounds == 0 {
						for _, seq := range held {
							settle(&q, seq)
						}
						q.Clear()
					}
					seq, _ := q.Put(answers[i%rounds], each*256)
					if i >= len(held) {
						settle(&q, held[i%len(held)])
					}
					held[i%len(held)] = seq
					i++
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*each), "ns/msg")
			})
		}
	}
}

// The orderly way: take ten, commit.
func BenchmarkPutTakeCommit(b *testing.B) {
	const rounds, each = 64, 32
	answers := answersFor(b, rounds, each)
	var q ProcessQueue
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if i%rounds == 0 {
			q.Clear()
		}
		q.Put(answers[i%rounds], each*256)
		for len(q.Take(10)) > 0 {
			q.Commit()
		}
		i++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*each), "ns/msg")
}

func BenchmarkStats(b *testing.B) {
	for name, stuck := range map[string]int64{"even": 0, "stuck": 1} {
		b.Run(name, func(b *testing.B) {
			var q ProcessQueue
			for i, a := range answersFor(b, 64, 32) {
				seq, _ := q.Put(a, 8192)
				if int64(i) > 0 && stuck == 1 {
					q.Settle(seq, 31)
				}
			}
			for b.Loop() {
				_ = q.Stats()
			}
		})
	}
}

func BenchmarkDecidePull(b *testing.B) {
	limits := Limits{Count: 1000, SizeMiB: 100, Span: 2000}
	s := PullState{Running: true, Subscribed: true, Clustering: true, Cache: CacheStats{Count: 500, Span: 1999, PinnedBytes: 1 << 20}}
	for b.Loop() {
		if DecidePull(s, limits).Reason != PullNow {
			b.Fatal("not now")
		}
	}
}

func BenchmarkApplyPull(b *testing.B) {
	a := PullAnswer{Code: protocol.Success, Requested: 1000, Next: 1032, Messages: 32}
	for b.Loop() {
		if !ApplyPull(a).Put {
			b.Fatal("not put")
		}
	}
}
