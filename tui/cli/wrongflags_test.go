package cli

import (
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// rightLines is a right use of each command, to which wrong flags are added.
var rightLines = map[string]string{
	"eyeq":                 "",
	"eyeq allocate":        "--queues 4 --members a,b",
	"eyeq broker list":     "",
	"eyeq broker show":     "broker-a",
	"eyeq completion":      "bash",
	"eyeq config check":    "",
	"eyeq config init":     "",
	"eyeq config show":     "",
	"eyeq consume":         "-g g -t orders --headless",
	"eyeq demo":            "--for 1ms",
	"eyeq group clone":     "g h -t orders --yes",
	"eyeq group create":    "g --yes",
	"eyeq group delete":    "g --yes",
	"eyeq group doctor":    "g",
	"eyeq group lag":       "g",
	"eyeq group list":      "",
	"eyeq group members":   "g",
	"eyeq group pause":     "g --yes",
	"eyeq group reset":     "g --to earliest --yes",
	"eyeq group resume":    "g --yes",
	"eyeq group show":      "g",
	"eyeq message consume": "7F0000010DFC1EB2C6F6000000000001 -t orders -g g --yes",
	"eyeq message find":    "-t orders --key k",
	"eyeq message get":     "7F00000100002A9F0000000000000E44",
	"eyeq message resend":  "-t %DLQ%g --all --yes",
	"eyeq message track":   "7F0000010DFC1EB2C6F6000000000001 -t orders",
	"eyeq sandbox":         "--namesrv-port 0 --broker-port 0",
	"eyeq send":            "orders body",
	"eyeq tail":            "orders --until now",
	"eyeq topic create":    "t --yes",
	"eyeq topic delete":    "t --yes",
	"eyeq topic list":      "",
	"eyeq topic show":      "orders",
	"eyeq version":         "",
}

// wrongValues are what no flag of a type may be given.
var wrongValues = map[string][]string{
	"int":         {"", "x", "1.5", "NaN", "1e3", "99999999999999999999", "-2"},
	"int32":       {"", "x", "1.5", "NaN", "1e3", "99999999999", "-2"},
	"int64":       {"", "x", "1.5", "NaN", "1e3", "99999999999999999999", "-2"},
	"bool":        {"", "x", "2"},
	"duration":    {"", "x", "5", "NaN", "-5s", "99999999999h"},
	"string":      {""},
	"stringArray": {""},
	"NAME":        {"", "x", "\x1b[31m"},
}

// freeFlags of all commands may be empty, which is as if they were not given: scripts
// hand on variables.
var freeFlags = []string{"cluster", "config", "log-file", "namesrv", "output", "tz", "filter", "reason"}

// knocked is an address that counts who connects, and hangs up.
func knocked(t *testing.T) (addr string, count *atomic.Int32) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	count = new(atomic.Int32)
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			count.Add(1)
			c.Close()
		}
	}()
	return ln.Addr().String(), count
}

// Wrong flags and arguments end a command with status 2 before it connects to anything,
// with a line that says what is wrong, and one that says where to read on.
func TestWrongFlags(t *testing.T) {
	t.Parallel()
	commands := map[string]*cobra.Command{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		commands[c.CommandPath()] = c
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(&env{stdin: strings.NewReader(""), getenv: func(string) string { return "" }}))
	for _, path := range runnable(t) {
		line, known := rightLines[path]
		if !known {
			t.Errorf("%s is a command without a line in rightLines", path)
		}
		t.Run(path, func(t *testing.T) {
			addr, count := knocked(t)
			try := func(extra ...string) {
				t.Helper()
				p := runs(t, slices.Concat(strings.Fields(path)[1:], strings.Fields(line), []string{"--namesrv", addr, "--timeout", "1s"}, extra))
				text := p.err.String()
				switch lines := strings.Count(text, "\n"); {
				case p.status != statusUsage || count.Load() != 0 || lines < 1 || lines > 2 || p.out.String() != "":
					t.Errorf("%q: status %d after %d connections, stderr %q, stdout %.100q", extra, p.status, count.Load(), text, p.out)
				case harmful.MatchString(text):
					t.Errorf("%q: %q", extra, text)
				}
				for _, flag := range extra {
					name, _, _ := strings.Cut(flag, "=")
					if strings.HasPrefix(flag, "--") && !strings.Contains(text, name) && !strings.Contains(text, "-n -2") {
						t.Errorf("%q is not named by %q", extra, text)
					}
				}
				count.Store(0)
			}
			try("--no-such-flag")
			try("a", "b", "c", "d")
			each := func(f *pflag.Flag) {
				values, known := wrongValues[f.Value.Type()]
				if !known {
					t.Errorf("--%s has a type without a line in wrongValues: %s", f.Name, f.Value.Type())
				}
				if f.Name == "help" || f.Name == "version" || slices.Contains(freeFlags, f.Name) {
					return
				}
				for _, v := range values {
					try("--" + f.Name + "=" + v)
				}
			}
			commands[path].LocalFlags().VisitAll(each)
			if path == "eyeq group lag" {
				commands[path].InheritedFlags().VisitAll(each)
			}
		})
	}
}

// What contradicts itself, or cannot be, is refused before anything is asked.
func TestContradictions(t *testing.T) {
	t.Parallel()
	addr, count := knocked(t)
	for line, says := range map[string]string{
		"allocate -g g --queues 3 --members a,b":         "-g g asks for its members, and --members names some",
		"allocate --queues 3 --members a,a":              "is named twice",
		"group list --names --sort lag":                  "leave out --state, --min-lag and --sort",
		"group list --min-lag -5":                        "--min-lag -5: must not be negative",
		"group lag g --sort x":                           `--sort "x": must be queue, lag or age`,
		"group clone g g -t orders --yes":                "source and target are the same group",
		"group create g --retry-max -2 --yes":            "--retry-max -2: must be",
		"group create g --retry-queues 5000 --yes":       "--retry-queues 5000: must be",
		"group reset g --to earliest --undo f":           "give one of them",
		"group reset g --undo /no/such --yes":            "--undo /no/such: no such file",
		"group reset g --to file:/no/such --yes":         "--to file:/no/such: no such file",
		"group reset g --to file: --yes":                 "needs the path of a file",
		"message find -t orders --key k --unique-key u":  "--key and --unique-key: give one of them",
		"message find --key k":                           "which topic? -t TOPIC",
		"message find -t orders --from -1m --until -5m":  "--until -5m lies before --from -1m",
		"message get 00":                                 "not 32 or 56",
		"message get x --queue b:1 -t orders --offset 1": "give an id, or",
		"message get -t orders --queue b:1 --offset -1":  "--offset -1: must not be negative",
		"message track 7F0000010DFC1EB2C6F6000000000001": "is no offset id",
		"message resend x --all -t %DLQ%g --yes":         "which dead letters?",
		"tail orders --follow --until now":               "--until ends and --follow does not",
		"tail orders --from -5m --until -1h":             "lies before",
		"tail orders --charset x":                        `--charset: "x" is no charset`,
		"topic create orders --perm X":                   "must be R, W or RW",
	} {
		p := runs(t, append(strings.Fields(line), "--namesrv", addr)).want(t, statusUsage, says)
		if n := strings.Count(p.err.String(), "\n"); n > 2 || count.Load() > 0 {
			t.Errorf("%s: %d lines after %d connections: %q", line, n, count.Load(), p.err)
		}
	}
}
