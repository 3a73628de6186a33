package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"eyeq/remoting"
	"eyeq/tui/change"
	"eyeq/tui/cli/config"
)

// target is the cluster that a command works with, and who said so.
type target struct {
	name    string
	cluster *config.Cluster
	namesrv []string
	mode    config.Mode

	nameFrom, namesrvFrom, modeFrom config.Origin
	flags                           string // that name it in a command to be pasted
	accessKey                       string
	secretKey                       config.Secret // from the environment; else the configuration says where it is
	accessFrom, secretFrom          config.Origin // "" where there is none
	folder                          string        // that paths in the configuration count from
	vipChannel                      bool          // of a consumer
}

// target applies flag, then environment, then file.
func (e *env) target(c *config.Config) (*target, error) {
	return e.targetNamed(c, e.flags.cluster, e.flags.namesrv)
}

// targetNamed is target with the values of --cluster and --namesrv.
func (e *env) targetNamed(c *config.Config, name, addrs string) (*target, error) {
	t := &target{cluster: &config.Cluster{}}
	from, nameFrom := config.Origin("flag --namesrv"), config.Origin("flag --cluster")
	if name == "" && addrs == "" {
		addrs, from = e.getenv("EYEQ_NAMESRV"), "env EYEQ_NAMESRV"
		if name, nameFrom = e.getenv("EYEQ_CLUSTER"), "env EYEQ_CLUSTER"; name == "" && addrs == "" {
			addrs, from = e.getenv("NAMESRV_ADDR"), "env NAMESRV_ADDR"
		}
	}
	t.flags = targetFlags(e.flags.config, name, addrs)
	if name == "" && addrs == "" {
		name, nameFrom = c.DefaultCluster, c.OriginOf("default_cluster")
		if names := c.ClusterNames(); name == "" && len(names) == 1 {
			name, nameFrom = names[0], "the only cluster in the file"
		}
	}
	if name != "" {
		cluster := c.Clusters[name]
		if cluster == nil {
			known := "no cluster is configured"
			if names := c.ClusterNames(); len(names) > 0 {
				known = "configured: " + strings.Join(names, ", ")
			}
			return nil, &usageError{
				Err:  fmt.Errorf("there is no cluster %q (%s); %s", name, nameFrom, known),
				Hint: "Give --cluster, or --namesrv HOST:PORT.",
			}
		}
		t.name, t.nameFrom, t.cluster = name, nameFrom, cluster
		t.namesrv, t.namesrvFrom = cluster.Namesrv, c.OriginOf("clusters."+name+".namesrv")
	}
	if addrs != "" {
		list, err := config.SplitNamesrv(addrs)
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
	t.mode, t.modeFrom = t.cluster.EffectiveMode(), c.ModeOrigin(name, t.cluster)
	if e.flags.readOnly {
		t.mode, t.modeFrom = config.ModeReadOnly, "flag --read-only"
	}
	t.folder = filepath.Dir(c.Path)
	e.credentialsOf(t, c, name)
	return t, nil
}

// credentialsOf notes who signs requests and where the secret key is to be had.
// Nothing is read or run for it yet.
func (e *env) credentialsOf(t *target, c *config.Config, name string) {
	a := &t.cluster.Auth
	if a.AccessKey != "" {
		t.accessKey, t.accessFrom = a.AccessKey, c.OriginOf("clusters."+name+".auth.access_key")
	}
	for key, value := range map[string]string{
		"secret_key_env": a.SecretKeyEnv, "secret_key_file": a.SecretKeyFile, "secret_key_command": a.SecretKeyCommand,
	} {
		if value != "" {
			t.secretFrom = config.Origin(key+" ") + "(" + c.OriginOf("clusters."+name+".auth."+key) + ")"
		}
	}
	if v := e.getenv(accessKeyEnv); v != "" {
		t.accessKey, t.accessFrom = v, "env "+accessKeyEnv
	}
	if v := strings.TrimSpace(e.getenv(secretKeyEnv)); v != "" {
		t.secretKey, t.secretFrom = config.NewSecret(v), "env "+secretKeyEnv
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

// allowChange refuses what changes a cluster in read-only mode.
func (t *target) allowChange(what string) error {
	if t.mode == config.ModeReadOnly {
		return &refusedError{fmt.Sprintf("%s is refused: %s is read-only (%s)", what, t.name, t.modeFrom)}
	}
	return nil
}

// newClient makes a client of the target: with TLS and signed where that is asked for.
// It may run the command that gives the secret key.
func (e *env) newClient(t *target, handler remoting.Handler) (*remoting.Client, error) {
	c, err := e.quietClient(t, handler)
	if tls := &t.cluster.TLS; err == nil && tls.Enable && tls.InsecureSkipVerify {
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
	c, err := remoting.NewClient(remoting.Options{Namesrv: t.namesrv, Dial: t.cluster.AddressMap.Dialer(), Handler: handler, VIPChannel: t.vipChannel, TLS: secure, Signer: signer, Log: e.log()})
	if err != nil {
		return nil, fmt.Errorf("name servers %s: %w", strings.Join(t.namesrv, ";"), err)
	}
	return c, nil
}

// loadConfig reads the file of --config, or the usual one when that exists.
func (e *env) loadConfig() (*config.Config, error) {
	path := e.flags.config
	if path == "" {
		path = config.Path(e.getenv)
	}
	text, err := config.Read(path, e.flags.timeout)
	if errors.Is(err, os.ErrNotExist) && e.flags.config == "" {
		return config.Default(), nil
	}
	if err != nil {
		return nil, &config.Error{Path: path, Rule: "cannot be read: " + err.Error()}
	}
	return config.Parse(path, string(text))
}
