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
	return configPath(e.getenv)
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
	if c.path == "" {
		fmt.Fprintf(e.stdout, "ok: %s does not exist, the defaults hold\n", draw.SafeText(configPath(e.getenv)))
		return nil
	}
	if err := c.checkFiles(); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "ok: %s\n", draw.SafeText(c.path))
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
func (e *env) effective(c *config) []shownValue {
	rows := []shownValue{}
	add := func(key, value string, from origin) {
		rows = append(rows, shownValue{key, tomlText(value), string(from)})
	}
	if c.path != "" {
		add("file", quoteTOML(c.path), e.flagOr("config", "default"))
	}
	if t, err := e.target(c); err != nil {
		add("cluster", `""`, origin(err.Error()))
	} else {
		add("cluster", quoteTOML(t.name), t.nameFrom)
		add("namesrv", tomlList(t.namesrv), t.namesrvFrom)
		add("mode", quoteTOML(t.mode.String()), t.modeFrom)
		add("tls", quoteTOML(t.tlsWord()), c.originOf("clusters."+t.name+".tls.enable"))
		if t.accessKey != "" {
			add("access_key", quoteTOML(t.accessKey), t.accessFrom)
		}
		if t.secretFrom != "" {
			add("secret_key", quoteTOML(hidden), t.secretFrom)
		}
		add("operator", quoteTOML(e.operator()), "who is in the audit file")
		add("audit", quoteTOML(e.auditPath()), "default")
	}
	add("timeout", quoteTOML(e.flags.timeout.String()), e.flagOr("timeout", "default"))
	add("tz", quoteTOML(e.location.String()), e.flagOr("tz", "default"))
	add("plain", strconv.FormatBool(e.flags.plain), e.switchOrigin("plain", "EYEQ_PLAIN"))
	add("no_color", strconv.FormatBool(e.flags.noColor), e.switchOrigin("no-color", "NO_COLOR"))
	for i := range settings {
		s := &settings[i]
		names := []string{""}
		if s.table == "clusters" {
			if s.key != "namesrv" {
				continue // listed a cluster at a time below
			}
			names = c.clusterNames()
		}
		for _, name := range names {
			if s.table != "clusters" {
				key := strings.TrimPrefix(s.table+"."+s.key, ".")
				add(key, s.show(c, ""), c.originOf(key))
				continue
			}
			for j := range settings {
				if settings[j].table == "clusters" {
					key := "clusters." + name + "." + settings[j].key
					add(key, settings[j].show(c, name), c.originOf(key))
				}
			}
		}
	}
	for _, name := range sortedKeys(c.keys) {
		add("keys."+name, keyBinding.show(c, name), c.originOf("keys."+name))
	}
	return rows
}

// flagOr names a flag that was given, or else says otherwise.
func (e *env) flagOr(name string, otherwise origin) origin {
	if f := e.command; f != nil && f.Flags().Changed(name) {
		return origin("flag --" + name)
	}
	return otherwise
}

func (e *env) switchOrigin(flag, variable string) origin {
	if e.getenv(variable) != "" {
		return e.flagOr(flag, origin("env "+variable))
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
	c := defaultConfig()
	c.clusters["dev"] = &clusterConfig{namesrv: []string{"127.0.0.1:9876"}}
	var b strings.Builder
	b.WriteString(head)
	table := ""
	for i := range settings {
		s := &settings[i]
		header, key := s.table, s.key
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
		fmt.Fprintf(&b, "# %s\n%s%s = %s\n", s.doc, mark(header), key, s.show(c, "dev"))
	}
	b.WriteString(exampleKeys(mark("keys")))
	return b.String()
}

var tableDoc = map[string]string{
	"clusters.dev": "  # one table a cluster; the name is yours",
	"consumer":     "  # the defaults of consume, by RocketMQ's property names",
	"screen":       "",
}
