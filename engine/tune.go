package engine

import (
	"os"
	"runtime"
)

// heapFloor keeps the collector from running each time 4 MB were allocated,
// which is what it does while the live heap is as small as a consumer's. It is
// address space, not memory: it is never written to.
const heapFloor = 12 << 20

// TuneProcess sets a program up whose work is a consumer, and returns what gives
// the heap floor back. It is for main functions: a process has one setting.
//
// One processor, unless GOMAXPROCS says otherwise: handing a pull's messages
// from the connection to the queue and to a worker costs a few hundred
// nanoseconds on one processor and several microseconds when the scheduler wakes
// a second one for it. One is enough for more than half a million messages a
// second, and never takes more than a core of the machine that eyeq looks at.
func TuneProcess() (release func()) {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
	floor := make([]byte, heapFloor)
	return func() { runtime.KeepAlive(floor) }
}
