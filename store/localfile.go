package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"eyeq/remoting/protocol"
)

// LocalFile keeps a broadcasting member's offsets in the Java client's file,
// <dir>/<clientId>/<group>/offsets.json, so that a Java consumer can be replaced
// by an eyeq one and back. The file is read once, when it is opened; Load answers
// from memory.
//
// Save writes a temporary file, syncs it and renames it, and keeps the content
// before as offsets.json.bak: whenever the process is killed, both are whole. It
// lays its entries over what the file holds at that time, under a file lock, so
// several eyeq processes may share it. A Java client takes no lock: between it
// and eyeq the last writer wins, as it does between two Java clients. Where the
// system has no file locks, that holds between eyeq processes too.
//
// Any goroutine may use it: Saves follow each other.
type LocalFile struct {
	path      string
	recovered error

	mu      sync.Mutex           // guards offsets
	offsets protocol.OffsetTable // as read at the beginning, and all saved since

	turn  chan struct{}        // capacity 1: the one Save that may run, which alone uses what follows
	saved protocol.OffsetTable // by this process
	clean bool                 // temporary files of killed processes are gone
}

const (
	fileName     = "offsets.json"
	backupSuffix = ".bak"
	lockSuffix   = ".lock"
	tempPattern  = fileName + ".*.tmp"
)

