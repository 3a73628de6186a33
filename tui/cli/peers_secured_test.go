package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eyeq/remoting/sandbox/sandboxtest"
)

// securedCommands are run with every kind of key: each asks a broker. The first
// ones store what the later ones read.
func securedCommands(topic, group string) [][]string {
	return [][]string{
		{"send", topic, "hello", "-n", "4", "--key", "k1"},
		{"consume", "-g", group, "-t", topic, "--headless", "--from", "first", "--max", "4", "-o", "none"},
		{"tail", topic, "--from", "earliest", "--until", "now"},
		{"group", "list"},
		{"group", "show", group},
		{"group", "lag", group},
		{"topic", "list"},
		{"topic", "show", topic},
		{"broker", "list"},
		{"group", "reset", group, "-t", topic, "--to", "earliest", "--dry-run"},
		{"group", "reset", group, "-t", topic, "--to", "earliest", "--yes", "--reason", "a trial"},
		{"group", "pause", group, "--yes"},
		{"group", "resume", group, "--yes"},
		{"message", "find", "-t", topic, "--key", "k1"},
	}
}

// TestAccessControlOnBrokers: every command with the right keys, and with each kind of
// wrong ones, which are told in one line with status 1; the secret is in nothing.
func TestAccessControlOnBrokers(t *testing.T) {
	sandboxtest.OnOwnBrokers(t, func(t *testing.T, own *sandboxtest.OwnBrokers) {
		target := own.UpWithAccessControl(t, "acl")
		ns := strings.Join(target.Namesrv, ";")
		for name, tt := range map[string]struct{ key, secret, says string }{
			"wrong secret": {sandboxtest.AdminKey, "guessed-secret", "access denied: the secret key does not match the access key"},
			"unknown key":  {"nobody", "guessed-secret", "access denied: nobody has the access key nobody there"},
			"no keys":      {"", "", "access denied: the broker wants an access key; give EYEQ_ACCESS_KEY and EYEQ_SECRET_KEY"},
			"right":        {sandboxtest.AdminKey, sandboxtest.AdminSecret, ""},
		} {
			state := t.TempDir()
			for i, args := range securedCommands(sandboxtest.ReadableTopic, sandboxtest.ReadableGroup) {
				env := withEnv("EYEQ_ACCESS_KEY", tt.key, "EYEQ_SECRET_KEY", tt.secret, "XDG_STATE_HOME", state)
				p := runs(t, append(args, "--namesrv", ns, "--log-file", filepath.Join(state, fmt.Sprint("log-", i))), env)
				if tt.says == "" && p.status != statusDone {
					t.Errorf("%s: %v: status %d, %s", name, args, p.status, p.err)
				}
				if tt.says != "" && (p.status != statusFailed || strings.Count(p.err.String(), "\n") != 1 || !strings.Contains(p.err.String(), tt.says)) {
					t.Errorf("%s: %v: status %d, want 1 and a line with %q: %s", name, args, p.status, tt.says, p.err)
				}
				if tt.secret != "" && strings.Contains(p.out.String()+p.err.String(), tt.secret) {
					t.Errorf("%s: %v shows the secret: %s%s", name, args, p.out, p.err)
				}
			}
			noSecretIn(t, state, tt.secret)
		}
		readerIsDenied(t, target.Line, ns)
		rightsAreTakenAway(t, own, target, ns)
	})
}

