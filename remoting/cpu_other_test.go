//go:build !unix

package remoting_test

import "time"

// cpu is not known here.
func cpu() time.Duration { return 0 }
