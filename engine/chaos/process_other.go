//go:build !unix

package main

import (
	"errors"
	"os/exec"
)

var errNoSignals = errors.New("a chaos run freezes and stops processes by signals: it needs a Unix")

func apart(*exec.Cmd) {}

func freezeProcess(*exec.Cmd) error { return errNoSignals }
func thawProcess(*exec.Cmd) error   { return errNoSignals }
func killProcess(*exec.Cmd) error   { return errNoSignals }
func askToLeave(*exec.Cmd) error    { return errNoSignals }
