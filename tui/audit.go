package tui

// AuditEntry says what is about to be changed, for the audit file.
type AuditEntry struct {
	Command      string // as on the command line: "group reset"
	Group, Topic string
	Reason       string // the operator's words
	// Before is what is there now and After what is wanted; they become JSON.
	Before, After any
}

// Audit notes a change before it is made; when it returns an error nothing may be
// changed. done notes how it came out, whether it succeeded or not: after is what was
// read back, nil when nothing was. It is called once, and its error says that the
// change was made but could not be noted.
type Audit func(entry AuditEntry) (done func(after any, err error) error, err error)
