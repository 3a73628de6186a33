package cli

import (
	"fmt"
	"slices"
	"strings"

	"eyeq/tui"
)

// exampleKeys is [keys] of config.example.toml.
func exampleKeys() string {
	var b strings.Builder
	b.WriteString("\n[keys]  # what a key does on the screen; several keys are separated by blanks\n")
	names := tui.BindingNames()
	for _, k := range tui.Bindings() {
		if slices.Contains(names, k.Name) { // the others cannot be changed
			fmt.Fprintf(&b, "# %s (%s)\n%s = %q\n", k.Help, k.Where, k.Name, configKeys(k.Keys))
		}
	}
	return b.String()
}

// configKeys turns keys as the screen shows them ("j/↓") into what the
// configuration takes ("j down").
func configKeys(shown string) string {
	if shown == "/" {
		return shown
	}
	keys := strings.Split(shown, "/")
	for i, k := range keys {
		if name, ok := keyNames[k]; ok {
			keys[i] = name
		}
	}
	return strings.Join(keys, " ")
}

var keyNames = map[string]string{"↑": "up", "↓": "down", "←": "left", "→": "right", "⏎": "enter", "F1": "f1"}
