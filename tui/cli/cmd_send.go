package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"eyeq/engine"
	"eyeq/engine/audit"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/tui/change"
	"eyeq/tui/draw"
)

// sendGroup is the producer group that send names; it is registered nowhere.
const sendGroup = "EYEQ_SEND"

// sendFlags are the flags of send.
type sendFlags struct {
	tag, key   string
	properties []string
	delayLevel int
	queue      string
	count      int
	dryRun     bool
}

func newSend(e *env) *cobra.Command {
	f := &sendFlags{}
	cmd := &cobra.Command{
		Use:   "send TOPIC [BODY|@FILE|-]",
		Short: "Send messages to a topic (-o text|json)",
		Long: `Sends one message, or -n of them, to a topic that exists: to its queues by turns from any of them on,
or to --queue. The body is BODY, the content of FILE, or standard input. Nothing is compressed.
With -o json each message is an object of kind "sent", else (-o text) a line.`,
		Example: `  eyeq send orders '{"id": 1}' --tag paid --key order-1
  generate | eyeq send orders - -o json`,
		Args: oneTopic(1),
	}
	fl := cmd.Flags()
	fl.StringVar(&f.tag, "tag", "", "the message's tag")
	fl.StringVar(&f.key, "key", "", "the message's keys, separated by blanks")
	fl.StringArrayVar(&f.properties, "property", nil, "K=V, repeatable")
	fl.IntVar(&f.delayLevel, "delay-level", 0, "deliver later: 1 (1s) to 18 (2h)")
	fl.StringVar(&f.queue, "queue", "", "BROKER:ID to send to")
	fl.IntVarP(&f.count, "number", "n", 1, "how many messages to send")
	fl.BoolVar(&f.dryRun, "dry-run", false, "say what would be sent, and send nothing")
	cmd.RunE = e.cobraRun(func(ctx context.Context, e *env, args []string) error {
		body := ""
		if len(args) > 1 {
			body = args[1]
		}
		return runSend(ctx, e, f, args[0], body, len(args) > 1)
	})
	return cmd
}

func runSend(ctx context.Context, e *env, f *sendFlags, topic, bodyArg string, given bool) error {
	format, err := e.format("text", "json")
	if err != nil {
		return err
	}
	properties, err := f.messageProperties()
	if err != nil {
		return err
	}
	var wanted []queueRef
	if f.queue != "" {
		q, err := parseQueueRef(f.queue)
		if err != nil {
			return usagef("--queue: %v", err)
		}
		wanted = []queueRef{q}
	}
	c, err := e.loadConfig()
	if err != nil {
		return err
	}
	t, err := e.target(c)
	if err != nil {
		return err
	}
	if !f.dryRun {
		if err := t.allowChange("sending"); err != nil {
			return err
		}
	}
	body, err := e.readBody(bodyArg, given)
	if err != nil {
		return err
	}
	client, err := e.newClient(t, nil)
	if err != nil {
		return err
	}
	defer client.Close()
	route, err := e.topicRoute(ctx, client, topic)
	if nf, ok := errors.AsType[*notFoundError](err); ok {
		return &notFoundError{What: nf.What + ", and send makes none by itself; create it first: " + createTopic(t, topic), kind: nf.kind, name: nf.name}
	}
	if err != nil {
		return err
	}
	choice := topicQueues{client: client, route: route, write: true, limit: e.flags.timeout}
	queues, err := choice.choose(ctx, wanted)
	if err != nil {
		return err
	}
	s := &sender{env: e, client: client, format: format, ids: remoting.NewUniqueIDs(), dryRun: f.dryRun, delayed: slices.ContainsFunc(properties, isDelay)}
	sendAll := func() (after any, err error) {
		first := rand.IntN(len(queues)) // else queue 0 would get every message that is sent alone
		for i := range f.count {
			m := remoting.OutMessage{Topic: topic, Body: body, Properties: properties}
			if err := s.send(ctx, queues[(first+i)%len(queues)], m); err != nil {
				return sentCount{i, len(body)}, err
			}
		}
		return sentCount{f.count, len(body)}, nil
	}
	if f.dryRun {
		_, err := sendAll()
		return err
	}
	return e.recorded(t, audit.Entry{Command: "send", Topic: topic, After: sentCount{f.count, len(body)}}, sendAll)
}

// sentCount is what the audit file tells of messages sent: not what was in them.
type sentCount struct {
	Messages int `json:"messages"`
	BodySize int `json:"body_size"`
}

// createTopic is a command that makes a topic of the cluster that was asked, ready to
// be pasted.
func createTopic(t *target, topic string) string {
	return "eyeq topic create " + change.ShellWord(topic) + t.flags
}

// isDelay reports whether a property makes the broker deliver later: --property
// can set it as well as --delay-level.
func isDelay(p protocol.Property) bool { return p.Name == protocol.PropertyDelay }

