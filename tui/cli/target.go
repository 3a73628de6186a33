package cli

import (
	"fmt"
	"strings"

	"eyeq/remoting"
)

// target is the cluster that a command works with, and who said so.
type target struct {
	name    string
	cluster *clusterConfig
	namesrv []string
	mode    mode

	nameFrom, namesrvFrom, modeFrom origin
	accessKey                       string // from the environment
	secretKey                       string
	vipChannel                      bool // of a consumer
}

// target applies flag, then environment, then file.
func (e *env) target(c *config) (*target, error) {
	t := &target{cluster: &clusterConfig{}}
	addrs, from := e.flags.namesrv, origin("flag --namesrv")
	name, nameFrom := e.flags.cluster, origin("flag --cluster")
	if name == "" && addrs == "" {
		addrs, from = e.getenv("EYEQ_NAMESRV"), "env EYEQ_NAMESRV"
		if name, nameFrom = e.getenv("EYEQ_CLUSTER"), "env EYEQ_CLUSTER"; name == "" && addrs == "" {
			addrs, from = e.getenv("NAMESRV_ADDR"), "env NAMESRV_ADDR"
		}
	}
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
			Err:  fmt.Errorf("no cluster to work with: --namesrv HOST:PORT names one"),
			Hint: "Or set NAMESRV_ADDR, or run 'eyeq config init' and use --cluster NAME; 'eyeq demo' needs none.",
		}
	}
	t.mode, t.modeFrom = t.cluster.effectiveMode(), c.modeOrigin(name, t.cluster)
	if e.flags.readOnly {
		t.mode, t.modeFrom = modeReadOnly, "flag --read-only"
	}
	t.accessKey, t.secretKey = e.getenv("EYEQ_ACCESS_KEY"), e.getenv("EYEQ_SECRET_KEY")
	return t, nil
}

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
	for _, addr := range list {
		if err := checkHostPort(addr); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// allowChange refuses what changes a cluster in read-only mode.
func (t *target) allowChange(what string) error {
	if t.mode == modeReadOnly {
		return &refusedError{fmt.Sprintf("%s is refused: %s is read-only (%s)", what, t.name, t.modeFrom)}
	}
	return nil
}

// newClient makes a client of the target. What the target asks for and this
// version cannot do is refused, never left out.
func (e *env) newClient(t *target, handler remoting.Handler) (*remoting.Client, error) {
	switch {
	case t.cluster.tls.enable:
		return nil, fmt.Errorf("cluster %s asks for TLS, which this version of eyeq cannot do yet: nothing was sent", t.name)
	case t.cluster.auth.accessKey != "":
		return nil, fmt.Errorf("cluster %s asks for an access key, which this version of eyeq cannot sign with yet: nothing was sent", t.name)
	case t.accessKey != "" || t.secretKey != "":
		return nil, fmt.Errorf("EYEQ_ACCESS_KEY or EYEQ_SECRET_KEY is set, but this version of eyeq cannot sign requests yet: nothing was sent")
	}
	c, err := remoting.NewClient(remoting.Options{Namesrv: t.namesrv, Handler: handler, VIPChannel: t.vipChannel, Log: e.log()})
	if err != nil {
		return nil, fmt.Errorf("name servers %s: %w", strings.Join(t.namesrv, ";"), err)
	}
	return c, nil
}
