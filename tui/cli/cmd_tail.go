package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/engine/inspect/message"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/tui/draw"
)

// tailFlags are the flags of tail.
type tailFlags struct {
	queues      []string
	from, until string
	count       int64
	follow      bool
	tag, key    string
	sql         string
	properties  []string
	grep, jq    string
	charset     message.Charset
}

func newTail(e *env) *cobra.Command {
	f := &tailFlags{}
	cmd := &cobra.Command{
		Use:   "tail TOPIC",
		Short: "Read a topic without joining any group and without committing any offset",
		Long: `Reads the queues of a topic and prints their messages in the order in which they were stored.
No group is joined and no offset is moved. Without --from it starts with the next message and
follows; --until makes it end by itself.

POSITION is earliest, latest, now, offset:N, a time (RFC 3339, 2006-01-02 15:04[:05] in --tz,
or milliseconds of the epoch), or -10m, ten minutes ago. --until offset:N and --until TIME include that message.

All filters must let a message pass: --sql and --tag at the brokers, then a cheap one first, --jq
last. SQL92 takes brokers with enablePropertyFilter=true. A message whose body
is no JSON, or on which the program fails, does not pass; such messages are counted. At the end
standard error says how many messages were seen, matched, kept (printed) and dropped (matched, but
beyond -n).

-o is text (a line a message), json (one object a line, for a file too), raw (the bytes of each body,
a newline behind it) or hex. --charset is for text, --grep and --jq; json, raw and hex give the
true bytes.`,
		Example: `  eyeq tail orders
  eyeq tail orders --from -10m --until now --grep 'refund' -o json
  eyeq tail orders --from -1h --until now --jq '.amount > 1000 and .cur == "CNY"' -o json > orders.jsonl
  eyeq tail orders --queue broker-a:3 --from offset:4711 -n 1 -o hex`,
		Args:              oneTopic(0),
		ValidArgsFunction: e.completion(true, topicNames),
	}
	fl := cmd.Flags()
	e.charsetFlag(cmd, &f.charset)
	fl.StringArrayVar(&f.queues, "queue", nil, "BROKER:ID, only this queue; repeatable")
	fl.StringVar(&f.from, "from", "latest", "POSITION to start at")
	fl.StringVar(&f.until, "until", "", "POSITION to end at")
	fl.Int64VarP(&f.count, "number", "n", 0, "end after so many messages")
	fl.BoolVar(&f.follow, "follow", true, "go on with what comes; --follow=false is --until now")
	fl.StringVar(&f.tag, "tag", "", "only these tags, TAG1||TAG2")
	fl.StringVar(&f.sql, "sql", "", "SQL92 expression over properties that the brokers filter by, such as \"TAGS = 'paid' AND amount > 100\"")
	fl.StringVar(&f.key, "key", "", "only messages with this key")
	fl.StringArrayVar(&f.properties, "property", nil, "K=V, only messages with this property; repeatable")
	fl.StringVar(&f.grep, "grep", "", "only messages whose body matches this regular expression")
	fl.StringVar(&f.jq, "jq", "", "only messages for whose JSON body this jq program gives anything but false and null")
	cmd.RunE = e.cobraRun(func(ctx context.Context, e *env, args []string) error {
		if fl.Changed("until") && fl.Changed("follow") && f.follow {
			return usagef("--until ends and --follow does not: give one of them")
		}
		switch {
		case fl.Changed("sql") && strings.TrimSpace(f.sql) == "":
			return usagef("--sql: the expression is empty; leave --sql out to read all")
		case f.sql != "" && f.tag != "":
			return usagef("--sql with --tag: brokers filter by one of them; write the tags into the expression, such as \"TAGS = 'paid' AND …\"")
		}
		return runTail(ctx, e, f, args[0])
	})
	return cmd
}

