//go:build !unix

package cli

import (
	"errors"
	"os/exec"
	"syscall"
)

// crashSignal stands for one that there is not: without a pseudo terminal nobody sends it.
const crashSignal = syscall.SIGTERM

func ownGroup(*exec.Cmd) {}

func stopGroup(cmd *exec.Cmd) { killGroup(cmd) }

func ownTerminal(*exec.Cmd) {}

func makePipe(string) error { return errors.ErrUnsupported }
