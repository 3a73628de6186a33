// Chaos proves the consumer beside stock Java members on a real cluster of its
// own: members join, leave, are killed, frozen and cut off, the broker is killed
// and started again, and at the end every message has to be where it belongs.
//
//	go run ./engine/chaos -length 15m -seed 1
//
// It starts a name server and a broker (.ci/cluster), sends keyed messages at a
// steady rate to a topic that two groups read, a concurrent and an orderly one,
// and plays a plan of events on their members. It prints a table and ends with
// status 1 when a message was lost, the order of a queue was broken, a queue
// stayed without an owner for too long, or a message came twice for no reason
// that the plan explains. docs/reliability.md tells the rules and the figures.
//
// # Parts
//
// The plan (plan.go) is a pure function of seed, length and profile. The
// director (director.go) plays it on the cast (member.go: processes, each behind
// a proxy of its own, proxy.go). Members' lines (line.go) go into the ledger,
// with what the producer sent and what the broker says is committed. The judge
// (judge.go, order.go, duplicates.go, owned.go) makes a verdict of a ledger and
// touches nothing else: -judge gives one of a ledger that was kept.
//
// # Goroutines
//
// Each is started by run or by what run made, ends with its context or its
// process, and is waited for. The ledger is a leaf behind a mutex.
package main
