package cli

import (
	"strings"
	"testing"

	"eyeq/remoting/sandbox/sandboxtest"
)

// A static topic is named as such, and what a group has left to read of it is unknown,
// since the queues and offsets that its clients see are others than the brokers'. The
// plain topic beside it keeps its numbers.
func TestPeersStaticTopic(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		if !strings.HasPrefix(p.version, "5.") {
			t.Skip("4.x has no static topics")
		}
		const messages = 10
		namesrv := strings.Join(tg.Namesrv, ";")
		plain, group := tg.Topic(t, 4), tg.Group(t)
		static := plain + "-static"
		broker := readOf[topicDetailJSON](t, namesrv, "topic", "show", plain).Queues[0].Broker
		p.admin(t, "updateStaticTopic", namesrv, "-t", static, "-qn", "4", "-b", broker)
		t.Cleanup(func() { p.admin(t, "deleteTopic", namesrv, "-c", "DefaultCluster", "-t", static) })
		for _, topic := range []string{static, plain} {
			out, stop := (&stock{p, namesrv, topic, group}).start(t, "concurrent")
			p.send(t, namesrv, topic, messages)
			awaitCount(t, out, `"seq":`, messages)
			stop()
			p.send(t, namesrv, topic, messages)
		}
		awaitStored(t, clientOf(t, tg.Namesrv...), plain, 2*messages)

		if d := readOf[topicDetailJSON](t, namesrv, "topic", "show", static); !d.Static || *d.Stored != 2*messages {
			t.Errorf("static topic %+v", d)
		}
		if d := readOf[topicDetailJSON](t, namesrv, "topic", "show", plain); d.Static {
			t.Errorf("plain topic %+v", d)
		}
		l := readOf[lagJSON](t, namesrv, "group", "lag", group)
		if *l.TotalLag != messages || l.UnknownQueues != 4 {
			t.Errorf("lag %d with %d unknown queues, want the %d of the plain topic, and 4", *l.TotalLag, l.UnknownQueues, messages)
		}
		for _, q := range l.Queues {
			if q.Topic == static && (q.Lag != nil || !strings.Contains(q.LagError, "is a static topic")) {
				t.Errorf("queue %d of the static topic: lag %v, %q", q.Queue, q.Lag, q.LagError)
			}
		}
		at := []string{"--namesrv", namesrv}
		for _, args := range [][]string{
			{"tail", static}, {"send", static, "x"}, {"consume", "-g", group, "-t", static, "--headless"},
			{"group", "reset", group, "-t", static, "--to", "latest", "--dry-run"},
		} {
			runs(t, append(args, at...)).want(t, statusRefused, "is a static topic")
		}
	})
}
