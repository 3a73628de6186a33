package cli

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"eyeq/remoting/protocol"
	"eyeq/tui/cli/config"
	"eyeq/tui/page"
)

// TestExampleHasEveryKeyWithItsDefault holds config.example.toml to the code.
func TestExampleHasEveryKeyWithItsDefault(t *testing.T) {
	text, err := os.ReadFile("../../config.example.toml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(text), exampleConfig()); diff != "" {
		t.Errorf("config.example.toml is not what the settings say; go test ./tui/cli -args -update rewrites it (-file +code):\n%s", diff)
	}
	c, err := config.Parse("config.example.toml", string(text))
	if err != nil {
		t.Fatal(err)
	}
	want := config.Default()
	want.Clusters["dev"] = &config.Cluster{Namesrv: []string{"127.0.0.1:9876"}}
	for i := range config.Settings {
		s := &config.Settings[i]
		key := strings.TrimPrefix(s.Table+"."+s.Key, ".")
		if s.Table == "clusters" {
			key = "clusters.dev." + s.Key
		}
		if _, ok := c.Origins[key]; !ok {
			t.Errorf("%s is not in the example", key)
		}
		if got, want := s.Show(c, "dev"), s.Show(want, "dev"); got != want {
			t.Errorf("%s = %s in the example, the default is %s", key, got, want)
		}
	}
	if got, want := sortedKeys(c.Keys), page.BindingNames(); !slices.Equal(got, want) {
		t.Errorf("[keys] has %v, want %v", got, want)
	}
	lines := strings.Split(string(text), "\n")
	for key, n := range config.KeyLines(string(text)) {
		if line := lines[n-1]; !strings.HasPrefix(line, "[") && !strings.HasPrefix(lines[n-2], "# ") {
			t.Errorf("line %d has no explanation above it: %s (%q)", n, line, key)
		}
	}
}

func TestConfigReadsEveryKind(t *testing.T) {
	c, err := config.Parse("c.toml", `
default_cluster = "prod"

[clusters.dev]
namesrv = ["127.0.0.1:9876"]

[clusters.prod]
namesrv    = [
	"ns1.example:9876",
	"ns2.example:9876",
]
production = true              # starts read-only
color      = "red"
tls        = { enable = true, ca = "ca.pem", server_name = "mq" }
auth       = { access_key = "ops", secret_key_env = "PROD_SECRET" }

[consumer]
pull_threshold_for_queue = 500
consume_from_where = "CONSUME_FROM_TIMESTAMP"
consume_timestamp = "2026-11-29T14:32:00+08:00"
allocate_message_queue_strategy = "circle"
message_model = "BROADCASTING"
consume_timeout = 30
clean_expired = true
max_reconsume_times = 3

[screen]
refresh = "1s"
glyphs  = "ascii"

[keys]
reset = "X"
`)
	if err != nil {
		t.Fatal(err)
	}
	prod := c.Clusters["prod"]
	if prod == nil || prod.EffectiveMode() != config.ModeReadOnly || prod.Color != "red" || len(prod.Namesrv) != 2 ||
		prod.TLS != (config.TLS{Enable: true, CA: "ca.pem", ServerName: "mq"}) || prod.Auth != (config.Auth{AccessKey: "ops", SecretKeyEnv: "PROD_SECRET"}) {
		t.Errorf("prod = %+v", prod)
	}
	if m := c.Clusters["dev"].EffectiveMode(); m != config.ModeConfirm {
		t.Errorf("mode of dev = %v, want confirm", m)
	}
	o := c.Consumer
	if o.PullThresholdForQueue != 500 || o.ConsumeFromWhere != protocol.ConsumeFromTimestamp || !o.ConsumeTimestamp.Equal(time.Date(2026, 11, 29, 6, 32, 0, 0, time.UTC)) ||
		c.Strategy.Name != "AVG_BY_CIRCLE" || o.MessageModel != protocol.Broadcasting || o.ConsumeTimeout != 30*time.Minute || !o.CleanExpired || o.MaxReconsumeTimes != 3 {
		t.Errorf("consumer = %+v", o)
	}
	if c.Screen != (config.Screen{Refresh: time.Second, Glyphs: "ascii"}) || c.Keys["reset"] != "X" || c.DefaultCluster != "prod" {
		t.Errorf("screen, keys, default = %+v %v %q", c.Screen, c.Keys, c.DefaultCluster)
	}
	for key, want := range map[string]config.Origin{"clusters.prod.color": "file:13", "clusters.prod.tls.ca": "file:14", "consumer.clean_expired": "file:24", "keys.reset": "file:32"} {
		if got := c.Origins[key]; got != want {
			t.Errorf("origin of %s = %q, want %q", key, got, want)
		}
	}
}

