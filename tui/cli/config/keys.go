package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"eyeq/tui/page"
)

// ExampleKeys is [keys] of config.example.toml; mark goes before each key.
func ExampleKeys(mark string) string {
	var b strings.Builder
	b.WriteString("\n[keys]  # what a key does on the screen; several keys are separated by blanks\n")
	names := page.BindingNames()
	for _, k := range page.Bindings() {
		if slices.Contains(names, k.Name) { // the others cannot be changed
			fmt.Fprintf(&b, "# %s (%s)\n%s%s = %q\n", k.Help, k.Where, mark, k.Name, DocKeys(k.Keys))
		}
	}
	return b.String()
}

// DocKeys turns keys as the screen shows them ("j/↓") into what the
// configuration takes ("j down").
func DocKeys(shown string) string {
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

// CheckSent refuses a key that no terminal sends: the screen would wait for it for ever.
// What is no key at all is left to tui.CheckKeys.
func CheckSent(keys string) error {
	for _, shown := range strings.Fields(keys) {
		key, _ := strings.CutPrefix(strings.Replace(shown, "alt-", "alt+", 1), "alt+")
		for _, modifier := range []string{"ctrl", "shift"} {
			if rest, ok := strings.CutPrefix(key, modifier+"-"); ok && rest != "" {
				key = modifier + "+" + rest
			}
		}
		if len([]rune(key)) > 1 && key != "space" && !sentKeys[key] {
			return fmt.Errorf("%q is a key that no terminal sends: a character, ctrl-a to ctrl-z without ctrl-i and ctrl-m, alt-x, f1 to f20, or a name such as enter, tab, up, pgdown", shown)
		}
	}
	return nil
}

// sentKeys are the keys that a terminal sends and the screen's library names, but
// characters. ctrl-i and ctrl-m are tab and enter by other names.
var sentKeys = func() map[string]bool {
	moves := []string{"up", "down", "left", "right", "home", "end"}
	names := map[string]bool{"shift+tab": true, "ctrl+pgup": true, "ctrl+pgdown": true}
	for _, k := range append([]string{"enter", "tab", "esc", "pgup", "pgdown", "insert", "delete", "backspace"}, moves...) {
		names[k] = true
	}
	for _, k := range moves {
		names["shift+"+k], names["ctrl+"+k] = true, true
	}
	for _, c := range "abcdefghjklnopqrstuvwxyz@\\]^_" {
		names["ctrl+"+string(c)] = true
	}
	for n := range 20 {
		names[fmt.Sprintf("f%d", n+1)] = true
	}
	return names
}()

// clashingKey finds the entry of [keys] to blame: the last in the file without which
// the others agree, or where there are several clashes, the first that makes one.
func clashingKey(keys map[string]string, lines keyIndex) string {
	names := slices.SortedFunc(maps.Keys(keys), func(a, b string) int {
		return cmp.Or(cmp.Compare(lines.find([]string{"keys", a}), lines.find([]string{"keys", b})), cmp.Compare(a, b))
	})
	for _, name := range slices.Backward(names) {
		without := maps.Clone(keys)
		delete(without, name)
		if page.CheckKeys(without) == nil {
			return name
		}
	}
	some := map[string]string{}
	for _, name := range names {
		if some[name] = keys[name]; page.CheckKeys(some) != nil {
			return name
		}
	}
	return ""
}
