package cli

import (
	"eyeq/tui/cli/config"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// bounds are the smallest and largest value of each number of [consumer], with the
// flag of consume that sets it too.
var bounds = []struct {
	key      string
	lo, hi   int64
	minusOne bool
	flag     string // with %d for the value
}{
	{"virtual_node_cnt", 1, 1000, false, "--strategy consistent-hash --virtual-nodes %d"},
	{"consume_thread_min", 1, 1000, false, "--threads %d:1000"},
	{"consume_thread_max", 1, 1000, false, "--threads 1:%d"},
	{"consume_message_batch_max_size", 1, 1024, false, "--batch %d"},
	{"pull_batch_size", 1, 1024, false, "--pull-batch %d"},
	{"pull_interval", 0, 65535, false, ""},
	{"consume_concurrently_max_span", 1, 65535, false, "--max-span %d"},
	{"pull_threshold_for_queue", 1, 65535, false, "--pull-threshold %d"},
	{"pull_threshold_size_for_queue", 1, 1024, false, "--pull-threshold-size %d"},
	{"pull_threshold_for_topic", 1, 6553500, true, ""},
	{"pull_threshold_size_for_topic", 1, 102400, true, ""},
	{"max_reconsume_times", 0, math.MaxInt32, true, "--max-reconsume %d"},
	{"suspend_current_queue_time_millis", 10, 30000, false, ""},
	{"consume_timeout", 1, 10080, false, ""},
	{"persist_consumer_offset_interval", 100, 3600000, false, ""},
	{"heartbeat_broker_interval", 1000, 100000, false, ""},
	{"rebalance_interval", 1000, 3600000, false, ""},
	{"await_termination_millis_when_shutdown", 0, 3600000, false, ""},
	{"event_buffer", 16, 1 << 20, false, ""},
}

// Each number of the file is taken at its bounds, and refused beyond them with its
// line, value and rule.
func TestBoundsOfTheFile(t *testing.T) {
	known := map[string]bool{}
	for _, b := range bounds {
		known[b.key] = true
		for _, v := range []int64{-2, -1, b.lo - 1, b.lo, b.hi, b.hi + 1, math.MinInt64, math.MaxInt64} {
			text := "# a comment\n[consumer]\n" + b.key + " = " + strconv.FormatInt(v, 10) + "\n"
			switch b.key { // the other one, so that only the bound is tried
			case "consume_thread_min":
				text += "consume_thread_max = 1000\n"
			case "consume_thread_max":
				text += "consume_thread_min = 1\n"
			}
			_, err := config.Parse("c.toml", text)
			if v >= b.lo && v <= b.hi || v == -1 && b.minusOne {
				if err != nil {
					t.Errorf("%s = %d: %v, want it taken", b.key, v, err)
				}
				continue
			}
			want := fmt.Sprintf("c.toml:3: consumer.%s = %d: ", b.key, v)
			rule := fmt.Sprintf("%d to %d", b.lo, b.hi)
			if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), rule) && !strings.Contains(err.Error(), "is too large") {
				t.Errorf("%s = %d: %v, want %q with %q", b.key, v, err, want, rule)
			}
		}
	}
	for i := range config.Settings {
		s := &config.Settings[i]
		if s.Table == "consumer" && s.Set(config.Default(), "", int64(1)) == nil && !known[s.Key] {
			t.Errorf("%s is a number that no row of the test bounds", s.Key)
		}
	}
}

