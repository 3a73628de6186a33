// Package live shows a group at work: who holds which queue, how far each queue is, what
// stops it, and what happens. A Source is our own consumer, told by snapshots and events
// of its engine, or any group that is watched, told by pictures that a cluster gives of it;
// views draw either from a Picture.
//
// Foreign text of a snapshot is made safe once, where it comes in (door.go).
package live
