package audit

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"eyeq/engine/inspect"
)

// record is a change whose first line is written.
type record struct {
	file    *File
	line    Line
	ended   atomic.Bool   // somebody writes the last line, or has
	written chan struct{} // closed when it is
}

// part notes what is made next, or what became of it.
func (r *record) part(wanted, after any) error {
	part := r.line
	part.Phase, part.Time, part.Before = "part", inspect.JSONTime(r.file.Now()), nil
	var err error
	part.Wanted, err = json.Marshal(wanted)
	if err == nil {
		part.After, err = json.Marshal(after)
	}
	if err == nil {
		err = r.file.append(part, lockLimit)
	}
	if err != nil {
		return fmt.Errorf("%s: no more was changed, because the audit file does not take what was: %w", r.line.Command, err)
	}
	return nil
}

// done notes the end.
func (r *record) done(after any, failed error) error {
	result, words := "done", ""
	if failed != nil {
		result, words = "failed", failed.Error()
	}
	return r.end(after, result, words, lockLimit)
}

// end writes the last line, unless that was done already.
func (r *record) end(after any, result, words string, limit time.Duration) error {
	if !r.ended.CompareAndSwap(false, true) {
		return nil
	}
	defer close(r.written)
	defer r.file.end(r)
	end := r.line
	end.Phase, end.Time, end.Result, end.Error = "end", inspect.JSONTime(r.file.Now()), result, words
	var unread error
	if end.After, unread = json.Marshal(after); unread != nil {
		end.After = nil // the line is worth more than what was read back
	}
	err := r.file.append(end, limit)
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

func (f *File) begin(r *record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open = append(f.open, r)
}

func (f *File) end(r *record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open = slices.DeleteFunc(f.open, func(other *record) bool { return other == r })
}

// Interrupt notes of all changes that are under way that what became of them is not known, for an end of the
// program that waits for nothing. A line that is being written is waited for.
func (f *File) Interrupt() {
	f.mu.Lock()
	open := slices.Clone(f.open)
	f.mu.Unlock()
	late := time.NewTimer(2 * hardEndLimit)
	defer late.Stop()
	for _, r := range open {
		go r.end(nil, "interrupted", "eyeq was ended before it was known what became of the change: look at the group", hardEndLimit) // nobody is left to tell
		select {
		case <-r.written:
		case <-late.C:
			return
		}
	}
}
