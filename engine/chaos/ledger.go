package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Ledger is all that is known of a run. Times are since its start.
type Ledger struct {
	Plan       Plan
	Version    string // of RocketMQ
	Queues     int32
	Sent       []Sent
	Deliveries []Delivery
	Happenings []Happening
	Commits    []Commit
	Stored     []int64 // at the end, by queue: the offset of the next message
	Holders    []Holder
	Troubles   []string // what should not have happened to the run itself
}

// Sent is a copy of a message that the broker has answered for. One of which the
// answer did not come may be stored too, before the one that is noted.
type Sent struct {
	At     time.Duration `json:"at"`
	Seq    int64         `json:"seq"`
	Queue  int32         `json:"queue"`
	Offset int64         `json:"offset"`
}

// Delivery is a message that a member's listener got. At is when its line was
// read, so deliveries of different members that are close are in no sure order.
type Delivery struct {
	At     time.Duration `json:"at"`
	Member string        `json:"member"`
	Topic  string        `json:"topic,omitempty"` // "" is the run's
	Queue  int32         `json:"queue"`
	Offset int64         `json:"offset"`
	Seq    int64         `json:"seq"`
}

// Happening is an event of the plan as it went.
type Happening struct {
	Event Event         `json:"event"`
	Began time.Duration `json:"began"`
	Ended time.Duration `json:"ended"` // the member is up, gone, thawed, connected; the broker serves
}

// Commit is what the broker said a group has consumed of a queue.
type Commit struct {
	At     time.Duration `json:"at"` // of the answer
	Group  Group         `json:"group"`
	Queue  int32         `json:"queue"`
	Offset int64         `json:"offset"`
}

// Holder is a member that holds a queue at the end.
type Holder struct {
	Group  Group  `json:"group"`
	Queue  int32  `json:"queue"`
	Member string `json:"member"`
}

// entry is a line of a ledger's file: one of its fields is set.
type entry struct {
	Head      *head      `json:"head,omitempty"`
	Sent      *Sent      `json:"sent,omitempty"`
	Delivery  *Delivery  `json:"delivery,omitempty"`
	Happening *Happening `json:"happening,omitempty"`
	Commit    *Commit    `json:"commit,omitempty"`
	Holder    *Holder    `json:"holder,omitempty"`
	Trouble   string     `json:"trouble,omitempty"`
}

type head struct {
	Plan    Plan    `json:"plan"`
	Version string  `json:"version"`
	Queues  int32   `json:"queues"`
	Stored  []int64 `json:"stored"`
}

// write puts the ledger into a file, a JSON object a line.
func (l *Ledger) write(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	enc := json.NewEncoder(w)
	put := func(e entry) { err = errors.Join(err, enc.Encode(e)) }
	put(entry{Head: &head{l.Plan, l.Version, l.Queues, l.Stored}})
	for i := range l.Happenings {
		put(entry{Happening: &l.Happenings[i]})
	}
	for i := range l.Holders {
		put(entry{Holder: &l.Holders[i]})
	}
	for _, t := range l.Troubles {
		put(entry{Trouble: t})
	}
	for i := range l.Sent {
		put(entry{Sent: &l.Sent[i]})
	}
	for i := range l.Deliveries {
		put(entry{Delivery: &l.Deliveries[i]})
	}
	for i := range l.Commits {
		put(entry{Commit: &l.Commits[i]})
	}
	return errors.Join(err, w.Flush(), f.Close())
}

// readLedger reads what write wrote.
func readLedger(path string) (*Ledger, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l := &Ledger{}
	dec := json.NewDecoder(bufio.NewReaderSize(f, 1<<20))
	for {
		var e entry
		switch err := dec.Decode(&e); {
		case errors.Is(err, io.EOF) && l.Queues > 0:
			return l, nil
		case err != nil:
			return nil, fmt.Errorf("%s is no ledger of a run (one is written by -keep): %w", path, err)
		}
		switch {
		case e.Head != nil:
			l.Plan, l.Version, l.Queues, l.Stored = e.Head.Plan, e.Head.Version, e.Head.Queues, e.Head.Stored
		case e.Sent != nil:
			l.Sent = append(l.Sent, *e.Sent)
		case e.Delivery != nil:
			l.Deliveries = append(l.Deliveries, *e.Delivery)
		case e.Happening != nil:
			l.Happenings = append(l.Happenings, *e.Happening)
		case e.Commit != nil:
			l.Commits = append(l.Commits, *e.Commit)
		case e.Holder != nil:
			l.Holders = append(l.Holders, *e.Holder)
		case e.Trouble != "":
			l.Troubles = append(l.Troubles, e.Trouble)
		}
	}
}

// recorder fills a ledger; any goroutine may call it.
type recorder struct {
	start atomic.Int64 // since epoch

	mu     sync.Mutex // guards the rest
	ledger Ledger
	seen   map[Group]map[place]bool // what was delivered of the run's topic
}

// place is where a copy of a message is stored.
type place struct {
	queue  int32
	offset int64
}

func newRecorder(l Ledger) *recorder {
	r := &recorder{ledger: l, seen: map[Group]map[place]bool{Concurrent: {}, Orderly: {}}}
	r.begin()
	return r
}

// begin makes this moment the run's start.
func (r *recorder) begin() { r.start.Store(int64(time.Since(epoch))) }

func (r *recorder) now() time.Duration { return time.Since(epoch) - time.Duration(r.start.Load()) }

// epoch is when the program began; on the monotonic clock, which nobody sets.
var epoch = time.Now()

func (r *recorder) delivered(g Group, d Delivery) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ledger.Deliveries = append(r.ledger.Deliveries, d)
	if d.Topic == "" {
		r.seen[g][place{d.Queue, d.Offset}] = true
	}
}

func (r *recorder) sent(s Sent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ledger.Sent = append(r.ledger.Sent, s)
}

func (r *recorder) happened(h Happening) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ledger.Happenings = append(r.ledger.Happenings, h)
}

func (r *recorder) committed(c Commit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ledger.Commits = append(r.ledger.Commits, c)
}

func (r *recorder) trouble(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ledger.Troubles = append(r.ledger.Troubles, fmt.Sprintf("%.1fs: ", r.now().Seconds())+fmt.Sprintf(format, args...))
}

// distinct is how many copies a group got.
func (r *recorder) distinct(g Group) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return int64(len(r.seen[g]))
}

// close gives the ledger away; nobody may record any more.
func (r *recorder) close() *Ledger {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &r.ledger
}
