package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// hostileLines are the command lines of each command that the tests of hostile answers
// run. G, M, B and T stand for the names of a group, its member, a broker and a topic.
var hostileLines = map[string][]string{
	"eyeq":                       {"--plain"},
	"eyeq allocate":              {"-g G", "-g G -t T --join one"},
	"eyeq broker list":           {"", "--name-servers"},
	"eyeq broker show":           {"B"},
	"eyeq completion":            {},
	"eyeq config check":          {},
	"eyeq config init":           {},
	"eyeq config show":           {},
	"eyeq consume":               {"-g G -t T --headless --events --call-events --idle-exit 300ms --client-id other -o text", "-g G -t T --headless --events --idle-exit 300ms -o json"},
	"eyeq demo":                  {},
	"eyeq group clone":           {"G target -t T --yes"},
	"eyeq group create":          {"G --broker B --yes", "fresh --broker B --yes --reason R"},
	"eyeq group delete":          {"G --dry-run"},
	"eyeq group doctor":          {"G --samples 1", "G --samples 2 --interval 1s"},
	"eyeq group lag":             {"G", "G --watch=200ms"},
	"eyeq group list":            {"", "--names", "--watch=200ms"},
	"eyeq group members":         {"G --properties --stack", "G --client M"},
	"eyeq group pause":           {"G --yes --reason R"},
	"eyeq group reset":           {"G --to earliest --yes --reason R", "G --to shift:-1 -t T --queue B:0 --dry-run"},
	"eyeq group resume":          {"G --yes --reason R"},
	"eyeq group show":            {"G"},
	"eyeq message consume":       {"U -t T -g G --yes --reason R", "U -t T -g G --client M --dry-run"},
	"eyeq message find":          {"-t T --key K", "-t T --from -1h", "-t T --unique-key U"},
	"eyeq message get":           {"-t T --queue B:0 --offset 0"},
	"eyeq message resend":        {"-t %DLQ%G --all --yes --reason R"},
	"eyeq message track":         {"U -t T", "U -t T --trace"},
	"eyeq sandbox":               {},
	"eyeq send":                  {"T body --queue B:0 --key K --tag R"},
	"eyeq tail":                  {"T --from earliest --until now", "T --queue B:0 --from earliest --until now -n 2"},
	"eyeq topic create":          {"T --broker B --queues 3 --yes --reason R"},
	"eyeq topic delete":          {"T --dry-run"},
	"eyeq topic list":            {"", "--names", "--retry --system"},
	"eyeq topic show":            {"T"},
	"eyeq version":               {},
	"eyeq __complete group show": {"'"},
	"eyeq __complete topic show": {"'"},
}

// formatsOf are the values of -o that a command takes, as its help gives them.
func formatsOf(path string) []string {
	switch path {
	case "eyeq tail", "eyeq message get", "eyeq message find":
		return []string{"text", "json", "hex"} // raw is raw
	case "eyeq consume", "eyeq", "eyeq __complete group show", "eyeq __complete topic show":
		return []string{""}
	case "eyeq send":
		return []string{"text", "json"}
	}
	return []string{"table", "json"}
}

// runnable are the commands that do something, by their path.
func runnable(t *testing.T) []string {
	t.Helper()
	var paths []string
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if !c.HasSubCommands() || c.Name() == "eyeq" {
			paths = append(paths, c.CommandPath())
		}
		for _, sub := range c.Commands() {
			if sub.Name() != "help" {
				walk(sub)
			}
		}
	}
	walk(newRoot(&env{stdin: strings.NewReader(""), getenv: func(string) string { return "" }}))
	return paths
}

// hostileWorld is a sandbox whose names are hostile for who asks through poison.
type hostileWorld struct {
	*poison
	sb                           *sandbox.Sandbox
	namesrv                      string
	group, member, broker, topic poisonedName
}

