package config

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"eyeq/engine"
)

// Config is what a configuration file says, laid over the defaults.
type Config struct {
	Path    string // "" when there is no file
	Origins map[string]Origin

	DefaultCluster string
	Clusters       map[string]*Cluster
	Consumer       engine.Options // of one consumer, without group and subscriptions
	Strategy       Strategy       // of consumer; it takes its topics to make one
	Sql            string         // filters the topics of consume that have no tags
	Listen         Listener
	VipChannel     bool
	Screen         Screen
	Keys           map[string]string
}

// Cluster is one [clusters.NAME].
type Cluster struct {
	Namesrv    []string
	production bool
	mode       Mode // zero: by production
	Color      string
	TLS        TLS
	Auth       Auth
	AddressMap AddressMap
}

// TLS is [clusters.NAME.tls]; its paths count from the configuration's folder.
type TLS struct {
	Enable                    bool
	CA, cert, key, ServerName string
	InsecureSkipVerify        bool
}

// Auth is [clusters.NAME.auth].
type Auth struct {
	AccessKey, SecretKeyEnv, SecretKeyFile, SecretKeyCommand string
}

// Screen is [screen].
type Screen struct {
	Refresh time.Duration
	Glyphs  string
}

// Mode says what may be changed in a cluster.
type Mode uint8

// The modes; zero is none given.
const (
	ModeReadOnly Mode = iota + 1
	ModeConfirm
	ModeOpen
)

var modeNames = []string{"read-only", "confirm", "open"}

// String gives the configuration's word.
func (m Mode) String() string {
	if m == 0 {
		return ""
	}
	return modeNames[m-1]
}

// EffectiveMode is the mode in force: a production cluster starts read-only
// unless its mode says otherwise.
func (c *Cluster) EffectiveMode() Mode {
	if c.mode == 0 && c.production {
		return ModeReadOnly
	}
	return cmp.Or(c.mode, ModeConfirm)
}

// Origin says where a value came from: "file:12", "flag --cluster", "env NO_COLOR".
type Origin string

// Default is the configuration where there is no file.
func Default() *Config {
	return &Config{
		Origins:  map[string]Origin{},
		Clusters: map[string]*Cluster{},
		Consumer: engine.DefaultOptions(),
		Listen:   Listener{Name: Ack},
		Strategy: DefaultStrategy(),
		Screen:   Screen{Refresh: 250 * time.Millisecond, Glyphs: "unicode"},
		Keys:     map[string]string{},
	}
}

// Error is a configuration that breaks a rule; Line is 0 when it is about
// no line.
type Error struct {
	Path  string
	Line  int
	Key   string
	Value any // nil: not about a value
	Rule  string
}

// Error names the file, the line and the key.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Path)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	b.WriteString(": ")
	if e.Key != "" {
		b.WriteString(e.Key)
		if e.Value != nil {
			b.WriteString(" = " + tomlValue(e.Value))
		}
		b.WriteString(": ")
	}
	b.WriteString(e.Rule)
	return b.String()
}

// Parse reads a configuration's text. The first thing wrong, in the order
// of the file, is returned as a *configError.
func Parse(path, text string) (*Config, error) {
	raw := map[string]any{}
	md, err := toml.Decode(text, &raw)
	if err != nil {
		if pe, ok := errors.AsType[toml.ParseError](err); ok {
			rule := pe.Message
			if lines := strings.Split(text, "\n"); pe.Position.Line <= len(lines) && bareAddress.MatchString(lines[max(pe.Position.Line-1, 0)]) {
				rule += "; " + errAddressUnquoted.Error()
			}
			return nil, &Error{Path: path, Line: pe.Position.Line, Rule: rule}
		}
		return nil, &Error{Path: path, Rule: err.Error()}
	}
	c := Default()
	c.Path = path
	lines := KeyLines(text)
	for _, key := range md.Keys() {
		line := lines.find(key)
		bad := func(value any, rule string) error {
			return &Error{Path: path, Line: line, Key: key.String(), Value: value, Rule: rule}
		}
		value := lookup(raw, key)
		if _, isTable := value.(map[string]any); isTable {
			if err := c.enterTable(key); err != nil {
				return nil, bad(nil, err.Error())
			}
			if isAddressMap(key) {
				c.Origins[strings.Join(key, ".")] = Origin(fmt.Sprintf("file:%d", line))
			}
			continue
		}
		s, name, err := settingFor(key)
		if err != nil {
			return nil, bad(nil, err.Error()) // without the value: it may be a secret key
		}
		if err := s.Set(c, name, value); err != nil {
			return nil, bad(value, err.Error())
		}
		c.Origins[strings.Join(key, ".")] = Origin(fmt.Sprintf("file:%d", line))
	}
	return c, c.CheckWhole(path, lines)
}

