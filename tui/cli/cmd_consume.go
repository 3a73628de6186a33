package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/remoting/protocol"
	"eyeq/tui/cli/config"
	"eyeq/tui/page"
)

// consumeFlags are the flags of consume.
type consumeFlags struct {
	group    string
	topics   []string
	orderly  bool
	broad    bool
	from     string
	strategy strategyFlags
	sql      string
	clientID string
	threads  string
	listener listenerFlags

	batch, pullBatch                          int
	pullThreshold, pullThresholdSize, maxSpan int64
	maxReconsume                              int32
	max                                       int64
	idleExit                                  time.Duration
	headless, events, calls, clean            bool
	offsetDir                                 string
	changed                                   func(name string) bool
}

func newConsume(e *env) *cobra.Command {
	_, cmd := consumeCommand(e)
	return cmd
}

func consumeCommand(e *env) (*consumeFlags, *cobra.Command) {
	f := &consumeFlags{}
	cmd := &cobra.Command{
		Use:   "consume -g GROUP -t TOPIC[:TAG1||TAG2] ...",
		Short: "Join a group with the embedded engine: the live screen, or lines",
		Long: `Joins a group as a member, with RocketMQ's own push consumer rules. On a terminal it shows
the live screen; with --headless, or without a terminal (or with TERM=dumb), it prints one line a message
(-o json, text or none) and a summary as the last line. A message is acknowledged after its
line is written. The first ctrl-c leaves the group in order, the second at once.

All members of a group must divide its queues by the same --strategy:
  avg, circle           neighbours to each member; one by one in turn
  consistent-hash       by a ring of hashes: few queues move when a member comes or goes
  config                each member has its own list, --queues; nobody checks that they fit
  machine-room          only the brokers, called ROOM@NAME, of --machine-rooms
  machine-room-nearby   the brokers of a room to the members in it, those of a room without
                        members to all. A broker's room stands before the @ of its name, a
                        member's before the @ of its client id (--client-id ROOM@NAME), or
                        before the - where it has no @. By avg; behind a - another one
                        may stand: machine-room-nearby-circle`,
		Example: `  eyeq consume --namesrv 127.0.0.1:9876 -g audit -t orders
  eyeq consume -g audit -t 'orders:paid||refund' --headless --max 100 | jq 'select(.kind=="message").body'
  eyeq consume -g audit -t orders --sql "amount > 100 AND shop = 'x'" --headless
  eyeq consume -g audit -t orders --headless --events -o text --idle-exit 10s`,
		Args: noArgs,
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.group, "group", "g", "", "the consumer group to join")
	fl.StringArrayVarP(&f.topics, "topic", "t", nil, "TOPIC[:TAG1||TAG2], repeatable")
	fl.BoolVar(&f.orderly, "orderly", false, "consume each queue in order, under the broker's lock")
	fl.BoolVar(&f.broad, "broadcast", false, "read all queues, offsets in a local file; give each of several members on one host its own --client-id or --offset-dir")
	fl.StringVar(&f.from, "from", "", "where a group without offsets starts: last, first or a time")
	fl.StringVar(&f.strategy.strategy, "strategy", "", "who gets which queue: avg, circle, config, machine-room, machine-room-nearby[-INNER] or consistent-hash")
	fl.StringArrayVar(&f.strategy.queues, "queues", nil, "strategy config: this member's queues, [TOPIC=]BROKER:ID or BROKER:FROM-TO, separated by commas")
	fl.StringArrayVar(&f.strategy.rooms, "machine-rooms", nil, "strategy machine-room: the rooms whose brokers, called ROOM@NAME, this member reads, separated by commas")
	fl.IntVar(&f.strategy.virtualNodes, "virtual-nodes", core.VirtualNodes, "strategy consistent-hash: virtual nodes a member")
	fl.StringVar(&f.sql, "sql", "", "SQL92 expression over properties that the brokers filter the topics by, such as \"TAGS = 'paid' AND amount > 100\"")
	fl.StringVar(&f.clientID, "client-id", "", "the member's client id (default: made from address and process)")
	fl.IntVar(&f.batch, "batch", 0, "messages in one call of the listener")
	fl.StringVar(&f.threads, "threads", "", "listener threads, MIN:MAX; one number N is N:N")
	fl.IntVar(&f.pullBatch, "pull-batch", 0, "messages in one pull")
	fl.Int64Var(&f.pullThreshold, "pull-threshold", 0, "flow control: messages cached in a queue")
	fl.Int64Var(&f.pullThresholdSize, "pull-threshold-size", 0, "flow control: MiB cached in a queue")
	fl.Int64Var(&f.maxSpan, "max-span", 0, "flow control: distance of cached offsets in a queue")
	fl.Int32Var(&f.maxReconsume, "max-reconsume", 0, "retries before a message is a dead letter; -1 is the default")
	f.listener.add(cmd)
	fl.Int64Var(&f.max, "max", 0, "leave after exactly so many messages; they are consumed one by one unless --threads says otherwise")
	fl.DurationVar(&f.idleExit, "idle-exit", 0, "leave when no message came for so long")
	fl.BoolVar(&f.headless, "headless", false, "print, also on a terminal; -o does that too")
	fl.BoolVar(&f.events, "events", false, "print the engine's events too")
	fl.BoolVar(&f.calls, "call-events", false, "with --events: the begin and the end of each call of the listener too")
	fl.BoolVar(&f.clean, "clean-expired", false, "send messages back whose listener takes longer than consume_timeout; they are then consumed twice")
	fl.StringVar(&f.offsetDir, "offset-dir", "", "where --broadcast keeps its offsets (default ~/.rocketmq_offsets)")
	f.changed = func(name string) bool { return fl.Changed(name) }
	f.strategy.changed = f.changed
	e.completeFlag(cmd, "strategy", "avg", "circle", "config", "machine-room", "machine-room-nearby", "consistent-hash")
	e.completeFlag(cmd, "from", "last", "first")
	cmd.RunE = e.cobraRun(func(ctx context.Context, e *env, _ []string) error { return runConsume(ctx, e, f) })
	return f, cmd
}

