//go:build !unix

package cli

import "os/exec"

// shellCommand runs a command line by the system's interpreter.
func shellCommand(line string) *exec.Cmd { return exec.Command("cmd", "/C", line) }

// killGroup ends the command; what it has started is not known here.
func killGroup(cmd *exec.Cmd) {
	_ = cmd.Process.Kill() // it may have ended
}
