package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestSequenceSetTakesEachNumberOnce(t *testing.T) {
	var s sequenceSet
	var fresh atomic.Int64
	var workers sync.WaitGroup
	numbers := []uint64{0, 1, 63, 64, 1<<20 - 1, 1 << 20, 1<<20 + 63, maxSequence - 1}
	for range 8 {
		workers.Go(func() {
			for _, n := range numbers {
				if s.add(n) {
					fresh.Add(1)
				}
			}
		})
	}
	workers.Wait()
	if got, want := fresh.Load(), int64(len(numbers)); got != want {
		t.Errorf("new numbers = %d, want %d", got, want)
	}
	if !s.add(2) {
		t.Error("add(2) = false, want true: it was never added")
	}
}

func TestResultCountsDuplicatesAndEndsAtTheExpectedMessage(t *testing.T) {
	c := &counter{expect: 2}
	start := time.Unix(1_000_000, 0)
	c.first.Store(start.UnixNano())
	c.delivered.Store(5)
	c.distinct.Store(2)
	c.last.Store(start.Add(1500 * time.Millisecond).UnixNano())
	if got, want := c.result(start.Add(time.Hour)), `{"msgs":5,"seconds":1.5000,"dups":3}`; got != want {
		t.Errorf("result = %s, want %s", got, want)
	}
	if got, want := (&counter{expect: 2}).result(start), `{"msgs":0,"seconds":0.0000,"dups":0}`; got != want {
		t.Errorf("result of nothing = %s, want %s", got, want)
	}
}

func TestTraceRecord(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace")
	tr, err := createTrace(file)
	if err != nil {
		t.Fatal(err)
	}
	before := time.Now().UnixMicro()
	tr.record(7, 4711)
	tr.record(-1, 1<<40)
	if err := tr.close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) != 48 {
		t.Fatalf("trace holds %d bytes, want 48", len(b))
	}
	if at := int64(binary.BigEndian.Uint64(b)); at < before || at > time.Now().UnixMicro() {
		t.Errorf("time = %d, want one since %d", at, before)
	}
	if queue, zero, seq := binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint32(b[12:]), binary.BigEndian.Uint64(b[16:]); queue != 7 || zero != 0 || seq != 4711 {
		t.Errorf("queue, zero, seq = %d, %d, %d, want 7, 0, 4711", queue, zero, seq)
	}
}

func TestTunedProfileIsWithinTheBounds(t *testing.T) {
	s := settings{group: "g", topic: "t", mode: "concurrent", tuned: true, fromFirst: true}
	o := s.options()
	if err := o.Validate(); err != nil {
		t.Errorf("tuned options: %v", err)
	}
	if o.PullBatchSize != 1024 || o.PullThresholdForQueue != 20000 || o.ConsumeConcurrentlyMaxSpan != 65535 || o.ConsumeMessageBatchMaxSize != 1024 {
		t.Errorf("tuned options = %+v", o)
	}
}

func TestRunRefusesWrongUse(t *testing.T) {
	for name, s := range map[string]settings{"--mode": {mode: "sideways", expect: 1}, "--expect": {mode: "orderly"}} {
		if err := run(t.Context(), s); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("run(%+v) = %v, want an error about %s", s, err, name)
		}
	}
}
