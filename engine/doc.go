// Package engine is RocketMQ's push consumer as a library: one member of one
// group, whose every inside can be seen (Snapshot, Subscribe) and steered
// (Pause, Resume, ResetOffset, Held, Settle) while it runs. The rules are those of
// Apache RocketMQ's Java client 5.3 but where that is known to lose, repeat or
// stall; decisions are in package core, bytes and connections in package
// remoting, and the screen looks in from outside and never holds anything up.
//
// # Who owns what
//
// The coordinator (Run's own goroutine; coordinator.go, rebalance.go,
// heartbeat.go, broker.go) owns subscriptions, members, the assignment, pauses and the
// health of brokers. One goroutine a queue (queue*.go) owns that queue's
// ProcessQueue, next offset, lock and the pull in flight. The pool's workers
// (pool.go, concurrent.go, orderly.go) run the listener. The persister writes
// committed offsets; the observer asks brokers about all queues while somebody
// calls Snapshot. They reach each other by mailboxes, which never make a sender
// wait, and by channels that their reader always drains. Calls to brokers happen
// on goroutines of their own, whose answers come back as commands.
//
// # The life of a queue
//
// Taken (its lock, when orderly, and its start offset), active (pulling and
// consuming), dropping (nothing more is handed out, running listeners are waited
// for), gone; then its offset is made durable and its lock given back. Everything
// handed out carries the queue's generation; a reset and the end take the next
// one, and what comes back under an older one is void.
//
// # Goroutines
//
// All are started by Engine.start or guard and waited for by Run. A panic in one
// cancels the engine, and Run returns it as a *PanicError.
//
// It must not import the screen, the command line or package store: it declares
// the OffsetStore that it needs.
package engine
