package cli

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"

	"eyeq/engine/audit"
	"eyeq/tui/cli/config"
)

// auditPath is the file that every change is noted in.
func (e *env) auditPath() string { return filepath.Join(config.StateDir(e.getenv), "audit.jsonl") }

// recorded makes a change between its two lines in the audit file: do is not called
// when the first cannot be written. do returns what was read back, for the second.
func (e *env) recorded(t *target, entry audit.Entry, do func() (after any, err error)) error {
	return e.recordedInParts(t, entry, func(audit.Part) (any, error) { return do() })
}

// recordedInParts is recorded for a change of many, which notes each of its parts.
func (e *env) recordedInParts(t *target, entry audit.Entry, do func(part audit.Part) (after any, err error)) error {
	return audit.NoteInParts(e.audit(t), entry, func(part audit.Part) (after any, failed, err error) {
		after, err = do(part)
		e.noted = e.auditPath()
		return after, err, err
	})
}

// audit returns what notes the changes of a target.
func (e *env) audit(t *target) audit.Begin {
	return e.changes.Begin(audit.Origin{Operator: e.operator(), Cluster: t.name, Namesrv: t.namesrv, AccessKey: t.accessKey})
}

// operator is who runs this program: behind sudo, who called it.
func (e *env) operator() string {
	for _, name := range []string{"SUDO_USER", "USER", "LOGNAME"} {
		if v := e.getenv(name); v != "" {
			return v
		}
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return fmt.Sprintf("uid %d", os.Getuid())
}
