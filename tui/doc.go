// Package tui is the screen: it shows what a consumer engine does while it does
// it, and lets an operator pause, resume and reset.
//
// bubbletea's loop owns all view state. The root model (app.go) sizes, routes keys
// by the table in keys.go and stacks dialogs; each view and dialog is a struct held
// by value with update and view. The engine never calls the screen and never waits
// for it: snapshots are read by a tick command, events by a command that is issued
// again after each answer (cmd.go holds all calls of an Engine). Commands are the
// only goroutines, started by bubbletea; all end with Run's context.
//
// What comes from a message, a broker or another member passes the door (door.go)
// once and is safe to print afterwards. Numbers come from snapshots and from
// differences of their counters; what is not known is shown as "?" or "–".
//
// The package must not import remoting or its packages, toml or cobra, and never
// reads files or the environment: package tui/cli hands everything over in Options.
package tui
