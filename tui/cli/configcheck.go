package cli

import (
	"errors"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"eyeq/engine"
	"eyeq/tui/page"
)

// checkWhole applies the rules that hold between keys.
func (c *config) checkWhole(path string, lines keyIndex) error {
	bad := func(rule string, value any, key ...string) error {
		return &configError{Path: path, Line: lines.find(key), Key: strings.Join(key, "."), Value: value, Rule: rule}
	}
	for _, name := range c.clusterNames() {
		cl := c.clusters[name]
		a := cl.auth
		secrets := 0
		for _, s := range []string{a.secretKeyEnv, a.secretKeyFile, a.secretKeyCommand} {
			if s != "" {
				secrets++
			}
		}
		switch {
		case name == "":
			return bad("needs a name", nil, "clusters", name)
		case len(cl.namesrv) == 0:
			return bad("needs namesrv, a list of HOST:PORT", nil, "clusters", name)
		case secrets > 1:
			return bad("give one of secret_key_env, secret_key_file and secret_key_command", nil, "clusters", name, "auth")
		case a.accessKey != "" && secrets == 0:
			return bad("needs one of secret_key_env, secret_key_file and secret_key_command", nil, "clusters", name, "auth")
		case a.accessKey == "" && secrets > 0:
			return bad("needs access_key", nil, "clusters", name, "auth")
		case a.secretKeyEnv != "" && !envName.MatchString(a.secretKeyEnv):
			return bad("must be the name of an environment variable, not the secret itself", nil, "clusters", name, "auth", "secret_key_env")
		case c.tlsForgotten(name):
			return bad("has settings but not enable = true, so nothing would be encrypted; say enable = false if that is meant", nil, "clusters", name, "tls")
		case (cl.tls.cert == "") != (cl.tls.key == ""):
			return bad("cert and key are given together or not at all", nil, "clusters", name, "tls")
		}
	}
	if d := c.defaultCluster; d != "" && c.clusters[d] == nil {
		return bad("there is no [clusters."+d+"]", d, "default_cluster")
	}
	if err := page.CheckKeys(c.keys); err != nil {
		rule := strings.TrimPrefix(err.Error(), "keys: ")
		if name := clashingKey(c.keys, lines); name != "" {
			return bad(rule, c.keys[name], "keys", name)
		}
		return bad(rule, nil, "keys")
	}
	o := c.consumer
	o.Group, o.Subscriptions = "g", []engine.Subscription{{Topic: "t"}} // each command has its own
	if err := o.Validate(); err != nil {
		ce, ok := errors.AsType[*engine.ConfigError](err)
		if !ok {
			return bad(err.Error(), nil, "consumer")
		}
		return bad(ce.Rule, ce.Value, "consumer", snake(ce.Property))
	}
	return nil
}

// envName is what the name of an environment variable looks like.
var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// tlsForgotten reports whether a cluster has settings of TLS that do nothing.
func (c *config) tlsForgotten(name string) bool {
	off := c.clusters[name].tls
	if off.enable {
		return false
	}
	_, said := c.origins["clusters."+name+".tls.enable"]
	return !said && off != tlsConfig{}
}

// checkFiles looks at the files that the clusters name, without reading a secret.
func (c *config) checkFiles() error {
	folder := filepath.Dir(c.path)
	bad := func(key, rule string) error {
		line, _ := strconv.Atoi(strings.TrimPrefix(string(c.originOf(key)), "file:")) // 0: of no line
		return &configError{Path: c.path, Line: line, Key: key, Rule: rule}
	}
	for _, name := range c.clusterNames() {
		cl, key := c.clusters[name], "clusters."+name
		if path := cl.auth.secretKeyFile; path != "" {
			f, err := openSecret(inFolder(folder, path))
			if err != nil {
				return bad(key+".auth.secret_key_file", err.Error())
			}
			f.Close()
		}
		if cl.tls.enable {
			trust := tlsConfig{ca: cl.tls.ca}
			if _, err := trust.load(folder); err != nil {
				return bad(key+".tls.ca", strings.TrimPrefix(err.Error(), "tls.ca: "))
			}
			if _, err := cl.tls.load(folder); err != nil {
				return bad(key+".tls.cert", err.Error())
			}
		}
	}
	return nil
}
