package tui

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine/inspect"
	"eyeq/tui/page"
	"eyeq/tui/pages"
)

// fixtureStackText is what a Java member sends: the name before each line.
func fixtureStackText() string {
	var b strings.Builder
	thread := func(name, state string, frames ...string) {
		fmt.Fprintf(&b, "%-40sTID: %d STATE: %s\n", name, 20+b.Len()%50, state)
		for _, f := range frames {
			fmt.Fprintf(&b, "%-40s%s\n", name, f)
		}
		b.WriteString("\n")
	}
	thread("PullMessageService", "WAITING", "java.base@17.0.15/jdk.internal.misc.Unsafe.park(Native Method)", "app//org.apache.rocketmq.client.impl.consumer.PullMessageService.run(PullMessageService.java:131)")
	thread("main", "TIMED_WAITING", "java.base@17.0.15/java.lang.Thread.sleep(Native Method)", "app//com.acme.settle.Main.main(Main.java:21)")
	for i := range 20 {
		thread(fmt.Sprintf("ConsumeMessageThread_order-settle_%d", 20-i), "WAITING",
			"java.base@17.0.15/jdk.internal.misc.Unsafe.park(Native Method)",
			"java.base@17.0.15/java.util.concurrent.locks.LockSupport.park(LockSupport.java:211)",
			"app//com.acme.settle.pool.ConnectionPool.borrow(ConnectionPool.java:118)",
			"app//com.acme.settle.OrderPaidListener.consumeMessage(OrderPaidListener.java:46)",
			"app//org.apache.rocketmq.client.impl.consumer.ConsumeMessageConcurrentlyService$ConsumeRequest.run(ConsumeMessageConcurrentlyService.java:411)",
			"java.base@17.0.15/java.util.concurrent.Executors$RunnableAdapter.call(Executors.java:539)",
			"java.base@17.0.15/java.util.concurrent.FutureTask.run(FutureTask.java:264)",
			"java.base@17.0.15/java.util.concurrent.ThreadPoolExecutor.runWorker(ThreadPoolExecutor.java:1136)",
			"java.base@17.0.15/java.util.concurrent.ThreadPoolExecutor$Worker.run(ThreadPoolExecutor.java:635)",
			"java.base@17.0.15/java.lang.Thread.run(Thread.java:840)")
	}
	thread("RebalanceService", "TIMED_WAITING", "app//org.apache.rocketmq.client.impl.consumer.RebalanceService.run(RebalanceService.java:45)")
	return b.String()
}

func fixtureStack(client string) inspect.Stack {
	s := inspect.Stack{Group: "order-settle", ClientID: client, Language: "JAVA", Version: "V5_3_3", At: fixtureNow, Text: fixtureStackText()}
	s.Threads = inspect.ParseThreads(s.Text, "order-settle")
	return s
}

// stacking watches the group of the fixture on a cluster whose members tell stack.
func stacking(t testing.TB, w, h int, o page.Options, stack func(client string) (inspect.Stack, error)) (*driver, *fakeCluster) {
	t.Helper()
	f := fullCluster()
	f.live = func(string) (inspect.Live, error) { return fixtureLive(0), nil }
	f.stack = stack
	d := driveCluster(t, w, h, o, f)
	d.now = fixtureNow
	return d.keys(":").typing("live order-settle").keys("enter"), f
}

func tells(client string) (inspect.Stack, error) { return fixtureStack(client), nil }

