package inspect_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"eyeq/engine/inspect"
	"eyeq/remoting/sandbox/sandboxtest"
)

// A broker announces an address that cannot be reached from here: it costs the time of
// one question, however many topics and groups have queues there, and nothing else is
// missing. Routers swallow the dial, or after some seconds somebody says that
// there is no such host: that is the same to whoever waits.
func TestUnreachableAddressCostsOneDeadline(t *testing.T) {
	noRoute := errors.New("no route to host")
	for name, dial := range map[string]func(ctx context.Context) error{
		"swallowed": func(ctx context.Context) error {
			<-ctx.Done()
			return fmt.Errorf("dial: %w", os.ErrDeadlineExceeded)
		},
		"no such host after a while": func(ctx context.Context) error {
			select {
			case <-time.After(2500 * time.Millisecond):
				return noRoute
			case <-ctx.Done():
				return ctx.Err()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bothLines(t, func(t *testing.T, tg *sandboxtest.Target) {
				lost, known, dials := tg.Masters(t)["broker-b"], tg.Dial, atomic.Int64{}
				tg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
					if addr == lost {
						dials.Add(1)
						return nil, dial(ctx)
					}
					return known(ctx, network, addr)
				}
				var topics []string
				for i := range 500 {
					topics = append(topics, fmt.Sprintf("t%03d", i))
					tg.Sandbox.CreateTopic(topics[i], 2)
				}
				d := newDesk(t, tg)
				began := time.Now()
				rows := d.TopicRows(t.Context(), topics)
				if took := time.Since(began); took > d.Timeout() {
					t.Errorf("500 topics took %v, more than the %v of one question", took, d.Timeout())
				}
				for _, r := range rows {
					if r.Queues != 4 || !r.Stored.AtLeast || r.Stored.Why.Kind != inspect.ReasonUnreachable || len(r.Brokers) != 2 {
						t.Fatalf("row %+v", r)
					}
				}
				if n := dials.Load(); n > 1 {
					t.Errorf("%d dials", n)
				}
				// On a page that is asked for again and again it is dialled now and then.
				began = time.Now()
				for range 10 {
					d.TopicRows(t.Context(), topics[:30])
					time.Sleep(2 * time.Second)
				}
				if took := time.Since(began) - 20*time.Second; took > 10*d.Timeout()/4 {
					t.Errorf("10 pages took %v more than the pauses between them", took)
				}
				all, err := d.Brokers(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for _, b := range all.Brokers {
					if (b.Address == lost) == b.Reachable {
						t.Errorf("broker %+v", b)
					}
					if b.Address == lost && !strings.Contains(b.Why.Text, lost) {
						t.Errorf("the reason %q names no address", b.Why.Text)
					}
				}
			})
		})
	}
}

// A topic of which nothing can be read has no bound either.
func TestNothingKnownIsNoBound(t *testing.T) {
	bothLines(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic := tg.Topic(t, 2)
		d := newDesk(t, tg)
		known := tg.Masters(t)
		lost := newDesk(t, &sandboxtest.Target{Namesrv: tg.Namesrv, Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			for _, broker := range known {
				if addr == broker {
					return nil, errors.New("refused")
				}
			}
			return tg.Dial(ctx, network, addr)
		}})
		if r := d.TopicRows(t.Context(), []string{topic})[0]; r.Stored != inspect.Exact(0) {
			t.Errorf("stored %+v", r.Stored)
		}
		if r := lost.TopicRows(t.Context(), []string{topic})[0]; r.Stored.Known || r.Stored.Why.Kind != inspect.ReasonUnreachable {
			t.Errorf("stored %+v, want it unknown", r.Stored)
		}
	})
}