// lookup follows a key into the decoded tree.
func lookup(tree map[string]any, key toml.Key) any {
	var v any = tree
	for _, k := range key {
		m, ok := v.(map[string]any)
		if !ok {
			return v // an array of tables: its rule is broken above it
		}
		v = m[k]
	}
	return v
}

// enterTable accepts the tables that there are, and makes a cluster at its header.
func (c *Config) enterTable(key toml.Key) error {
	switch len(key) {
	case 1:
		if slices.Contains([]string{"clusters", "consumer", "screen", "keys"}, key[0]) {
			return nil
		}
		if _, _, err := settingFor(key); err == nil {
			return errors.New("must be a value, not a table")
		}
	case 2:
		if key[0] == "clusters" {
			c.enterCluster(key[1])
			return nil
		}
		if _, _, err := settingFor(key); err == nil {
			return errors.New("must be a value, not a table")
		}
	case 3:
		if key[0] == "clusters" && (key[2] == "tls" || key[2] == "auth" || isAddressMap(key)) {
			c.enterCluster(key[1]) // its own header may come later, or never
			return nil
		}
	default:
		if len(key) > 3 && isAddressMap(key[:3]) {
			return errAddressUnquoted
		}
	}
	return errUnknownKey
}

// isAddressMap reports whether a key is the address_map of a cluster.
func isAddressMap(key toml.Key) bool {
	return len(key) == 3 && key[0] == "clusters" && key[2] == "address_map"
}

// bareAddress is a line with an address for a key, which TOML wants in quotes.
var bareAddress = regexp.MustCompile(`^\s*(address_map\s*=\s*\{\s*)?[\w.-]+:\d+\s*=`)

var errAddressUnquoted = errors.New(`addresses must be in quotes: "10.0.0.5:10911" = "127.0.0.1:10911"`)

func (c *Config) enterCluster(name string) {
	if c.Clusters[name] == nil {
		c.Clusters[name] = &Cluster{}
	}
}

var errUnknownKey = errors.New("there is no such key")

// settingFor finds what a key sets; name is the cluster's or key binding's.
func settingFor(key toml.Key) (s *setting, name string, err error) {
	table, rest := "", strings.Join(key, ".")
	if len(key) > 1 {
		table, rest = key[0], strings.Join(key[1:], ".")
	}
	switch table {
	case "clusters":
		if len(key) < 3 {
			return nil, "", errors.New("must be a table: [clusters.NAME]")
		}
		if len(key) > 3 && isAddressMap(key[:3]) {
			if len(key) > 4 {
				return nil, "", errAddressUnquoted
			}
			return addressEntry(key[3]), key[1], nil
		}
		name, rest = key[1], strings.Join(key[2:], ".")
	case "keys":
		if len(key) > 2 {
			return nil, "", errUnknownKey
		}
		return &KeyBinding, rest, nil
	}
	for i := range Settings {
		if Settings[i].Table == table && Settings[i].Key == rest {
			return &Settings[i], name, nil
		}
	}
	if table == "clusters" && (rest == "auth.secret_key" || rest == "auth.secretKey") {
		return nil, "", errors.New("a secret key does not belong in this file: say where it is by secret_key_env, secret_key_file or secret_key_command")
	}
	if table == "" && slices.Contains([]string{"clusters", "consumer", "screen", "keys"}, rest) || table == "clusters" && (rest == "tls" || rest == "auth") {
		return nil, "", errors.New("must be a table")
	}
	return nil, "", errUnknownKey
}

// ClusterNames are the names of the clusters, sorted.
func (c *Config) ClusterNames() []string {
	names := make([]string, 0, len(c.Clusters))
	for n := range c.Clusters {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Snake turns RocketMQ's property name into a key: pullBatchSize, pull_batch_size.
func Snake(property string) string {
	var b strings.Builder
	for _, r := range property {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// ModeOrigin says why a cluster has its effective mode: an empty mode decides nothing.
func (c *Config) ModeOrigin(name string, cl *Cluster) Origin {
	switch {
	case cl.mode != 0:
		return c.OriginOf("clusters." + name + ".mode")
	case cl.production:
		return "because production = true (" + c.OriginOf("clusters."+name+".production") + ")"
	}
	return "default"
}

// OriginOf says where the value of a key comes from.
func (c *Config) OriginOf(key string) Origin {
	if o, ok := c.Origins[key]; ok {
		return o
	}
	return "default"
}
