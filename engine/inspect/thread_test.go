package inspect

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func groupLines(groups []ThreadGroup) []string {
	var lines []string
	for i := range groups {
		g := &groups[i]
		lines = append(lines, fmt.Sprintf("%v %d %s %s @ %s", g.Role, g.Count, g.Label(), g.State, g.Top()))
	}
	return lines
}

// Of a Java member that is stuck in its listener, the threads of the listener
// come first, with the place in the application where they stand; then those that pull
// and rebalance. The stacks are what Java members sent.
func TestThreadsOfAJavaMember(t *testing.T) {
	tests := map[string]struct {
		file, group string
		want        []string
	}{
		"concurrent 4.9.7": {"stack-4.9.7-concurrent.txt", "orders-worker-497xx", []string{
			"listening 11 ConsumeMessageThread_orders-worker-497xx_1 … 11 WAITING @ Stuck.handle(Stuck.java:46)",
			"pull 1 PullMessageService WAITING @ org.apache.rocketmq.client.impl.consumer.PullMessageService.run(PullMessageService.java:95)",
			"rebalance 1 RebalanceService TIMED_WAITING @ org.apache.rocketmq.common.CountDownLatch2.await(CountDownLatch2.java:114)",
		}},
		"concurrent 5.3.3": {"stack-5.3.3-concurrent.txt", "orders-worker-533xx", []string{
			"listening 11 ConsumeMessageThread_orders-worker-533xx_1 … 11 WAITING @ Stuck.handle(Stuck.java:46)",
			"pull 1 PullMessageService WAITING @ org.apache.rocketmq.client.impl.consumer.PullMessageService.run(PullMessageService.java:131)",
			"pull 1 PullMessageServiceScheduledThread1 WAITING @ jdk.internal.misc.Unsafe.park(Native Method)",
			"rebalance 1 RebalanceService TIMED_WAITING @ org.apache.rocketmq.common.CountDownLatch2.await(CountDownLatch2.java:114)",
		}},
		"orderly 5.3.3": {"stack-5.3.3-orderly.txt", "orders-worker-53", []string{
			"listening 4 ConsumeMessageThread_orders-worker-53_1 … 4 WAITING @ Stuck.handle(Stuck.java:46)",
			"pull 1 PullMessageService WAITING @ org.apache.rocketmq.client.impl.consumer.PullMessageService.run(PullMessageService.java:131)",
			"pull 1 PullMessageServiceScheduledThread1 WAITING @ jdk.internal.misc.Unsafe.park(Native Method)",
			"rebalance 1 RebalanceService TIMED_WAITING @ org.apache.rocketmq.common.CountDownLatch2.await(CountDownLatch2.java:114)",
		}},
		"another group of the process": {"stack-5.3.3-concurrent.txt", "orders", []string{
			"pull 1 PullMessageService WAITING @ org.apache.rocketmq.client.impl.consumer.PullMessageService.run(PullMessageService.java:131)",
			"pull 1 PullMessageServiceScheduledThread1 WAITING @ jdk.internal.misc.Unsafe.park(Native Method)",
			"rebalance 1 RebalanceService TIMED_WAITING @ org.apache.rocketmq.common.CountDownLatch2.await(CountDownLatch2.java:114)",
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile("testdata/" + tt.file)
			if err != nil {
				t.Fatal(err)
			}
			threads := ParseThreads(string(text), tt.group)
			if n := strings.Count(string(text), "TID: "); len(threads) != n {
				t.Errorf("%d threads, want %d", len(threads), n)
			}
			frames := 0
			for i := range threads {
				frames += len(threads[i].Frames)
				for _, f := range threads[i].Frames {
					if strings.HasPrefix(f, threads[i].Name) {
						t.Errorf("a frame of %s begins with its name: %s", threads[i].Name, f)
					}
				}
			}
			if n := strings.Count(string(text), "\n") - strings.Count(string(text), "\n\n") - len(threads); frames != n {
				t.Errorf("%d frames, want %d", frames, n)
			}
			got := groupLines(GroupThreads(threads))
			if d := cmp.Diff(tt.want, got[:len(tt.want)]); d != "" {
				t.Error(d)
			}
			for _, l := range got[len(tt.want):] {
				if !strings.HasPrefix(l, "client ") && !strings.HasPrefix(l, "other ") {
					t.Errorf("more than the client's and the application's own: %s", l)
				}
			}
		})
	}
}

