package cli

import (
	"github.com/spf13/cobra"
)

// newGroup is the commands about consumer groups.
func newGroup(e *env) *cobra.Command {
	return family("group", "Consumer groups: who is in them, how far they are, and why",
		newGroupList(e), newGroupShow(e), newGroupMembers(e), newGroupLag(e), newGroupDoctor(e),
		newGroupReset(e), newGroupPause(e), newGroupResume(e), newGroupClone(e), newGroupCreate(e), newGroupDelete(e)) // these change the cluster
}
