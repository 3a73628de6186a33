//go:build !unix

package audit

import (
	"os"
	"time"
)

// lockFile: a line is written at once, which has to do here.
func lockFile(*os.File, time.Duration) error { return nil }
