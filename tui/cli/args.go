package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"eyeq/engine"
	"eyeq/remoting/protocol"
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

// family is a command that only has others.
func family(name, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: name, Short: short, Args: noSubcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(commands...)
	return cmd
}

// helpOf gives the help of a command, and refuses what is none: cobra's own would give
// the root's help and status 0.
func helpOf(cmd *cobra.Command, args []string) error {
	of, rest, err := cmd.Root().Find(args)
	switch {
	case err != nil:
		return usagef("%w", err)
	case len(rest) > 0 && of.HasParent() && of.HasSubCommands():
		return noSubcommand(of, rest)
	case len(rest) > 0:
		return usagef("there is no command %q", strings.Join(args, " "))
	}
	of.InitDefaultHelpFlag() // as cobra's own does: it is made when a command runs
	return of.Help()
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
		return checkTopic(args[0])
	}
}

// checkTopic refuses what cannot be a topic's name, by the rules of consume. Behind
// the prefix of a retry or dead letter topic there is a group.
func checkTopic(topic string) error {
	o := engine.DefaultOptions()
	o.Group, o.Subscriptions = "g", []engine.Subscription{{Topic: topic}}
	for _, prefix := range []string{protocol.RetryTopicPrefix, protocol.DLQTopicPrefix} {
		if group, ok := strings.CutPrefix(topic, prefix); ok {
			o.Group, o.Subscriptions = group, []engine.Subscription{{Topic: "t"}}
		}
	}
	if ce, ok := errors.AsType[*engine.ConfigError](o.Validate()); ok {
		return usagef("topic %q: %s", topic, ce.Rule)
	}
	return nil
}
