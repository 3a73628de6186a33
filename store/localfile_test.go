package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"eyeq/remoting/protocol"
)

// javaFile is what a Java 5.3.3 client wrote (docs/conformance/offsets.md 4.1).
const javaFile = "{\n\t\"offsetTable\":{{\n\t\t\t\"brokerName\":\"broker-a\",\n\t\t\t\"queueId\":1,\n\t\t\t\"topic\":\"TopicTest\"\n\t\t}:7," +
	"{\n\t\t\t\"brokerName\":\"broker-a\",\n\t\t\t\"queueId\":0,\n\t\t\t\"topic\":\"TopicTest\"\n\t\t}:12\n\t}\n}"

func queue(id int32) protocol.MessageQueue {
	return protocol.MessageQueue{Topic: "TopicTest", BrokerName: "broker-a", QueueID: id}
}

const (
	testClient = "192.0.2.2@DEFAULT"
	testGroup  = "g"
)

func open(t *testing.T, dir string) *LocalFile {
	t.Helper()
	f, err := OpenLocalFile(dir, testClient, testGroup)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func save(t *testing.T, f *LocalFile, offsets map[protocol.MessageQueue]int64) {
	t.Helper()
	if failed := f.Save(t.Context(), offsets); failed != nil {
		t.Fatalf("Save(%v) = %v", offsets, failed)
	}
}

func wantOffset(t *testing.T, f *LocalFile, id int32, want int64, wantFound bool) {
	t.Helper()
	got, found, err := f.Load(t.Context(), queue(id))
	if err != nil || got != want || found != wantFound {
		t.Errorf("Load(queue %d) = %d, %v, %v, want %d, %v", id, got, found, err, want, wantFound)
	}
}

// place writes a file of the store below dir as it is found at a start.
func place(t *testing.T, dir, name, content string) {
	t.Helper()
	folder := filepath.Join(dir, testClient, testGroup)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func onDisk(t *testing.T, path string) protocol.OffsetTable {
	t.Helper()
	_, offsets, err := readOffsets(path)
	if err != nil {
		t.Fatal(err)
	}
	return offsets
}

func TestLocalFileRoundTrip(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	if want := filepath.Join(dir, testClient, testGroup, "offsets.json"); f.Path() != want {
		t.Errorf("Path() = %s, want %s", f.Path(), want)
	}
	wantOffset(t, f, 0, 0, false)
	save(t, f, map[protocol.MessageQueue]int64{queue(0): 12, queue(1): 0})
	save(t, f, map[protocol.MessageQueue]int64{queue(0): 13})
	for _, f := range []*LocalFile{f, open(t, dir)} {
		wantOffset(t, f, 0, 13, true)
		wantOffset(t, f, 1, 0, true)
		wantOffset(t, f, 2, 0, false)
	}
	if diff := cmp.Diff(protocol.OffsetTable{queue(0): 12, queue(1): 0}, onDisk(t, f.Path()+".bak")); diff != "" {
		t.Errorf("backup (-want +got):\n%s", diff)
	}
	save(t, f, map[protocol.MessageQueue]int64{queue(0): 5}) // a reset goes down
	wantOffset(t, open(t, dir), 0, 5, true)
}

// What Java writes is read, and what is written is what Java writes.
func TestLocalFileSharesTheJavaForm(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "offsets.json", javaFile)
	f := open(t, dir)
	wantOffset(t, f, 0, 12, true)
	wantOffset(t, f, 1, 7, true)
	save(t, f, map[protocol.MessageQueue]int64{queue(1): 8})
	got, err := os.ReadFile(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	entries := strings.TrimSuffix(strings.TrimPrefix(javaFile, "{\n\t\"offsetTable\":{"), "\n\t}\n}")
	first, second, _ := strings.Cut(entries, ",{\n\t\t\t\"brokerName\"") // Java's order is by hash, ours by queue
	want := "{\n\t\"offsetTable\":{{\n\t\t\t\"brokerName\"" + second + "," + strings.Replace(first, ":7", ":8", 1) + "\n\t}\n}"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	backup, err := os.ReadFile(f.Path() + ".bak")
	if err != nil {
		t.Fatal(err)
	}
	if string(backup) != javaFile {
		t.Errorf("backup = %q, want the file before, byte for byte", backup)
	}
}

func TestOpenLocalFile(t *testing.T) {
	const older = "{\n\t\"offsetTable\":{{\"brokerName\":\"broker-a\",\"queueId\":0,\"topic\":\"TopicTest\"}:11}}"
	truncated := javaFile[:len(javaFile)/2]
	tests := map[string]struct {
		file, backup string // "-": missing
		want         int64  // of queue 0; -1: none, -2: an error
		recovered    bool
	}{
		"neither is there":                 {"-", "-", -1, false},
		"a file":                           {javaFile, "-", 12, false},
		"a file, its backup damaged":       {javaFile, truncated, 12, false},
		"empty table":                      {"{}", older, -1, false},
		"truncated, good backup":           {truncated, older, 11, true},
		"empty file, good backup":          {"", older, 11, true},
		"missing, good backup (4.9 crash)": {"-", older, 11, true},
		"garbage, good backup":             {"no such thing", older, 11, true},
		"negative offset, good backup":     {strings.Replace(older, "11", "-5", 1), older, 11, true},
		"both truncated":                   {truncated, truncated, -2, false},
		"truncated, no backup":             {truncated, "-", -2, false},
		"empty, no backup":                 {"", "-", -2, false},
		"missing, damaged backup":          {"-", truncated, -2, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if tt.file != "-" {
				place(t, dir, "offsets.json", tt.file)
			}
			if tt.backup != "-" {
				place(t, dir, "offsets.json.bak", tt.backup)
			}
			f, err := OpenLocalFile(dir, testClient, testGroup)
			if tt.want == -2 {
				if err == nil {
					t.Fatal("no error")
				}
				for _, word := range []string{filepath.Join(dir, testClient, testGroup, "offsets.json"), "restore", "remove both"} {
					if !strings.Contains(err.Error(), word) {
						t.Errorf("error %q does not say %q", err, word)
					}
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			wantOffset(t, f, 0, max(tt.want, 0), tt.want >= 0)
			if got := f.Recovered(); (got != nil) != tt.recovered {
				t.Errorf("Recovered() = %v, want recovered %v", got, tt.recovered)
			}
		})
	}
}

func TestOpenLocalFileRefusesPathsAsNames(t *testing.T) {
	for _, name := range []string{"", ".", "..", "a/b", `a\b`, "a\x00"} {
		if _, err := OpenLocalFile(t.TempDir(), name, "g"); err == nil {
			t.Errorf("client id %q: no error", name)
		}
		if _, err := OpenLocalFile(t.TempDir(), "c", name); err == nil {
			t.Errorf("group %q: no error", name)
		}
	}
}

// A damaged file never becomes the backup, and what this process has saved does
// not go back to what the backup holds.
func TestSaveOverADamagedFileKeepsTheBackup(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "offsets.json", javaFile)
	f := open(t, dir)
	save(t, f, map[protocol.MessageQueue]int64{queue(5): 50})
	save(t, f, map[protocol.MessageQueue]int64{queue(5): 51})
	place(t, dir, "offsets.json", javaFile[:20]) // a Java client crashed in place
	save(t, f, map[protocol.MessageQueue]int64{queue(6): 60})

	want := protocol.OffsetTable{queue(0): 12, queue(1): 7, queue(5): 51, queue(6): 60}
	if diff := cmp.Diff(want, onDisk(t, f.Path())); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	want = protocol.OffsetTable{queue(0): 12, queue(1): 7, queue(5): 50}
	if diff := cmp.Diff(want, onDisk(t, f.Path()+".bak")); diff != "" {
		t.Errorf("backup (-want +got):\n%s", diff)
	}
}

func TestSaveAfterTheFilesVanishedWritesAllThatIsKnown(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "offsets.json", javaFile)
	f := open(t, dir)
	save(t, f, map[protocol.MessageQueue]int64{queue(5): 50})
	if err := os.RemoveAll(filepath.Join(dir, testClient)); err != nil {
		t.Fatal(err)
	}
	save(t, f, map[protocol.MessageQueue]int64{queue(6): 60})
	want := protocol.OffsetTable{queue(0): 12, queue(1): 7, queue(5): 50, queue(6): 60}
	if diff := cmp.Diff(want, onDisk(t, f.Path())); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
}

func TestSaveRefusesWhenBothAreDamaged(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	place(t, dir, "offsets.json", "x")
	place(t, dir, "offsets.json.bak", "y")
	failed := f.Save(t.Context(), map[protocol.MessageQueue]int64{queue(0): 1, queue(1): 2})
	if len(failed) != 2 {
		t.Errorf("Save failed for %v, want both queues", failed)
	}
	wantOffset(t, f, 0, 0, false) // not saved, so not promised
}

func TestSaveFailsEachQueueForItself(t *testing.T) {
	f := open(t, t.TempDir())
	failed := f.Save(t.Context(), map[protocol.MessageQueue]int64{queue(0): 1, queue(1): -1})
	if len(failed) != 1 || failed[queue(1)] == nil {
		t.Errorf("Save failed for %v, want only the negative offset", failed)
	}
	wantOffset(t, f, 0, 1, true)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if failed := f.Save(ctx, map[protocol.MessageQueue]int64{queue(0): 2}); !errors.Is(failed[queue(0)], context.Canceled) {
		t.Errorf("Save with an ended context = %v", failed)
	}
}

func TestSaveIntoAnUnwritableFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	f := open(t, dir)
	if err := os.WriteFile(dir, nil, 0o644); err != nil { // a file where the folder should be
		t.Fatal(err)
	}
	failed := f.Save(t.Context(), map[protocol.MessageQueue]int64{queue(0): 1})
	if err := failed[queue(0)]; err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("Save = %v, want an error that names %s", failed, dir)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	save(t, f, map[protocol.MessageQueue]int64{queue(0): 1}) // repaired: it goes on
}

func TestSaveInAReadOnlyFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the superuser may write everywhere")
	}
	dir := t.TempDir()
	place(t, dir, "offsets.json", javaFile)
	f := open(t, dir)
	folder := filepath.Dir(f.Path())
	if err := os.Chmod(folder, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(folder, 0o755) })
	if failed := f.Save(t.Context(), map[protocol.MessageQueue]int64{queue(0): 1}); failed[queue(0)] == nil {
		t.Error("Save into a read-only folder gave no error")
	}
}

// A process killed between two steps leaves one of these states.
func TestOpenAfterAKillBetweenSteps(t *testing.T) {
	const newer = "{\"offsetTable\":{{\"brokerName\":\"broker-a\",\"queueId\":0,\"topic\":\"TopicTest\"}:13}}"
	tests := map[string]map[string]string{
		"while the backup was written": {"offsets.json": javaFile, "offsets.json.123.tmp": javaFile[:30]},
		"before the backup's rename":   {"offsets.json": javaFile, "offsets.json.123.tmp": javaFile},
		"after the backup's rename":    {"offsets.json": javaFile, "offsets.json.bak": javaFile},
		"while the file was written":   {"offsets.json": javaFile, "offsets.json.bak": javaFile, "offsets.json.9.tmp": newer[:9]},
		"before the file's rename":     {"offsets.json": javaFile, "offsets.json.bak": javaFile, "offsets.json.9.tmp": newer},
	}
	for name, files := range tests {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "odd [name]*")
			for file, content := range files {
				place(t, dir, file, content)
			}
			f := open(t, dir)
			wantOffset(t, f, 0, 12, true)
			if f.Recovered() != nil {
				t.Errorf("Recovered() = %v, want nil", f.Recovered())
			}
			save(t, f, map[protocol.MessageQueue]int64{queue(0): 14})
			entries, err := os.ReadDir(filepath.Dir(f.Path()))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if strings.HasSuffix(e.Name(), ".tmp") {
					t.Errorf("%s was left behind", e.Name())
				}
			}
			wantOffset(t, open(t, dir), 0, 14, true)
		})
	}
}

