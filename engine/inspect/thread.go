package inspect

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Role says what a thread of a member is there for.
type Role uint8

// The roles, in the order in which threads are shown.
const (
	RoleListening Role = iota // it calls the listener
	RoleIdle                  // it would, and has no messages
	RolePull
	RoleRebalance
	RoleClient // the client's other threads: network, timers, other groups' listeners
	RoleOther  // the application's own, and the machine's
)

// String gives the word that screens and JSON show.
func (r Role) String() string {
	return [...]string{"listening", "idle", "pull", "rebalance", "client", "other"}[r]
}

// Thread is a thread of a member, or a goroutine.
type Thread struct {
	Name   string
	ID     int64
	State  string // in the client's own words
	Role   Role
	Frames []string // the innermost first
	// Count is how many do the same where the client tells of one of them only; 1 for
	// all others.
	Count int
}

// ThreadGroup are threads of one role that do the same.
type ThreadGroup struct {
	Thread          // the first; Count is that of all
	Names  []string // of all, sorted
}

// The head of a thread as the Java client writes it: the name is filled up to 40
// characters, a longer one runs into what follows. Each frame has the name before it.
var javaHead = regexp.MustCompile(`^(.*?) *TID: (\d+) STATE: (\w+)$`)

// The head of a goroutine, and what eyeq writes before one that stands for many.
var (
	goHead  = regexp.MustCompile(`^goroutine (\d+)(?: [^\[]*)? ?\[([^\]]*)\]:$`)
	goCount = regexp.MustCompile(`^(\d+) times, one of them:$`)
)

// maxThreads and maxFrames bound what is read of a stack: a member may send any text.
const (
	maxThreads = 20_000
	maxFrames  = 1_000
	maxCount   = 100_000_000
)

// number reads digits; too many of them are none.
func number(digits string) int64 {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// ParseThreads reads the stack that a member of group has sent: of a Java client, of
// a Go client or of eyeq. Those that consume for the group come first, then those that
// pull and rebalance. A text in none of these forms has no threads.
func ParseThreads(text, group string) []Thread {
	var threads []Thread
	var t *Thread
	count, goes := 1, false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch m := javaHead.FindStringSubmatch(line); {
		case len(threads) == maxThreads:
		case m != nil:
			threads, goes = append(threads, Thread{Name: m[1], ID: number(m[2]), State: m[3], Count: 1}), false
			t = &threads[len(threads)-1]
			continue
		default:
			if m := goHead.FindStringSubmatch(line); m != nil {
				threads, goes = append(threads, Thread{Name: "goroutine " + m[1], ID: number(m[1]), State: m[2], Count: count}), true
				t, count = &threads[len(threads)-1], 1
				continue
			}
		}
		switch {
		case line == "":
			t = nil
		case t == nil:
			if m := goCount.FindStringSubmatch(line); m != nil {
				count = int(number(m[1]))
			}
		case len(t.Frames) == maxFrames:
		case goes:
			t.addGoLine(line)
		default:
			t.Frames = append(t.Frames, strings.TrimLeft(strings.TrimPrefix(line, t.Name), " "))
		}
	}
	for i := range threads {
		threads[i].Count = min(max(threads[i].Count, 1), maxCount)
		threads[i].Role = roleOf(&threads[i], group)
	}
	slices.SortStableFunc(threads, func(a, b Thread) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), compareNumbered(a.Name, b.Name))
	})
	return threads
}