func TestConfigFirstErrorHasItsLine(t *testing.T) {
	tests := map[string]struct {
		text, want string
	}{
		"syntax":               {"a = 1\nb = = 2\n", "c.toml:2: "},
		"unknown key":          {"[consumer]\npull_batch_size = 5\npul = 3\n", "c.toml:3: consumer.pul: there is no such key"},
		"unknown table":        {"[consumers]\n", "c.toml:1: consumers: there is no such key"},
		"unknown cluster key":  {"[clusters.a]\nnamesrv = [\"a:1\"]\n\nnamesvr = 3\n", "c.toml:4: clusters.a.namesvr: there is no such key"},
		"unknown inline key":   {"[clusters.a]\nnamesrv = [\"a:1\"]\ntls = { enabled = true }\n", "c.toml:3: clusters.a.tls.enabled: there is no such key"},
		"unknown top key":      {"x = 1\n", "c.toml:1: x: there is no such key"},
		"unknown binding":      {"[keys]\nresett = \"R\"\n", "c.toml:2: keys.resett = \"R\": there is no such key"},
		"clash of bindings":    {"[keys]\nreset = \"p\"\n", `c.toml:2: keys.reset = "p": "p" means both`},
		"clash of two lines":   {"[keys]\npause = \"w\"\nreset = \"w\"\n", `c.toml:3: keys.reset = "w": "w" means both`},
		"several clashes":      {"[keys]\nfilter = \"F\"\nreset = \"p\"\nsort = \"P\"\n", `c.toml:3: keys.reset = "p": `},
		"key nobody sends":     {"[keys]\nreset = \"ctrl-shift-r\"\n", `c.toml:2: keys.reset = "ctrl-shift-r": "ctrl-shift-r" is a key that no terminal sends`},
		"shifted letter":       {"[keys]\nreset = \"R shift-r\"\n", `"shift-r" is a key that no terminal sends`},
		"tab by another name":  {"[keys]\nreset = \"ctrl-i\"\n", `"ctrl-i" is a key that no terminal sends`},
		"cluster no table":     {"[clusters]\na = 1\n", "c.toml:2: clusters.a: must be a table: [clusters.NAME]"},
		"tls no table":         {"[clusters.a]\nnamesrv = [\"a:1\"]\ntls = true\n", "c.toml:3: clusters.a.tls: must be a table"},
		"auth no table":        {"[clusters.a]\nnamesrv = [\"a:1\"]\nauth = []\n", "c.toml:3: clusters.a.auth: must be a table"},
		"cluster without name": {"[clusters.\"\"]\nnamesrv = [\"a:1\"]\n", "c.toml:1: clusters.: needs a name"},
		"table no table":       {"consumer = 1\n", "c.toml:1: consumer: must be a table"},
		"table for a value":    {"[consumer.pull_batch_size]\nx = 1\n", "c.toml:1: consumer.pull_batch_size: must be a value, not a table"},
		"type":                 {"[consumer]\npull_batch_size = \"5\"\n", `c.toml:2: consumer.pull_batch_size = "5": must be a whole number`},
		"type of bool":         {"[consumer]\norderly = 1\n", "c.toml:2: consumer.orderly = 1: must be true or false"},
		"type of list":         {"[clusters.a]\nnamesrv = \"a:1\"\n", `c.toml:2: clusters.a.namesrv = "a:1": must be a list`},
		"address":              {"[clusters.a]\nnamesrv = [\"a\"]\n", `c.toml:2: clusters.a.namesrv = ["a"]: "a" must be HOST:PORT`},
		"bound":                {"\n[consumer]\npull_batch_size = 2000\n", "c.toml:3: consumer.pull_batch_size = 2000: must be 1 to 1024"},
		"bound of a duration":  {"[consumer]\nheartbeat_broker_interval = 5\n", "c.toml:2: consumer.heartbeat_broker_interval = 5: must be 1000 to 100000"},
		"too large":            {"[consumer]\npersist_consumer_offset_interval = 9223372036854775807\n", "is too large"},
		"too large for 32 bit": {"[consumer]\nmax_reconsume_times = 4294967296\n", "is too large"},
		"mode":                 {"[clusters.a]\nnamesrv = [\"a:1\"]\nmode = \"rw\"\n", `c.toml:3: clusters.a.mode = "rw": must be "", "read-only", "confirm" or "open"`},
		"color":                {"[clusters.a]\nnamesrv = [\"a:1\"]\ncolor = \"pink\"\n", `c.toml:3: clusters.a.color = "pink": must be`},
		"no namesrv":           {"\n[clusters.a]\nproduction = true\n", "c.toml:2: clusters.a: needs namesrv"},
		"default cluster":      {"default_cluster = \"b\"\n", `c.toml:1: default_cluster = "b": there is no [clusters.b]`},
		"two secrets":          {"[clusters.a]\nnamesrv = [\"a:1\"]\nauth = { access_key = \"k\", secret_key_env = \"A\", secret_key_file = \"f\" }\n", "c.toml:3: clusters.a.auth: give one of"},
		"no secret":            {"[clusters.a]\nnamesrv = [\"a:1\"]\n[clusters.a.auth]\naccess_key = \"k\"\n", "c.toml:3: clusters.a.auth: needs one of"},
		"address no table":     {"[clusters.a]\nnamesrv = [\"a:1\"]\naddress_map = \"b:1\"\n", `c.toml:3: clusters.a.address_map = "b:1": must be a table such as { "10.0.0.5:10911" = `},
		"address no list":      {"[[clusters.a.address_map]]\n", "c.toml:1: clusters.a.address_map"},
		"address unquoted":     {"[clusters.a]\nnamesrv = [\"a:1\"]\n[clusters.a.address_map]\n10.0.0.5 = \"b\"\n", `c.toml:4: clusters.a.address_map.10.0.0.5: addresses must be in quotes: "10.0.0.5:10911" = `},
		"address bare":         {"[clusters.a.address_map]\n10.0.0.5:10911 = \"b:1\"\n", `addresses must be in quotes: "10.0.0.5:10911" = `},
		"address bare inline":  {"[clusters.a]\naddress_map = { 10.0.0.5:10911 = \"b:1\" }\n", `addresses must be in quotes: "10.0.0.5:10911" = `},
		"address no text":      {"[clusters.a.address_map]\n\"b:1\" = 10911\n", `c.toml:2: clusters.a.address_map."b:1" = 10911: must be a text, the HOST:PORT to dial instead`},
		"address no port":      {"[clusters.a.address_map]\n\"b:\" = \"c:1\"\n", `c.toml:2: clusters.a.address_map."b:" = "c:1": "b:" must have a port from 1 to 65535`},
		"address to no port":   {"[clusters.a.address_map]\n\"b:1\" = \"c:99999\"\n", `"c:99999" must have a port from 1 to 65535`},
		"address empty":        {"[clusters.a.address_map]\n\"b:1\" = \"\"\n", `"" must be HOST:PORT, or HOST for all its ports`},
		"host to an address":   {"[clusters.a.address_map]\n\"b\" = \"c:1\"\n", "b is all ports of a host, which stay what they are: give c:1 without a port, or map b:PORT"},
		"address twice":        {"[clusters.a.address_map]\n\"[::1]:1\" = \"b:1\"\n\"[0::1]:1\" = \"c:1\"\n", `c.toml:3: clusters.a.address_map."[0::1]:1" = "c:1": this address is mapped twice`},
		"strategy":             {"[consumer]\nallocate_message_queue_strategy = \"machine\"\n", `c.toml:2: consumer.allocate_message_queue_strategy = "machine": allocation strategy "machine": must be avg,`},
		"inner strategy":       {"[consumer]\nallocate_message_queue_strategy = \"machine-room-nearby-x\"\n", "behind machine-room-nearby- must stand"},
		"queue list":           {"[consumer]\nmessage_queue_list = [\"broker-a\"]\n", `c.toml:2: consumer.message_queue_list = ["broker-a"]: "broker-a": must be [TOPIC=]BROKER:ID`},
		"queue list no list":   {"[consumer]\nmessage_queue_list = \"broker-a:0\"\n", `must be a list such as ["broker-a:0-3"]`},
		"queue id":             {"[consumer]\nmessage_queue_list = [\"broker-a:0-65536\"]\n", "an id is at most 65535"},
		"machine room":         {"[consumer]\nconsumeridcs = [\"room1@broker-a\"]\n", `c.toml:2: consumer.consumeridcs = ["room1@broker-a"]: "room1@broker-a": must be a machine room`},
		"virtual nodes":        {"[consumer]\nvirtual_node_cnt = 0\n", "c.toml:2: consumer.virtual_node_cnt = 0: must be 1 to 1000"},
		"refresh":              {"[screen]\nrefresh = \"1h\"\n", `c.toml:2: screen.refresh = "1h": must be 100ms to 10s`},
		"timestamp":            {"[consumer]\nconsume_timestamp = \"now\"\n", `c.toml:2: consumer.consume_timestamp = "now": must be such as`},
		"timestamp too early":  {"[consumer]\nconsume_timestamp = \"1969-12-31T00:00:00Z\"\n", `c.toml:2: consumer.consume_timestamp = "1969-12-31T00:00:00Z": must not lie before 1970`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := config.Parse("c.toml", tt.text)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want one with %q", err, tt.want)
			}
			if _, ok := errors.AsType[*config.Error](err); !ok {
				t.Errorf("error is a %T", err)
			}
		})
	}
}

