// Package sandbox is an embedded name server and broker, good enough for the
// engine, the demo and the tests. One goroutine owns all its state: requests
// come to it by channel, held pulls and timers included, so nothing is locked.
//
// It imitates a 5.3 broker where the lines differ, unless Options.Line says
// otherwise; each handle_*.go says what it imitates. Memory is bounded: the
// oldest messages go when Options.MaxBytes is passed, as on a broker whose disk
// is full.
package sandbox
