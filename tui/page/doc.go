// Package page is what every view of the screen is made of: what views share (Env), the
// key table, a question to the cluster with its schedule, a list with its filter and
// order, a catalog whose rows are asked one by one, text fields, dialogs and the form of a
// change.
//
// A view never does: it returns a request, and the root of the program carries it out.
// Views do not know each other; they meet in the root. All of it belongs to the goroutine
// of bubbletea's loop, but for what a Commands runs.
package page
