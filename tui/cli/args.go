package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%q: %s takes no argument", args[0], cmd.CommandPath())
	}
	return nil
}

// noSubcommand refuses what is no command of a command that only has others.
func noSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return usagef("there is no command %q: %s has %s", args[0], cmd.CommandPath(), strings.Join(names, ", "))
}

// oneTopic wants one topic, and up to more arguments after it.
func oneTopic(more int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0 || args[0] == "":
			return usagef("which topic? %s", cmd.UseLine())
		case len(args) > 1+more:
			return usagef("%q is one argument too many: %s", args[1+more], cmd.UseLine())
		}
		return nil
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
