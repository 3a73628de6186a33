// Package audit notes every change of a cluster in a file, before it is made and after.
//
// A change is an Entry. Whoever makes it asks Begin first, and makes it only when that
// returns no error; Note and NoteInParts do so around a function. What a screen's change
// and a command's change say is made in one place, so that their lines are alike.
package audit
