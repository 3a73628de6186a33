package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// auditRecord is a change whose first line is written.
type auditRecord struct {
	env     *env
	line    auditLine
	ended   atomic.Bool   // somebody writes the last line, or has
	written chan struct{} // closed when it is
}

// part notes what is made next, or what became of it.
func (r *auditRecord) part(wanted, after any) error {
	part := r.line
	part.Phase, part.Time, part.Before = "part", jsonTime(r.env.now()), nil
	var err error
	part.Wanted, err = json.Marshal(wanted)
	if err == nil {
		part.After, err = json.Marshal(after)
	}
	if err == nil {
		err = r.env.appendAudit(part, auditLockLimit)
	}
	if err != nil {
		return fmt.Errorf("%s: no more was changed, because the audit file does not take what was: %w", r.line.Command, err)
	}
	return nil
}

// done notes the end.
func (r *auditRecord) done(after any, failed error) error {
	result, words := "done", ""
	if failed != nil {
		result, words = "failed", failed.Error()
	}
	return r.end(after, result, words, auditLockLimit)
}

// end writes the last line, unless that was done already.
func (r *auditRecord) end(after any, result, words string, limit time.Duration) error {
	if !r.ended.CompareAndSwap(false, true) {
		return nil
	}
	defer close(r.written)
	defer r.env.changes.end(r)
	end := r.line
	end.Phase, end.Time, end.Result, end.Error = "end", jsonTime(r.env.now()), result, words
	var unread error
	if end.After, unread = json.Marshal(after); unread != nil {
		end.After = nil // the line is worth more than what was read back
	}
	err := r.env.appendAudit(end, limit)
	if err == nil {
		err = unread
	}
	if err != nil {
		return fmt.Errorf("%s was carried out (%s), but the audit file does not say so: %w", r.line.Command, result, err)
	}
	return nil
}

// hardEndLimit is how long an end that waits for nothing waits for the audit file.
const hardEndLimit = 500 * time.Millisecond

// openChanges are the changes whose last line is not written.
type openChanges struct {
	mu   sync.Mutex // guards list
	list []*auditRecord
}

func (o *openChanges) begin(r *auditRecord) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = append(o.list, r)
}

func (o *openChanges) end(r *auditRecord) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = slices.DeleteFunc(o.list, func(other *auditRecord) bool { return other == r })
}

// interrupt notes of all that what became of them is not known, for an end of the
// program that waits for nothing. A line that is being written is waited for.
func (o *openChanges) interrupt() {
	o.mu.Lock()
	list := slices.Clone(o.list)
	o.mu.Unlock()
	late := time.NewTimer(2 * hardEndLimit)
	defer late.Stop()
	for _, r := range list {
		go r.end(nil, "interrupted", "eyeq was ended before it was known what became of the change: look at the group", hardEndLimit) // nobody is left to tell
		select {
		case <-r.written:
		case <-late.C:
			return
		}
	}
}
