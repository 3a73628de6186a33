// Package tui is the screen: it shows what a consumer of this process does while it
// does it, and any group, topic and broker of a cluster as those tell of themselves,
// and lets an operator change what may be changed.
//
// bubbletea's loop owns all view state. The root model (app.go) sizes, routes keys
// by the table in keys.go and stacks dialogs; each view and dialog is a struct held
// by value with update and view. The engine never calls the screen and never waits
// for it: snapshots are read by a tick command, events by a command that is issued
// again after each answer. A cluster is asked by questions (question.go) for as long
// as their answers are shown. Only commands call an Engine or a Cluster, and only they
// read and write files: they are methods of type commands, started by bubbletea on
// goroutines of their own, change no model, and end with Run's context.
//
// What comes from a message, a broker or another member passes the door (door.go)
// once and is safe to print afterwards. Numbers come from snapshots and from
// differences of their counters; what is not known is shown as "?" or "–".
//
// The package must not import remoting or its packages, toml or cobra, and reads no
// configuration and no environment: package tui/cli hands everything over in Options.
// The files that it touches are those that an operator names: what is saved, and saved
// offsets.
package tui
