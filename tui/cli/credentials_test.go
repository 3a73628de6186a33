package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
	"eyeq/tui/cli/config"
)

const theSecret = "s3cr3t/of+the=ops"

func TestSecretIsNeverShown(t *testing.T) {
	s := config.NewSecret(theSecret)
	type holder struct {
		hidden config.Secret
		Shown  config.Secret
		Ptr    *config.Secret
	}
	h := holder{s, s, &s}
	var texts []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		for _, v := range []any{s, &s, h, &h, []config.Secret{s}, map[string]config.Secret{"k": s}, fmt.Errorf("holds %v", s)} {
			texts = append(texts, fmt.Sprintf(verb, v))
		}
	}
	out, err := json.Marshal(map[string]any{"s": s, "h": h, "m": map[secretKey]int{{}: 1}})
	if err == nil {
		texts = append(texts, string(out))
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("m", "s", s, "h", h, "e", fmt.Errorf("%v", s))
	slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "s", s, "h", h)
	texts = append(texts, log.String(), fmt.Sprint(&panicError{value: h}))
	for _, text := range texts {
		if strings.Contains(text, theSecret) || strings.Contains(strings.ToLower(text), fmt.Sprintf("%x", theSecret)) {
			t.Errorf("shown: %s", text)
		}
	}
	if !strings.Contains(texts[0], config.Hidden) {
		t.Errorf("%s shows nothing in its place", texts[0])
	}
}

// secretKey is a key of a map that JSON writes as text.
type secretKey struct{}

func (secretKey) MarshalText() ([]byte, error) { return config.NewSecret(theSecret).MarshalText() }

// clusterFile is a configuration of one cluster "prod" with these lines of its own.
func clusterFile(t *testing.T, namesrv string, lines ...string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "c.toml")
	text := "[clusters.prod]\nnamesrv = [\"" + namesrv + "\"]\n" + strings.Join(lines, "\n") + "\n"
	must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// accessSandbox serves a topic "orders" to the user ops with theSecret.
func accessSandbox(t *testing.T, line string) string {
	t.Helper()
	sb, ns := serveSandbox(t, sandboxtest.Line(line), sandboxtest.Topic("orders", 2), sandboxtest.With(func(o *sandbox.Options) {
		o.Users = map[string]string{"ops": theSecret}
	}))
	put(t, sb, "orders", 4)
	return ns
}

