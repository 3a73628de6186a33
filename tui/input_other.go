//go:build !unix

package tui

import (
	"os"
	"time"
)

// Consoles of other systems give key presses, not bytes.
const canWaitForInput = false

func inputWithin(*os.File, time.Duration) bool { return false }
