package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"eyeq/tui/page"
)

// TestKeysDocIsTheKeyTable holds docs/keys.md to the table that the screen works with.
func TestKeysDocIsTheKeyTable(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Keys of the screen\n\nMade from the key table in `tui/page/keys.go`, by `go test ./tui/cli -args -update`. The name is what the `[keys]` table of\n" +
		"the configuration calls it; `?` on the screen lists the keys of the view that is shown.\n\n| name | keys | where | does |\n| --- | --- | --- | --- |\n")
	for _, k := range page.Bindings() {
		keys := strings.Split(k.Keys, "/")
		if k.Keys == "/" {
			keys = []string{"/"}
		}
		b.WriteString("| " + k.Name + " | `" + strings.Join(keys, "` `") + "` | " + k.Where + " | " + strings.ReplaceAll(k.Help, "|", `\|`) + " |\n")
	}
	const path = "../../docs/keys.md"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.String(), string(got)); diff != "" {
		t.Errorf("docs/keys.md is not the key table; go test ./tui/cli -args -update writes it (-table +file):\n%s", diff)
	}
}
