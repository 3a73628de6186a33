// Package cli is eyeq's command line: the commands, the configuration, and the
// wiring of client, store, engine and screen. It is the one package that may
// import all others, and the only one that knows TOML and cobra.
//
// Main makes the root context and ends it at the first signal; nothing else
// makes one. A command is a function of that context, an env (streams,
// environment, common flags) and its arguments; it returns an error, and
// exitStatus alone turns errors into exit statuses. Nothing but the answer is
// written to standard output.
//
// Goroutines are started by crew.start and by nothing else: it turns a panic
// into the cause that ends the root context, so that the terminal is restored
// before the stack is printed. State: a lineWriter owns what is on its way to
// standard output, a tailer's run goroutine owns its queues, a listener's
// counters are atomic.
//
// The import of tui/background must come with this package: see there.
package cli