// rightsAreTakenAway: a key expires, its password is changed, its user is disabled or
// deleted while eyeq is at work: what asks again says so in one line, with status 1.
func rightsAreTakenAway(t *testing.T, own *sandboxtest.OwnBrokers, target *sandboxtest.Target, ns string) {
	t.Helper()
	for _, how := range target.Withdrawals() {
		own.Withdraw(t, target, "acl", sandboxtest.NotWithdrawn)
		state := t.TempDir()
		env := withEnv("EYEQ_ACCESS_KEY", sandboxtest.OperatorKey, "EYEQ_SECRET_KEY", sandboxtest.OperatorSecret, "XDG_STATE_HOME", state)
		sandboxtest.Await(t, "the operator's rights", func(context.Context) bool {
			return runs(t, []string{"group", "lag", sandboxtest.ReadableGroup, "--namesrv", ns}, env).status == statusDone
		})
		running := map[string]*program{}
		for name, args := range map[string][]string{
			"lag":     {"group", "lag", sandboxtest.ReadableGroup, "--watch=500ms", "-o", "json"},
			"members": {"group", "members", sandboxtest.ReadableGroup, "--watch=500ms", "-o", "json"},
			"groups":  {"group", "list", "--watch=500ms", "-o", "json"},
			"topic":   {"topic", "show", sandboxtest.ReadableTopic, "--watch=500ms", "-o", "json"},
			"brokers": {"broker", "list", "--watch=500ms", "-o", "json"},
			"tail":    {"tail", sandboxtest.ReadableTopic, "--from", "earliest", "--follow", "-o", "json"},
		} {
			// A good key goes on with what it may still see; 4.9 checks rights when messages are
			// sent, pulled and committed only.
			if how == sandboxtest.RightsTaken && name != "tail" && (target.Line == "4" || name != "lag" && name != "members") {
				continue
			}
			running[name] = start(t, append(args, "--namesrv", ns, "--log-file", filepath.Join(state, name+".log")), env)
			running[name].out.await(t, "{")
		}
		own.Withdraw(t, target, "acl", how)
		for name, p := range running {
			p.wait(t)
			says := "access denied: "
			if how == sandboxtest.RightsTaken {
				says = "no permission: "
			}
			// A tail says what it reads, and how much of it it has seen.
			if text := p.err.String(); p.status != statusFailed || strings.Count(text, says) != 1 || strings.Count(text, "\n") != 1 && name != "tail" {
				t.Errorf("%s, %s: status %d, want 1 and one line with %q: %s", how, name, p.status, says, text)
			}
			if strings.Contains(p.out.String()+p.err.String(), sandboxtest.OperatorSecret) {
				t.Errorf("%s, %s shows the secret: %s%s", how, name, p.out, p.err)
			}
		}
		for _, args := range securedCommands(sandboxtest.ReadableTopic, sandboxtest.ReadableGroup) {
			p := runs(t, append(args, "--namesrv", ns), env)
			if how == sandboxtest.RightsTaken { // the key is good: each command comes as far as the brokers let it
				if p.status != statusDone && !strings.Contains(p.err.String(), "no permission: ") && !strings.Contains(p.err.String(), "this takes an administrator's key") {
					t.Errorf("%s, %v: status %d, %s", how, args, p.status, p.err)
				}
				continue
			}
			if text := p.err.String(); p.status != statusFailed || strings.Count(text, "\n") != 1 || !strings.Contains(text, "access denied: ") {
				t.Errorf("%s, %v: status %d, want 1 and one line: %s", how, args, p.status, text)
			}
		}
		noSecretIn(t, state, sandboxtest.OperatorSecret)
	}
}

// readerIsDenied: a key that may consume one topic, and what it may not.
func readerIsDenied(t *testing.T, line, ns string) {
	env := withEnv("EYEQ_ACCESS_KEY", sandboxtest.ReaderKey, "EYEQ_SECRET_KEY", sandboxtest.ReaderSecret)
	consume := []string{"consume", "-t", sandboxtest.ReadableTopic, "--headless", "--idle-exit", "3s", "-o", "none", "--namesrv", ns, "-g"}
	runs(t, append(consume, sandboxtest.ReadableGroup), env).want(t, statusDone, "")
	// A group that has no offsets yet: 5.x denies the key the bounds of the queues.
	// What was stored before comes with it, as with Java.
	begun := runs(t, append(consume, sandboxtest.NewGroup, "--from", "first", "--max", "4"), env).want(t, statusDone, "")
	if text := begun.out.String(); !strings.Contains(text, `"messages":4,`) {
		t.Errorf("the new group consumed %s, want 4 messages", text)
	}
	for _, args := range [][]string{append(consume, "another-group"), {"send", sandboxtest.ReadableTopic, "x", "--namesrv", ns}} {
		p := runs(t, args, env).want(t, statusFailed, "no permission: ")
		if strings.Count(p.err.String(), "\n") != 1 {
			t.Errorf("%v: more than a line: %s", args, p.err)
		}
	}
	// Name servers take a deletion from anybody: what the brokers refuse must not have been asked of them.
	// A 5.x broker refuses the look before it already.
	says := "nothing was changed: "
	if line == "4" {
		says = "it is not seen to be gone"
	}
	runs(t, []string{"topic", "delete", sandboxtest.ReadableTopic, "--yes", "--namesrv", ns}, env, withEnv("XDG_STATE_HOME", t.TempDir())).want(t, statusFailed, says)
	runs(t, append(consume, sandboxtest.ReadableGroup), env).want(t, statusDone, "")
	p := runs(t, []string{"send", sandboxtest.ReadableTopic, "x", "--namesrv", ns}, withEnv("EYEQ_ACCESS_KEY", sandboxtest.AdminKey, "EYEQ_SECRET_KEY", sandboxtest.AdminSecret))
	p.want(t, statusDone, "")
}

