// Package change has the dialogs that change something, and what carries their changes
// out: the reset of our own consumer and of any group, pausing and resuming, a decision
// about held messages. Each shows its plan, has the group's name typed, applies what was
// shown, and tells what was read back.
//
// A dialog changes nothing by itself: it returns a request, for which the root runs one of
// the functions of this package.
package change