func TestSecretKeySources(t *testing.T) {
	t.Parallel()
	ns := accessSandbox(t, "5")
	file := func(mode os.FileMode, text string) string {
		path := filepath.Join(t.TempDir(), "key")
		must(t, os.WriteFile(path, []byte(text), mode))
		must(t, os.Chmod(path, mode))
		return path
	}
	auth := func(source, value string) string {
		return fmt.Sprintf("auth = { access_key = \"ops\", secret_key_%s = %s }", source, config.QuoteTOML(value))
	}
	command := func(line string) string { return auth("command", line) }
	tests := map[string]struct {
		line   string
		env    []string
		status int
		says   string
	}{
		"variable":             {auth("env", "PROD_SECRET"), []string{"PROD_SECRET", theSecret + "\n"}, statusDone, ""},
		"variable not set":     {auth("env", "PROD_SECRET"), nil, statusFailed, "the secret key of cluster prod: the environment variable PROD_SECRET (auth.secret_key_env) is not set"},
		"file":                 {auth("file", file(0o600, "  "+theSecret+"\r\n")), nil, statusDone, ""},
		"file of the group":    {auth("file", file(0o640, theSecret)), nil, statusDone, ""},
		"file of everybody":    {auth("file", file(0o644, theSecret)), nil, statusFailed, "can be read or written by everybody (mode 0644): chmod 600 it"},
		"empty file":           {auth("file", file(0o600, "\n")), nil, statusFailed, "(auth.secret_key_file) is empty"},
		"file of many lines":   {auth("file", file(0o600, theSecret+"\nmore")), nil, statusFailed, "holds more than one line"},
		"file that is endless": {auth("file", "/dev/zero"), nil, statusFailed, "is not a regular file"},
		"no file":              {auth("file", "/nowhere/key"), nil, statusFailed, "no such file"},
		"command":              {command("echo ' " + theSecret + " '; echo asking the vault >&2"), nil, statusDone, "secret_key_command: asking the vault"},
		"command that tells":   {command("echo '" + theSecret + "' | tee /dev/stderr"), nil, statusDone, "secret_key_command: ********"},
		"command that fails":   {command("echo '" + theSecret + "'; echo 'no vault, not even for " + theSecret + "' >&2; exit 3"), nil, statusFailed, "no vault, not even for ********"},
		"command's status":     {command("exit 3"), nil, statusFailed, "auth.secret_key_command failed: exit status 3"},
		"command without end":  {command("yes"), nil, statusFailed, "auth.secret_key_command prints too much"},
		"talk without end":     {command("yes >&2"), nil, statusFailed, "auth.secret_key_command prints too much"},
		"command of nothing":   {command("true"), nil, statusFailed, "what auth.secret_key_command prints is empty"},
		"endless command":      {command("head -c 100000 /dev/zero | tr '\\0' x"), nil, statusFailed, "is longer than 4096 bytes"},
		"the environment wins": {auth("file", "/nowhere/key"), []string{"EYEQ_SECRET_KEY", theSecret}, statusDone, ""},
		"both of it":           {"", []string{"EYEQ_ACCESS_KEY", "ops", "EYEQ_SECRET_KEY", theSecret}, statusDone, ""},
		"half of it":           {"", []string{"EYEQ_SECRET_KEY", theSecret}, statusUsage, "EYEQ_SECRET_KEY is set, but there is no access key"},
		"the other half":       {"", []string{"EYEQ_ACCESS_KEY", "ops"}, statusUsage, "EYEQ_ACCESS_KEY is set, but there is no secret key"},
		"nothing":              {"", nil, statusFailed, "access denied: the broker wants an access key; give EYEQ_ACCESS_KEY and EYEQ_SECRET_KEY"},
		"wrong key":            {auth("env", "S"), []string{"S", "something else"}, statusFailed, "access denied: the secret key does not match the access key"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := clusterFile(t, ns, tt.line)
			p := runs(t, []string{"tail", "orders", "--from", "earliest", "--until", "now", "--config", path, "--cluster", "prod"}, withEnv(tt.env...)).
				want(t, tt.status, tt.says)
			if tt.status == statusDone && len(p.lines()) != 4 {
				t.Errorf("read %q, want four messages", p.out)
			}
			if all := p.out.String() + p.err.String(); strings.Contains(all, theSecret) {
				t.Errorf("the secret is shown: %s", all)
			}
		})
	}
}

// A ctrl-c ends a command that waits for somebody.
func TestSecretKeyCommandEndsWithTheProgram(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(&signalError{os.Interrupt}) })
	e := &env{stdin: strings.NewReader(""), stderr: newBuffer()}
	ended := make(chan error, 1)
	go func() {
		_, err := e.secretFromCommand(ctx, "sleep 600")
		ended <- err
	}()
	select {
	case err := <-ended:
		if !isType[*signalError](err) {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(patience):
		t.Error("it waits for the command all the same")
	}
}

// TestNoSecretAnywhere greps all that a run leaves: its output, its log, its files,
// what the commands it runs are given.
func TestNoSecretAnywhere(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"4", "5"} {
		for _, key := range []string{theSecret, "wr0ng-" + theSecret} {
			t.Run(line+" "+key[:2], func(t *testing.T) { leaveTraces(t, accessSandbox(t, line), key) })
		}
	}
}

func leaveTraces(t *testing.T, ns, key string) {
	right := key == theSecret
	dir := t.TempDir()
	keyFile := filepath.Join(t.TempDir(), "key")
	must(t, os.WriteFile(keyFile, []byte(key), 0o600))
	path := clusterFile(t, ns, "auth = { access_key = \"ops\", secret_key_file = "+config.QuoteTOML(keyFile)+" }")
	environ := withEnv("XDG_STATE_HOME", dir, "EYEQ_SECRET_KEY", key, "HOME", dir)
	seen := filepath.Join(dir, "seen-by-command")
	for i, c := range []struct {
		args []string
		asks bool // a broker
	}{
		{[]string{"config", "show"}, false},
		{[]string{"config", "show", "-o", "json"}, false},
		{[]string{"config", "check"}, false},
		{[]string{"send", "orders", "x"}, true},
		{[]string{"tail", "orders", "--from", "earliest", "--until", "now", "-o", "json"}, true},
		{[]string{"consume", "-g", "g", "-t", "orders", "--headless", "--events", "--from", "first", "--max", "2", "-o", "json"}, true},
		{[]string{"consume", "-g", "g2", "-t", "orders", "--headless", "--from", "first", "--max", "1", "--listener", "exec", "--exec", "env >>" + seen}, true},
		{[]string{"group", "list"}, true},
		{[]string{"topic", "show", "orders"}, true},
		{[]string{"broker", "list"}, true},
	} {
		args := append(c.args, "--config", path, "--cluster", "prod", "--log-file", filepath.Join(dir, fmt.Sprintf("log-%d", i)))
		p := runs(t, args, environ)
		if right || !c.asks {
			p.want(t, statusDone, "")
		} else if p.want(t, statusFailed, "access denied: the secret key does not match the access key"); strings.Count(p.err.String(), "\n") != 1 {
			t.Errorf("%v says more than a line: %s", args, p.err)
		}
		if all := p.out.String() + p.err.String(); strings.Contains(all, key) {
			t.Errorf("%v shows the secret: %s", args, all)
		}
	}
	if _, err := os.Stat(seen); right && err != nil {
		t.Error(err)
	}
	files := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), key) {
			t.Errorf("%s holds the secret", path)
		}
		return err
	})
	if err != nil || files < 5 {
		t.Errorf("%d files looked at, %v", files, err)
	}
}

