package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// Limits of the end of a run.
const (
	catchUpLimit = 2 * time.Minute
	buildLimit   = 5 * time.Minute
)

// perform makes a run of a plan and gives its ledger. Whatever it started has
// ended when it returns.
func perform(ctx context.Context, s settings, plan Plan, stderr io.Writer) (l *Ledger, err error) {
	dir, err := runDir(s)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	say := func(format string, args ...any) {
		fmt.Fprintf(stderr, "%6.1fs  %s\n", time.Since(start).Seconds(), fmt.Sprintf(format, args...))
	}
	keep := s.keep
	defer func() {
		if l != nil {
			good := len(judge(l).Failures) == 0
			if keep = keep || !good; keep {
				err = errors.Join(err, l.write(filepath.Join(dir, "ledger.jsonl")))
			}
		}
		if keep {
			say("the ledger and the members' logs are in %s", dir)
		} else if s.dir == "" {
			os.RemoveAll(dir)
		}
	}()
	if s.eyeq == "" {
		s.eyeq = filepath.Join(dir, "eyeq")
		say("building eyeq")
		bctx, cancel := context.WithTimeout(ctx, buildLimit)
		defer cancel()
		if out, err := exec.CommandContext(bctx, "go", "build", "-o", s.eyeq, ".").CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build eyeq (run chaos in the module's folder, or give -eyeq): %w: %s", err, out)
		}
	}
	say("starting RocketMQ %s in %s", s.version, dir)
	c, err := upCluster(ctx, s.cluster, s.version, dir)
	defer func() { err = errors.Join(err, c.down(ctx)) }()
	if err != nil {
		return nil, err
	}
	if err := c.makeTopic(ctx, int32(s.queues)); err != nil {
		return nil, err
	}
	return play(ctx, s, plan, c, say)
}

// runDir makes the folder of a run; its path is absolute, for members and script.
func runDir(s settings) (string, error) {
	if s.dir == "" {
		return os.MkdirTemp("", "chaos-")
	}
	dir, err := filepath.Abs(s.dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	return dir, err
}

// play runs producer, members and plan on a cluster.
func play(ctx context.Context, s settings, plan Plan, c *cluster, say func(string, ...any)) (*Ledger, error) {
	record := newRecorder(Ledger{Plan: plan, Version: s.version, Queues: int32(s.queues)})
	cast := newCast(c, s.eyeq, s.listens, record)
	defer cast.end()
	d := &director{plan: plan, cast: cast, cluster: c, record: record, say: say}
	say("bringing %d members up", len(plan.Initial))
	if err := d.begin(ctx); err != nil {
		return nil, err
	}

	record.begin()
	say("sending %d messages in %v, %d events (seed %d, profile %s)", s.messages, plan.Length, len(plan.Events), plan.Seed, plan.Profile)
	watch, stopWatch := context.WithCancel(ctx)
	var beside sync.WaitGroup
	defer func() { stopWatch(); beside.Wait() }()
	beside.Go(func() { watchCommits(watch, c, record, int32(s.queues)) })
	var sendErr error
	var work sync.WaitGroup
	work.Go(func() { sendErr = produce(ctx, c, record, int32(s.queues), s.messages, plan.Length) })
	work.Go(func() { d.play(ctx) })
	work.Wait()
	if err := cmp.Or(context.Cause(ctx), sendErr); err != nil {
		return nil, err
	}

	stored, err := c.stored(ctx, int32(s.queues))
	if err != nil {
		return nil, err
	}
	say("all is sent and done, waiting for the groups to catch up")
	awaitCaughtUp(ctx, record, stored)
	var holders []Holder
	for _, g := range groups {
		hs, err := c.holders(ctx, g)
		if err != nil {
			record.trouble("who holds the queues of the %s group: %v", g, err)
		}
		holders = append(holders, hs...)
	}
	say("the members leave")
	for _, m := range cast.all() {
		work.Go(func() {
			if err := d.leave(ctx, m); err != nil {
				record.trouble("%v", err)
			}
		})
	}
	work.Wait()
	checkCommits(ctx, c, record, stored)
	stopWatch()
	beside.Wait()
	cast.end()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	l := record.close()
	l.Stored, l.Holders = stored, holders
	return l, nil
}

// awaitCaughtUp waits until both groups got all that is stored; what then still
// misses is for the judge.
func awaitCaughtUp(ctx context.Context, record *recorder, stored []int64) {
	ctx, cancel := context.WithTimeout(ctx, catchUpLimit)
	defer cancel()
	var want int64
	for _, n := range stored {
		want += n
	}
	for record.distinct(Concurrent) < want || record.distinct(Orderly) < want {
		if !pause(ctx, 100*time.Millisecond) {
			return
		}
	}
	pause(ctx, time.Second) // for repeats of the last ones
}

// checkCommits looks whether everything is committed once all members have left:
// a group that starts again must not see a message twice.
func checkCommits(ctx context.Context, c *cluster, record *recorder, stored []int64) {
	for _, g := range groups {
		for id, end := range stored {
			offset, found, err := c.admin.QueryConsumerOffset(ctx, g.group(), c.queue(int32(id)))
			if err != nil || !found || offset != end {
				record.trouble("%s: queue %d is committed up to %d (%v, %v) after all members have left, want %d", g, id, offset, found, err, end)
			}
		}
	}
}
