package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"eyeq/engine/inspect"
	"eyeq/engine/inspect/message"
	"eyeq/tui/page"
)

// messageFindFlags are the flags of message find.
type messageFindFlags struct {
	topic, key, unique string
	from, until        string
	number             int
	charset            message.Charset
}

func newMessageFind(e *env) *cobra.Command {
	f := &messageFindFlags{}
	cmd := &cobra.Command{
		Use:   "find -t TOPIC [--key K|--unique-key ID]",
		Short: "Find messages by a key, a unique id or the time at which they were stored",
		Long: `Finds messages of a topic and prints them in the order in which they were stored.

--key looks for one of a message's keys, --unique-key for the id that its producer gave it, also in the
retry and dead-letter topics of the topic's groups and among what is not yet due. Without either it
lists what was stored between --from and --until; both ends belong to the span. No span is guessed: what
a broker keeps is searched. A message is in a broker's index about a second after it was stored.

A broker gives at most 64 messages of a key, the newest. TIME is RFC 3339, 2006-01-02 15:04[:05] in --tz,
-10m, ten minutes ago, or milliseconds of the epoch.

-o is text (a line a message), json (an array), raw (the bytes of each body, a newline behind it) or hex.
--charset is for text; json, raw and hex give the true bytes.`,
		Example: `  eyeq message find -t orders --key order-77
  eyeq message find -t orders --unique-key 7F0000010DFC1EB2C6F6000000000001 -o json
  eyeq message find -t '%DLQ%billing' --from -1d -n 20`,
		Args: noArgs,
	}
	e.topicFlag(cmd, &f.topic, "the topic to look in")
	fl := cmd.Flags()
	e.charsetFlag(cmd, &f.charset)
	fl.StringVar(&f.key, "key", "", "a key of the message")
	fl.StringVar(&f.unique, "unique-key", "", "the message's unique id")
	fl.StringVar(&f.from, "from", "", "TIME, stored then or later")
	fl.StringVar(&f.until, "until", "", "TIME, stored then or earlier")
	fl.IntVarP(&f.number, "number", "n", 64, "at most so many")
	cmd.RunE = e.cobraRun(func(ctx context.Context, e *env, args []string) error { return runMessageFind(ctx, e, f) })
	return cmd
}

// request makes one of the flags.
func (f *messageFindFlags) request(e *env) (r inspect.FindRequest, err error) {
	r = inspect.FindRequest{Topic: f.topic, Key: f.key, UniqueKey: f.unique, Max: f.number}
	switch {
	case f.topic == "":
		return r, usagef("which topic? -t TOPIC")
	case f.key != "" && f.unique != "":
		return r, usagef("--key and --unique-key: give one of them")
	case f.number <= 0:
		return r, usagef("-n %d: must be positive", f.number)
	}
	now := e.now()
	for _, end := range []struct {
		flag, text string
		at         *time.Time
	}{{"--from", f.from, &r.From}, {"--until", f.until, &r.To}} {
		switch end.text {
		case "", "earliest":
			if end.flag == "--until" && end.text != "" {
				return r, usagef("--until earliest: nothing was stored before")
			}
		case "now", "latest":
			*end.at = now
		default:
			if *end.at, err = page.ParseTime(end.text, now, e.location); err != nil {
				return r, usagef("%s %v", end.flag, err)
			}
		}
	}
	if !r.From.IsZero() && !r.To.IsZero() && r.To.Before(r.From) {
		return r, usagef("--until %s lies before --from %s", f.until, f.from)
	}
	return r, nil
}

// words say what was looked for.
func (f *messageFindFlags) words() string {
	what := "of " + f.topic
	switch {
	case f.key != "":
		what += " with key " + f.key
	case f.unique != "":
		what += " with unique id " + f.unique
	}
	switch {
	case f.from != "" && f.until != "":
		what += fmt.Sprintf(" between %s and %s", f.from, f.until)
	case f.from != "":
		what += " since " + f.from
	case f.until != "":
		what += " until " + f.until
	}
	return what
}

func runMessageFind(ctx context.Context, e *env, f *messageFindFlags) error {
	format, err := e.format("text", "json", "raw", "hex")
	if err != nil {
		return err
	}
	r, err := f.request(e)
	if err != nil {
		return err
	}
	if err := r.Check(); err != nil {
		return explainMessage(err)
	}
	x, err := e.inspection()
	if err != nil {
		return err
	}
	defer x.close()
	found, err := x.Find(ctx, r)
	if err != nil {
		return explainMessage(err)
	}
	if len(found.Messages) > 0 || notIndexed(found.Problems) == nil { // else that is the answer
		e.warn(found.Problems)
	}
	w := &messageWriter{env: e, x: x, charset: f.charset}
	if err := e.write(w.many(ctx, found.Messages, format)); err != nil {
		return err
	}
	switch n := len(found.Messages); {
	case n == 0 && (f.key != "" || f.unique != ""):
		return x.nothing(found, "there is no message "+f.words())
	case n == 0 && len(found.Problems) > 0:
		return x.unread(found, f.words())
	case n == 0:
		e.say("there is no message %s", f.words())
	case found.Truncated:
		e.say("these are %d; there are more %s, or may be: narrow --from and --until", n, f.words())
	}
	return nil
}

// unread is why nothing could be read of a span.
func (x *inspection) unread(r inspect.FindResult, what string) error {
	if err := unasked(what, r.Problems); err != nil {
		return err
	}
	return fmt.Errorf("messages %s could not be read, see above", what)
}