func TestGoldenStack(t *testing.T) {
	none := func(client string) (inspect.Stack, error) {
		return inspect.Stack{ClientID: client, Language: "CPP", Version: "V4_0_0", At: fixtureNow, Why: inspect.Reason{Kind: inspect.ReasonUnsupported, Text: "CPP V4_0_0: this client gives no stack"}}, nil
	}
	states := map[string]func(w, h int) *driver{
		"stack": func(w, h int) *driver { d, _ := stacking(t, w, h, defaultOptions(), tells); return d.keys("T") },
		"stack-scrolled": func(w, h int) *driver {
			d, _ := stacking(t, w, h, defaultOptions(), tells)
			return d.keys("T", "J", "J").later(12 * time.Second)
		},
		"stack-none": func(w, h int) *driver { d, _ := stacking(t, w, h, defaultOptions(), none); return d.keys("T") },
		"stack-plain": func(w, h int) *driver {
			d, _ := stacking(t, w, h, defaultOptions(), func(client string) (inspect.Stack, error) {
				return inspect.Stack{ClientID: client, Language: "RUST", Version: "V5_0_0", At: fixtureNow, Text: "task 1: polling\n\tat \x1b[31msrc/main.rs\x1b[m:7\ntask 2: idle\n"}, nil
			})
			return d.keys("T")
		},
		"stack-error": func(w, h int) *driver {
			d, _ := stacking(t, w, h, defaultOptions(), func(string) (inspect.Stack, error) {
				return inspect.Stack{}, errors.New("name server 10.0.3.11:9876: connection refused")
			})
			return d.keys("T")
		},
		"stack-loading": func(w, h int) *driver {
			d, _ := stacking(t, w, h, defaultOptions(), tells)
			d.a.setPage(page.ViewStack, pages.NewStackView(d.a.env, "order-settle", memberA)) // asked, and no answer yet
			d.a.pages[page.ViewStack], _ = d.a.pages[page.ViewStack].Update(page.DueMsg{})
			d.run(d.a.goTo(page.ViewStack))
			d.now = d.now.Add(2100 * time.Millisecond)
			d.send(tea.WindowSizeMsg{Width: w, Height: h})
			return d
		},
		"stack-ascii": func(w, h int) *driver {
			o := defaultOptions()
			o.ASCII = true
			d, _ := stacking(t, w, h, o, tells)
			return d.keys("T")
		},
	}
	for name, start := range states {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			for _, size := range sizes {
				d := start(size[0], size[1])
				fmt.Fprintf(&got, "== %dx%d\n%s\n", size[0], size[1], trimLines(d.frame()))
			}
			compareGolden(t, name, got.String())
		})
	}
}

// The member is the one under the cursor, or the one that holds the queue, wherever the
// key is pressed; q goes back there.
func TestStackOfTheMemberThatIsMeant(t *testing.T) {
	tests := map[string]struct {
		keys []string
		want string
		back string
	}{
		"the owner of a queue":    {[]string{"T"}, memberA, "Allocation"},
		"a member of the live":    {[]string{"tab", "tab", "j", "T"}, memberB, "Allocation"},
		"the owner, in its queue": {[]string{"enter", "T"}, memberA, "Queue"},
		"a member of the group":   {[]string{"4", "d", "j", "T"}, memberB, "Subscriptions"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d, f := stacking(t, 120, 36, defaultOptions(), tells)
			d.keys(tt.keys...).see("20 in the listener").see("ConnectionPool.borrow(ConnectionPool.java:118)").see("Threads of " + tt.want)
			if last := f.asked[len(f.asked)-1]; !strings.HasPrefix(last, "stack ") || !strings.HasSuffix(last, " "+tt.want) {
				t.Errorf("the last question was %q, want the stack of %s", last, tt.want)
			}
			d.keys("q").see(tt.back)
		})
	}
	d, _ := stacking(t, 120, 36, defaultOptions(), tells)
	d.keys(":").typing("stack ").keys("tab", "enter").see("Threads of " + memberA)
	d.keys(":").typing("stack " + memberC).keys("enter").see("Threads of " + memberC)
	d.keys("4", ":").typing("stack").keys("enter").see("there is no member under the cursor")
	d.keys("[").see("Threads of " + memberC)
}

// A stack costs the member something: it is asked when the operator wants it only.
func TestStackIsTakenOnDemand(t *testing.T) {
	d, f := stacking(t, 120, 36, defaultOptions(), tells)
	times := func() (n int) {
		for _, a := range f.asked {
			if strings.HasPrefix(a, "stack ") {
				n++
			}
		}
		return n
	}
	d.later(10 * time.Second)
	if n := times(); n != 0 {
		t.Errorf("asked %d times before anybody wanted it", n)
	}
	d.keys("T")
	for range 30 {
		d.later(10 * time.Second)
	}
	if n := times(); n != 1 {
		t.Errorf("asked %d times in 5 minutes, want once", n)
	}
	d.see("taken 5m00s ago").keys("ctrl+r")
	d.later(time.Second).see("taken 1s ago")
	if n := times(); n != 2 {
		t.Errorf("asked %d times after a refresh, want 2", n)
	}
}

