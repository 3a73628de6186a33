package cli

import (
	"path/filepath"

	"github.com/adrg/xdg"
)

// configPath is where the configuration is when --config does not say.
func configPath(getenv func(string) string) string {
	return filepath.Join(dirOf(getenv, "XDG_CONFIG_HOME", xdg.ConfigHome), "eyeq", "config.toml")
}

// stateDir holds the log of the screen.
func stateDir(getenv func(string) string) string {
	return filepath.Join(dirOf(getenv, "XDG_STATE_HOME", xdg.StateHome), "eyeq")
}

// offsetDir is where the Java client keeps a broadcasting group's offsets.
func offsetDir() string { return filepath.Join(xdg.Home, ".rocketmq_offsets") }

func dirOf(getenv func(string) string, variable, otherwise string) string {
	if d := getenv(variable); filepath.IsAbs(d) {
		return d
	}
	return otherwise
}

// saveDir is where offsets are saved before they are changed.
func saveDir(getenv func(string) string) string { return filepath.Join(stateDir(getenv), "offsets") }
