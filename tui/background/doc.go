// Package background keeps bubbletea from asking the terminal for its background
// colour. bubbletea v1 asks in a package init and waits up to 5 s for an answer, so
// on a terminal that stays silent (some serial consoles, naive harnesses, a pty
// nobody reads) every command of the program, --help included, would stall.
//
// Setting the answer beforehand prevents the question. Go initialises ready
// packages in order of their import path, so this works only while this path,
// "eyeq/tui/background", sorts before "github.com/charmbracelet/bubbletea"; the
// packages it needs itself (lipgloss) do not ask. That is one reason why the module
// is called eyeq. Package tui/cli imports it for its effect.
//
// A package that imports bubbletea must not be imported here, in a test of this
// package neither.
//
// It owns nothing, starts no goroutine and must import nothing but lipgloss: any
// import of a package that sorts later would be initialised first.
package background