func TestStackIsCopiedAndSaved(t *testing.T) {
	var out bytes.Buffer
	d, _ := stacking(t, 120, 36, copying(&out), tells)
	d.keys("T", "y").see("sent the stack of ConsumeMessageThread_order-settle_1 … 20")
	text := pasted(t, &out, oscBegin, oscEnd)
	if !strings.HasPrefix(text, "20 threads  WAITING  ConsumeMessageThread_order-settle_1, ConsumeMessageThread_order-settle_2, ") ||
		!strings.Contains(text, "\n  → at com.acme.settle.pool.ConnectionPool.borrow(ConnectionPool.java:118)\n") {
		t.Errorf("copied %q", text)
	}
	d.keys("j", "Y")
	if got := pasted(t, &out, oscBegin, oscEnd); !strings.Contains(got, `"role": "pull", "count": 1, "state": "WAITING", "names": "PullMessageService"`) || !strings.HasPrefix(got, `{"group": "order-settle", "client_id": "`+memberA) {
		t.Errorf("copied %q", got)
	}
	dir := t.TempDir()
	if got := savedTo(t, d, filepath.Join(dir, "stack.txt")); got != fixtureStackText() {
		t.Errorf("saved %.300q, want it as the client sent it", got)
	}
	if got := savedTo(t, d, filepath.Join(dir, "stack.json")); strings.Count(got, `"client_id"`) != 4 || !strings.Contains(got, `"role": "listening", "count": 20`) {
		t.Errorf("saved %q", got)
	}
	if got := savedTo(t, d, filepath.Join(dir, "stack.csv")); !strings.HasPrefix(got, "group,client_id,role,count,state,names,frames\n") {
		t.Errorf("saved %q", got)
	}
	d.keys("o").typing("x").keys("enter").see("must end in .txt, .csv or .json")
}

// Names with commas in them must not look like more threads than there are, and J leads
// to the last of them however long the list is.
func TestNamesOfThreadsAreToldApartAndReached(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "%-40sTID: %d STATE: WAITING\n%-40scom.acme.Main.run(Main.java:1)\n\n", fmt.Sprintf("pool, main-%d", i), i+1, fmt.Sprintf("pool, main-%d", i))
	}
	for _, size := range sizes {
		d, _ := stacking(t, size[0], size[1], defaultOptions(), func(client string) (inspect.Stack, error) {
			return inspect.Stack{ClientID: client, Language: "JAVA", At: fixtureNow, Text: b.String(), Threads: inspect.ParseThreads(b.String(), "order-settle")}, nil
		})
		d.keys("T").see("60 threads")
		for range 200 {
			d.keys("J")
		}
		if end := d.frame(); !strings.Contains(end, `main-59"`) {
			t.Errorf("%dx%d: J does not lead to the last name:\n%s", size[0], size[1], end)
		}
		d.keys("K")
	}
	var out bytes.Buffer
	d, _ := stacking(t, 120, 36, copying(&out), func(client string) (inspect.Stack, error) {
		return inspect.Stack{ClientID: client, Language: "JAVA", At: fixtureNow, Text: b.String(), Threads: inspect.ParseThreads(b.String(), "order-settle")}, nil
	})
	d.keys("T", "y")
	if got := pasted(t, &out, oscBegin, oscEnd); !strings.Contains(got, `"pool, main-0", "pool, main-1", `) {
		t.Errorf("copied %q", got)
	}
	d.keys("Y")
	if got := pasted(t, &out, oscBegin, oscEnd); !strings.Contains(got, `pool, main-0\npool, main-1\n`) {
		t.Errorf("copied %q", got)
	}
}
