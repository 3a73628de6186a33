package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"eyeq/remoting/sandbox/sandboxtest"
)

// A damaged offset file (T03 and T43 of docs/conformance): its backup is used, and that is
// said; without one to trust the start stops, names the files and what to do, and
// nothing is read from wherever a member without offsets would begin.
func TestBroadcastDamagedOffsetFile(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	put(t, sb, "orders", 6)
	consumeOnce := func(dir string, more ...string) *program {
		args := consume(namesrv, "g", "--broadcast", "--offset-dir", dir, "--client-id", "c1", "--idle-exit", "500ms")
		return runs(t, append(args, more...))
	}
	// Two runs: the backup holds what the first has written, offset 6, the file 8.
	whole := t.TempDir()
	consumeOnce(whole).want(t, statusDone, "")
	put(t, sb, "orders", 2)
	consumeOnce(whole).want(t, statusDone, "")
	name := filepath.Join("c1", "g", "offsets.json")
	content, err := os.ReadFile(filepath.Join(whole, name))
	if err != nil {
		t.Fatal(err)
	}
	backup, err := os.ReadFile(filepath.Join(whole, name+".bak"))
	if err != nil {
		t.Fatal(err)
	}
	half := func(b []byte) string { return string(b[:len(b)/2]) }

	tests := map[string]struct {
		file, backup string // "-": missing
		stopped      bool
		messages     int // behind the offset of the backup
	}{
		"truncated, good backup":     {half(content), string(backup), false, 2},
		"empty, good backup":         {"", string(backup), false, 2},
		"missing, good backup":       {"-", string(backup), false, 2},
		"both truncated":             {half(content), half(backup), true, 0},
		"truncated, no backup":       {half(content), "-", true, 0},
		"garbage, no backup":         {"offsets", "-", true, 0},
		"truncated, a folder beside": {half(content), "folder", true, 0},
	}
	for what, tt := range tests {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			for p, text := range map[string]string{path: tt.file, path + ".bak": tt.backup} {
				switch text {
				case "-":
				case "folder":
					err = os.Mkdir(p, 0o755)
				default:
					err = os.WriteFile(p, []byte(text), 0o644)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			p := consumeOnce(dir)
			if !tt.stopped {
				p.want(t, statusDone, "the offsets of group g were read from their backup")
				p.want(t, statusDone, path)
				if n := len(p.objects(t)["message"]); n != tt.messages {
					t.Errorf("%d messages, want %d: those behind the backup's offset", n, tt.messages)
				}
				return
			}
			p.want(t, statusFailed, "open the offsets of group g: no offset file to trust: ")
			for _, word := range []string{path + " is damaged", path + ".bak", "restore one of them, or remove both to begin without offsets"} {
				if !strings.Contains(p.err.String(), word) && !(word == path+" is damaged" && strings.Contains(p.err.String(), path+" is empty")) {
					t.Errorf("stderr = %q, want %q in it", p.err, word)
				}
			}
			if p.out.String() != "" {
				t.Errorf("stdout = %q, want nothing: no message, no summary", p.out)
			}
			if now, err := os.ReadFile(path); err != nil || string(now) != tt.file {
				t.Errorf("the damaged file was touched: %q, %v", now, err)
			}
			// What it says helps: with both gone it begins without offsets.
			os.Remove(path)
			os.Remove(path + ".bak")
			if n := len(consumeOnce(dir).want(t, statusDone, "").objects(t)["message"]); n != 8 {
				t.Errorf("%d messages after both were removed, want all 8", n)
			}
		})
	}
}

// A file or folder that cannot be written any more is told at the first save that
// fails, once a queue, and consuming goes on. A file that is only marked
// read-only is replaced, since its folder may be written.
func TestBroadcastOffsetFileNotWritable(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 2))
	put(t, sb, "orders", 4)
	dir := t.TempDir()
	path := filepath.Join(dir, "c1", "g", "offsets.json")
	args := consume(namesrv, "g", "--broadcast", "--offset-dir", dir, "--client-id", "c1")
	runs(t, append(args, "--idle-exit", "500ms")).want(t, statusDone, "")

	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	put(t, sb, "orders", 2)
	if n := len(runs(t, append(args, "--idle-exit", "500ms")).want(t, statusDone, "").objects(t)["message"]); n != 2 {
		t.Errorf("%d messages, want 2", n)
	}
	if n := len(runs(t, append(args, "--idle-exit", "500ms")).want(t, statusDone, "").objects(t)["message"]); n != 0 {
		t.Errorf("%d messages again: the read-only file was not replaced", n)
	}

	// A folder in the place of the lock stops the superuser too.
	if err := os.Remove(path + ".lock"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path+".lock", 0o755); err != nil {
		t.Fatal(err)
	}
	p := start(t, args)
	p.err.await(t, "joins group g")
	put(t, sb, "orders", 4)
	p.out.await(t, `"body":"4"`)
	for id := range 2 {
		p.err.await(t, fmt.Sprintf("offset_persist_failed  orders  broker-a/%d", id))
	}
	put(t, sb, "orders", 5)
	p.out.await(t, `"body":"5"`)
	p.signals <- syscall.SIGINT
	p.wait(t).want(t, 130, path)
	if n := strings.Count(p.err.String(), "offset_persist_failed"); n != 2 {
		t.Errorf("told %d times, want once a queue: %q", n, p.err)
	}
	if !strings.Contains(p.err.String(), "leave group g: commit ") {
		t.Errorf("stderr = %q, want it to say that the leave lost commits", p.err)
	}
}
