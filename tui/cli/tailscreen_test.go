package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect/message"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
	"eyeq/tui/page"
)

// openScreenTail opens a tail over a sandbox; it is closed at the end of the test.
func openScreenTail(t *testing.T, client *remoting.Client, r page.TailRequest) page.Tail {
	t.Helper()
	o := &tailOpener{client: client, crew: &crew{}, timeout: 3 * time.Second, now: time.Now}
	tail, err := o.open(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tail.Close)
	return tail
}

// until reads batches until done says so.
func until(t *testing.T, tail page.Tail, done func(b page.TailBatch) bool) (all []engine.Message) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		b, err := tail.Next(ctx)
		if err != nil {
			t.Fatalf("Next: %v, after %d messages", err, len(all))
		}
		all = append(all, b.Messages...)
		if done(b) {
			return all
		}
	}
}

func TestScreenTailReadsAndFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Topic("t", 4))
		put(t, sb, "t", 100)
		client := sandboxtest.Client(t, sb, nil)
		tail := openScreenTail(t, client, page.TailRequest{Topic: "t", From: page.TailPosition{Earliest: true}})
		got := until(t, tail, func(b page.TailBatch) bool { return b.Seen == 100 && b.Matched == 100 && b.Behind == 0 })
		if len(got) != 100 {
			t.Errorf("%d messages, want 100", len(got))
		}
		for i := 1; i < len(got); i++ {
			if got[i-1].Stored().After(got[i].Stored()) {
				t.Errorf("message %d was stored after its successor", i-1)
			}
		}
		putOne(sb, "t", "later")
		if got := until(t, tail, func(b page.TailBatch) bool { return b.Seen == 101 && len(b.Messages) == 1 }); string(got[0].StoredBody()) != "later" {
			t.Errorf("followed by %q", got[0].StoredBody())
		}
		if m := sb.Members(engine.ToolsGroup); len(m) != 0 {
			t.Errorf("members = %v, want none", m)
		}
		tail.Close()
		if _, err := tail.Next(t.Context()); !errors.Is(err, engine.ErrEnded) {
			t.Errorf("Next after Close = %v, want %v", err, engine.ErrEnded)
		}
	})
}

func TestScreenTailPositions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Topic("t", 2))
		storeAt(t, sb, map[int64][]int32{1: {0, 1}, 5: {0, 1}, 9: {0}}, 12)
		client := sandboxtest.Client(t, sb, nil)
		mq := engine.MessageQueue{Topic: "t", BrokerName: "broker-a", QueueID: 1}
		for name, tt := range map[string]struct {
			from   page.TailPosition
			queues []engine.MessageQueue
			want   int
		}{
			"earliest": {page.TailPosition{Earliest: true}, nil, 5},
			"latest":   {page.TailPosition{}, nil, 0},
			"time":     {page.TailPosition{Time: time.Unix(epoch+5, 0)}, nil, 3},
			"offset":   {page.TailPosition{ByOffset: true, Offset: 1}, nil, 3},
			"offset 0": {page.TailPosition{ByOffset: true}, nil, 5},
			"queue":    {page.TailPosition{Earliest: true}, []engine.MessageQueue{mq}, 2},
		} {
			tail := openScreenTail(t, client, page.TailRequest{Topic: "t", From: tt.from, Queues: tt.queues})
			if got := until(t, tail, func(b page.TailBatch) bool { return b.Behind == 0 }); len(got) != tt.want {
				t.Errorf("%s: %d messages, want %d", name, len(got), tt.want)
			}
			tail.Close()
		}
	})
}

// A group without dead letters has no topic of them: that is no fault, and the first
// one is shown when it comes.
func TestScreenTailWaitsForDeadLetters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t)
		tail := openScreenTail(t, sandboxtest.Client(t, sb, nil), page.TailRequest{Topic: "%DLQ%g"})
		if got := until(t, tail, func(b page.TailBatch) bool { return b.Behind == 0 && b.Notice == "" }); len(got) != 0 {
			t.Fatalf("%d messages, want none", len(got))
		}
		sb.CreateTopic("%DLQ%g", 1)
		putOne(sb, "%DLQ%g", "dead")
		if got := until(t, tail, func(b page.TailBatch) bool { return b.Seen == 1 }); len(got) != 1 || string(got[0].StoredBody()) != "dead" {
			t.Errorf("%d messages, want the dead letter", len(got))
		}
		for topic, want := range map[string]string{"nope": "topic nope does not exist", "%RETRY%g": "there are no retries of group g"} {
			tail := openScreenTail(t, sandboxtest.Client(t, sb, nil), page.TailRequest{Topic: topic})
			if _, err := tail.Next(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", topic, err, want)
			}
		}
	})
}

