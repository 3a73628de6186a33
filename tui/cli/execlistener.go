package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/tui/cli/config"
	"eyeq/tui/draw"
)

// execListener runs a command once a batch: the messages as JSON lines on its
// standard input, its exit status as the verdict. Any goroutine may call it.
type execListener struct {
	command string
	timeout time.Duration
	env     []string // of all runs
	// output gets the command's output, a safe line at a time, from several
	// goroutines. It is not standard output: that has the messages.
	output func(mq engine.MessageQueue, offset int64, line string)
	runs   *commandRuns

	scratches sync.Pool
}

// commandRuns are the commands that run just now. An end of the program that waits
// for nobody ends them too: in groups of their own they would stay.
type commandRuns struct {
	// mu guards the fields. It is held across the start of a command: one that
	// started beside the end would be seen by nobody.
	mu      sync.Mutex
	running map[*exec.Cmd]bool
	ended   bool
}

var errCommandsEnded = errors.New("the program ends")

// start starts cmd, unless the program ends.
func (r *commandRuns) start(cmd *exec.Cmd) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return errCommandsEnded
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if r.running == nil {
		r.running = map[*exec.Cmd]bool{}
	}
	r.running[cmd] = true
	return nil
}

// finish ends what a command has left behind in its group, whose number is not given
// to anybody else while it has a member. It reports whether the program has ended it.
func (r *commandRuns) finish(cmd *exec.Cmd) (ended bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.running, cmd)
	killGroup(cmd)
	return r.ended
}

// end kills all that runs and lets nothing start any more.
func (r *commandRuns) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	for cmd := range r.running {
		killGroup(cmd)
	}
}

// Bounds of a command's output.
const (
	maxOutputLine = 1000      // bytes
	maxOutput     = 128 << 10 // of one run
	// outputWait is how long the end of a run waits for who still holds its output
	// open, which its process group does not any more.
	outputWait = 500 * time.Millisecond
)

var errExecTimeout = errors.New("the command took longer than")

func newExecListener(l config.Listener, consumeTimeout time.Duration, env []string, runs *commandRuns, output func(engine.MessageQueue, int64, string)) *execListener {
	x := &execListener{command: l.Command, timeout: l.Timeout, env: env, runs: runs, output: output,
		scratches: sync.Pool{New: func() any { return new(scratch) }}}
	if x.timeout == 0 {
		x.timeout = consumeTimeout
	}
	return x
}

// consume runs the command. When ctx or the program ends first, the command is killed
// and nothing is decided: the engine has to stop.
func (x *execListener) consume(ctx context.Context, messages []engine.Message, cc *engine.ConsumeContext) (engine.Status, error) {
	s := x.scratches.Get().(*scratch)
	s.buf = s.buf[:0]
	for i := range messages {
		s.buf = s.append(s.buf, &messages[i])
	}
	first := messages[0].QueueOffset()
	out := &commandOutput{say: func(line string) { x.output(cc.MessageQueue, first, line) }}
	timed, cancel := context.WithTimeoutCause(ctx, x.timeout, errExecTimeout)
	defer cancel()
	err := x.run(timed, s.buf, x.environment(messages, cc), out)
	if cap(s.buf) <= maxSpare {
		x.scratches.Put(s)
	}
	switch {
	case err == nil:
		return engine.ConsumeSuccess, nil
	case ctx.Err() != nil, errors.Is(err, errCommandsEnded):
		return engine.Abandon, nil
	case context.Cause(timed) == errExecTimeout:
		err = fmt.Errorf("%w %v and was killed", errExecTimeout, x.timeout)
	}
	x.output(cc.MessageQueue, first, fmt.Sprintf("(%v: refused)", err))
	if last := out.last(); last != "" {
		err = fmt.Errorf("%w: %s", err, last)
	}
	return engine.ReconsumeLater, err
}

// environment is what the command is told besides its input.
func (x *execListener) environment(messages []engine.Message, cc *engine.ConsumeContext) []string {
	mq := cc.MessageQueue
	return append(slices.Clone(x.env),
		"EYEQ_TOPIC="+mq.Topic, "EYEQ_BROKER="+mq.BrokerName, fmt.Sprintf("EYEQ_QUEUE=%d", mq.QueueID),
		fmt.Sprintf("EYEQ_COUNT=%d", len(messages)), fmt.Sprintf("EYEQ_OFFSET=%d", messages[0].QueueOffset()),
	)
}

// run runs the command to its end; nothing of its process group is left then.
func (x *execListener) run(ctx context.Context, input []byte, env []string, out *commandOutput) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	cmd := shellCommand(x.command)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = bytes.NewReader(input), w, w, env
	cmd.WaitDelay = outputWait // for who holds the input open without reading it
	err = x.runs.start(cmd)
	w.Close()
	if err != nil {
		return fmt.Errorf("run the command: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { killGroup(cmd) })
	read := make(chan struct{})
	go func() { defer close(read); out.read(r) }()
	err = cmd.Wait()
	stop()
	if x.runs.finish(cmd) && err != nil {
		err = errCommandsEnded
	}
	_ = r.SetReadDeadline(time.Now().Add(outputWait)) // where there is none, closing it does the same
	waitFor(read, 2*outputWait)
	if errors.Is(err, exec.ErrWaitDelay) && cmd.ProcessState.Success() {
		return nil
	}
	return err
}

// commandOutput cuts what a command writes into safe lines and bounds it.
type commandOutput struct {
	say func(line string)

	mu    sync.Mutex // guards final
	final string     // the last line that is not empty
}

// read takes the output until its end. What is beyond the bounds is read too, so
// that the command does not have to wait, and counted.
func (o *commandOutput) read(r io.Reader) {
	var line []byte
	total, left := 0, 0 // bytes said, and left out
	emit := func() {
		text := strings.TrimRight(draw.SafeText(string(bytes.TrimRight(line, "\r"))), " ")
		if line = line[:0]; text == "" {
			return
		}
		o.say(text)
		o.mu.Lock()
		o.final = text
		o.mu.Unlock()
	}
	buf := make([]byte, 4096)
	for {
		n, err := r.Read(buf)
		for _, b := range buf[:n] {
			switch {
			case total >= maxOutput:
				left++
			case b == '\n':
				emit()
			case len(line) >= maxOutputLine:
				left++
			default:
				line = append(line, b)
			}
			total++
		}
		if err != nil {
			break
		}
	}
	emit()
	if left > 0 {
		o.say(fmt.Sprintf("(%s more of output are left out)", inspect.Plural(left, "byte")))
	}
}

func (o *commandOutput) last() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.final
}
