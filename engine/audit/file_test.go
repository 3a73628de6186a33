package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// auditFile is an audit file in a folder of the test.
func auditFile(t *testing.T) *File {
	t.Helper()
	return &File{Path: filepath.Join(t.TempDir(), "eyeq", "audit.jsonl"), Now: func() time.Time { return time.Date(2026, 11, 29, 14, 2, 7, 123e6, time.UTC) }}
}

// audited are the lines of an audit file.
func audited(t *testing.T, path string) []map[string]any {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var lines []map[string]any
	for line := range strings.Lines(string(text)) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("audit line %q: %v", line, err)
		}
		lines = append(lines, m)
	}
	return lines
}

var origin = Origin{Operator: "wang", Cluster: "prod", Namesrv: []string{"ns:9876"}, AccessKey: "ops"}

// noted makes a change that comes from origin.
func noted(f *File, e Entry, do func() (after any, err error)) error {
	return Note(f.Begin(origin), e, func() (after any, failed, err error) {
		after, err = do()
		return after, err, err
	})
}

func TestAuditHasALineBeforeAndAfter(t *testing.T) {
	for name, failure := range map[string]error{"done": nil, "failed": errors.New("broker-b is away")} {
		t.Run(name, func(t *testing.T) {
			f := auditFile(t)
			entry := Entry{Command: "group reset", Group: "g", Topic: "t", Reason: "bad batch\n7781", Before: []int{7}, After: []int{0}}
			err := noted(f, entry, func() (any, error) {
				if lines := audited(t, f.Path); len(lines) != 1 || lines[0]["phase"] != "begin" {
					t.Errorf("while it is made the file has %v", lines)
				}
				return []int{1}, failure
			})
			if !errors.Is(err, failure) {
				t.Errorf("error %v, want %v", err, failure)
			}
			lines := audited(t, f.Path)
			if len(lines) != 2 || lines[0]["id"] != lines[1]["id"] || lines[0]["id"] == "" {
				t.Fatalf("lines %v", lines)
			}
			host, _ := os.Hostname()
			for key, want := range map[string]any{
				"time": "2026-11-29T14:02:07.123Z", "phase": "end", "operator": "wang", "host": host, "pid": float64(os.Getpid()),
				"cluster": "prod", "access_key": "ops", "command": "group reset", "group": "g", "topic": "t", "reason": "bad batch\n7781", "result": name,
			} {
				if lines[1][key] != want {
					t.Errorf("%s = %v, want %v", key, lines[1][key], want)
				}
			}
			if got := fmt.Sprint(lines[1]["before"], lines[1]["wanted"], lines[1]["after"], lines[1]["namesrv"]); got != "[7] [0] [1] [ns:9876]" {
				t.Errorf("before, wanted, after, namesrv = %s", got)
			}
			if got := fmt.Sprint(lines[1]["error"]); failure != nil && got != failure.Error() {
				t.Errorf("error = %s", got)
			}
			if s, err := os.Stat(f.Path); err != nil || s.Mode().Perm() != 0o600 {
				t.Errorf("mode %v, %v", s.Mode(), err)
			}
		})
	}
}

