// Package words says how things are written, for the screen, for lines and for commands
// alike: numbers, rates, ages and times of day, what an error comes down to, and what an
// event tells.
//
// What is not known is Unknown, and what there is none of is None; neither is a zero. The
// texts of an EventRow are safe to print.
package words
