package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

// newGroup is the commands about consumer groups.
func newGroup(e *env) *cobra.Command {
	return family("group", "Consumer groups: who is in them, how far they are, and why",
		newGroupList(e), newGroupShow(e), newGroupMembers(e), newGroupLag(e), newGroupDoctor(e),
		newGroupReset(e), newGroupPause(e), newGroupResume(e), newGroupClone(e), newGroupCreate(e), newGroupDelete(e)) // these change the cluster
}

// groupReader is a command about one group.
func (e *env) groupReader(cmd *cobra.Command, r *reading, once func(ctx context.Context, x *inspection, group, format string) ([]byte, error)) *cobra.Command {
	cmd.Args = oneName("group")
	cmd.ValidArgsFunction = e.completion(true, groupNames)
	r.register(cmd.Flags())
	cmd.RunE = e.cobraRun(func(ctx context.Context, e *env, args []string) error {
		return r.run(ctx, e, cmd, func(ctx context.Context, x *inspection, format string) ([]byte, error) {
			return once(ctx, x, args[0], format)
		})
	})
	return cmd
}

// headLine is one line of a table's head, with what there is to say.
func headLine(format string, args ...any) []byte {
	return []byte(safe(fmt.Sprintf(format, args...)) + "\n") // there are foreign names in most of them
}
