package cli

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"eyeq/remoting/sandbox/sandboxtest"
)

// Of a Java member whose listener does not return, the threads that are in it
// come first, those that pull and rebalance next, in the text and for scripts.
func TestPeersStackOfAStuckListener(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		namesrv := strings.Join(tg.Namesrv, ";")
		topic := tg.Topic(t, 2)
		p.produce(t, namesrv, topic, 20)
		for mode, want := range map[string]int{"concurrent": 20, "orderly": 2} {
			group := tg.Group(t)
			m := p.launch(t, "Stuck", namesrv, group, topic, mode, "*")
			awaitCount(t, m.out, `"stuck":`, want)

			id := readOf[membersJSON](t, namesrv, "group", "members", group).Members[0].ClientID
			var got memberJSON
			sandboxtest.Await(t, "all of them waiting", func(context.Context) bool { // each says that it is stuck before it is
				got = readOf[membersJSON](t, namesrv, "group", "members", group, "--client", id, "--stack").Members[0]
				if got.StackJSON == nil {
					return true // told below
				}
				waiting := 0
				for _, th := range got.Threads {
					if th.Role == "listening" && th.State == "WAITING" {
						waiting++
					}
				}
				return waiting == want
			})
			if got.StackJSON == nil || got.Stack == nil || !strings.Contains(*got.Stack, "TID: ") || got.StackError != "" {
				t.Fatalf("%s: no stack: %+v", mode, got.StackJSON)
			}
			var roles []string
			for _, th := range got.Threads {
				if n := len(roles); n == 0 || roles[n-1] != th.Role {
					roles = append(roles, th.Role)
				}
				if th.Role == "listening" && (!strings.HasPrefix(th.Name, "ConsumeMessageThread_") || th.State != "WAITING" || !strings.Contains(strings.Join(th.Frames, "\n"), "Stuck.handle(Stuck.java:")) {
					t.Errorf("%s: %+v, want it in the listener", mode, th)
				}
			}
			if got, want := strings.Join(roles, " "), "listening pull rebalance client other"; got != want {
				t.Errorf("%s: roles in the order %s, want %s", mode, got, want)
			}
			for i, th := range got.Threads {
				if (i < want) != (th.Role == "listening") {
					t.Errorf("%s: thread %d is %s, want %d in the listener first", mode, i, th.Role, want)
				}
			}
			text := runs(t, []string{"group", "members", group, "--stack", "--namesrv", namesrv, "--timeout", "40s"}).want(t, statusDone, "").out.String()
			_, threads, _ := strings.Cut(text, " threads, ")
			if !strings.HasPrefix(threads, fmt.Sprintf("%d in the listener:\n  listening  %d threads  WAITING  ConsumeMessageThread_%s_1 … %d\n", want, want, group, want)) {
				t.Errorf("%s: the text begins with %.300q", mode, threads)
			}
		}
	})
}
