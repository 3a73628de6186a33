// Package tail is the page that reads the messages of a topic, or the dead letters of a
// group, without joining any group: rows, bodies, filters, who consumed a message, dead
// letters sent back, a message consumed once more by a member.
//
// Bodies are foreign and may be large: they are taken apart by commands, and what a view
// keeps of them is bounded.
package tail
