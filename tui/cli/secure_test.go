package cli

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
	"eyeq/tui/cli/config"
)

// tlsFiles are certificates of a test, as files.
type tlsFiles struct {
	dir, ca, otherCA, cert, key string
	server, expired, nameless   tls.Certificate
	pool                        *sandboxtest.Authority
}

func newTLSFiles(t *testing.T) *tlsFiles {
	t.Helper()
	f := &tlsFiles{dir: t.TempDir(), pool: sandboxtest.NewAuthority(t, "Our CA")}
	hour := time.Now().Add(time.Hour)
	f.ca, f.otherCA = f.pool.WriteCA(t, f.dir, "ca.pem"), sandboxtest.NewAuthority(t, "Other CA").WriteCA(t, f.dir, "other.pem")
	f.cert, f.key = sandboxtest.WritePair(t, f.dir, "ours", f.pool.Issue(t, hour))
	f.server, f.nameless = f.pool.Issue(t, hour, "127.0.0.1", "ns.example"), f.pool.Issue(t, hour)
	f.expired = f.pool.Issue(t, time.Now().Add(-time.Hour), "127.0.0.1")
	return f
}

// tlsTable is the tls line of a cluster.
func tlsTable(format string, args ...any) string {
	return fmt.Sprintf("tls = { enable = true, "+format+" }", args...)
}

func TestCommandsOverTLS(t *testing.T) {
	t.Parallel()
	f := newTLSFiles(t)
	serve := func(cert tls.Certificate, only, mutual bool) string {
		c := &tls.Config{Certificates: []tls.Certificate{cert}}
		if mutual {
			c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, f.pool.Pool
		}
		sb, ns := serveSandbox(t, sandboxtest.Topic("orders", 2), sandboxtest.With(func(o *sandbox.Options) { o.TLS, o.TLSOnly = c, only }))
		put(t, sb, "orders", 4)
		return ns
	}
	good := serve(f.server, true, false)
	mutual := serve(f.server, true, true)
	_, plain := serveSandbox(t, sandboxtest.Topic("orders", 2))
	tests := map[string]struct {
		namesrv, line string
		says          string // "": it works
	}{
		"right CA":              {good, tlsTable("ca = %q", f.ca), ""},
		"path from the file":    {good, tlsTable(`ca = "ca.pem"`), ""},
		"by another name":       {good, tlsTable(`ca = "ca.pem", server_name = "ns.example"`), ""},
		"not verified":          {serve(f.expired, true, false), tlsTable("insecure_skip_verify = true"), ""},
		"our certificate":       {mutual, tlsTable(`ca = "ca.pem", cert = %q, key = %q`, f.cert, f.key), ""},
		"wrong CA":              {good, tlsTable("ca = %q", f.otherCA), "the server's certificate is signed by nobody we trust (CN=Our CA); name the file of its CA as tls.ca"},
		"the system's CAs":      {good, "tls = { enable = true }", "signed by nobody we trust"},
		"wrong name":            {good, tlsTable(`ca = "ca.pem", server_name = "mq.example"`), "certificate is for ns.example, 127.0.0.1, not for mq.example; connect by one of those names, or give the one that is right as tls.server_name"},
		"no name":               {serve(f.nameless, true, false), tlsTable(`ca = "ca.pem"`), "names no server, as RocketMQ's built-in one for tests; give the server a certificate of its own"},
		"expired":               {serve(f.expired, true, false), tlsTable(`ca = "ca.pem"`), "certificate expired at 20"},
		"no certificate of us":  {mutual, tlsTable(`ca = "ca.pem"`), "the server wants a certificate of ours; give one as tls.cert and tls.key"},
		"plain server":          {plain, tlsTable(`ca = "ca.pem"`), "does not speak TLS there; take tls.enable out of the cluster's configuration"},
		"plain client":          {good, "", "the server speaks TLS only; set tls.enable = true"},
		"plain to a permissive": {serve(f.server, false, false), "", ""},
		"no such file":          {good, tlsTable(`ca = "none.pem"`), "TLS of cluster prod: tls.ca: open "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(f.dir, strings.ReplaceAll(name, " ", "-")+".toml")
			must(t, os.WriteFile(path, []byte("[clusters.prod]\nnamesrv = [\""+tt.namesrv+"\"]\n"+tt.line+"\n"), 0o600))
			for _, args := range [][]string{
				{"tail", "orders", "--from", "earliest", "--until", "now"},
				{"consume", "-g", fmt.Sprintf("g-%x", name), "-t", "orders", "--headless", "--from", "first", "--max", "4", "-o", "none"},
				{"send", "orders", "x"},
				{"group", "list"},
			} {
				args = append(args, "--config", path, "--cluster", "prod")
				if tt.says != "" {
					args = append(args, "--timeout", "1h") // so that one that is not said at once is never said
				}
				p := runs(t, args)
				if tt.says == "" {
					p.want(t, statusDone, "")
					if strings.Contains(tt.line, "insecure") != strings.Contains(p.err.String(), "TLS of prod is not verified (tls.insecure_skip_verify)") {
						t.Errorf("stderr = %s", p.err)
					}
					continue
				}
				status := statusUnreachable
				if name == "no such file" {
					status = statusFailed
				}
				p.want(t, status, tt.says)
				if strings.Count(p.err.String(), "\n") != 1 {
					t.Errorf("%v: not one line at once: %s", args, p.err)
				}
			}
		})
	}
}

// The screen says on line 1 that nobody looks at certificates.
func TestScreenSaysWhenTLSIsNotVerified(t *testing.T) {
	e := &env{getenv: func(string) string { return "" }}
	for skip, want := range map[bool]string{true: "TLS not verified", false: ""} {
		cl := &config.Cluster{TLS: config.TLS{Enable: true, InsecureSkipVerify: skip}}
		if got := e.targetOptions(config.Default(), &target{name: "prod", cluster: cl}).Title; got != want {
			t.Errorf("skip %v: line 1 says %q, want %q", skip, got, want)
		}
	}
}

func TestTLSIsVerifiedByDefault(t *testing.T) {
	config, err := (&target{cluster: &config.Cluster{TLS: config.TLS{Enable: true}}}).tlsOf()
	if err != nil || config.InsecureSkipVerify || config.RootCAs != (*x509.CertPool)(nil) || config.MinVersion != tls.VersionTLS12 {
		t.Errorf("config %+v, %v", config, err)
	}
}
