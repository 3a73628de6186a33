package config

import (
	"maps"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

func TestKeyLines(t *testing.T) {
	const text = "\ufeff# a comment\r\n" +
		"a = 1\r\n" +
		"text = \"\"\"\n" +
		"no_key = 1\n" +
		"[no.table]\n" +
		"\"\"\"\n" +
		"[clusters . \"x.y\"]\n" +
		"namesrv = [\n" +
		"  \"h:1\", # no_key = 2\n" +
		"]\n" +
		"tls = { enable = true, deep = { ca = \"c\" } }\n" +
		"auth.'access_key' = \"k\"\n" +
		"auth.secret_key = \"s\"\n"
	if _, err := toml.Decode(text, &map[string]any{}); err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for key, line := range KeyLines(text) {
		got[strings.ReplaceAll(key, "\x00", "/")] = line
	}
	want := map[string]int{
		"a": 2, "text": 3, "clusters": 7, "clusters/x.y": 7, "clusters/x.y/namesrv": 8,
		"clusters/x.y/tls": 11, "clusters/x.y/tls/enable": 11, "clusters/x.y/tls/deep": 11, "clusters/x.y/tls/deep/ca": 11,
		"clusters/x.y/auth": 12, "clusters/x.y/auth/access_key": 12, "clusters/x.y/auth/secret_key": 13,
	}
	if !maps.Equal(got, want) {
		t.Errorf("lines = %v, want %v", got, want)
	}
	if line := KeyLines(text).find([]string{"clusters", "x.y", "none"}); line != 7 {
		t.Errorf("the line around a key that is not there = %d, want 7", line)
	}
}
