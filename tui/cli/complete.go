package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// completeFlag completes a flag by a list of words.
func (e *env) completeFlag(cmd *cobra.Command, flag string, words ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // there is no such flag
	}
}

// namesOutput is a list of names alone.
func namesOutput(names []string, key, format string) ([]byte, error) {
	if format != "json" {
		var rows [][]string
		for _, name := range names {
			rows = append(rows, []string{name})
		}
		return appendTable(nil, "l", rows), nil
	}
	return marshalEach(names, func(name *string) map[string]string { return map[string]string{key: *name} })
}

// contains reports whether a name has a text in it, in any case.
func contains(name, text string) bool {
	return strings.Contains(strings.ToLower(name), strings.ToLower(text))
}

// completeCluster completes --cluster: the names in the configuration.
func (e *env) completeCluster(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	c, err := e.loadConfig()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	names := c.ClusterNames()
	for i, name := range names {
		cl := c.Clusters[name]
		names[i] = fmt.Sprintf("%s\t%s %s", name, strings.Join(cl.Namesrv, ";"), cl.EffectiveMode())
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