// Several processes share the file: each one's entries survive the others'.
func TestSaversShareAFile(t *testing.T) {
	dir := t.TempDir()
	const savers, rounds = 4, 15
	var wg sync.WaitGroup
	for s := range int32(savers) {
		f := open(t, dir)
		wg.Go(func() {
			for i := range int64(rounds) {
				if failed := f.Save(t.Context(), map[protocol.MessageQueue]int64{queue(s): i}); failed != nil {
					t.Errorf("saver %d: %v", s, failed)
				}
			}
		})
	}
	wg.Wait()
	f := open(t, dir)
	for s := range int32(savers) {
		wantOffset(t, f, s, rounds-1, true)
	}
}

// A lock that is not given back in time is an error, not a wait without end.
func TestSaveDoesNotWaitForeverForTheLock(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	save(t, f, map[protocol.MessageQueue]int64{queue(0): 1})
	unlock, err := lockFile(t.Context(), f.Path()+".lock")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	failed := f.Save(ctx, map[protocol.MessageQueue]int64{queue(0): 2})
	unlock()
	if err := failed[queue(0)]; err == nil || !strings.Contains(err.Error(), ".lock") {
		t.Errorf("Save while another holds the lock = %v, want an error that names the lock", failed)
	}
	save(t, f, map[protocol.MessageQueue]int64{queue(0): 2})
}

