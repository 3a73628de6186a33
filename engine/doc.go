// Package engine is RocketMQ's push consumer as a library: one member of one
// group, whose every inside can be seen (Snapshot, Subscribe) and steered
// (control.go) while it runs.
package engine
