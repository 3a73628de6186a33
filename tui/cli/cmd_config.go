package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"

	"eyeq/tui/cli/config"
	"eyeq/tui/draw"
)

func newConfig(e *env) *cobra.Command {
	var yes bool
	init := &cobra.Command{
		Use:   "init",
		Short: "Write a commented configuration file",
		Args:  noArgs,
		RunE:  e.cobraRun(func(ctx context.Context, e *env, args []string) error { return e.configInit(yes) }),
	}
	init.Flags().BoolVar(&yes, "yes", false, "overwrite the file that is there")
	return family("config", "Write, check and show the configuration", init,
		&cobra.Command{
			Use:   "check",
			Short: "Say ok, or the first thing wrong with its line",
			Args:  noArgs,
			RunE:  e.cobraRun(func(ctx context.Context, e *env, args []string) error { return e.configCheck() }),
		},
		&cobra.Command{
			Use:   "show",
			Short: "Print the configuration in force and where each value came from (-o text|json)",
			Args:  noArgs,
			RunE:  e.cobraRun(func(ctx context.Context, e *env, args []string) error { return e.configShow() }),
		})
}

func (e *env) configFile() string {
	if e.flags.config != "" {
		return e.flags.config
	}
	return config.Path(e.getenv)
}

func (e *env) configInit(yes bool) error {
	path := e.configFile()
	flags := os.O_CREATE | os.O_EXCL | os.O_WRONLY
	if yes {
		flags = os.O_CREATE | os.O_TRUNC | os.O_WRONLY
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of the configuration: %w", err)
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, os.ErrExist) {
		return &refusedError{path + " is there already; --yes overwrites it"}
	}
	if err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	if _, err := f.WriteString(initialConfig()); err != nil {
		f.Close()
		return fmt.Errorf("write the configuration: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	fmt.Fprintln(e.stdout, draw.SafeText(path))
	e.say("now name your name servers there and run 'eyeq config check'")
	return nil
}

func (e *env) configCheck() error {
	c, err := e.loadConfig()
	if err != nil {
		return err
	}
	if c.Path == "" {
		fmt.Fprintf(e.stdout, "ok: %s does not exist, the defaults hold\n", draw.SafeText(config.Path(e.getenv)))
		return nil
	}
	if err := c.CheckFiles(); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "ok: %s\n", draw.SafeText(c.Path))
	return nil
}

// shownValue is one line of `config show`.
type shownValue struct {
	Key   string   `json:"key"`
	Value tomlText `json:"value"`
	From  string   `json:"from"`
}

// tomlText is a value as TOML; in JSON it is what it stands for.
type tomlText string

// MarshalJSON implements json.Marshaler.
func (v tomlText) MarshalJSON() ([]byte, error) {
	var doc struct{ V any }
	if _, err := toml.Decode("V = "+string(v), &doc); err != nil {
		return nil, fmt.Errorf("the value %s: %w", v, err)
	}
	return json.Marshal(doc.V)
}

func (e *env) configShow() error {
	format, err := e.format("text", "json")
	if err != nil {
		return err
	}
	c, err := e.loadConfig()
	if err != nil {
		return err
	}
	rows := e.effective(c)
	if format == "json" {
		out, err := marshal(rows)
		if err != nil {
			return err
		}
		_, err = e.stdout.Write(out)
		return err
	}
	width := 0
	for _, r := range rows {
		width = max(width, len(draw.SafeText(r.Key))+3+len(r.Value))
	}
	var b strings.Builder
	for _, r := range rows {
		line := draw.SafeText(r.Key) + " = " + string(r.Value) // the name of a cluster may be anything
		fmt.Fprintf(&b, "%-*s  # %s\n", min(width, 60), line, draw.SafeText(r.From))
	}
	_, err = e.stdout.Write([]byte(b.String()))
	return err
}

// effective lists what is in force: first the cluster that commands would work
// with, then every key.
func (e *env) effective(c *config.Config) []shownValue {
	rows := []shownValue{}
	add := func(key, value string, from config.Origin) {
		rows = append(rows, shownValue{key, tomlText(value), string(from)})
	}
	if c.Path != "" {
		add("file", config.QuoteTOML(c.Path), e.flagOr("config", "default"))
	}
	if t, err := e.target(c); err != nil {
		add("cluster", `""`, config.Origin(err.Error()))
	} else {
		add("cluster", config.QuoteTOML(t.name), t.nameFrom)
		add("namesrv", config.TomlList(t.namesrv), t.namesrvFrom)
		add("mode", config.QuoteTOML(t.mode.String()), t.modeFrom)
		add("tls", config.QuoteTOML(t.tlsWord()), c.OriginOf("clusters."+t.name+".tls.enable"))
		if t.accessKey != "" {
			add("access_key", config.QuoteTOML(t.accessKey), t.accessFrom)
		}
		if t.secretFrom != "" {
			add("secret_key", config.QuoteTOML(config.Hidden), t.secretFrom)
		}
		add("operator", config.QuoteTOML(e.operator()), "who is in the audit file")
		add("audit", config.QuoteTOML(e.auditPath()), "default")
	}
	add("timeout", config.QuoteTOML(e.flags.timeout.String()), e.flagOr("timeout", "default"))
	add("tz", config.QuoteTOML(e.location.String()), e.flagOr("tz", "default"))
	add("plain", strconv.FormatBool(e.flags.plain), e.switchOrigin("plain", "EYEQ_PLAIN"))
	add("no_color", strconv.FormatBool(e.flags.noColor), e.switchOrigin("no-color", "NO_COLOR"))
	for i := range config.Settings {
		s := &config.Settings[i]
		names := []string{""}
		if s.Table == "clusters" {
			if s.Key != "namesrv" {
				continue // listed a cluster at a time below
			}
			names = c.ClusterNames()
		}
		for _, name := range names {
			if s.Table != "clusters" {
				key := strings.TrimPrefix(s.Table+"."+s.Key, ".")
				add(key, s.Show(c, ""), c.OriginOf(key))
				continue
			}
			for j := range config.Settings {
				if config.Settings[j].Table == "clusters" {
					key := "clusters." + name + "." + config.Settings[j].Key
					add(key, config.Settings[j].Show(c, name), c.OriginOf(key))
				}
			}
		}
	}
	for _, name := range sortedKeys(c.Keys) {
		add("keys."+name, config.KeyBinding.Show(c, name), c.OriginOf("keys."+name))
	}
	return rows
}

// flagOr names a flag that was given, or else says otherwise.
func (e *env) flagOr(name string, otherwise config.Origin) config.Origin {
	if f := e.command; f != nil && f.Flags().Changed(name) {
		return config.Origin("flag --" + name)
	}
	return otherwise
}

func (e *env) switchOrigin(flag, variable string) config.Origin {
	if e.getenv(variable) != "" {
		return e.flagOr(flag, config.Origin("env "+variable))
	}
	return e.flagOr(flag, "default")
}

// exampleConfig is config.example.toml: every key with its default.
func exampleConfig() string {
	return configText("# eyeq's configuration: every key, with its default. A key that is left out has\n"+
		"# its default; one that does not exist is an error. Flags and environment win.\n\n",
		func(string) string { return "" })
}

// initialConfig is what `config init` writes: the defaults are commented out, so
// that those of a later version arrive.
func initialConfig() string {
	return configText("# eyeq's configuration. A line that begins with # and a key shows a default: take the\n"+
		"# # away to change it. A key that does not exist is an error. Flags and environment win.\n\n",
		func(table string) string {
			if table == "" || table == "clusters.dev" {
				return ""
			}
			return "#"
		})
}

// configText writes every key; mark goes before the keys of a table.
func configText(head string, mark func(table string) string) string {
	c := config.Default()
	c.Clusters["dev"] = &config.Cluster{Namesrv: []string{"127.0.0.1:9876"}}
	var b strings.Builder
	b.WriteString(head)
	table := ""
	for i := range config.Settings {
		s := &config.Settings[i]
		header, key := s.Table, s.Key
		if header == "clusters" {
			header = "clusters.dev"
			if sub, rest, ok := strings.Cut(key, "."); ok {
				header, key = header+"."+sub, rest
			}
		}
		if header != table {
			fmt.Fprintf(&b, "\n[%s]%s\n", header, tableDoc[header])
			table = header
		}
		fmt.Fprintf(&b, "# %s\n%s%s = %s\n", s.Doc, mark(header), key, s.Show(c, "dev"))
	}
	b.WriteString(config.ExampleKeys(mark("keys")))
	return b.String()
}

var tableDoc = map[string]string{
	"clusters.dev": "  # one table a cluster; the name is yours",
	"consumer":     "  # the defaults of consume, by RocketMQ's property names",
	"screen":       "",
}
