package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

type settings struct {
	length, listens time.Duration
	seed            uint64
	version         string
	messages        int64
	queues          int
	profile         string
	eyeq, cluster   string
	dir             string
	keep, planOnly  bool
	json            string
	judge           string
}

func main() {
	var s settings
	flag.DurationVar(&s.length, "length", 15*time.Minute, "how long messages are sent and things happen")
	flag.Uint64Var(&s.seed, "seed", 1, "of the plan: the same `N` gives the same events")
	flag.StringVar(&s.version, "version", "5.3.3", "of RocketMQ, the cluster's and the Java members'")
	flag.Int64Var(&s.messages, "messages", 200_000, "to be sent, spread over the length")
	flag.IntVar(&s.queues, "queues", 8, "of the topic")
	flag.StringVar(&s.profile, "profile", "mixed", "mixed, eyeq, java (who takes part), calm or calm-mixed (joins and orderly leaves only)")
	flag.DurationVar(&s.listens, "listener", 5*time.Millisecond, "how long a Java listener takes for a message")
	flag.StringVar(&s.eyeq, "eyeq", "", "the program; built from the working folder's module when not given")
	flag.StringVar(&s.cluster, "cluster", ".ci/cluster", "the script that runs clusters and Java members")
	flag.StringVar(&s.dir, "dir", "", "for data and logs; a temporary one when not given")
	flag.BoolVar(&s.keep, "keep", false, "keep the folder, and the ledger in it, also when all went well")
	flag.StringVar(&s.json, "json", "", "write the verdict to `FILE` too")
	flag.BoolVar(&s.planOnly, "plan", false, "print the plan and do nothing")
	flag.StringVar(&s.judge, "judge", "", "give the verdict of a kept ledger `FILE`, and do nothing else")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "chaos: %q: no arguments are taken, see -help\n", flag.Args())
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	err := run(ctx, s, os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

// errBad is a run that the judge does not accept. The report says why.
var errBad = errors.New("the run is not good")

func run(ctx context.Context, s settings, stdout, stderr io.Writer) error {
	if s.judge != "" {
		l, err := readLedger(s.judge)
		if err != nil {
			return err
		}
		return conclude(s, l, stdout)
	}
	plan, err := MakePlan(s.seed, s.length, s.profile)
	if err != nil {
		return err
	}
	if s.planOnly {
		for _, e := range plan.Events {
			fmt.Fprintln(stdout, e)
		}
		return nil
	}
	if s.queues < 1 {
		return fmt.Errorf("-queues %d: must be at least 1", s.queues)
	}
	if rate := float64(s.messages) / s.length.Seconds() / float64(s.queues); rate < minRate {
		return fmt.Errorf("-messages %d: must be at least %.0f for %d queues and %v, or nobody can tell whether a queue has an owner",
			s.messages, minRate*s.length.Seconds()*float64(s.queues), s.queues, s.length)
	}
	l, err := perform(ctx, s, plan, stderr)
	if err != nil {
		return err
	}
	return conclude(s, l, stdout)
}

// minRate is how many messages a second a queue has to get.
const minRate = 3

// conclude prints the verdict.
func conclude(s settings, l *Ledger, stdout io.Writer) error {
	v := judge(l)
	report(stdout, l, v)
	if s.json != "" {
		b, err := json.MarshalIndent(struct {
			Plan    Plan   `json:"plan"`
			Version string `json:"version"`
			*Verdict
		}{l.Plan, l.Version, v}, "", "  ")
		if err == nil {
			err = os.WriteFile(s.json, append(b, '\n'), 0o644)
		}
		if err != nil {
			return err
		}
	}
	if len(v.Failures) > 0 {
		return errBad
	}
	return nil
}
