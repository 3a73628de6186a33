package cli

import (
	"context"
	"eyeq/tui/cli/config"

	"github.com/spf13/cobra"
)

func newVersion(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version (-o text|json)",
		Args:  noArgs,
		RunE: e.cobraRun(func(_ context.Context, e *env, _ []string) error {
			format, err := e.format("text", "json")
			if err != nil {
				return err
			}
			v := versionOf()
			if format == "json" {
				out, err := marshal(v)
				if err != nil {
					return err
				}
				return e.write(out)
			}
			return e.write([]byte(v.String() + "\n"))
		}),
	}
}

func newCompletion(e *env) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print the completion script of bash, zsh, fish or powershell",
		Long: `Prints a script by which a shell completes commands, flags, and the names of clusters, groups,
topics and brokers: these are asked for at the cluster that the line names or the configuration.
The script of bash needs the package bash-completion.`,
		Example: `  source <(eyeq completion bash)                               in ~/.bashrc
  source <(eyeq completion zsh)                                in ~/.zshrc, after compinit
  eyeq completion fish > ~/.config/fish/completions/eyeq.fish`,
		ValidArgs: shells,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("which shell? %s", config.OrList(shells))
			}
			return nil
		},
		RunE: e.cobraRun(func(_ context.Context, e *env, args []string) error {
			root := e.command.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(e.stdout, true)
			case "zsh":
				return root.GenZshCompletion(e.stdout)
			case "fish":
				return root.GenFishCompletion(e.stdout, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(e.stdout)
			}
			return usagef("%q: must be %s", args[0], config.OrList(shells))
		}),
	}
}
