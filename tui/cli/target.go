package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"eyeq/remoting"
	"eyeq/tui/change"
)

// target is the cluster that a command works with, and who said so.
type target struct {
	name    string
	cluster *clusterConfig
	namesrv []string
	mode    mode

	nameFrom, namesrvFrom, modeFrom origin
	flags                           string // that name it in a command to be pasted
	accessKey                       string
	secretKey                       secret // from the environment; else the configuration says where it is
	accessFrom, secretFrom          origin // "" where there is none
	folder                          string // that paths in the configuration count from
	vipChannel                      bool   // of a consumer
}

// target applies flag, then environment, then file.
func (e *env) target(c *config) (*target, error) {
	return e.targetNamed(c, e.flags.cluster, e.flags.namesrv)
}

// targetNamed is target with the values of --cluster and --namesrv.
func (e *env) targetNamed(c *config, name, addrs string) (*target, error) {
	t := &target{cluster: &clusterConfig{}}
	from, nameFrom := origin("flag --namesrv"), origin("flag --cluster")
	if name == "" && addrs == "" {
		addrs, from = e.getenv("EYEQ_NAMESRV"), "env EYEQ_NAMESRV"
		if name, nameFrom = e.getenv("EYEQ_CLUSTER"), "env EYEQ_CLUSTER"; name == "" && addrs == "" {
			addrs, from = e.getenv("NAMESRV_ADDR"), "env NAMESRV_ADDR"
		}
	}
	t.flags = targetFlags(e.flags.config, name, addrs)
	if name == "" && addrs == "" {
		name, nameFrom = c.defaultCluster, c.originOf("default_cluster")
		if names := c.clusterNames(); name == "" && len(names) == 1 {
			name, nameFrom = names[0], "the only cluster in the file"
		}
	}
	if name != "" {
		cluster := c.clusters[name]
		if cluster == nil {
			known := "no cluster is configured"
			if names := c.clusterNames(); len(names) > 0 {
				known = "configured: " + strings.Join(names, ", ")
			}
			return nil, &usageError{
				Err:  fmt.Errorf("there is no cluster %q (%s); %s", name, nameFrom, known),
				Hint: "Give --cluster, or --namesrv HOST:PORT.",
			}
		}
		t.name, t.nameFrom, t.cluster = name, nameFrom, cluster
		t.namesrv, t.namesrvFrom = cluster.namesrv, c.originOf("clusters."+name+".namesrv")
	}
	if addrs != "" {
		list, err := splitNamesrv(addrs)
		if err != nil {
			return nil, usagef("%s: %v", from, err)
		}
		t.namesrv, t.namesrvFrom = list, from
		if t.name == "" {
			t.name, t.nameFrom = strings.Join(list, ";"), from
		}
	}
	if len(t.namesrv) == 0 {
		return nil, &usageError{
			Err:  errNoCluster,
			Hint: "Or set NAMESRV_ADDR, or run 'eyeq config init' and use --cluster NAME; 'eyeq demo' needs none.",
		}
	}
	t.mode, t.modeFrom = t.cluster.effectiveMode(), c.modeOrigin(name, t.cluster)
	if e.flags.readOnly {
		t.mode, t.modeFrom = modeReadOnly, "flag --read-only"
	}
	t.folder = filepath.Dir(c.path)
	e.credentialsOf(t, c, name)
	return t, nil
}

// credentialsOf notes who signs requests and where the secret key is to be had.
// Nothing is read or run for it yet.
func (e *env) credentialsOf(t *target, c *config, name string) {
	a := &t.cluster.auth
	if a.accessKey != "" {
		t.accessKey, t.accessFrom = a.accessKey, c.originOf("clusters."+name+".auth.access_key")
	}
	for key, value := range map[string]string{
		"secret_key_env": a.secretKeyEnv, "secret_key_file": a.secretKeyFile, "secret_key_command": a.secretKeyCommand,
	} {
		if value != "" {
			t.secretFrom = origin(key+" ") + "(" + c.originOf("clusters."+name+".auth."+key) + ")"
		}
	}
	if v := e.getenv(accessKeyEnv); v != "" {
		t.accessKey, t.accessFrom = v, "env "+accessKeyEnv
	}
	if v := strings.TrimSpace(e.getenv(secretKeyEnv)); v != "" {
		t.secretKey, t.secretFrom = newSecret(v), "env "+secretKeyEnv
	}
}

