package cli

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "rewrite config.example.toml and the golden outputs")

func TestMain(m *testing.M) {
	if os.Getenv(crashing) != "" { // we are a test's program: see pty_test.go
		os.Exit(runCrashing())
	}
	// Most tests wait for a program and use no processor: on two cores the suite takes
	// 30 s with eight of them side by side, and 100 s one by one.
	flag.Set("test.parallel", "8")
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