// newHostileWorld has a group with a member, messages and dead letters. Commands refuse
// topics, and some of them groups, that nobody can have made by the rules of names:
// with plain ones they go further.
func newHostileWorld(t *testing.T, plain bool) *hostileWorld {
	t.Helper()
	w := &hostileWorld{group: poisonName("group"), member: poisonName("member"), broker: poisonName("broker"), topic: poisonName("topic")}
	if plain {
		w.group.hostile, w.topic.hostile = w.group.plain, w.topic.plain
	}
	dead := protocol.DLQTopicPrefix + w.group.plain
	var namesrv string
	w.sb, namesrv = serveSandbox(t, sandboxtest.Brokers(w.broker.plain), sandboxtest.Topic(w.topic.plain, 2), sandboxtest.Topic(dead, 1), sandboxtest.Topic("RMQ_SYS_TRACE_TOPIC", 1))
	w.poison, w.namesrv = between(t, w.sb, namesrv, w.group, w.member, w.broker, w.topic)
	evil := strings.Map(func(r rune) rune { // the wire's own separators cannot be in a property
		if r == 1 || r == 2 {
			return -1
		}
		return r
	}, marker)
	for _, topic := range []string{w.topic.plain, dead} {
		put(t, w.sb, topic, 1, protocol.Property{Name: "TAGS", Value: evil}, protocol.Property{Name: "KEYS", Value: "k " + evil},
			protocol.Property{Name: "UNIQ_KEY", Value: "u" + evil}, protocol.Property{Name: evil, Value: evil})
		w.sb.Put(sandbox.Message{Topic: topic, QueueID: -1, Body: []byte(marker + "\xff\xfe")}, sandbox.Message{Topic: topic, QueueID: -1, Body: []byte(marker)})
	}
	member := start(t, []string{"consume", "-g", w.group.plain, "-t", w.topic.plain, "--client-id", w.member.plain, "--headless", "--namesrv", namesrv, "-o", "none"})
	t.Cleanup(func() { member.signals <- os.Interrupt })
	sandboxtest.AwaitWithin(t, 20*time.Second, "a member", func(context.Context) bool { return len(w.sb.Members(w.group.plain)) == 1 })
	return w
}

// args makes a command line's arguments.
func (w *hostileWorld) args(path, line, format string) []string {
	args := strings.Fields(path)[1:]
	for _, word := range strings.Fields(line) {
		switch word {
		case "G", "%DLQ%G":
			word = strings.Replace(word, "G", w.group.hostile, 1)
		case "M":
			word = w.member.hostile
		case "B", "B:0":
			word = strings.Replace(word, "B", w.broker.hostile, 1)
		case "T":
			word = w.topic.hostile
		case "K", "R":
			word = marker
		case "U":
			word = "u" + marker
		case "'":
			word = ""
		}
		args = append(args, word)
	}
	if len(args) > 0 && args[0] == "__complete" {
		return slices.Insert(args, 1, "--namesrv", w.namesrv) // the last is what is completed
	}
	args = append(args, "--namesrv", w.namesrv, "--timeout", "1s")
	if format != "" {
		args = append(args, "-o", format)
	}
	return args
}

