// Benchmember is the engine with a listener that only counts: the program that a
// benchmark of push consumers runs beside those of other clients, and the
// smallest example of the engine used as a library.
//
//	benchmember --ns HOST:PORT --group G --topic T --expect N [--mode orderly] [--from-first]
//
// It joins group G, notes the first eight bytes of each body (a big-endian
// sequence number) in a set, leaves in order once N distinct numbers have come,
// or at SIGTERM, and prints one line of JSON:
//
//	{"msgs":DELIVERED,"seconds":S,"dups":DELIVERED-DISTINCT}
//
// where S runs from the first delivery to the Nth. BENCH_PROFILE=tuned in the
// environment raises the batch sizes and limits. docs/performance.md says how it
// is measured.
//
// The listener runs on the engine's workers and owns nothing but atomic
// counters, an atomic set and the trace, a leaf behind a mutex.
package main