func TestConfigKeepsSecretsOut(t *testing.T) {
	for name, tt := range map[string]struct{ text, says string }{
		"inline":       {"auth = { access_key = \"ops\", secret_key = \"" + theSecret + "\" }", "a secret key does not belong in this file"},
		"own table":    {"[clusters.prod.auth]\nsecret_key = \"" + theSecret + "\"", "a secret key does not belong in this file"},
		"other words":  {"auth = { access_key = \"ops\", password = \"" + theSecret + "\" }", "there is no such key"},
		"for its name": {"auth = { access_key = \"ops\", secret_key_env = \"" + theSecret + "\" }", "must be the name of an environment variable"},
	} {
		t.Run(name, func(t *testing.T) {
			path := clusterFile(t, "a:1", tt.text)
			p := runs(t, []string{"config", "check", "--config", path}).want(t, statusUsage, tt.says)
			if strings.Contains(p.err.String()+p.out.String(), theSecret) {
				t.Errorf("shown: %s", p.err)
			}
		})
	}
}

func TestConfigCheckLooksAtFiles(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	must(t, os.WriteFile(key, []byte("x"), 0o604))
	must(t, os.Chmod(key, 0o604))
	for name, tt := range map[string]struct{ text, says string }{
		"secret": {"auth = { access_key = \"ops\", secret_key_file = " + config.QuoteTOML(key) + " }", ":3: clusters.prod.auth.secret_key_file: "},
		"ca":     {"tls = { enable = true, ca = \"ca.pem\" }", ":3: clusters.prod.tls.ca: open "},
		"no pem": {"tls = { enable = true, ca = \"c.toml\" }", "holds no certificate in PEM form"},
		"key":    {"tls = { enable = true, cert = \"c.toml\", key = " + config.QuoteTOML(key) + " }", "tls.key: " + key + " can be read or written by everybody"},
		"cert":   {"tls = { enable = true, cert = \"c.toml\", key = \"c.toml\" }", ":3: clusters.prod.tls.cert: tls.cert "},
		"unused": {"tls = { ca = \"ca.pem\" }", "has settings but not enable = true"},
		"off":    {"tls = { enable = false, ca = \"ca.pem\" }", ""},
	} {
		t.Run(name, func(t *testing.T) {
			status := statusUsage
			if tt.says == "" {
				status = statusDone
			}
			runs(t, []string{"config", "check", "--config", clusterFile(t, "a:1", tt.text)}).want(t, status, tt.says)
		})
	}
}

func TestConfigShowSaysWhereCredentialsComeFrom(t *testing.T) {
	path := clusterFile(t, "a:1", "tls = { enable = true, insecure_skip_verify = true }", "auth = { access_key = \"ops\", secret_key_command = \"pass show prod\" }")
	p := runs(t, []string{"config", "show", "--config", path, "--cluster", "prod"}).want(t, statusDone, "")
	for _, want := range []string{`tls = "not verified"`, `access_key = "ops"`, `secret_key = "********"`, "# secret_key_command (file:4)", `secret_key_command = "pass show prod"`} {
		if !strings.Contains(p.out.String(), want) {
			t.Errorf("no %s in %s", want, p.out)
		}
	}
	p = runs(t, []string{"config", "show", "--config", path, "--cluster", "prod"}, withEnv("EYEQ_SECRET_KEY", theSecret)).want(t, statusDone, "")
	if !strings.Contains(p.out.String(), "# env EYEQ_SECRET_KEY") || strings.Contains(p.out.String(), theSecret) {
		t.Errorf("shown: %s", p.out)
	}
}