func runTail(ctx context.Context, e *env, f *tailFlags, topic string) error {
	format, err := e.format("text", "json", "raw", "hex")
	if err != nil {
		return err
	}
	t, err := f.tailer(e)
	if err != nil {
		return err
	}
	var wanted []queueRef
	for _, s := range f.queues {
		q, err := parseQueueRef(s)
		if err != nil {
			return usagef("--queue: %v", err)
		}
		wanted = append(wanted, q)
	}
	client, _, err := e.connect()
	if err != nil {
		return err
	}
	defer client.Close()
	route, err := e.topicRoute(ctx, client, topic)
	if err != nil {
		return err
	}
	choice := topicQueues{client: client, route: route, limit: e.flags.timeout}
	if t.queues, err = choice.choose(ctx, wanted); err != nil {
		return err
	}
	if t.kind == protocol.ExpressionSQL92 {
		if err := checkSQL(ctx, client, topic, t.expression, e.log()); err != nil {
			return err
		}
	}
	t.client, t.timeout, t.topic = client, e.flags.timeout, topic
	t.grows = len(wanted) == 0 && (t.until == nil || t.until.kind == posTime && t.until.time.After(e.now()))
	out := &tailOutput{format: format, w: bufio.NewWriterSize(e.stdout, 1<<16), location: e.location, charset: f.charset, left: f.count}
	t.emit, t.pause, t.unread = out.emit, out.flush, out.unread
	switch {
	case t.until == nil:
		e.say("reading %s of %s from %s; ctrl-c ends", inspect.Plural(len(t.queues), "queue"), draw.SafeText(topic), f.from)
	case t.empty(e.now()):
		e.say("nothing is read: --from %s does not lie before --until %s", f.from, f.untilWord())
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	e.watchReader(ctx, stop)
	err = t.run(ctx, e.crew)
	if counts := t.filter.Counts(); err == nil || counts.Seen > 0 {
		e.say("%s", tailCounts(counts, out.printed))
	}
	if cause := context.Cause(ctx); err == nil && isType[*outputError](cause) {
		return cause
	}
	return err
}

// checkSQL asks the brokers whether they filter by an expression: of a pull that is refused
// for it a tail would tell again and again. Nobody is registered, so any client id will do.
func checkSQL(ctx context.Context, client *remoting.Client, topic, expression string, log *slog.Logger) error {
	sub, err := protocol.NewSQLSubscription(topic, expression)
	if err != nil {
		return err
	}
	return engine.CheckFilter(ctx, client, "eyeq-tail", engine.ToolsGroup, sub, log)
}

// tailer makes a tailer of what needs no cluster.
func (f *tailFlags) tailer(e *env) (*tailer, error) {
	if f.count < 0 {
		return nil, usagef("-n %d: must not be negative", f.count)
	}
	now := e.now()
	from, err := parsePosition(f.from, e.location, now)
	if err != nil {
		return nil, usagef("--from %v", err)
	}
	t := &tailer{from: from, now: e.now, giveUp: e.flags.timeout, expression: "*"}
	if until := f.untilWord(); until != "" {
		p, err := parsePosition(until, e.location, now)
		if err != nil {
			return nil, usagef("--until %v", err)
		}
		if p.kind == posTime && from.kind == posTime && p.time.Before(from.time) ||
			p.kind == posOffset && from.kind == posOffset && p.offset < from.offset {
			return nil, usagef("--until %s lies before --from %s", until, f.from)
		}
		t.until = &p
	}
	if t.filter, err = f.filter(); err != nil {
		return nil, err
	}
	only := &sieve{Matcher: t.filter}
	t.keep = func(ctx context.Context, m *engine.Message) *sieve {
		if only.Match(ctx, m) {
			return only
		}
		return nil
	}
	if f.tag != "" {
		t.expression = f.tag
	}
	if text := starTags("--tag "+f.tag, f.tag); text != "" {
		e.say("%s", text)
	}
	if f.sql != "" {
		t.expression, t.kind = f.sql, protocol.ExpressionSQL92
	}
	var mu sync.Mutex // one line at a time: queues are read side by side
	t.notice = func(text string) {
		mu.Lock()
		defer mu.Unlock()
		e.say("%s", draw.SafeText(text))
	}
	return t, nil
}

// untilWord is what --until says; "" is for ever.
func (f *tailFlags) untilWord() string {
	if f.until == "" && !f.follow {
		return "now"
	}
	return f.until
}

// filter makes the filter of the flags; a message must pass each of them.
func (f *tailFlags) filter() (*message.Matcher, error) {
	all := message.Filter{Tags: f.tag, Key: f.key, Properties: map[string]string{}, Grep: f.grep, JQ: f.jq, Charset: f.charset}
	for _, p := range f.properties {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return nil, usagef("--property %q: must be K=V", p)
		}
		if before, twice := all.Properties[name]; twice && before != value {
			return nil, usagef("--property %s is given as %q and as %q: no message has both", name, before, value)
		}
		all.Properties[name] = value
	}
	m, err := all.Compile()
	if bad, ok := errors.AsType[*message.FilterError](err); ok {
		part := map[string]string{"tags": "tag"}[bad.Part]
		return nil, usagef("--%s: %v", cmp.Or(part, bad.Part), bad.Err)
	}
	return m, err
}

// tailCounts is the last word of a tail: what was read and what became of it.
func tailCounts(c message.MatchCounts, kept int64) string {
	text := fmt.Sprintf("%d seen, %d matched, %d kept, %d dropped", c.Seen, c.Matched, kept, c.Matched-kept)
	if c.Failed > 0 {
		text += fmt.Sprintf("; the jq program failed on %d, first on %s", c.Failed, c.Why)
	}
	return text
}