// childEnv makes the test binary a process that saves until it is killed.
const childEnv = "EYEQ_STORE_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		saveUntilKilled(dir)
	}
	os.Exit(m.Run())
}

// saveUntilKilled goes on from what is stored and prints each offset when its
// Save has returned.
func saveUntilKilled(dir string) {
	f, err := OpenLocalFile(dir, testClient, testGroup)
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	next, _, _ := f.Load(context.Background(), queue(0))
	for {
		next++
		// Two queues: they must never be torn apart.
		offsets := map[protocol.MessageQueue]int64{queue(0): next, queue(1): 2 * next}
		if failed := f.Save(context.Background(), offsets); failed != nil {
			fmt.Println("error:", failed)
			os.Exit(1)
		}
		fmt.Println(next)
	}
}

// A process killed at any time leaves a whole file that is not behind its last
// acknowledged save.
func TestKillWhileSaving(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for round := range 8 {
		cmd := exec.CommandContext(t.Context(), exe)
		cmd.Env = append(os.Environ(), childEnv+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var acknowledged int64
		lines := bufio.NewScanner(out)
		for saves := 0; lines.Scan(); saves++ {
			if acknowledged, err = strconv.ParseInt(lines.Text(), 10, 64); err != nil {
				t.Fatalf("round %d: the child says %q", round, lines.Text())
			}
			if saves == 5+3*round {
				// The child is anywhere in its next saves by now; what it still
				// acknowledges is read below.
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		cmd.Wait() // "killed" is no news

		f, err := OpenLocalFile(dir, testClient, testGroup)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if f.Recovered() != nil {
			t.Errorf("round %d: the file was not whole: %v", round, f.Recovered())
		}
		a, _, _ := f.Load(t.Context(), queue(0))
		b, _, _ := f.Load(t.Context(), queue(1))
		if a < acknowledged || b != 2*a {
			t.Errorf("round %d: stored %d and %d, want at least %d and twice that", round, a, b, acknowledged)
		}
	}
}

// The engine saves the queues of each broker side by side.
func TestSavesOfOneFileFollowEachOther(t *testing.T) {
	f := open(t, t.TempDir())
	var wg sync.WaitGroup
	for _, broker := range []string{"a", "b"} {
		wg.Go(func() {
			mq := protocol.MessageQueue{Topic: "t", BrokerName: broker}
			for i := range int64(50) {
				if failed := f.Save(t.Context(), map[protocol.MessageQueue]int64{mq: i}); failed != nil {
					t.Errorf("Save = %v", failed)
				}
			}
		})
	}
	wg.Wait()
	want := protocol.OffsetTable{{Topic: "t", BrokerName: "a"}: 49, {Topic: "t", BrokerName: "b"}: 49}
	if diff := cmp.Diff(want, onDisk(t, f.Path())); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
}

// Sixteen queues are saved and read at once: nothing is torn, nothing lost.
func TestManyQueuesSavedAndLoadedAtOnce(t *testing.T) {
	const queues, rounds = 16, 20
	f := open(t, t.TempDir())
	var wg sync.WaitGroup
	for id := range int32(queues) {
		wg.Go(func() {
			for i := range int64(rounds) {
				if failed := f.Save(t.Context(), map[protocol.MessageQueue]int64{queue(id): i}); failed != nil {
					t.Errorf("queue %d: %v", id, failed)
				}
			}
		})
		wg.Go(func() {
			for last, i := int64(-1), 0; i < 50*rounds; i++ {
				offset, found, err := f.Load(t.Context(), queue(id))
				if err != nil || found && offset < last {
					t.Errorf("queue %d: %d after %d, %v", id, offset, last, err)
				}
				last = max(last, offset)
			}
		})
	}
	wg.Wait()
	again := open(t, filepath.Dir(filepath.Dir(filepath.Dir(f.Path()))))
	for id := range int32(queues) {
		wantOffset(t, again, id, rounds-1, true)
	}
}