// OpenLocalFile reads the offsets of a client and group below dir; it creates
// nothing. When the file is damaged or missing its backup is read instead, see
// Recovered. When there is nothing to trust but something was there, that is an
// error: going on would mean "no offsets", and skip or repeat everything (trap T03).
func OpenLocalFile(dir, clientID, group string) (*LocalFile, error) {
	for _, part := range []string{clientID, group} {
		if part == "" || part == "." || part == ".." || strings.ContainsAny(part, `/\`+"\x00") {
			return nil, fmt.Errorf("offset file below %s: %q cannot be the name of a folder", dir, part)
		}
	}
	f := &LocalFile{path: filepath.Join(dir, clientID, group, fileName), saved: protocol.OffsetTable{}, turn: make(chan struct{}, 1)}
	c, err := f.read()
	if err != nil {
		return nil, err
	}
	f.recovered = c.damage
	f.offsets = c.offsets
	if f.offsets == nil {
		f.offsets = protocol.OffsetTable{}
	}
	return f, nil
}

// Path is where the offsets are kept.
func (f *LocalFile) Path() string { return f.path }

// Recovered says why the backup was read when the file was opened: its offsets
// are one write older, so some messages may come again. It is nil when the file
// itself was whole, or nothing was there.
func (f *LocalFile) Recovered() error { return f.recovered }

// Load returns what was read at the beginning or saved since.
func (f *LocalFile) Load(_ context.Context, mq protocol.MessageQueue) (offset int64, found bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	offset, found = f.offsets[mq]
	return offset, found, nil
}

// Save writes the offsets and returns when they are on the disk.
func (f *LocalFile) Save(ctx context.Context, offsets map[protocol.MessageQueue]int64) map[protocol.MessageQueue]error {
	failed := map[protocol.MessageQueue]error{}
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-ctx.Done():
		for mq := range offsets {
			failed[mq] = fmt.Errorf("write %s: %w", f.path, context.Cause(ctx))
		}
		return failed
	}
	changes := protocol.OffsetTable{}
	for mq, offset := range offsets {
		if offset < 0 {
			failed[mq] = fmt.Errorf("save offset %d of %v: it is none", offset, mq)
			continue
		}
		changes[mq] = offset
	}
	if len(changes) > 0 {
		if err := f.write(ctx, changes); err != nil {
			for mq := range changes {
				failed[mq] = err
			}
		} else {
			f.mu.Lock()
			maps.Copy(f.offsets, changes)
			f.mu.Unlock()
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return failed
}

// write lays changes over what the file holds now.
func (f *LocalFile) write(ctx context.Context, changes protocol.OffsetTable) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("write %s: %w", f.path, context.Cause(ctx))
	}
	dir := filepath.Dir(f.path)
	if err := makeDir(dir); err != nil {
		return fmt.Errorf("write offsets: %w", err)
	}
	unlock, err := lockFile(ctx, f.path+lockSuffix)
	if err != nil {
		return fmt.Errorf("write offsets: %w", err)
	}
	defer unlock()
	if !f.clean {
		removeTemps(dir)
		f.clean = true
	}
	c, err := f.read()
	if err != nil {
		return err
	}
	table := protocol.OffsetTable{}
	if c.file != nil {
		maps.Copy(table, c.offsets)
	} else {
		// The file is gone or damaged, and its backup older than what was promised.
		maps.Copy(table, f.offsets) // only Save writes it, so reading needs no lock
		maps.Copy(table, c.offsets)
		maps.Copy(table, f.saved)
	}
	maps.Copy(table, changes)
	if c.file != nil { // never replace a good backup by a damaged file
		if err := replace(f.path+backupSuffix, c.file); err != nil {
			return err
		}
	}
	if err := replace(f.path, protocol.EncodeLocalOffsets(table)); err != nil {
		return err
	}
	if err := syncDir(dir); err != nil {
		return fmt.Errorf("sync folder %s: %w", dir, err)
	}
	maps.Copy(f.saved, changes)
	return nil
}

// content is what was read.
type content struct {
	offsets protocol.OffsetTable
	file    []byte // of the file itself; nil when the backup was read, or neither is there
	damage  error  // why the backup was read
}

// read reads the file, else its backup.
func (f *LocalFile) read() (content, error) {
	file, offsets, err := readOffsets(f.path)
	if err == nil {
		return content{offsets: offsets, file: file}, nil
	}
	_, offsets, backupErr := readOffsets(f.path + backupSuffix)
	if backupErr == nil {
		return content{offsets: offsets, damage: fmt.Errorf("read the backup of the offset file instead: %w", err)}, nil
	}
	if errors.Is(err, os.ErrNotExist) && errors.Is(backupErr, os.ErrNotExist) {
		return content{}, nil
	}
	return content{}, fmt.Errorf("no offset file to trust: %w; its backup: %w; "+
		"restore one of them, or remove both to begin without offsets", err, backupErr)
}

// readOffsets reads one file. An empty one is damaged: nobody writes that, but a
// crash of a Java client, which writes in place, leaves it.
func readOffsets(path string) ([]byte, protocol.OffsetTable, error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	if len(file) == 0 {
		return nil, nil, fmt.Errorf("%s is empty", path)
	}
	offsets, err := protocol.DecodeLocalOffsets(file)
	if err != nil {
		return nil, nil, fmt.Errorf("%s is damaged: %w", path, err)
	}
	for mq, offset := range offsets {
		if offset < 0 {
			return nil, nil, fmt.Errorf("%s is damaged: offset %d of %v", path, offset, mq)
		}
	}
	return file, offsets, nil
}

// replace gives the file at path a new content, all of it or nothing. The
// folder is not synced: both of two replacements are one sync.
func replace(path string, content []byte) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), tempPattern)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = temp.Write(content)
	if err == nil {
		err = temp.Chmod(0o644)
	}
	if err == nil {
		err = temp.Sync()
	}
	if closeErr := temp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		os.Remove(temp.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// makeDir makes dir and what is missing above it, and makes that durable too.
func makeDir(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	above := filepath.Dir(dir)
	if above != dir {
		if err := makeDir(above); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return syncDir(above)
}

// removeTemps removes what killed processes left; the caller holds the lock, so
// nobody is writing one now.
func removeTemps(dir string) {
	temps, err := filepath.Glob(filepath.Join(globQuote(dir), tempPattern))
	if err != nil {
		return
	}
	for _, temp := range temps {
		os.Remove(temp)
	}
}

// globQuote makes a folder name stand for itself in a pattern.
func globQuote(dir string) string {
	if os.PathSeparator == '\\' {
		return dir // patterns have no escape character there
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}