// options lays the flags over the configuration's [consumer].
func (f *consumeFlags) options(e *env, c *config.Config) (engine.Options, error) {
	o := c.Consumer
	o.Group = f.group
	switch {
	case f.group == "":
		return o, usagef("which group? -g GROUP")
	case len(f.topics) == 0:
		return o, usagef("which topic? -t TOPIC[:TAG1||TAG2]")
	case f.changed("sql") && strings.TrimSpace(f.sql) == "":
		return o, usagef("--sql: the expression is empty; leave --sql out to read all")
	case f.max < 0:
		return o, usagef("--max %d: must not be negative", f.max)
	case f.idleExit < 0:
		return o, usagef("--idle-exit %v: must not be negative", f.idleExit)
	}
	for _, t := range f.topics {
		s := parseSubscription(t)
		tagged := s.Expression != "" && s.Expression != "*"
		if text := starTags("-t "+t, s.Expression); text != "" {
			e.say("%s", text)
		}
		switch {
		case f.changed("sql") && tagged:
			return o, usagef("--sql with -t %s: a topic is filtered by tags or by SQL92; write the tags into the expression, such as \"TAGS = 'paid' AND …\"", t)
		case f.changed("sql"):
			s.Expression, s.ExpressionType = f.sql, protocol.ExpressionSQL92
		case c.Sql != "" && s.Expression == "":
			s.Expression, s.ExpressionType = c.Sql, protocol.ExpressionSQL92
		}
		o.Subscriptions = append(o.Subscriptions, s)
	}
	if f.changed("orderly") {
		o.Orderly = f.orderly
	}
	if f.changed("broadcast") {
		o.MessageModel = protocol.Clustering
		if f.broad {
			o.MessageModel = protocol.Broadcasting
		}
	}
	if f.changed("client-id") {
		if o.ClientID = f.clientID; f.clientID == "" {
			return o, usagef(`--client-id "": leave it out for one that is made`)
		}
	}
	switch f.from {
	case "":
	case "last":
		o.ConsumeFromWhere = protocol.ConsumeFromLastOffset
	case "first":
		o.ConsumeFromWhere = protocol.ConsumeFromFirstOffset
	default:
		t, err := page.ParseTime(f.from, e.now(), e.location)
		if err != nil {
			return o, usagef("--from: must be last, first or a time: %v", err)
		}
		o.ConsumeFromWhere, o.ConsumeTimestamp = protocol.ConsumeFromTimestamp, t
	}
	// With --max one thread keeps what is printed and what is committed together:
	// several would print later messages of a queue while an earlier one is beyond
	// the limit, and these would be delivered once more.
	if f.max > 0 {
		o.ConsumeMessageBatchMaxSize, o.ConsumeThreadMin, o.ConsumeThreadMax = 1, 1, 1
		if f.changed("batch") && f.batch != 1 {
			return o, usagef("--batch %d: --max counts messages one by one, leave --batch out", f.batch)
		}
	}
	if f.threads != "" {
		lo, hi, err := parseThreads(f.threads)
		if err != nil {
			return o, usagef("--threads %v", err)
		}
		o.ConsumeThreadMin, o.ConsumeThreadMax = lo, hi
	}
	setIf(f, "batch", &o.ConsumeMessageBatchMaxSize, f.batch)
	setIf(f, "pull-batch", &o.PullBatchSize, f.pullBatch)
	setIf(f, "pull-threshold", &o.PullThresholdForQueue, f.pullThreshold)
	setIf(f, "pull-threshold-size", &o.PullThresholdSizeForQueue, f.pullThresholdSize)
	setIf(f, "max-span", &o.ConsumeConcurrentlyMaxSpan, f.maxSpan)
	setIf(f, "max-reconsume", &o.MaxReconsumeTimes, f.maxReconsume)
	setIf(f, "clean-expired", &o.CleanExpired, f.clean)
	if err := f.explain(o.Validate(), c); err != nil {
		return o, err
	}
	var err error
	o.Strategy, err = f.allocation(c, &o)
	return o, err
}

