package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"eyeq/engine"
	"eyeq/remoting/sandbox/sandboxtest"
	"eyeq/tui/cli/config"
)

// Every strategy is refused without what it needs, and what it does not need is
// refused too, in the words of who gave it, before anything is sent.
func TestStrategyNeeds(t *testing.T) {
	tests := map[string]struct {
		config string
		flags  []string
		want   string
	}{
		"config":                     {"", []string{"--strategy", "config"}, "--strategy config needs this member's queues: --queues BROKER:ID,…"},
		"config by RocketMQ's name":  {"", []string{"--strategy", "CONFIG"}, "--strategy CONFIG needs this member's queues"},
		"config of the file":         {"allocate_message_queue_strategy = \"CONFIG\"\n", nil, `c.toml:2: consumer.allocate_message_queue_strategy = "CONFIG" needs this member's queues`},
		"machine-room":               {"", []string{"--strategy", "machine-room"}, "--strategy machine-room needs the machine rooms to read from: --machine-rooms ROOM,…"},
		"nearby":                     {"", []string{"--strategy", "machine-room-nearby"}, "--strategy machine-room-nearby needs to know this member's machine room: --client-id ROOM@NAME"},
		"nearby without a room":      {"", []string{"--strategy", "machine-room-nearby", "--client-id", "member"}, "--client-id ROOM@NAME"},
		"nearby of machine rooms":    {"", []string{"--strategy", "machine-room-nearby-machine-room", "--client-id", "a@1"}, "needs the machine rooms"},
		"nearby of what":             {"", []string{"--strategy", "machine-room-nearby-x", "--client-id", "a@1"}, "behind machine-room-nearby- must stand"},
		"queues of another strategy": {"", []string{"--queues", "broker-a:0"}, "--queues is for --strategy config; the strategy is AVG"},
		"rooms of another strategy":  {"", []string{"--machine-rooms", "a", "--strategy", "circle"}, "--machine-rooms is for --strategy machine-room; the strategy is AVG_BY_CIRCLE"},
		"nodes of another strategy":  {"", []string{"--virtual-nodes", "5"}, "--virtual-nodes is for --strategy consistent-hash"},
		"no nodes":                   {"", []string{"--strategy", "consistent-hash", "--virtual-nodes", "0"}, "--virtual-nodes 0: must be 1 to 1000"},
		"queue":                      {"", []string{"--strategy", "config", "--queues", "broker-a:0,3"}, `--queues "3": must be [TOPIC=]BROKER:ID`},
		"queue backwards":            {"", []string{"--strategy", "config", "--queues", "broker-a:3-1"}, `--queues "broker-a:3-1": must be`},
		"queue below zero":           {"", []string{"--strategy", "config", "--queues", "broker-a:-1"}, `"broker-a:-1": must be`},
		"queue without end":          {"", []string{"--strategy", "config", "--queues", "broker-a:0-2147483647"}, "an id is at most 65535"},
		"queue twice":                {"", []string{"--strategy", "config", "--queues", "broker-a:0-2", "--queues", "orders=broker-a:1"}, "--queues orders=broker-a:1: queue orders broker-a/1 is named twice"},
		"queue of another topic":     {"", []string{"--strategy", "config", "--queues", "payments=broker-a:0"}, "--queues payments=broker-a:0: topic payments is not subscribed: give -t payments too"},
		"list of another topic":      {"allocate_message_queue_strategy = \"CONFIG\"\nmessage_queue_list = [\"x=broker-a:0\"]\n", nil, "c.toml:3: consumer.message_queue_list: x=broker-a:0: topic x is not subscribed"},
		"room":                       {"", []string{"--strategy", "machine-room", "--machine-rooms", "a,"}, `--machine-rooms: "": must be a machine room`},
		"room with an @":             {"", []string{"--strategy", "machine-room", "--machine-rooms", "a@b"}, `--machine-rooms: "a@b": must be a machine room`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c.toml")
			if err := os.WriteFile(path, []byte("[consumer]\n"+tt.config), 0o600); err != nil {
				t.Fatal(err)
			}
			args := append([]string{"consume", "--config", path, "--namesrv", deadAddress(t), "-g", "g", "-t", "orders", "--headless"}, tt.flags...)
			if p := runs(t, args).want(t, statusUsage, tt.want); p.out.String() != "" {
				t.Errorf("stdout = %q, want nothing", p.out)
			}
		})
	}
}