// addGoLine takes a function, or the place of the last one, which is written behind it
// as Java does.
func (t *Thread) addGoLine(line string) {
	place, isPlace := strings.CutPrefix(line, "\t")
	if isPlace && len(t.Frames) > 0 {
		place, _, _ = strings.Cut(place, " +0x")
		t.Frames[len(t.Frames)-1] += "(" + path.Base(strings.ReplaceAll(place, `\`, "/")) + ")"
		return
	}
	if name, _, created := strings.Cut(line, " in goroutine "); created {
		line = name
	}
	if i := strings.LastIndexByte(line, '('); i > 0 && strings.HasSuffix(line, ")") && !strings.HasPrefix(line, "created by ") {
		line = line[:i] // without its arguments
	}
	t.Frames = append(t.Frames, line)
}

// compareNumbered sorts names by their text, and those that differ in a number at the
// end by that.
func compareNumbered(a, b string) int {
	x, y := strings.TrimRight(a, "0123456789"), strings.TrimRight(b, "0123456789")
	if x != y {
		return strings.Compare(a, b)
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// consumeThread begins the names of the Java client's threads that call listeners;
// since 4.9.2 the group's name follows, of which at most 100 characters are there.
const consumeThread = "ConsumeMessageThread_"

const longestGroupTag = 100

// marks are texts in the frames that say what a thread is there for, and the names by
// which the Java client's threads begin. The first that fits counts.
var marks = []struct {
	role  Role
	names []string
	calls []string
}{
	{role: RoleListening, calls: []string{
		"Service$ConsumeRequest.run(", "Service$MessageBatch.run(", // the Java client's consume services
		"pushConsumer).consumeInner", "engine.(*worker).concurrent", "engine.(*worker).orderly",
	}},
	{role: RoleIdle, names: []string{consumeThread}, calls: []string{"engine.(*worker).run", "pushConsumer).consumeMessage"}},
	{role: RolePull, names: []string{"PullMessageService", "PullMsgThread-"}, calls: []string{"ushConsumer).pullMessage", "engine.(*queue).pull"}},
	{role: RoleRebalance, names: []string{"RebalanceService", "RebalanceBy"}, calls: []string{".RebalanceService.run(", "onsumer).doBalance", "engine.(*coordinator)"}},
	{role: RoleClient, names: []string{
		"NettyClient", "NettyEventExecutor", "NettyServer", "MQClientFactory", "ClientHouseKeepingService", "RequestHouseKeepingService",
		"LatencyFaultTolerance", "CleanExpireMsg", "ConsumeMessageScheduledThread", "AsyncAppender-Worker-Rocketmq", "AsyncAppender-Worker-DefaultSifting",
	}, calls: []string{"org.apache.rocketmq.", "rocketmq-client-go/", "eyeq/"}},
}

func roleOf(t *Thread, group string) Role {
	tag, numbered := strings.CutPrefix(t.Name, consumeThread)
	if numbered {
		// One of several groups in the process.
		tag = strings.TrimRight(strings.TrimRight(tag, "0123456789"), "_")
		if cut := group[:min(len(group), longestGroupTag)]; tag != "" && tag != strings.TrimRight(cut, "_") {
			return RoleClient
		}
	}
	for _, m := range marks {
		for _, call := range m.calls {
			if slices.ContainsFunc(t.Frames, func(f string) bool { return strings.Contains(f, call) }) {
				return m.role
			}
		}
		for _, name := range m.names {
			if strings.HasPrefix(t.Name, name) {
				return m.role
			}
		}
	}
	return RoleOther
}

// runtimes begin the frames of run-time libraries, which mostly wait, and clients those
// of RocketMQ's clients, which pass on to somebody.
var (
	runtimes = []string{"java.", "javax.", "jdk.", "sun.", "io.netty.", "runtime.", "internal/", "sync.", "time.", "syscall.", "created by "}
	clients  = []string{"org.apache.rocketmq.", "eyeq/engine.", "github.com/apache/rocketmq-client-go/"}
)

// Top is where a thread is in the application's code, which is what a reader looks
// for; without any, in the client's, and else the innermost frame.
func (t *Thread) Top() string {
	top, client := "", ""
	for _, f := range t.Frames {
		f = FrameText(f)
		begins := func(with string) bool { return strings.HasPrefix(f, with) }
		switch {
		case slices.ContainsFunc(runtimes, begins):
			top = cmp.Or(top, f)
		case slices.ContainsFunc(clients, begins):
			client = cmp.Or(client, f)
		default:
			return f
		}
	}
	return cmp.Or(client, top)
}

// javaModule is what Java 9 and later write before a frame: the class loader's name,
// the module's and its version.
var javaModule = regexp.MustCompile(`^(?:[\w.-]*//|(?:[\w.-]+/)?[\w.-]+@[\w.+-]+/|[\w.-]+//)`)

// FrameText is a frame without the module that it is of.
func FrameText(frame string) string { return frame[len(javaModule.FindString(frame)):] }

// GroupThreads takes the threads together that do the same, in the order of their
// roles; of those of one role, the most frequent come first.
func GroupThreads(threads []Thread) []ThreadGroup {
	var groups []ThreadGroup
	places := map[string]int{}
	for _, t := range threads {
		state, _, _ := strings.Cut(t.State, ", ") // a goroutine's has how long, too
		key := strconv.Itoa(int(t.Role)) + state + "\n" + strings.Join(t.Frames, "\n")
		i, ok := places[key]
		if !ok {
			places[key] = len(groups)
			groups = append(groups, ThreadGroup{Thread: t, Names: []string{t.Name}})
			continue
		}
		groups[i].Count += t.Count
		groups[i].Names = append(groups[i].Names, t.Name)
	}
	slices.SortStableFunc(groups, func(a, b ThreadGroup) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(b.Count, a.Count))
	})
	return groups
}

// Label names the threads of a group in a few words.
func (g *ThreadGroup) Label() string {
	first, last := g.Names[0], g.Names[len(g.Names)-1]
	switch {
	case len(g.Names) == 1:
		return first
	case strings.TrimRight(first, "0123456789") == strings.TrimRight(last, "0123456789"):
		return first + " … " + last[len(strings.TrimRight(last, "0123456789")):]
	}
	return first + " … " + last
}
