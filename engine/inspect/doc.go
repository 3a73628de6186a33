// Package inspect answers questions about any group, topic, broker and message of a
// cluster, and changes what may be changed: it resets and pauses groups, and proves
// that it took.
//
// An Inspector asks name servers, brokers and, through brokers, the members of a
// group (307). It asks with bounded parallelism and gives each question a deadline of
// its own, so that a slow broker or a member that does not answer costs its own row
// and nothing else: what could not be learned is an unknown Number with its Reason,
// never a zero. It keeps nothing between two calls but what Inspector says, starts no
// goroutine that outlives a call, and never joins a group or commits for one unless a
// change is asked for by name.
//
// Every change is a plan first. A plan is made by reading only, is shown to whoever
// decides, and is carried out by a second call, which compares what it finds with what
// the plan found and reads back what it has written.
//
// It imports engine/core, remoting and remoting/protocol, and knows no screen, no
// configuration and no engine.
package inspect
