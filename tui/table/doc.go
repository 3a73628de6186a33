// Package table lays out and draws virtual tables: only the visible rows are ever
// asked for. A Layout says which columns fit into a width and where they stand; a
// State remembers cursor, window, marks and order by the rows' keys, so that a row
// stays selected when the rows move.
//
// A cell is plain text and a style. Text is measured and cut first and styled
// afterwards, since styled text that is cut loses its reset. The only measure is
// Width, which keeps room for the terminal that draws a text widest; text must have
// been made safe before.
//
// The package owns no state of its own, starts no goroutine and knows no engine.
package table