func TestThreadsOfOtherClients(t *testing.T) {
	long := strings.Repeat("g", 120)
	tests := map[string]struct {
		text, group string
		want        []string
	}{
		"nothing":    {"", "g", nil},
		"no threads": {"not enabled\nhere", "g", nil},
		"Java before 4.9.2, a listener that runs and one without messages": {
			"ConsumeMessageThread_2                  TID: 30 STATE: WAITING\n" +
				"ConsumeMessageThread_2                  sun.misc.Unsafe.park(Native Method)\n" +
				"ConsumeMessageThread_2                  java.util.concurrent.ThreadPoolExecutor.getTask(ThreadPoolExecutor.java:1074)\n\n" +
				"main                                    TID: 1 STATE: RUNNABLE\n" +
				"main                                    com.acme.Main.main(Main.java:3)\n\n" +
				"ConsumeMessageThread_10                 TID: 31 STATE: BLOCKED\r\n" +
				"ConsumeMessageThread_10                 com.acme.Dao.save(Dao.java:7)\r\n" +
				"ConsumeMessageThread_10                 org.apache.rocketmq.client.impl.consumer.ConsumeMessageConcurrentlyService$ConsumeRequest.run(ConsumeMessageConcurrentlyService.java:411)\r\n\r\n",
			"g", []string{
				"listening 1 ConsumeMessageThread_10 BLOCKED @ com.acme.Dao.save(Dao.java:7)",
				"idle 1 ConsumeMessageThread_2 WAITING @ sun.misc.Unsafe.park(Native Method)",
				"other 1 main RUNNABLE @ com.acme.Main.main(Main.java:3)",
			}},
		"a name of the group that the client has cut": {
			"ConsumeMessageThread_" + long[:100] + "_1TID: 9 STATE: WAITING\nConsumeMessageThread_" + long[:100] + "_1java.lang.Object.wait(Native Method)\n", long,
			[]string{"idle 1 ConsumeMessageThread_" + long[:100] + "_1 WAITING @ java.lang.Object.wait(Native Method)"}},
		"a group whose name ends in a number": {
			"ConsumeMessageThread_g_2_7              TID: 9 STATE: WAITING\nConsumeMessageThread_g_2_7              x.Y.z(Y.java)\n", "g_2",
			[]string{"idle 1 ConsumeMessageThread_g_2_7 WAITING @ x.Y.z(Y.java)"}},
		"Go": {
			"goroutine 1 [chan receive, 12 minutes]:\nmain.main()\n\t/src/app/main.go:30 +0x2c\n\n" +
				"goroutine 91 [select, 2 minutes]:\nmain.handle({0xc000123, 0x4})\n\t/src/app/handler.go:77 +0x1a\n" +
				"github.com/apache/rocketmq-client-go/v2/consumer.(*pushConsumer).consumeInner(0xc0001, {0x1, 0x2})\n\t/go/push_consumer.go:1010 +0x9\n" +
				"created by github.com/apache/rocketmq-client-go/v2/consumer.(*pushConsumer).consumeMessageConcurrently in goroutine 80\n\t/go/push_consumer.go:1100 +0x7\n\n" +
				"goroutine 92 [select, 3 minutes]:\nmain.handle({0xc000456, 0x4})\n\t/src/app/handler.go:77 +0x1a\n" +
				"github.com/apache/rocketmq-client-go/v2/consumer.(*pushConsumer).consumeInner(0xc0002, {0x1, 0x2})\n\t/go/push_consumer.go:1010 +0x9\n" +
				"created by github.com/apache/rocketmq-client-go/v2/consumer.(*pushConsumer).consumeMessageConcurrently in goroutine 81\n\t/go/push_consumer.go:1100 +0x7\n",
			"g", []string{
				"listening 2 goroutine 91 … 92 select, 2 minutes @ main.handle(handler.go:77)",
				"other 1 goroutine 1 chan receive, 12 minutes @ main.main(main.go:30)",
			}},
		"eyeq": {
			"31 goroutines in 2 different stacks\n\n20 times, one of them:\ngoroutine 9 [select]:\neyeq/engine.(*worker).run(0xc)\n\t/e/pool.go:183 +0x1\n\n" +
				"goroutine 44 [IO wait]:\nmain.exec(...)\n\t/e/main.go:1\neyeq/engine.(*worker).concurrent(0xc)\n\t/e/concurrent.go:71 +0x1\neyeq/engine.(*worker).run(0xc)\n\t/e/pool.go:196 +0x1\n",
			"g", []string{
				"listening 1 goroutine 44 IO wait @ main.exec(main.go:1)",
				"idle 20 goroutine 9 select @ eyeq/engine.(*worker).run(pool.go:183)",
			}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, groupLines(GroupThreads(ParseThreads(tt.text, tt.group)))); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestFrameText(t *testing.T) {
	for frame, want := range map[string]string{
		"java.base@17.0.15/java.lang.Thread.run(Thread.java:840)": "java.lang.Thread.run(Thread.java:840)",
		"app//Stuck.handle(Stuck.java:46)":                        "Stuck.handle(Stuck.java:46)",
		"loader/mod@1/a.B.c(B.java:1)":                            "a.B.c(B.java:1)",
		"Stuck$$Lambda$52/0x00007ff340081c88.consume(Unknown)":    "Stuck$$Lambda$52/0x00007ff340081c88.consume(Unknown)",
		"github.com/x/y.F(y.go:1)":                                "github.com/x/y.F(y.go:1)",
	} {
		if got := FrameText(frame); got != want {
			t.Errorf("%s: got %q, want %q", frame, got, want)
		}
	}
}

// FuzzParseThreads: any text gives threads within bounds, each with its parts.
func FuzzParseThreads(f *testing.F) {
	f.Add("x TID: 1 STATE: RUNNABLE\nx a.B(C:1)\n\ngoroutine 2 [select]:\na.b()\n\t/c.go:1 +0x1", "g")
	f.Add("99999999999999999999 times, one of them:\ngoroutine 1 [x]:\n\t/only/a/place", "")
	f.Fuzz(func(t *testing.T, text, group string) {
		threads := ParseThreads(text, group)
		total := 0
		for _, one := range threads {
			total += one.Count
			if one.Count < 1 || len(one.Frames) > maxFrames {
				t.Errorf("%+v", one)
			}
		}
		of := 0
		groups := GroupThreads(threads)
		for i := range groups {
			of += groups[i].Count
			_, _ = groups[i].Label(), groups[i].Top()
		}
		if of != total || len(threads) > maxThreads {
			t.Errorf("%d threads in groups of %d", total, of)
		}
	})
}
