package config

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"

	"eyeq/engine/inspect"
)

// AddressMap says where to dial instead of the address that a server announces or is
// configured with: an entry of HOST:PORT is for that address, one of HOST for all other
// ports of that host, which stay what they are. It is applied once, not to its own result.
type AddressMap map[string]string

// Add takes in an entry of the configuration; its error is the rule that it breaks.
func (m AddressMap) Add(from, to string) error {
	host, port, err := splitPlace(from)
	if err != nil {
		return err
	}
	toHost, toPort, err := splitPlace(to)
	if err != nil {
		return err
	}
	if port == "" && toPort != "" {
		return fmt.Errorf("%s is all ports of a host, which stay what they are: give %s without a port, or map %s", from, to, joinPlace(host, "PORT"))
	}
	key := joinPlace(host, port)
	if _, known := m[key]; known {
		return errors.New("this address is mapped twice")
	}
	m[key] = joinPlace(toHost, toPort)
	return nil
}

// of gives the address to dial instead of another; mapped is false where that is itself.
func (m AddressMap) of(addr string) (to string, mapped bool) {
	host, port, err := splitPlace(addr)
	if err != nil || port == "" {
		return addr, false
	}
	to, mapped = m[joinPlace(host, port)]
	if !mapped {
		to, mapped = m[host]
	}
	if !mapped {
		return addr, false
	}
	if toHost, toPort, err := splitPlace(to); err == nil && toPort == "" {
		to = joinPlace(toHost, port)
	}
	return to, true
}

// Dialled is of for those who show addresses; "" where it is the address itself.
func (m AddressMap) Dialled(addr string) string {
	to, mapped := m.of(addr)
	if !mapped {
		return ""
	}
	return to
}

// Dialer is remoting.Options.Dial; nil where nothing is mapped.
func (m AddressMap) Dialer() func(ctx context.Context, network, addr string) (net.Conn, error) {
	if len(m) == 0 {
		return nil
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		to, mapped := m.of(addr)
		nc, err := (&net.Dialer{}).DialContext(ctx, network, to)
		if err != nil && mapped {
			return nil, fmt.Errorf("mapped to %s: %w", to, err)
		}
		return nc, err
	}
}

// splitPlace takes HOST:PORT or HOST apart, and writes hosts in one way; port is "" where
// there is none.
func splitPlace(s string) (host, port string, err error) {
	if inner, ok := strings.CutPrefix(s, "["); ok {
		if inner, ok = strings.CutSuffix(inner, "]"); ok { // [::1]
			s = inner
		}
	}
	if ip, err := netip.ParseAddr(s); err == nil {
		return ip.String(), "", nil
	}
	if !strings.Contains(s, ":") {
		if s == "" || strings.ContainsAny(s, "/[]* ") {
			return "", "", fmt.Errorf("%q must be HOST:PORT, or HOST for all its ports", s)
		}
		return strings.ToLower(s), "", nil
	}
	if err := checkHostPort(s); err != nil {
		return "", "", err
	}
	host, port, _ = net.SplitHostPort(s) // it was checked
	if ip, err := netip.ParseAddr(host); err == nil {
		host = ip.String()
	}
	return strings.ToLower(host), port, nil
}

func joinPlace(host, port string) string {
	if port == "" {
		return host
	}
	return net.JoinHostPort(host, port)
}

// addressSetting is clusters.NAME.address_map as a whole: its entries are set one by one.
var addressSetting = setting{Table: "clusters", Key: "address_map",
	Doc: "where to dial instead of an address that brokers announce, as through a tunnel: \"HOST:PORT\" = \"HOST:PORT\", or \"HOST\" = \"HOST\" for all its ports",
	Set: func(*Config, string, any) error {
		return errors.New(`must be a table such as { "10.0.0.5:10911" = "127.0.0.1:10911" }`)
	},
	Show: func(c *Config, name string) string {
		m := c.Clusters[name].AddressMap
		entries := make([]string, 0, len(m))
		for _, from := range slices.Sorted(maps.Keys(m)) {
			entries = append(entries, QuoteTOML(from)+" = "+QuoteTOML(m[from]))
		}
		if len(entries) == 0 {
			return "{}"
		}
		return "{ " + strings.Join(entries, ", ") + " }"
	}}

// addressEntry is the setting of one address in the map of a cluster.
func addressEntry(from string) *setting {
	return &setting{Table: "clusters", Key: "address_map", Set: func(c *Config, name string, raw any) error {
		to, ok := raw.(string)
		if !ok {
			return errors.New("must be a text, the HOST:PORT to dial instead")
		}
		cl := c.Clusters[name]
		if cl.AddressMap == nil {
			cl.AddressMap = AddressMap{}
		}
		return cl.AddressMap.Add(from, to)
	}}
}

// ShowDialled has an Inspector name the addresses that are mapped.
func (m AddressMap) ShowDialled(o *inspect.Options) {
	if len(m) > 0 {
		o.Dialled = m.Dialled
	}
}