// propertyFlags are the flags that set RocketMQ's properties.
var propertyFlags = map[string]string{
	"consumerGroup": "group", "clientId": "client-id", "topic": "topic", "subscription": "topic",
	"consumeFromWhere": "from", "consumeTimestamp": "from", "allocateMessageQueueStrategy": "strategy",
	"messageModel": "broadcast", "consumeThreadMin": "threads", "consumeThreadMax": "threads",
	"consumeMessageBatchMaxSize": "batch", "pullBatchSize": "pull-batch", "pullThresholdForQueue": "pull-threshold",
	"pullThresholdSizeForQueue": "pull-threshold-size", "consumeConcurrentlyMaxSpan": "max-span", "maxReconsumeTimes": "max-reconsume",
}

// explain says a broken rule in the words of who gave the value: the flag, or the
// file with its line. RocketMQ's name of it stands behind.
func (f *consumeFlags) explain(err error, c *config.Config) error {
	ce, ok := errors.AsType[*engine.ConfigError](err)
	if !ok {
		return err
	}
	rule := ce.Rule
	if strings.Contains(rule, "consumeThreadMax") { // the one rule between two properties
		rule = "min must not be above max"
	}
	say := func(format string, args ...any) error {
		return &usageError{Err: &rejectedError{fmt.Sprintf(format, args...), ce}}
	}
	flag := propertyFlags[ce.Property]
	switch {
	case flag == "threads" && f.changed(flag):
		return say("--threads %s: %s (%s)", f.threads, rule, ce.Property)
	case flag != "" && f.changed(flag):
		return say("--%s %v: %s (%s)", flag, ce.Value, rule, ce.Property)
	}
	key := "consumer." + config.Snake(ce.Property)
	if line, ok := strings.CutPrefix(string(c.OriginOf(key)), "file:"); ok {
		return say("%s:%s: %s = %v: %s (%s)", c.Path, line, key, ce.Value, rule, ce.Property)
	}
	return err
}