// What is chosen by flag or file is what the engine gets.
func TestStrategyChosen(t *testing.T) {
	for name, tt := range map[string]struct {
		config string
		flags  []string
		want   string
		list   []string // of CONFIG
	}{
		"default":         {"", nil, "AVG", nil},
		"circle":          {"", []string{"--strategy", "circle"}, "AVG_BY_CIRCLE", nil},
		"consistent-hash": {"", []string{"--strategy", "consistent-hash", "--virtual-nodes", "20"}, "CONSISTENT_HASH", nil},
		"nearby":          {"", []string{"--strategy", "machine-room-nearby", "--client-id", "a@1"}, "MACHINE_ROOM_NEARBY-AVG", nil},
		"nearby circle":   {"", []string{"--strategy", "machine-room-nearby-circle", "--client-id", "a-1"}, "MACHINE_ROOM_NEARBY-AVG_BY_CIRCLE", nil},
		"machine-room":    {"", []string{"--strategy", "machine-room", "--machine-rooms", "a, b"}, "MACHINE_ROOM", nil},
		"rooms of the file": {"allocate_message_queue_strategy = \"MACHINE_ROOM_NEARBY-MACHINE_ROOM\"\nconsumeridcs = [\"a\"]\n",
			[]string{"--client-id", "a@1"}, "MACHINE_ROOM_NEARBY-MACHINE_ROOM", nil},
		"flag over file": {"allocate_message_queue_strategy = \"CONFIG\"\n", []string{"--strategy", "avg"}, "AVG", nil},
		"config": {"", []string{"--strategy", "config", "--queues", "broker-a:0,payments=broker-b/3-4", "--queues", "%RETRY%g=broker-a:0"},
			"CONFIG", []string{"orders broker-a/0", "payments broker-a/0", "payments broker-b/3", "payments broker-b/4", "%RETRY%g broker-a/0"}},
		"list of the file": {"allocate_message_queue_strategy = \"config\"\nmessage_queue_list = [\"orders=b:1\"]\n", nil, "CONFIG", []string{"orders b/1"}},
		"list by flag over file": {"allocate_message_queue_strategy = \"config\"\nmessage_queue_list = [\"orders=b:1\"]\n", []string{"--queues", "orders=b:2"},
			"CONFIG", []string{"orders b/2"}},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := config.Parse("c.toml", "[consumer]\n"+tt.config)
			if err != nil {
				t.Fatal(err)
			}
			o, err := consumeOptions(t, c, append([]string{"-g", "g", "-t", "orders", "-t", "payments:a"}, tt.flags...))
			if err != nil {
				t.Fatal(err)
			}
			if got := o.Strategy.Name(); got != tt.want {
				t.Errorf("the strategy is %s, want %s", got, tt.want)
			}
			if tt.list == nil {
				return
			}
			list, err := o.Strategy.Allocate("g", "", nil, nil)
			var got []string
			for _, mq := range list {
				got = append(got, mq.String())
			}
			if diff := cmp.Diff(got, tt.list); diff != "" || err != nil {
				t.Errorf("its list (-got +want), error %v:\n%s", err, diff)
			}
		})
	}
}

// consumeOptions are the options that flags of consume make.
func consumeOptions(t *testing.T, c *config.Config, args []string) (engine.Options, error) {
	t.Helper()
	e := &env{}
	f, cmd := consumeCommand(e)
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	return f.options(e, c)
}

// A member of a list of its own reads these queues and no other, and says when
// nobody reads what is sent back.
func TestConsumeByConfig(t *testing.T) {
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 4))
	put(t, sb, "orders", 40)
	for name, tt := range map[string]struct {
		queues []string
		stderr string
	}{
		"without the retry topic": {[]string{"--queues", "broker-a:1,broker-a:3"}, "names no queue of %RETRY%g0: messages that are sent back wait until a member reads it (add '%RETRY%g0=BROKER:0')"},
		"with the retry topic":    {[]string{"--queues", "broker-a:1,broker-a:3", "--queues", "%RETRY%g1=broker-a:0"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			group := "g0"
			if tt.stderr == "" {
				group = "g1"
			}
			p := runs(t, consume(namesrv, group, append(tt.queues, "--strategy", "config", "--max", "20")...)).want(t, statusDone, tt.stderr)
			if tt.stderr == "" && strings.Contains(p.err.String(), "%RETRY%") {
				t.Errorf("stderr = %q, want no word on the retry topic", p.err)
			}
			seen := map[string]int{}
			for _, m := range p.objects(t)["message"] {
				seen[fmt.Sprint(m["queue"])]++
			}
			if diff := cmp.Diff(seen, map[string]int{"1": 10, "3": 10}); diff != "" {
				t.Errorf("messages by queue (-got +want):\n%s", diff)
			}
		})
	}
}
