package config

import (
	"path/filepath"

	"github.com/adrg/xdg"
)

// Path is where the configuration is when --config does not say.
func Path(getenv func(string) string) string {
	return filepath.Join(dirOf(getenv, "XDG_CONFIG_HOME", xdg.ConfigHome), "eyeq", "config.toml")
}

// StateDir holds the log of the screen.
func StateDir(getenv func(string) string) string {
	return filepath.Join(dirOf(getenv, "XDG_STATE_HOME", xdg.StateHome), "eyeq")
}

// OffsetDir is where the Java client keeps a broadcasting group's offsets.
func OffsetDir() string { return filepath.Join(xdg.Home, ".rocketmq_offsets") }

func dirOf(getenv func(string) string, variable, otherwise string) string {
	if d := getenv(variable); filepath.IsAbs(d) {
		return d
	}
	return otherwise
}

// SaveDir is where offsets are saved before they are changed.
func SaveDir(getenv func(string) string) string { return filepath.Join(StateDir(getenv), "offsets") }
