package sandboxtest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"eyeq/remoting/protocol"
)

// leftoverAge is how old what a test made must be to be swept: no test runs so long.
const leftoverAge = 30 * time.Minute

// uniqueName is a name that is legal for topics and groups and tells its age.
func uniqueName(t testing.TB) string {
	name := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return r
		}
		return '-'
	}, t.Name())
	return fmt.Sprintf("eyeq-%.60s-%08x-%08x", name, time.Now().Unix(), rand.Uint32())
}

// madeBySomeTest matches uniqueName and what brokers derive from it.
var madeBySomeTest = regexp.MustCompile(`^(?:%RETRY%|%DLQ%)?eyeq-.*-([0-9a-f]{8})-[0-9a-f]{8}`)

func leftover(name string) bool {
	m := madeBySomeTest.FindStringSubmatch(name)
	if m == nil {
		return false
	}
	made, err := strconv.ParseInt(m[1], 16, 64)
	return err == nil && time.Since(time.Unix(made, 0)) > leftoverAge
}

// Requests that the protocol package has no name for.
const (
	getAllTopics      = 206
	getAllGroupConfig = 201
)

// sweep deletes from a real cluster what earlier tests have left there: those
// that were killed, and groups that a pull of theirs, still held by the broker
// when they were deleted, has made again. It does what it can.
func (tg *Target) sweep(t testing.TB) {
	ctx, cancel := context.WithTimeout(t.Context(), awaitTimeout)
	defer cancel()
	if err := tg.sweepAll(ctx); err != nil {
		t.Logf("sweep %s: %v", tg.Name, err)
	}
}

func (tg *Target) sweepAll(ctx context.Context) error {
	cmd, err := tg.admin.InvokeNamesrv(ctx, &protocol.Command{Code: getAllTopics})
	if err != nil {
		return err
	}
	var topics struct {
		TopicList []string `json:"topicList"`
	}
	if err := json.Unmarshal(cmd.Body, &topics); err != nil {
		return fmt.Errorf("topic list: %w", err)
	}
	for _, topic := range topics.TopicList {
		if leftover(topic) {
			if err := tg.admin.DeleteTopic(ctx, topic); err != nil {
				return err
			}
		}
	}
	masters, err := tg.masters(ctx)
	if err != nil {
		return err
	}
	for _, addr := range masters {
		if err := tg.sweepGroups(ctx, addr); err != nil {
			return err
		}
	}
	return nil
}

func (tg *Target) sweepGroups(ctx context.Context, addr string) error {
	cmd, err := tg.admin.Invoke(ctx, addr, &protocol.Command{Code: getAllGroupConfig})
	if err != nil {
		return err
	}
	var groups struct {
		Table map[string]json.RawMessage `json:"subscriptionGroupTable"`
	}
	if err := json.Unmarshal(cmd.Body, &groups); err != nil {
		return fmt.Errorf("group configurations: %w", err)
	}
	for group := range groups.Table {
		if leftover(group) {
			if err := tg.admin.DeleteGroup(ctx, addr, group); err != nil {
				return err
			}
		}
	}
	return nil
}
