package cli

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// The allocations that engine/core is held to are those of this version too.
func TestPeersAllocate(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, _ *sandboxtest.Target, p *peers) {
		want, err := os.ReadFile("../../engine/core/testdata/allocate.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		if got := p.run(t, "java", p.version, "Allocate", "1", "300"); got != string(want) {
			t.Errorf("the strategies of %s give other shares than the recorded ones: %d bytes, want %d", p.version, len(got), len(want))
		}
	})
}

// Beside a stock member each takes the share that both compute: no queue twice,
// none left over.
func TestPeersStrategies(t *testing.T) {
	hash, err := core.AllocateByConsistentHash(core.VirtualNodes, nil)
	if err != nil {
		t.Fatal(err)
	}
	for word, strategy := range map[string]core.Strategy{"circle": core.AllocateAveragelyByCircle, "consistent-hash": hash} {
		t.Run(word, func(t *testing.T) { besideStrategy(t, word, strategy) })
	}
}

func besideStrategy(t *testing.T, word string, strategy core.Strategy) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		const queues = 12
		namesrv := strings.Join(tg.Namesrv, ";")
		topic, group := tg.Topic(t, queues), tg.Group(t)
		admin := clientOf(t, tg.Namesrv...)
		p.startConsumer(t, namesrv, group, topic, "0", "", "0", strings.TrimPrefix(word, "consistent-"))
		startLeaving(t, []string{
			"consume", "--namesrv", namesrv, "-g", group, "-t", topic, "--strategy", word, "--headless", "--client-id", "192.168.0.1@eyeq",
		})
		route, err := admin.Route(t.Context(), topic)
		if err != nil {
			t.Fatal(err)
		}
		sandboxtest.Await(t, "two members with the shares of "+strategy.Name(), func(ctx context.Context) bool {
			return asComputed(sharesOf(ctx, admin, topic, group), strategy, group, topic, route.Queues)
		})
	})
}

// asComputed reports whether two members hold what a strategy gives them.
func asComputed(shares map[string][]protocol.MessageQueue, s core.Strategy, group, topic string, queues []engine.MessageQueue) bool {
	ids := slices.SortedFunc(maps.Keys(shares), protocol.CompareUTF16)
	want, err := core.AllocateAll(s, group, topic, "", queues, ids)
	if err != nil || len(ids) != 2 {
		return false
	}
	for id, share := range shares {
		slices.SortFunc(share, protocol.CompareMessageQueues)
		if !slices.Equal(share, want[id]) {
			return false
		}
	}
	return true
}