// A topic that is deleted beneath a tail ends it with that, not with a broker's answer.
func TestScreenTailOfADeletedTopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Topic("t", 1))
		client := sandboxtest.Client(t, sb, nil)
		tail := openScreenTail(t, client, page.TailRequest{Topic: "t"})
		until(t, tail, func(b page.TailBatch) bool { return b.Behind == 0 })
		if err := client.DeleteTopic(t.Context(), "t"); err != nil {
			t.Fatal(err)
		}
		for {
			_, err := tail.Next(t.Context())
			if err == nil {
				continue
			}
			if want := "topic t is gone from broker-a: it was deleted while it was read"; err.Error() != want || exitStatus(err, nil) != statusNotFound {
				t.Errorf("%v (status %d), want %q (%d)", err, exitStatus(err, nil), want, statusNotFound)
			}
			break
		}
	})
}

func TestScreenTailFilterChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Topic("t", 1))
		tail := openScreenTail(t, sandboxtest.Client(t, sb, nil), page.TailRequest{Topic: "t", Filter: message.Filter{JQ: ".a == 1"}})
		until(t, tail, func(b page.TailBatch) bool { return b.Behind == 0 })
		for _, body := range []string{`{"a":1}`, `{"a":2}`, "plain"} {
			putOne(sb, "t", body)
		}
		notice := ""
		got := until(t, tail, func(b page.TailBatch) bool { notice += b.Notice; return b.Seen == 3 })
		if len(got) != 1 || !strings.Contains(notice, "the jq program failed on 1 of 3, first on t broker-a/0 at offset 2: the body is not JSON") {
			t.Errorf("%d messages, notice %q", len(got), notice)
		}
		if err := tail.SetFilter(1, message.Filter{Grep: "("}); err == nil {
			t.Error("a broken filter is taken")
		}
		if err := tail.SetFilter(2, message.Filter{Grep: "plain"}); err != nil {
			t.Fatal(err)
		}
		for _, body := range []string{`{"a":1}`, "plain"} {
			putOne(sb, "t", body)
		}
		got = until(t, tail, func(b page.TailBatch) bool { return b.Seen == 5 && b.Looked == 2 && b.Matched == 1 && b.Missed == 2 })
		if len(got) != 1 || string(got[0].StoredBody()) != "plain" {
			t.Errorf("after the change: %d messages", len(got))
		}
	})
}

// However often the filter changes while messages come, each batch holds what passed the
// filter that it names, and its counts add up to what was read.
func TestScreenTailNamesTheFilterOfABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Topic("t", 4))
		tail := openScreenTail(t, sandboxtest.Client(t, sb, nil), page.TailRequest{Topic: "t", From: page.TailPosition{Earliest: true}, Filter: message.Filter{Key: "k0"}})
		const changes, each = 100, 10
		var producer sync.WaitGroup
		producer.Go(func() {
			for n := range changes * each {
				time.Sleep(7 * time.Millisecond)
				sb.Put(sandbox.Message{Topic: "t", QueueID: int32(n % 4), Body: []byte("x"), Properties: []protocol.Property{{Name: protocol.PropertyKeys, Value: fmt.Sprintf("k%d", n%3)}}})
			}
		})
		wanted := []string{"k0"}
		looked, last := map[int]int64{}, page.TailBatch{}
		for last.Seen < changes*each {
			time.Sleep(each * 5 * time.Millisecond)
			if n := len(wanted); n <= changes {
				wanted = append(wanted, fmt.Sprintf("k%d", n%3))
				if err := tail.SetFilter(n, message.Filter{Key: wanted[n]}); err != nil {
					t.Fatal(err)
				}
			}
			b, err := tail.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for i := range b.Messages {
				if got := b.Messages[i].Keys(); got[0] != wanted[b.Filter] {
					t.Errorf("a message of key %q in a batch of filter %d, which wants %q", got, b.Filter, wanted[b.Filter])
				}
			}
			looked[b.Filter], last = b.Looked, b
		}
		producer.Wait()
		total := int64(0)
		for _, n := range looked {
			total += n
		}
		if before := last.Seen - last.Looked; total > last.Seen || len(looked) < changes/2 || last.Missed > before || last.Missed < before/2 {
			t.Errorf("%d looked at by %d filters, %d seen; %d missed of %d before the last", total, len(looked), last.Seen, last.Missed, before)
		}
	})
}

