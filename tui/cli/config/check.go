package config

import (
	"errors"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"eyeq/engine"
	"eyeq/tui/page"
)

// CheckWhole applies the rules that hold between keys.
func (c *Config) CheckWhole(path string, lines keyIndex) error {
	bad := func(rule string, value any, key ...string) error {
		return &Error{Path: path, Line: lines.find(key), Key: strings.Join(key, "."), Value: value, Rule: rule}
	}
	for _, name := range c.ClusterNames() {
		cl := c.Clusters[name]
		a := cl.Auth
		secrets := 0
		for _, s := range []string{a.SecretKeyEnv, a.SecretKeyFile, a.SecretKeyCommand} {
			if s != "" {
				secrets++
			}
		}
		switch {
		case name == "":
			return bad("needs a name", nil, "clusters", name)
		case len(cl.Namesrv) == 0:
			return bad("needs namesrv, a list of HOST:PORT", nil, "clusters", name)
		case secrets > 1:
			return bad("give one of secret_key_env, secret_key_file and secret_key_command", nil, "clusters", name, "auth")
		case a.AccessKey != "" && secrets == 0:
			return bad("needs one of secret_key_env, secret_key_file and secret_key_command", nil, "clusters", name, "auth")
		case a.AccessKey == "" && secrets > 0:
			return bad("needs access_key", nil, "clusters", name, "auth")
		case a.SecretKeyEnv != "" && !envName.MatchString(a.SecretKeyEnv):
			return bad("must be the name of an environment variable, not the secret itself", nil, "clusters", name, "auth", "secret_key_env")
		case c.tlsForgotten(name):
			return bad("has settings but not enable = true, so nothing would be encrypted; say enable = false if that is meant", nil, "clusters", name, "tls")
		case (cl.TLS.cert == "") != (cl.TLS.key == ""):
			return bad("cert and key are given together or not at all", nil, "clusters", name, "tls")
		}
	}
	if d := c.DefaultCluster; d != "" && c.Clusters[d] == nil {
		return bad("there is no [clusters."+d+"]", d, "default_cluster")
	}
	if err := page.CheckKeys(c.Keys); err != nil {
		rule := strings.TrimPrefix(err.Error(), "keys: ")
		if name := clashingKey(c.Keys, lines); name != "" {
			return bad(rule, c.Keys[name], "keys", name)
		}
		return bad(rule, nil, "keys")
	}
	o := c.Consumer
	o.Group, o.Subscriptions = "g", []engine.Subscription{{Topic: "t"}} // each command has its own
	if err := o.Validate(); err != nil {
		ce, ok := errors.AsType[*engine.ConfigError](err)
		if !ok {
			return bad(err.Error(), nil, "consumer")
		}
		return bad(ce.Rule, ce.Value, "consumer", Snake(ce.Property))
	}
	return nil
}

// envName is what the name of an environment variable looks like.
var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// tlsForgotten reports whether a cluster has settings of TLS that do nothing.
func (c *Config) tlsForgotten(name string) bool {
	off := c.Clusters[name].TLS
	if off.Enable {
		return false
	}
	_, said := c.Origins["clusters."+name+".tls.enable"]
	return !said && off != TLS{}
}

// CheckFiles looks at the files that the clusters name, without reading a secret.
func (c *Config) CheckFiles() error {
	folder := filepath.Dir(c.Path)
	bad := func(key, rule string) error {
		line, _ := strconv.Atoi(strings.TrimPrefix(string(c.OriginOf(key)), "file:")) // 0: of no line
		return &Error{Path: c.Path, Line: line, Key: key, Rule: rule}
	}
	for _, name := range c.ClusterNames() {
		cl, key := c.Clusters[name], "clusters."+name
		if path := cl.Auth.SecretKeyFile; path != "" {
			f, err := openSecret(InFolder(folder, path))
			if err != nil {
				return bad(key+".auth.secret_key_file", err.Error())
			}
			f.Close()
		}
		if cl.TLS.Enable {
			trust := TLS{CA: cl.TLS.CA}
			if _, err := trust.Load(folder); err != nil {
				return bad(key+".tls.ca", strings.TrimPrefix(err.Error(), "tls.ca: "))
			}
			if _, err := cl.TLS.Load(folder); err != nil {
				return bad(key+".tls.cert", err.Error())
			}
		}
	}
	return nil
}