// A flag beyond a bound is refused by its name, value and rule, and nobody has
// been connected to.
func TestBoundsOfFlags(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var connected atomic.Int32
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			connected.Add(1)
			c.Close()
		}
	}()
	t.Cleanup(func() { ln.Close(); <-served })
	for _, b := range bounds {
		if b.flag == "" {
			continue
		}
		for _, v := range []int64{-2, -1, b.lo - 1, b.lo, b.hi, b.hi + 1} {
			words := strings.Fields(fmt.Sprintf(b.flag, v))
			args := append([]string{"consume", "--namesrv", ln.Addr().String(), "-g", "g", "-t", "t"}, words...)
			if v >= b.lo && v <= b.hi || v == -1 && b.minusOne {
				f, cmd := consumeCommand(&env{})
				if err := cmd.ParseFlags(words); err != nil {
					t.Errorf("%v: %v", words, err)
				}
				f.group, f.topics = "g", []string{"t"}
				if _, err := f.options(&env{}, config.Default()); err != nil {
					t.Errorf("%v: %v, want it taken", words, err)
				}
				continue
			}
			if v > math.MaxInt32 {
				runs(t, args).want(t, statusUsage, "must be a whole number, at most 2147483647")
				continue
			}
			flag := words[len(words)-2]
			p := runs(t, args).want(t, statusUsage, fmt.Sprintf("%s %s: ", flag, words[len(words)-1]))
			if rule := fmt.Sprintf("%d to %d", b.lo, b.hi); !strings.Contains(p.err.String(), rule) {
				t.Errorf("%v: %q, want the rule %q", words, p.err, rule)
			}
		}
	}
	for what, args := range map[string][]string{
		"client id": {"--client-id", "a b"}, "group": {"-g", "a.b"}, "topic": {"-t", "a b"}, "retry topic": {"-t", "%RETRY%g"},
		"folder": {"--broadcast", "--client-id", "a/b"}, "expression": {"-t", "x:||"}, "from": {"--from", "1969-01-01T00:00:00Z"},
	} {
		t.Run(what, func(t *testing.T) {
			p := runs(t, append([]string{"consume", "--namesrv", ln.Addr().String(), "-g", "g", "-t", "t"}, args...))
			flag := strings.NewReplacer("-g", "--group", "-t", "--topic").Replace(args[len(args)-2])
			if strings.HasPrefix(args[len(args)-2], "--") {
				flag = args[len(args)-2]
			}
			p.want(t, statusUsage, flag+" ")
		})
	}
	if n := connected.Load(); n != 0 {
		t.Errorf("%d connections, want none", n)
	}
}

// What the environment says is refused by the variable's name.
func TestBoundsOfTheEnvironment(t *testing.T) {
	for name, tt := range map[string]struct{ value, want string }{
		"EYEQ_NAMESRV": {"localhost", `env EYEQ_NAMESRV: "localhost" must be HOST:PORT`},
		"NAMESRV_ADDR": {"a:1;b:0", `env NAMESRV_ADDR: "b:0" must have a port from 1 to 65535`},
		"EYEQ_CLUSTER": {"prod", `there is no cluster "prod" (env EYEQ_CLUSTER)`},
	} {
		t.Run(name, func(t *testing.T) {
			runs(t, []string{"consume", "-g", "g", "-t", "t"}, withEnv(name, tt.value)).want(t, statusUsage, tt.want)
		})
	}
}

// Who reads events gets the refusal as one, whoever gave the value.
func TestRefusedSettingIsAnEvent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.toml")
	if err := os.WriteFile(file, []byte("[consumer]\npull_batch_size = 2000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for what, tt := range map[string]struct {
		args                  []string
		property, value, rule string
	}{
		"flag": {[]string{"--pull-batch", "0"}, "pullBatchSize", "0", "must be 1 to 1024"},
		"file": {[]string{"--config", file}, "consumer.pull_batch_size", "2000", "must be 1 to 1024"},
	} {
		t.Run(what, func(t *testing.T) {
			p := runs(t, append([]string{"consume", "--namesrv", "127.0.0.1:1", "-g", "g", "-t", "t", "--headless", "--events"}, tt.args...))
			events := p.want(t, statusUsage, tt.rule).objects(t)["event"]
			if len(events) != 1 {
				t.Fatalf("events %v, want one", events)
			}
			ev := events[0]
			if ev["event"] != "config_rejected" || ev["group"] != "g" || ev["property"] != tt.property || ev["value"] != tt.value || ev["rule"] != tt.rule {
				t.Errorf("event = %v", ev)
			}
		})
	}
}