// A reader that does not come makes the tail pull no more; nothing is lost.
func TestScreenTailWaitsForItsReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Topic("t", 2))
		const n = 3 * heldMessages
		put(t, sb, "t", n)
		pulls := 0
		sb.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
			if pullOf(r) != nil {
				pulls++
			}
			return f
		})
		tail := openScreenTail(t, sandboxtest.Client(t, sb, nil), page.TailRequest{Topic: "t", From: page.TailPosition{Earliest: true}})
		time.Sleep(time.Minute)
		synctest.Wait()
		if most := heldMessages/tailBatch + 20; pulls > most {
			t.Errorf("%d pulls although nobody reads, want at most %d", pulls, most)
		}
		if got := until(t, tail, func(b page.TailBatch) bool { return b.Seen == n && b.Behind == 0 }); len(got) != n {
			t.Errorf("%d messages, want %d", len(got), n)
		}
	})
}

// A scan that matches nothing tells of its progress, some times a second.
func TestScreenTailTellsProgressAtItsPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Topic("t", 1))
		put(t, sb, "t", 5000)
		sb.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
			if pullOf(r) != nil {
				f.Delay = 10 * time.Millisecond
			}
			return f
		})
		tail := openScreenTail(t, sandboxtest.Client(t, sb, nil), page.TailRequest{Topic: "t", From: page.TailPosition{Earliest: true}, Filter: message.Filter{Key: "none"}})
		batches, began := 0, time.Now()
		until(t, tail, func(b page.TailBatch) bool { batches++; return b.Seen == 5000 })
		if most := int(time.Since(began)/tailPace) + 2; batches > most || batches < 3 {
			t.Errorf("%d batches in %v, want 3 to %d", batches, time.Since(began), most)
		}
	})
}

func TestScreenTailOfWhatIsNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Topic("t", 1))
		client := sandboxtest.Client(t, sb, nil)
		if _, err := openScreenTail(t, client, page.TailRequest{Topic: "nope"}).Next(t.Context()); !isType[*notFoundError](err) {
			t.Errorf("Next = %v, want not found", err)
		}
		mq := engine.MessageQueue{Topic: "t", BrokerName: "broker-a", QueueID: 7}
		if _, err := openScreenTail(t, client, page.TailRequest{Topic: "t", Queues: []engine.MessageQueue{mq}}).Next(t.Context()); !isType[*notFoundError](err) {
			t.Errorf("Next = %v, want not found", err)
		}
	})
}

// A cluster that cannot be reached is told, and read as soon as it is there.
func TestScreenTailWaitsForTheCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Topic("t", 1))
		put(t, sb, "t", 1)
		var away atomic.Bool
		away.Store(true)
		client, err := remoting.NewClient(remoting.Options{Namesrv: []string{sb.NamesrvAddr()}, Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if away.Load() {
				return nil, errors.New("no route to host")
			}
			return sb.Dial(ctx, network, addr)
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		tail := openScreenTail(t, client, page.TailRequest{Topic: "t", From: page.TailPosition{Earliest: true}})
		until(t, tail, func(b page.TailBatch) bool {
			return len(b.Mute) == 1 && b.Mute[0].Queue == (engine.MessageQueue{}) && b.Mute[0].Why != ""
		})
		away.Store(false)
		until(t, tail, func(b page.TailBatch) bool { return len(b.Messages) == 1 && len(b.Mute) == 0 })
	})
}

// Queues that cannot be read are told with every batch until they can, by whatever they
// are asked: where they begin, or for messages.
func TestScreenTailNamesMuteQueues(t *testing.T) {
	for _, code := range []protocol.RequestCode{protocol.GetMinOffset, protocol.PullMessage} {
		t.Run(code.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sb := sandboxtest.Start(t, sandboxtest.Topic("t", 2))
				var broken atomic.Bool
				broken.Store(code == protocol.GetMinOffset)
				sb.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
					if broken.Load() && protocol.RequestCode(r.Command.Code) == code {
						f.Code = protocol.SystemBusy
					}
					return f
				})
				tail := openScreenTail(t, sandboxtest.Client(t, sb, nil), page.TailRequest{Topic: "t"})
				if code == protocol.PullMessage {
					until(t, tail, func(b page.TailBatch) bool { return b.Behind == 0 && len(b.Mute) == 0 })
					broken.Store(true)
				}
				began := time.Now()
				until(t, tail, func(b page.TailBatch) bool {
					for _, m := range b.Mute {
						if m.Since.Before(began) || !strings.Contains(m.Why, "SYSTEM_BUSY") || b.Behind >= 0 {
							t.Fatalf("%+v with %d behind, want why, since no time before %v, and nothing known of what is behind", m, b.Behind, began)
						}
					}
					return len(b.Mute) == 2
				})
				time.Sleep(30 * time.Second)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if b, err := tail.Next(ctx); err == nil && len(b.Mute) != 2 {
					t.Errorf("half a minute later it says %+v, want two queues as before", b)
				}
				broken.Store(false)
				until(t, tail, func(b page.TailBatch) bool { return len(b.Mute) == 0 && b.Behind == 0 })
			})
		})
	}
}