// rejectedError is a refused setting in the words of who gave it.
type rejectedError struct {
	text string
	*engine.ConfigError
}

func (e *rejectedError) Error() string { return e.text }
func (e *rejectedError) Unwrap() error { return e.ConfigError }

// tellRejected prints a refused setting as an event for who reads events: there is
// no engine yet that could tell it.
func (e *env) tellRejected(err error, format, group string) {
	ev := engine.ConfigRejected{At: engine.At{Time: e.now()}}
	if ce, ok := errors.AsType[*engine.ConfigError](err); ok {
		ev.Property, ev.Value, ev.Rule = ce.Property, fmt.Sprint(ce.Value), ce.Rule
	} else if ce, ok := errors.AsType[*config.Error](err); ok && ce.Key != "" {
		ev.Property, ev.Value, ev.Rule = ce.Key, fmt.Sprint(ce.Value), ce.Rule
	} else {
		return
	}
	p := &printer{env: e, group: group, format: format}
	_, _ = e.stdout.Write(p.event(nil, ev)) // the error is told on standard error too
}

func setIf[T any](f *consumeFlags, name string, to *T, value T) {
	if f.changed(name) {
		*to = value
	}
}

func runConsume(ctx context.Context, e *env, f *consumeFlags) error {
	onScreen := !f.headless && !e.flags.plain && e.flags.output == "" && e.onTerminal()
	if !onScreen && !f.headless && e.flags.output == "" {
		e.sayDumb()
	}
	formats := []string{"json", "text", "none"}
	if e.flags.plain {
		formats = []string{"text", "json", "none"}
		f.events = true
	}
	format, err := e.format(formats...)
	if err != nil {
		return err
	}
	events := f.events && !onScreen && format != "none"
	c, err := e.loadConfig()
	var o engine.Options
	if err == nil {
		o, err = f.options(e, c)
	}
	if err != nil {
		if events {
			e.tellRejected(err, format, f.group)
		}
		return err
	}
	l, err := f.listener.resolve(f, c, onScreen)
	if err != nil {
		return err
	}
	t, err := e.target(c)
	if err != nil {
		return err
	}
	e.cluster = t.name
	if err := t.allowChange("joining group " + f.group + ", which takes queues from its members and commits offsets,"); err != nil {
		return err
	}
	if text := retryLeftOut(&o); text != "" {
		e.say("%s", text)
	}
	if !onScreen && l.Name != config.Exec && c.OriginOf("consumer.await_termination_millis_when_shutdown") == "default" {
		o.AwaitTermination = printAwait
	}
	if !onScreen && f.max == 0 && l.Name == config.Ack && !f.changed("batch") &&
		c.OriginOf("consumer.consume_message_batch_max_size") == "default" {
		o.ConsumeMessageBatchMaxSize = printBatch
	}
	inbound := engine.NewInbound()
	t.vipChannel = c.VipChannel
	client, err := e.newClient(t, inbound)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := e.awaitTopics(ctx, client, o.Subscriptions); err != nil {
		return err
	}
	if err := e.checkAccess(ctx, client, o.Group, o.Subscriptions); err != nil {
		return err
	}
	dir := f.offsetDir
	if dir == "" {
		dir = config.OffsetDir()
	}
	r := &consumeRun{env: e, options: o, flags: f, format: format, Listener: l, namesrv: t.namesrv, environ: t.withoutSecrets(os.Environ())}
	r.join = func(l engine.Listener) (*member, error) { return newMember(client, inbound, o, l, dir, e) }
	if onScreen {
		return r.onScreen(ctx, c, t)
	}
	return r.headless(ctx)
}