// noSecretIn looks through all files of a folder.
func noSecretIn(t *testing.T, dir, secret string) {
	t.Helper()
	if secret == "" {
		return
	}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), secret) {
			t.Errorf("%s holds the secret", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestTLSOnBrokers: every command over TLS, and what is wrong with certificates.
func TestTLSOnBrokers(t *testing.T) {
	sandboxtest.OnOwnBrokers(t, func(t *testing.T, own *sandboxtest.OwnBrokers) {
		dir := t.TempDir()
		ca := sandboxtest.NewAuthority(t, "Our CA")
		ca.WriteCA(t, dir, "ca.pem")
		sandboxtest.NewAuthority(t, "Other CA").WriteCA(t, dir, "other.pem")
		target := own.UpWithTLS(t, "tls", ca, ca.ServerCertificate(t))
		topic, group := target.Topic(t, 2), target.Group(t)
		for name, tt := range map[string]struct{ line, says string }{
			"right":      {tlsTable(`ca = "ca.pem"`), ""},
			"wrong CA":   {tlsTable(`ca = "other.pem"`), "signed by nobody we trust (CN=Our CA)"},
			"wrong name": {tlsTable(`ca = "ca.pem", server_name = "mq.example"`), "not for mq.example"},
			"none":       {"", "the server speaks TLS only; set tls.enable = true"},
		} {
			path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".toml")
			must(t, os.WriteFile(path, []byte("[clusters.prod]\nnamesrv = [\""+target.Namesrv[0]+"\"]\n"+tt.line+"\n"), 0o600))
			for _, args := range securedCommands(topic, group) {
				p := runs(t, append(args, "--config", path, "--cluster", "prod"))
				switch {
				case tt.says != "":
				case target.Line == "4" && args[0] == "message":
					// Over TLS a 4.9 broker never sends an answer of several messages to a
					// search by key (12): the stock mqadmin waits in vain too.
					if p.status != statusUnreachable || !strings.Contains(p.err.String(), "no answer in time") {
						t.Errorf("%s: %v: status %d, want that no answer came: %s", name, args, p.status, p.err)
					}
				case p.status != statusDone:
					t.Errorf("%s: %v: status %d, %s", name, args, p.status, p.err)
				}
				if tt.says != "" && (p.status != statusUnreachable || strings.Count(p.err.String(), "\n") != 1 || !strings.Contains(p.err.String(), tt.says)) {
					t.Errorf("%s: %v: status %d, want %d and a line with %q: %s", name, args, p.status, statusUnreachable, tt.says, p.err)
				}
			}
		}
		expired := own.UpWithTLS(t, "expired", nil, ca.Issue(t, time.Now().Add(-time.Hour), "127.0.0.1"))
		path := clusterFile(t, expired.Namesrv[0], tlsTable("ca = %q", filepath.Join(dir, "ca.pem")))
		runs(t, []string{"group", "list", "--config", path, "--cluster", "prod"}).want(t, statusUnreachable, "the server's certificate expired at ")
	})
}
