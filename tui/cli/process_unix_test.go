//go:build unix

package cli

import (
	"os/exec"
	"syscall"
)

// crashSignal has the program of crashing panic.
const crashSignal = syscall.SIGUSR1

// ownGroup puts a command in a process group of its own, which killGroup ends as a whole.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// stopGroup asks a command and what it has started to end.
func stopGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) // there may be nobody any more
}

// ownTerminal makes a command's standard input the terminal that it runs on.
func ownTerminal(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
}

// makePipe makes a pipe that has a name.
func makePipe(path string) error { return syscall.Mkfifo(path, 0o600) }
