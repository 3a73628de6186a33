//go:build unix

package cli

import (
	"os/exec"
	"syscall"
)

// shellCommand runs a command line by the shell, in a process group of its own: so
// a ctrl-c of the terminal does not reach it, and all of it can be ended.
func shellCommand(line string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", "-c", line)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// killGroup ends the command and what it has started.
func killGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // there may be nobody any more
}
