package cli

import (
	"crypto/tls"
	"fmt"
)

// tlsOf makes the TLS configuration of a target; nil when it asks for none.
func (t *target) tlsOf() (*tls.Config, error) {
	c := &t.cluster.TLS
	if !c.Enable {
		return nil, nil
	}
	config, err := c.Load(t.folder)
	if err != nil {
		return nil, fmt.Errorf("TLS of cluster %s: %w", t.name, err)
	}
	return config, nil
}

// tlsWord says how connections to the target are made.
func (t *target) tlsWord() string {
	switch c := &t.cluster.TLS; {
	case !c.Enable:
		return "off"
	case c.InsecureSkipVerify:
		return "not verified"
	}
	return "verified"
}
