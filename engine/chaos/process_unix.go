//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// apart gives a process a group of its own: a ctrl-c of ours is not its.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// What is done to a process that was started apart.
func freezeProcess(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGSTOP) }
func thawProcess(cmd *exec.Cmd) error   { return syscall.Kill(-cmd.Process.Pid, syscall.SIGCONT) }
func killProcess(cmd *exec.Cmd) error   { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
func askToLeave(cmd *exec.Cmd) error    { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
