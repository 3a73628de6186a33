package cli

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "rewrite config.example.toml")

func TestMain(m *testing.M) {
	if os.Getenv(crashing) != "" { // we are a test's program: see pty_test.go
		os.Exit(runCrashing())
	}
	flag.Parse()
	if *update {
		if err := os.WriteFile("../../config.example.toml", []byte(exampleConfig()), 0o644); err != nil {
			panic(err)
		}
	}
	status := m.Run()
	if programDir != "" {
		os.RemoveAll(programDir)
	}
	os.Exit(status)
}
