// Package sandbox is an embedded name server and broker, good enough for the
// engine, the demo and the tests.
//
// One goroutine, in loop.run, owns all state: topics and messages, groups,
// members, offsets, locks and held pulls of all brokers, and the one timer that
// serves everything that is due later. Connections' read goroutines hand it
// requests by channel, the methods of Sandbox hand it functions to run, so
// nothing is locked but two leaves: the in-memory network's table of listeners
// and the outbox of each connection. Besides there run, all ended by Close: an
// accept loop for each address, the goroutines of package remoting's
// connections, one that empties each connection's outbox (a peer that does not
// read makes only that one wait), and one for each request that is under way to
// a member.
//
// It imitates a 5.3 broker, or with Options.Line "4" a 4.9 one; each handle_*.go
// says where they differ. The conformance tests run over the sandbox and real
// brokers alike. Not imitated are transactions, timers, POP, SQL filters,
// static topics, rights (signatures are checked where Options.Users names users) and
// heartbeat v2.
//
// Memory is bounded: the oldest messages go when Options.MaxBytes is passed, as
// on a broker whose disk is full. Nothing is polled; an idle sandbox costs
// nothing.
//
// It imports remoting and remoting/protocol, nothing else of eyeq.
package sandbox