// targetFlags are the flags that name a cluster in a command that is to be pasted, each
// with a blank before it. What the environment says is said by a flag: it may be pasted
// elsewhere.
func targetFlags(config, cluster, namesrv string) string {
	text := ""
	for _, f := range []struct{ name, value string }{{"config", config}, {"cluster", cluster}, {"namesrv", namesrv}} {
		if f.value != "" {
			text += " --" + f.name + " " + change.ShellWord(f.value)
		}
	}
	return text
}

var errNoCluster = errors.New("no cluster to work with: --namesrv HOST:PORT names one")

// modeOrigin says why a cluster has its effective mode: an empty mode decides nothing.
func (c *config) modeOrigin(name string, cl *clusterConfig) origin {
	switch {
	case cl.mode != 0:
		return c.originOf("clusters." + name + ".mode")
	case cl.production:
		return "because production = true (" + c.originOf("clusters."+name+".production") + ")"
	}
	return "default"
}

func (c *config) originOf(key string) origin {
	if o, ok := c.origins[key]; ok {
		return o
	}
	return "default"
}

// splitNamesrv takes HOST:PORT[;HOST:PORT] apart; blanks and commas separate too.
func splitNamesrv(s string) ([]string, error) {
	list := strings.FieldsFunc(s, func(r rune) bool { return r == ';' || r == ',' || r == ' ' })
	if len(list) == 0 {
		return nil, fmt.Errorf("%q names no server: HOST:PORT[;HOST:PORT]", s)
	}
	for i, addr := range list {
		var err error
		if list[i], err = namesrvAddress(addr); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// namesrvAddress is HOST:PORT, before which http:// may stand as RocketMQ's clients take it
// in NAMESRV_ADDR (Java: NameServerAddressUtils). It says nothing about how to speak there.
func namesrvAddress(s string) (string, error) {
	scheme, rest, found := strings.Cut(s, "://")
	switch {
	case !found:
		return s, checkHostPort(s)
	case strings.EqualFold(scheme, "http"):
		addr := strings.TrimSuffix(rest, "/")
		return addr, checkHostPort(addr)
	case strings.EqualFold(scheme, "https"):
		return "", fmt.Errorf("%q: a name server speaks no HTTP, https:// would not make it TLS either: write %s, and tls = { enable = true } for a configured cluster", s, rest)
	}
	return "", fmt.Errorf("%q must be HOST:PORT, before which only http:// may stand", s)
}

// allowChange refuses what changes a cluster in read-only mode.
func (t *target) allowChange(what string) error {
	if t.mode == modeReadOnly {
		return &refusedError{fmt.Sprintf("%s is refused: %s is read-only (%s)", what, t.name, t.modeFrom)}
	}
	return nil
}

// newClient makes a client of the target: with TLS and signed where that is asked for.
// It may run the command that gives the secret key.
func (e *env) newClient(t *target, handler remoting.Handler) (*remoting.Client, error) {
	c, err := e.quietClient(t, handler)
	if tls := &t.cluster.tls; err == nil && tls.enable && tls.insecureSkipVerify {
		e.say("TLS of %s is not verified (tls.insecure_skip_verify): anybody could be at the other end", t.name)
	}
	return c, err
}

// quietClient is newClient beside a screen, which says itself that TLS is not verified.
func (e *env) quietClient(t *target, handler remoting.Handler) (*remoting.Client, error) {
	secure, err := t.tlsOf()
	if err != nil {
		return nil, err
	}
	signer, err := e.signer(e.command.Context(), t)
	if err != nil {
		return nil, err
	}
	c, err := remoting.NewClient(remoting.Options{Namesrv: t.namesrv, Dial: t.cluster.addressMap.dialer(), Handler: handler, VIPChannel: t.vipChannel, TLS: secure, Signer: signer, Log: e.log()})
	if err != nil {
		return nil, fmt.Errorf("name servers %s: %w", strings.Join(t.namesrv, ";"), err)
	}
	return c, nil
}
