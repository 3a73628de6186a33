package inspect

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"eyeq/remoting/protocol"
)

// SavedOffsets are a group's committed offsets as they were at one moment: what a
// reset writes to a file before it begins, and what takes it back.
type SavedOffsets struct {
	Kind    string       `json:"kind"` // savedKind
	Time    time.Time    `json:"time"`
	Cluster string       `json:"cluster"`
	Group   string       `json:"group"`
	Queues  []SavedQueue `json:"queues"`
}

// SavedQueue is one queue of SavedOffsets.
type SavedQueue struct {
	Topic  string `json:"topic"`
	Broker string `json:"broker"`
	Queue  int32  `json:"queue"`
	// Committed is nil when nothing was: that cannot be brought back.
	Committed *int64 `json:"committed_offset"`
}

// savedKind tells a file of ours from any other JSON.
const savedKind = "eyeq-offsets"

// maxSavedSize bounds what is read of a file: some 100 bytes a queue.
const maxSavedSize = 64 << 20

// Exact are the offsets to go back to; queues that had none are not among them.
func (s *SavedOffsets) Exact() map[protocol.MessageQueue]int64 {
	exact := make(map[protocol.MessageQueue]int64, len(s.Queues))
	for _, q := range s.Queues {
		if q.Committed != nil {
			exact[protocol.MessageQueue{Topic: q.Topic, BrokerName: q.Broker, QueueID: q.Queue}] = *q.Committed
		}
	}
	return exact
}

// ReadSaved reads a file that Save has written.
func ReadSaved(path string) (*SavedOffsets, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, errors.Unwrap(err))
	}
	if !info.Mode().IsRegular() || info.Size() > maxSavedSize {
		return nil, fmt.Errorf("%s: no file of saved offsets", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var s SavedOffsets
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("%s: no file of saved offsets: %w", path, err)
	}
	if s.Kind != savedKind || s.Group == "" {
		return nil, fmt.Errorf("%s: no file of saved offsets: its kind is %q, not %q", path, s.Kind, savedKind)
	}
	seen := map[protocol.MessageQueue]bool{}
	for i, q := range s.Queues {
		mq := protocol.MessageQueue{Topic: q.Topic, BrokerName: q.Broker, QueueID: q.Queue}
		switch {
		case q.Topic == "" || q.Broker == "" || q.Queue < 0:
			return nil, fmt.Errorf("%s: queue %d of the list has no topic, no broker or a negative number", path, i+1)
		case q.Committed != nil && *q.Committed < 0:
			return nil, fmt.Errorf("%s: %v has the offset %d", path, mq, *q.Committed)
		case seen[mq]:
			return nil, fmt.Errorf("%s: %v is there twice", path, mq)
		}
		seen[mq] = true
	}
	return &s, nil
}

// Save writes the offsets to a new file in dir, which is made when it is missing, and
// gives its path. The file's name begins with the time, so that a listing is in order.
func (s *SavedOffsets) Save(dir string) (path string, err error) {
	s.Kind = savedKind
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	text = PlainJSON(text)
	name := s.Time.UTC().Format("20060102T150405.000Z") + "_" + fileWord(s.Cluster) + "_" + fileWord(s.Group)
	for n := 1; ; n++ {
		path = filepath.Join(dir, name+".json")
		if n > 1 {
			path = filepath.Join(dir, fmt.Sprintf("%s_%d.json", name, n))
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) && n < 1000 {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(append(text, '\n'))
		if err == nil {
			err = f.Sync()
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return "", errors.Join(err, os.Remove(path)) // a part of it is no way back
		}
		return path, nil
	}
}

// maxFileWord bounds a part of a file's name: three of them fit the usual 255 bytes.
const maxFileWord = 80

// fileWord makes a foreign name safe as a part of a file's name.
func fileWord(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(".-%", r) {
			return r
		}
		return '-'
	}, s)
	if len(s) > maxFileWord {
		s = s[:maxFileWord]
	}
	return s
}