// TestBoundsNameKeys holds that each bound of
// engine.Options names a key that there is.
func TestBoundsNameKeys(t *testing.T) {
	for _, s := range config.Settings {
		if s.Table != "consumer" {
			continue
		}
		c := config.Default()
		if err := s.Set(c, "", int64(-2)); err != nil {
			continue // no number
		}
		err := c.CheckWhole("c.toml", config.KeyLines("[consumer]\n"+s.Key+" = -2\n"))
		ce, ok := errors.AsType[*config.Error](err)
		if !ok || ce.Line != 2 || ce.Key != "consumer."+s.Key {
			t.Errorf("%s = -2: error = %v, want it to name the key and line 2", s.Key, err)
		}
	}
}

func TestConfigInit(t *testing.T) {
	dir := t.TempDir()
	at := withEnv("XDG_CONFIG_HOME", dir)
	path := filepath.Join(dir, "eyeq", "config.toml")
	if p := runs(t, []string{"config", "init"}, at).want(t, statusDone, ""); p.out.String() != path+"\n" {
		t.Errorf("stdout = %q, want the path", p.out)
	}
	if err := os.WriteFile(path, []byte("default_cluster = \"\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	runs(t, []string{"config", "init"}, at).want(t, statusRefused, "--yes overwrites it")
	runs(t, []string{"config", "init", "--yes"}, at).want(t, statusDone, "")
	if p := runs(t, []string{"config", "check"}, at).want(t, statusDone, ""); p.out.String() != "ok: "+path+"\n" {
		t.Errorf("check = %q", p.out)
	}
}

// TestConfigInitLeavesDefaultsOpen holds that the file of `config init` is the example
// with its defaults commented out, so that those of a later version arrive.
func TestConfigInitLeavesDefaultsOpen(t *testing.T) {
	c, err := config.Parse("c.toml", initialConfig())
	if err != nil {
		t.Fatal(err)
	}
	got := sortedKeys(c.Origins)
	want := []string{"clusters.dev.address_map", "clusters.dev.color", "clusters.dev.mode", "clusters.dev.namesrv", "clusters.dev.production", "default_cluster"}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("active keys (-got +want):\n%s", diff)
	}
	var open []string
	for line := range strings.Lines(initialConfig()) {
		if rest, ok := strings.CutPrefix(line, "#"); ok && !strings.HasPrefix(rest, " ") {
			line = rest
		}
		open = append(open, line)
	}
	_, all, _ := strings.Cut(exampleConfig(), "\n\n")
	_, text, _ := strings.Cut(strings.Join(open, ""), "\n\n")
	if diff := cmp.Diff(text, all); diff != "" {
		t.Errorf("uncommented it is not the example (-got +want):\n%s", diff)
	}
}

func TestKeysThatTerminalsSend(t *testing.T) {
	for _, keys := range []string{"R", "ctrl-r", "ctrl+r", "f5 f12", "shift-tab", "alt-x", "alt-enter", "space", "pgdown", "$", "é"} {
		if err := config.CheckSent(keys); err != nil {
			t.Errorf("%q: %v", keys, err)
		}
	}
	for _, b := range page.Bindings() {
		if err := config.CheckSent(config.DocKeys(b.Keys)); err != nil {
			t.Errorf("the default of %s: %v", b.Name, err)
		}
	}
}

// TestModeSaysWhatDecidedIt holds that a derived mode names the key that it is derived from.
func TestModeSaysWhatDecidedIt(t *testing.T) {
	tests := map[string]struct{ text, flag, from, refusal string }{
		"production":             {"production = true\n", "", "because production = true (file:3)", "a is read-only (because production = true (file:3))"},
		"production, empty mode": {"mode = \"\"\nproduction = true\n", "", "because production = true (file:4)", "a is read-only (because"},
		"mode":                   {"production = true\nmode = \"read-only\"\n", "", "file:4", "a is read-only (file:4)"},
		"empty mode":             {"mode = \"\"\n", "", "default", ""},
		"flag":                   {"production = true\n", "--read-only", "flag --read-only", "a is read-only (flag --read-only)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c.toml")
			if err := os.WriteFile(path, []byte("[clusters.a]\nnamesrv = [\"127.0.0.1:1\"]\n"+tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			args := []string{"--config", path}
			if tt.flag != "" {
				args = append(args, tt.flag)
			}
			p := runs(t, slices.Concat([]string{"config", "show"}, args)).want(t, statusDone, "")
			if !slices.ContainsFunc(p.lines(), func(l string) bool { return strings.HasPrefix(l, "mode = ") && strings.HasSuffix(l, "# "+tt.from) }) {
				t.Errorf("no mode from %q in:\n%s", tt.from, p.out)
			}
			if tt.refusal != "" {
				runs(t, slices.Concat([]string{"send", "t", "x"}, args)).want(t, statusRefused, tt.refusal)
			}
		})
	}
}

// TestConfigShowJSONIsTyped holds that values are JSON's own types.
func TestConfigShowJSONIsTyped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.toml")
	if err := os.WriteFile(path, []byte("[clusters.a]\nnamesrv = [\"a:1\"]\ntls = { enable = false, ca = \"\\u0001 \\\"x\\\"\" }\n[consumer]\norderly = true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := runs(t, []string{"config", "show", "--config", path, "-o", "json"}).want(t, statusDone, "")
	var rows []struct {
		Key   string
		Value any
	}
	if err := json.Unmarshal([]byte(p.out.String()), &rows); err != nil {
		t.Fatal(err)
	}
	got := map[string]any{}
	for _, r := range rows {
		got[r.Key] = r.Value
	}
	for key, want := range map[string]any{
		"cluster": "a", "namesrv": []any{"a:1"}, "clusters.a.namesrv": []any{"a:1"}, "clusters.a.tls.ca": "\x01 \"x\"",
		"consumer.orderly": true, "consumer.pull_batch_size": 32.0, "plain": false, "screen.refresh": "250ms",
	} {
		if diff := cmp.Diff(got[key], want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", key, diff)
		}
	}
}

func TestConfigCheck(t *testing.T) {
	if p := runs(t, []string{"config", "check"}).want(t, statusDone, ""); !strings.Contains(p.out.String(), "does not exist, the defaults hold") {
		t.Errorf("check without a file = %q", p.out)
	}
	path := filepath.Join(t.TempDir(), "c.toml")
	if err := os.WriteFile(path, []byte("\nx = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	runs(t, []string{"config", "check", "--config", path}).want(t, statusUsage, path+":2: x: there is no such key")
	runs(t, []string{"config", "check", "--config", path + "x"}).want(t, statusUsage, "cannot be read")
	if err := os.WriteFile(path, []byte(strings.Repeat("k", 500_000)+" = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := runs(t, []string{"config", "check", "--config", path}).want(t, statusUsage, ": there is no such key")
	if n := len(p.err.String()); n > 10_000 {
		t.Errorf("an error of %d bytes", n)
	}
	if _, err := os.Stat("/dev/zero"); err == nil {
		runs(t, []string{"config", "check", "--config", "/dev/zero"}).want(t, statusUsage, "/dev/zero: cannot be read: is larger than 1048576 bytes, so it is no configuration")
	}
}

// A configuration may come by a pipe, as a shell's <(…) gives it; one that nobody writes
// to, or ends, is not waited for without end.
func TestConfigByPipe(t *testing.T) {
	const text = "[clusters.piped]\nnamesrv = [\"a:1\"]\n"
	tests := map[string]struct {
		opened bool // for writing, until the test is over
		text   string
		says   string
	}{
		"nobody":       {false, "", ": cannot be read: nothing was written to this pipe within 2s"},
		"without end":  {true, text, ": cannot be read: whoever writes it has not come to an end within 2s"},
		"without text": {true, "", ": cannot be read: nothing was written to this pipe within 2s"},
		"whole":        {false, text, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "c.toml")
			if err := makePipe(path); errors.Is(err, errors.ErrUnsupported) {
				t.Skip("this system has no pipes with names")
			} else if err != nil {
				t.Fatal(err)
			}
			if tt.opened {
				w, err := os.OpenFile(path, os.O_RDWR, 0) // waits for no reader
				must(t, err)
				t.Cleanup(func() { w.Close() })
				_, err = w.WriteString(tt.text)
				must(t, err)
			}
			if tt.says != "" {
				runs(t, []string{"config", "show", "--config", path, "--timeout", "2s"}).want(t, statusUsage, tt.says)
				return
			}
			written := make(chan error, 1)
			go func() { written <- os.WriteFile(path, []byte(tt.text), 0) }() // waits for the reader
			p := runs(t, []string{"config", "show", "--config", path, "--timeout", "1h"}).want(t, statusDone, "")
			if err := <-written; err != nil || !strings.Contains(p.out.String(), "clusters.piped") {
				t.Errorf("%v, stdout = %q", err, p.out)
			}
		})
	}
}

func TestConfigShowSaysWhereValuesComeFrom(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.toml")
	if err := os.WriteFile(path, []byte("[clusters.a]\nnamesrv = [\"a:1\"]\n[consumer]\npull_batch_size = 16\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"config", "show", "--config", path, "--tz", "UTC"}
	p := runs(t, args, withEnv("EYEQ_ACCESS_KEY", "me", "EYEQ_SECRET_KEY", "hush", "NO_COLOR", "1")).want(t, statusDone, "")
	if strings.Contains(p.out.String(), "hush") {
		t.Error("the secret key is shown")
	}
	for _, want := range []struct{ key, from string }{
		{`cluster = "a"`, "the only cluster in the file"}, {`namesrv = ["a:1"]`, "file:2"}, {`secret_key = "********"`, "env EYEQ_SECRET_KEY"},
		{`tz = "UTC"`, "flag --tz"}, {"no_color = true", "env NO_COLOR"}, {"consumer.pull_batch_size = 16", "file:4"},
		{"consumer.pull_threshold_for_queue = 1000", "default"}, {"mode = \"confirm\"", "default"}, {"plain = false", "default"},
	} {
		if !slices.ContainsFunc(p.lines(), func(l string) bool { return strings.HasPrefix(l, want.key+" ") && strings.HasSuffix(l, "# "+want.from) }) {
			t.Errorf("no line %s from %s in:\n%s", want.key, want.from, p.out)
		}
	}
	if p := runs(t, append(args, "-o", "json")).want(t, statusDone, ""); !strings.HasPrefix(p.out.String(), `[{"key":"file","value":`) {
		t.Errorf("json = %.80s", p.out)
	}
}

func TestTargetOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.toml")
	text := "default_cluster = \"a\"\n[clusters.a]\nnamesrv = [\"a:1\"]\n[clusters.b]\nnamesrv = [\"b:1\"]\nproduction = true\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		flags commonFlags
		env   []string
		name  string
		addrs string
		mode  config.Mode
	}{
		"file":                            {name: "a", addrs: "a:1", mode: config.ModeConfirm},
		"NAMESRV_ADDR before file":        {env: []string{"NAMESRV_ADDR", "n:1;m:2"}, name: "n:1;m:2", addrs: "n:1;m:2", mode: config.ModeConfirm},
		"NAMESRV_ADDR as clients take it": {env: []string{"NAMESRV_ADDR", "http://n:1;HTTP://[::1]:2/"}, name: "n:1;[::1]:2", addrs: "n:1;[::1]:2", mode: config.ModeConfirm},
		"EYEQ_CLUSTER before it":          {env: []string{"NAMESRV_ADDR", "n:1", "EYEQ_CLUSTER", "b"}, name: "b", addrs: "b:1", mode: config.ModeReadOnly},
		"EYEQ_NAMESRV before it":          {env: []string{"NAMESRV_ADDR", "n:1", "EYEQ_NAMESRV", "e:1"}, name: "e:1", addrs: "e:1", mode: config.ModeConfirm},
		"flag before environment":         {flags: commonFlags{cluster: "b"}, env: []string{"EYEQ_NAMESRV", "e:1"}, name: "b", addrs: "b:1", mode: config.ModeReadOnly},
		"namesrv flag":                    {flags: commonFlags{namesrv: "f:1 g:2"}, env: []string{"EYEQ_CLUSTER", "b"}, name: "f:1;g:2", addrs: "f:1;g:2", mode: config.ModeConfirm},
		"addresses for a cluster":         {flags: commonFlags{namesrv: "f:1", cluster: "b"}, name: "b", addrs: "f:1", mode: config.ModeReadOnly},
		"read-only flag":                  {flags: commonFlags{readOnly: true}, name: "a", addrs: "a:1", mode: config.ModeReadOnly},
		"cluster and its variables":       {env: []string{"EYEQ_CLUSTER", "b", "EYEQ_NAMESRV", "e:1"}, name: "b", addrs: "e:1", mode: config.ModeReadOnly},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e := &env{getenv: func(string) string { return "" }, flags: tt.flags}
			withEnv(tt.env...)(e)
			e.flags.config = path
			c, err := e.loadConfig()
			if err != nil {
				t.Fatal(err)
			}
			got, err := e.target(c)
			if err != nil {
				t.Fatal(err)
			}
			if got.name != tt.name || strings.Join(got.namesrv, ";") != tt.addrs || got.mode != tt.mode {
				t.Errorf("target = %s, %v, %v; want %s, %s, %v", got.name, got.namesrv, got.mode, tt.name, tt.addrs, tt.mode)
			}
		})
	}
}

// A sub-table may stand before its cluster's own header, in TOML.
func TestConfigSubTableBeforeItsCluster(t *testing.T) {
	c, err := config.Parse("config.toml", "[clusters.dev.tls]\nenable = true\n[clusters.dev]\nnamesrv = [\"a:9876\"]\n")
	if err != nil {
		t.Fatal(err)
	}
	dev := c.Clusters["dev"]
	if dev == nil || !dev.TLS.Enable || len(dev.Namesrv) != 1 {
		t.Errorf("clusters.dev = %+v, want tls enabled and one name server", dev)
	}
}

func TestClusterNamesAreCompleted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.toml")
	must(t, os.WriteFile(path, []byte("[clusters.prod]\nnamesrv = [\"a:1\"]\nproduction = true\n[clusters.dev]\nnamesrv = [\"b:1\", \"c:1\"]\n"), 0o600))
	p := runs(t, []string{"__complete", "--config", path, "tail", "--cluster", ""}).want(t, statusDone, "")
	if got := p.out.String(); !strings.HasPrefix(got, "dev\tb:1;c:1 confirm\nprod\ta:1 read-only\n:4\n") {
		t.Errorf("completed with %q", got)
	}
}