// checkHarmless runs one command line and looks at all that comes out of it.
func (w *hostileWorld) checkHarmless(t *testing.T, args []string) *program {
	t.Helper()
	state := t.TempDir()
	args = append(args, "--log-file", filepath.Join(state, "log"))
	if args[0] == "__complete" {
		args = args[:len(args)-2]
	}
	p := start(t, args, withEnv("XDG_STATE_HOME", state, "USER", "op"+marker))
	if goesOn(args) {
		select {
		case <-p.done:
		case <-time.After(700 * time.Millisecond):
			p.signals <- os.Interrupt
		}
	}
	p.wait(t)
	what := strings.Join(args, " ")
	look := func(where, text string) {
		if at := harmful.FindStringIndex(text); at != nil {
			t.Errorf("%q\n%s has %q in …%q…", what, where, text[at[0]:at[1]], text[max(0, at[0]-80):min(len(text), at[1]+80)])
		}
	}
	look("standard output", p.out.String())
	look("standard error", p.err.String())
	if strings.Contains(p.err.String(), "this is a bug in eyeq") {
		t.Errorf("%q: %s", what, p.err)
	}
	if slices.Contains(args, "json") && p.out.String() != "" {
		for d := json.NewDecoder(bytes.NewReader([]byte(p.out.String()))); d.More(); {
			var v any
			if err := d.Decode(&v); err != nil {
				t.Errorf("%q: %v in %q", what, err, p.out)
				break
			}
		}
	}
	err := filepath.WalkDir(state, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		look("a file's name", path)
		text, err := os.ReadFile(path)
		look("file "+filepath.Base(path), string(text))
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return p
}

// goesOn reports whether a command line goes on until it is interrupted, or watches for
// long what came of a change.
func goesOn(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--watch") }) ||
		slices.Contains(args, "--yes") && slices.ContainsFunc(args[:2], func(a string) bool { return a == "reset" || a == "pause" || a == "resume" })
}

// everyLine runs what is in hostileLines, in every format.
func (w *hostileWorld) everyLine(t *testing.T, each func(t *testing.T, args []string)) {
	paths := append(runnable(t), "eyeq __complete group show", "eyeq __complete topic show")
	for _, path := range paths {
		lines, known := hostileLines[path]
		if !known {
			t.Errorf("%s is a command without a line in hostileLines", path)
		}
		for _, line := range lines {
			for _, format := range formatsOf(path) {
				t.Run(fmt.Sprint(path, " ", line, " ", format), func(t *testing.T) { each(t, w.args(path, line, format)) })
			}
		}
	}
}

func TestHostileNames(t *testing.T) {
	t.Parallel()
	for name, plain := range map[string]bool{"all": false, "but those that are checked": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHostileWorld(t, plain)
			w.everyLine(t, func(t *testing.T, args []string) { w.checkHarmless(t, args) })
		})
	}
}

// What is no name and no number is spoiled: the words of enumerations, versions,
// expressions, remarks, properties. Then everything is, so that nothing can be read.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	for name, all := range map[string]bool{"words": false, "everything": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHostileWorld(t, true)
			w.spoil = func(code protocol.RequestCode, text string) bool {
				return all || !plainAnswer.MatchString(text) && !slices.ContainsFunc(w.names, func(n poisonedName) bool { return strings.Contains(text, n.hostile) })
			}
			w.everyLine(t, func(t *testing.T, args []string) { w.checkHarmless(t, args) })
		})
	}
}

// plainAnswer is what answers must hold for the program to ask on: numbers, addresses,
// the cluster and its own topics.
var plainAnswer = regexp.MustCompile(`^(|[-0-9.: ]+|127\.0\.0\.1:[0-9]+(;.*)?|DefaultCluster|%.*|[A-Z_]+_TOPIC.*|true|false)$`)

// Each question of each command is refused, at great length and with words that are
// not the broker's own.
func TestHostileRefusals(t *testing.T) {
	t.Parallel()
	const length = 256 << 10
	remark := strings.Repeat(marker, length/len(marker))
	w := newHostileWorld(t, true)
	done := map[string]bool{}
	w.everyLine(t, func(t *testing.T, args []string) {
		what := strings.Join(args[:2], " ")
		if done[what] || goesOn(args) {
			return // once a command is enough
		}
		done[what] = true
		var mu sync.Mutex // guards these
		var asked []protocol.RequestCode
		var refused protocol.RequestCode
		w.sb.SetFault(func(r sandbox.Request) sandbox.Fault {
			code := protocol.RequestCode(r.Command.Code)
			if r.ClientID == w.member.plain {
				return sandbox.Fault{}
			}
			mu.Lock()
			defer mu.Unlock()
			if !slices.Contains(asked, code) {
				asked = append(asked, code)
			}
			if code == refused {
				return sandbox.Fault{Code: protocol.SystemError, Remark: remark}
			}
			return sandbox.Fault{}
		})
		defer w.sb.SetFault(nil)
		w.checkHarmless(t, args)
		mu.Lock()
		codes := slices.Clone(asked)
		mu.Unlock()
		for _, code := range codes {
			mu.Lock()
			refused = code
			mu.Unlock()
			p := w.checkHarmless(t, args)
			if n := len(p.out.String()) + len(p.err.String()); n > length/4 {
				t.Errorf("%v refused: %d bytes come out", code, n)
			}
		}
	})
}