// messageProperties are the properties of each message, but the unique id.
func (f *sendFlags) messageProperties() ([]protocol.Property, error) {
	switch {
	case f.count < 1:
		return nil, usagef("-n %d: must be at least 1", f.count)
	case f.delayLevel < 0 || f.delayLevel > 18:
		return nil, usagef("--delay-level %d: must be 1 to 18", f.delayLevel)
	}
	var list []protocol.Property
	add := func(name, value string) {
		if value != "" {
			list = append(list, protocol.Property{Name: name, Value: value})
		}
	}
	add(protocol.PropertyKeys, f.key)
	add(protocol.PropertyTags, f.tag)
	if f.delayLevel > 0 {
		add(protocol.PropertyDelay, strconv.Itoa(f.delayLevel))
	}
	add(protocol.PropertyWait, "true")
	for _, p := range f.properties {
		name, value, ok := strings.Cut(p, "=")
		switch {
		case !ok || name == "" || value == "":
			return nil, usagef("--property %q: must be K=V", p)
		case repeated(list, name) || name == protocol.PropertyUniqKey:
			return nil, usagef("--property %s: is set already, by another flag or by eyeq", name)
		}
		add(name, value)
	}
	for _, p := range list {
		if strings.ContainsAny(p.Name+p.Value, "\x01\x02") {
			return nil, usagef("%s: must not contain the bytes 1 and 2, which separate properties", strconv.Quote(p.Name))
		}
	}
	return list, nil
}

// readBody gets the body from where the argument says.
func (e *env) readBody(arg string, given bool) ([]byte, error) {
	var body []byte
	var err error
	_, stdinIsTerminal := terminalOf(e.stdin)
	path, isFile := strings.CutPrefix(arg, "@")
	switch {
	case !given && stdinIsTerminal:
		return nil, usagef("which body? BODY, @FILE, or - for standard input")
	case !given || arg == "-":
		body, err = io.ReadAll(io.LimitReader(e.stdin, protocol.MaxFrameLength))
	case isFile:
		body, err = readBodyFile(path)
	default:
		body = []byte(arg)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the body: %w", err)
	case len(body) == 0:
		return nil, usagef("the body is empty: 5.x brokers refuse that")
	case len(body) >= protocol.MaxFrameLength:
		return nil, usagef("the body has %d bytes or more: no broker takes that", protocol.MaxFrameLength)
	}
	return body, nil
}

// readBodyFile reads no more than a message can hold: a device may have no end.
func readBodyFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, protocol.MaxFrameLength))
}

// sender sends messages and prints what became of them.
type sender struct {
	env    *env
	client *remoting.Client
	format string
	ids    *remoting.UniqueIDs

	dryRun, delayed bool
}

// sentMessage is one line of send.
type sentMessage struct {
	Kind            string  `json:"kind"`
	Topic           string  `json:"topic"`
	Broker          string  `json:"broker"`
	Queue           int32   `json:"queue"`
	Offset          *int64  `json:"offset"`
	OffsetError     string  `json:"offset_error,omitempty"`
	MessageID       string  `json:"message_id"`
	OffsetMessageID *string `json:"offset_message_id"`
	Warning         *string `json:"warning"`
}

// plannedMessage is one line of send --dry-run: it has no ids, nothing was sent.
type plannedMessage struct {
	Kind   string `json:"kind"`
	Topic  string `json:"topic"`
	Broker string `json:"broker"`
	Queue  int32  `json:"queue"`
}

// delayedOffset is why a delayed message has no offset: the broker answers with the
// place of the copy that it parks in its schedule topic, which nobody asked about.
const delayedOffset = "delayed, its place is known when it is delivered"

func (s *sender) send(ctx context.Context, mq engine.MessageQueue, m remoting.OutMessage) error {
	line, err := s.plan(mq)
	if !s.dryRun {
		line, err = s.deliver(ctx, mq, m)
	}
	if err != nil {
		return err
	}
	if _, err := s.env.stdout.Write(line); err != nil {
		return &outputError{Err: err}
	}
	return nil
}

// plan gives the line of what would be sent.
func (s *sender) plan(mq engine.MessageQueue) ([]byte, error) {
	if s.format == "json" {
		return marshal(plannedMessage{Kind: "dry_run", Topic: mq.Topic, Broker: mq.BrokerName, Queue: mq.QueueID})
	}
	return []byte(draw.SafeText(fmt.Sprintf("would send to %v", mq)) + "\n"), nil
}

// deliver sends one message and gives its line.
func (s *sender) deliver(ctx context.Context, mq engine.MessageQueue, m remoting.OutMessage) ([]byte, error) {
	id := s.ids.Next()
	m.Properties = append(m.Properties[:len(m.Properties):len(m.Properties)], protocol.Property{Name: protocol.PropertyUniqKey, Value: id})
	ctx, cancel := context.WithTimeout(ctx, s.env.flags.timeout)
	defer cancel()
	r, err := s.client.Send(ctx, sendGroup, mq, &m)
	if err != nil {
		return nil, err
	}
	row := sentMessage{Kind: "sent", Topic: mq.Topic, Broker: mq.BrokerName, Queue: mq.QueueID, MessageID: id}
	if s.delayed {
		row.OffsetError = delayedOffset
	} else {
		row.Queue, row.Offset, row.OffsetMessageID = r.MessageQueue.QueueID, &r.QueueOffset, &r.OffsetMessageID
	}
	if r.Warning != protocol.Success {
		row.Warning = new(r.Warning.String())
	}
	return s.line(&row)
}

func (s *sender) line(row *sentMessage) ([]byte, error) {
	if s.format == "json" {
		return marshal(row)
	}
	mq := engine.MessageQueue{Topic: row.Topic, BrokerName: row.Broker, QueueID: row.Queue}
	place := row.OffsetError
	if row.Offset != nil {
		place = fmt.Sprintf("offset %d", *row.Offset)
	}
	line := fmt.Sprintf("%v  %s  %s", mq, place, row.MessageID)
	if row.Warning != nil {
		line += "  stored, but " + *row.Warning
	}
	return []byte(draw.SafeText(line) + "\n"), nil
}
