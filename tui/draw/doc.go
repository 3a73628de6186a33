// Package draw is what every view is drawn with: a canvas of cells, frames, bars and
// curves, the theme's styles and glyphs, and the door through which foreign text gets
// onto it.
//
// A canvas takes text that is safe: SafeText makes it so. Everything is for the goroutine
// that draws.
package draw
