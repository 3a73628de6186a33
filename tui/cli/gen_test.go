package cli

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "rewrite config.example.toml and golden files")

func TestMain(m *testing.M) {
	flag.Parse()
	if *update {
		if err := os.WriteFile("../../config.example.toml", []byte(exampleConfig()), 0o644); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