// What cannot be noted is not done.
func TestAuditThatCannotBeWrittenStopsTheChange(t *testing.T) {
	spoil := map[string]func(t *testing.T, path string){
		"a folder": func(t *testing.T, path string) { must(t, os.MkdirAll(path, 0o700)) },
		"a pipe": func(t *testing.T, path string) {
			must(t, os.MkdirAll(filepath.Dir(path), 0o700))
			if err := makePipe(path); errors.Is(err, errors.ErrUnsupported) {
				t.Skip("this system has no pipes with a name")
			} else {
				must(t, err)
			}
		},
		"no folder": func(t *testing.T, path string) { must(t, os.WriteFile(filepath.Dir(path), nil, 0o600)) },
	}
	for name, spoil := range spoil {
		t.Run(name, func(t *testing.T) {
			f := auditFile(t)
			spoil(t, f.Path)
			err := noted(f, Entry{Command: "group reset"}, func() (any, error) {
				t.Error("the change was made")
				return nil, nil
			})
			if err == nil || !strings.Contains(err.Error(), "nothing was changed, because it cannot be noted in the audit file") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A file that goes away between the two lines: the change is told to have been made.
func TestAuditThatFailsAfterwardsIsTold(t *testing.T) {
	f := auditFile(t)
	err := noted(f, Entry{Command: "group reset"}, func() (any, error) {
		must(t, os.Remove(f.Path))
		must(t, os.Mkdir(f.Path, 0o700))
		return nil, nil
	})
	if err == nil || !strings.Contains(err.Error(), "group reset was carried out (done), but the audit file does not say so") {
		t.Errorf("error %v", err)
	}
}

func TestAuditAppends(t *testing.T) {
	f := auditFile(t)
	// What a crash left of a line does not spoil the next one.
	must(t, os.MkdirAll(filepath.Dir(f.Path), 0o700))
	must(t, os.WriteFile(f.Path, []byte(`{"time":"2026`), 0o600))
	large := strings.Repeat("x", 100<<10)
	var writers sync.WaitGroup
	const n = 8
	for range n {
		writers.Go(func() {
			process := &File{Path: f.Path, Now: f.Now} // each writer stands for one
			if err := noted(process, Entry{Command: "c", Before: large}, func() (any, error) { return large, nil }); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	text, err := os.ReadFile(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	broken, rest, _ := strings.Cut(string(text), "\n")
	if broken != `{"time":"2026` {
		t.Errorf("the file begins with %q", broken)
	}
	must(t, os.WriteFile(f.Path, []byte(rest), 0o600))
	if lines := audited(t, f.Path); len(lines) != 2*n {
		t.Errorf("%d whole lines, want %d", len(lines), 2*n)
	}
}

// What the program cannot wait for has an end all the same, and only one; a change that
// has ended has none of it. The second end finds another process at work on the file.
func TestAuditOfAChangeThatIsInterrupted(t *testing.T) {
	f := auditFile(t)
	begin := func(command string) Record {
		r, err := f.Begin(origin)(Entry{Command: command})
		must(t, err)
		return r
	}
	must(t, begin("group pause").Done(nil, nil))
	record := begin("group reset")
	f.Interrupt()
	must(t, record.Done([]int{1}, nil))
	var got []string
	for _, l := range audited(t, f.Path) {
		got = append(got, fmt.Sprintf("%v %v %v %v", l["command"], l["phase"], l["result"], l["after"]))
	}
	want := []string{"group pause begin <nil> <nil>", "group pause end done <nil>", "group reset begin <nil> <nil>", "group reset end interrupted <nil>"}
	if !slices.Equal(got, want) {
		t.Errorf("lines %q, want %q", got, want)
	}
}

// What was read back and cannot be written does not cost the last line.
func TestAuditEndsWhateverWasReadBack(t *testing.T) {
	f := auditFile(t)
	err := noted(f, Entry{Command: "c"}, func() (any, error) { return math.NaN(), nil })
	if lines := audited(t, f.Path); err == nil || len(lines) != 2 || lines[1]["phase"] != "end" || lines[1]["after"] != nil {
		t.Errorf("error %v, lines %v", err, lines)
	}
}

// Of many messages no more are sent when those before cannot be noted.
func TestAuditPartThatCannotBeWrittenStopsTheRest(t *testing.T) {
	f := auditFile(t)
	err := NoteInParts(f.Begin(origin), Entry{Command: "message resend"}, func(part Part) (any, error, error) {
		must(t, part(nil, []int{1}))
		must(t, os.Remove(f.Path))
		must(t, os.Mkdir(f.Path, 0o700))
		err := part(nil, []int{2})
		return nil, err, err
	})
	if err == nil || !strings.Contains(err.Error(), "message resend: no more was changed, because the audit file does not take what was") {
		t.Errorf("error %v", err)
	}
}
