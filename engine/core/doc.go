// Package core holds the consumer's decisions as pure functions and plain
// structures: what to pull, what a result means, who gets which queue, where to
// start, when to retry. It reads no clock, calls nobody, keeps no lock and starts
// no goroutine; times come in as values. Of package protocol it uses the nouns.
//
// A ProcessQueue is owned by one goroutine of package engine.
package core
