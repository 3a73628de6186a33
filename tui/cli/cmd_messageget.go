package cli

import (
	"context"

	"github.com/spf13/cobra"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/engine/inspect/message"
	"eyeq/tui/change"
)

// messageGetFlags say which message.
type messageGetFlags struct {
	topic, queue string
	offset       int64
	charset      message.Charset
}

func newMessageGet(e *env) *cobra.Command {
	f := &messageGetFlags{}
	cmd := &cobra.Command{
		Use:   "get [ID] [-t TOPIC]",
		Short: "Look at one message",
		Long: `Shows one message: by its offset id, by its unique id and topic, or by its place.

The id in a log of a Java client is the unique id, unless the message has none. A unique id is
also looked for in the retry and dead-letter topics of the groups that consume the topic, and
among the delayed messages that are not yet due; the message itself is shown, and where copies are is
said. An offset id holds the address of a broker: where no broker has that address any more, all
are asked for a message of that id.

-o is text (everything, the body decoded), json, raw (the bytes of the body, nothing else) or hex.
--charset is for text; json, raw and hex give the true bytes.`,
		Example: `  eyeq message get 7F00000100002A9F0000000000000E44
  eyeq message get 7F0000010DFC1EB2C6F6000000000001 -t orders -o json
  eyeq message get -t orders --queue broker-a:3 --offset 4711 -o raw > body`,
	}
	e.topicFlag(cmd, &f.topic, "the message's topic")
	fl := cmd.Flags()
	e.charsetFlag(cmd, &f.charset)
	fl.StringVar(&f.queue, "queue", "", "BROKER:ID, with --offset the place instead of an id")
	fl.Int64Var(&f.offset, "offset", 0, "the offset in --queue")
	cmd.RunE = e.cobraRun(func(ctx context.Context, e *env, args []string) error {
		switch place := f.queue != "" || fl.Changed("offset"); {
		case len(args) > 1:
			return usagef("%q is one argument too many: %s", args[1], cmd.UseLine())
		case place && len(args) > 0:
			return usagef("give an id, or -t, --queue and --offset")
		case place && (f.queue == "" || !fl.Changed("offset") || f.topic == ""):
			return usagef("a place is -t TOPIC, --queue BROKER:ID and --offset N, all of them")
		case place && f.offset < 0:
			return usagef("--offset %d: must not be negative", f.offset)
		case place:
			return runMessageGet(ctx, e, f, args)
		case len(args) == 0 || args[0] == "":
			return usagef("which message? %s", cmd.UseLine())
		}
		return runMessageGet(ctx, e, f, args)
	})
	return cmd
}

func runMessageGet(ctx context.Context, e *env, f *messageGetFlags, args []string) error {
	format, err := e.format("text", "json", "raw", "hex")
	if err != nil {
		return err
	}
	request := inspect.FindRequest{Offset: f.offset}
	if len(args) > 0 {
		if err := checkID(args[0], f.topic); err != nil {
			return err
		}
	}
	if f.queue != "" {
		q, err := parseQueueRef(f.queue)
		if err != nil {
			return usagef("--queue: %v", err)
		}
		request.Queue = &engine.MessageQueue{Topic: f.topic, BrokerName: q.broker, QueueID: q.id}
	}
	x, err := e.inspection()
	if err != nil {
		return err
	}
	defer x.close()
	var r inspect.FindResult
	if request.Queue != nil {
		r, err = x.Find(ctx, request)
		err = explainMessage(err)
	} else {
		r, err = x.byID(ctx, f.topic, args[0])
	}
	if err != nil {
		return err
	}
	e.warn(r.Problems)
	id := ""
	if len(args) > 0 {
		id = args[0]
	}
	m := x.meant(e, r.Messages, f.topic, id)
	if n := len(r.Messages) - 1; n > 0 && !ofBatch(r.Messages) {
		e.say("this id has %s more; to list them all: eyeq message find -t %s --unique-key %s%s", inspect.Plural(n, "message"),
			change.ShellWord(f.topic), change.ShellWord(id), x.target.flags)
	}
	if f.topic != "" && m.Topic() != f.topic {
		e.say("it lies in %s, not in %s", m.Topic(), f.topic)
	}
	w := &messageWriter{env: e, x: x, charset: f.charset}
	return e.write(w.one(ctx, m, format))
}
