package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"eyeq/engine"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
	"eyeq/tui/cli/config"
)

func TestWrongUse(t *testing.T) {
	tests := map[string]struct {
		args   []string
		stderr string
	}{
		"no such command":     {[]string{"foo"}, `eyeq: there is no command "foo"`},
		"help for nothing":    {[]string{"help", "nosuch"}, `eyeq help: there is no command "nosuch"`},
		"help for no verb":    {[]string{"help", "group", "nosuch"}, `eyeq help: there is no command "nosuch": eyeq group has`},
		"help for too much":   {[]string{"help", "consume", "more"}, `eyeq help: there is no command "consume more"`},
		"near command":        {[]string{"consum"}, "did you mean consume?"},
		"no such flag":        {[]string{"consume", "--foo"}, "eyeq consume: unknown flag: --foo\nSee 'eyeq consume --help'.\n"},
		"flag without value":  {[]string{"tail", "t", "--from"}, "eyeq tail: flag needs an argument: --from"},
		"bad duration":        {[]string{"consume", "--idle-exit", "soon"}, `eyeq consume: --idle-exit "soon": must be a time with its unit, such as 500ms, 10s or 5m` + "\nSee"},
		"duration, no unit":   {[]string{"consume", "--idle-exit", "10"}, `--idle-exit "10": must be a time with its unit`},
		"no number":           {[]string{"consume", "--batch", "ten"}, `--batch "ten": must be a whole number`},
		"no switch":           {[]string{"consume", "--events=maybe"}, `--events "maybe": must be true or false`},
		"no group":            {[]string{"consume", "-t", "t"}, "which group? -g GROUP"},
		"no topic":            {[]string{"consume", "-g", "g"}, "which topic?"},
		"argument":            {[]string{"consume", "x", "-g", "g", "-t", "t"}, `"x": eyeq consume takes no argument`},
		"illegal group":       {[]string{"consume", "-g", "g g", "-t", "t"}, "--group g g: may hold only letters, digits, %, |, - and _ (consumerGroup)"},
		"topic twice":         {[]string{"consume", "-g", "g", "-t", "t", "-t", "t:a"}, "--topic t: is subscribed twice (topic)"},
		"bound":               {[]string{"consume", "-g", "g", "-t", "t", "--pull-batch", "0"}, "--pull-batch 0: must be 1 to 1024 (pullBatchSize)"},
		"span":                {[]string{"consume", "-g", "g", "-t", "t", "--max-span", "0"}, "--max-span 0: must be 1 to 65535 (consumeConcurrentlyMaxSpan)"},
		"threads bound":       {[]string{"consume", "-g", "g", "-t", "t", "--threads", "0:4"}, "--threads 0:4: must be 1 to 1000 (consumeThreadMin)"},
		"threads":             {[]string{"consume", "-g", "g", "-t", "t", "--threads", "a:b"}, `"a:b": must be MIN:MAX`},
		"threads reversed":    {[]string{"consume", "-g", "g", "-t", "t", "--threads", "5:2"}, "--threads 5:2: min must not be above max (consumeThreadMin)"},
		"from":                {[]string{"consume", "-g", "g", "-t", "t", "--from", "yesterday"}, "--from: must be last, first or a time"},
		"no such strategy":    {[]string{"consume", "-g", "g", "-t", "t", "--strategy", "x"}, `"x": must be avg, circle,`},
		"empty sql":           {[]string{"consume", "-g", "g", "-t", "t", "--sql", " "}, "--sql: the expression is empty; leave --sql out"},
		"sql and tags":        {[]string{"consume", "-g", "g", "-t", "t:a", "--sql", "x>1"}, "--sql with -t t:a: a topic is filtered by tags or by SQL92"},
		"hold":                {[]string{"consume", "-g", "g", "-t", "t", "--listener", "hold"}, "--listener hold: you decide about the messages on the screen"},
		"hold, max":           {[]string{"consume", "-g", "g", "-t", "t", "--listener", "hold", "--max", "3"}, "--listener hold: you decide"},
		"no such listener":    {[]string{"consume", "-g", "g", "-t", "t", "--listener", "x"}, "--listener x: must be ack, hold, fail or exec"},
		"client id":           {[]string{"consume", "-g", "g", "-t", "t", "--client-id", "a b"}, "--client-id a b: must be at most 255 bytes without blanks, control characters, / and \\, and not . or .. (clientId)"},
		"no client id":        {[]string{"consume", "-g", "g", "-t", "t", "--client-id", ""}, `--client-id "": leave it out for one that is made`},
		"batch bound":         {[]string{"consume", "-g", "g", "-t", "t", "--batch", "1025"}, "--batch 1025: must be 1 to 1024 (consumeMessageBatchMaxSize)"},
		"threshold":           {[]string{"consume", "-g", "g", "-t", "t", "--pull-threshold", "65536"}, "--pull-threshold 65536: must be 1 to 65535 (pullThresholdForQueue)"},
		"threshold size":      {[]string{"consume", "-g", "g", "-t", "t", "--pull-threshold-size", "0"}, "--pull-threshold-size 0: must be 1 to 1024 (pullThresholdSizeForQueue)"},
		"max reconsume":       {[]string{"consume", "-g", "g", "-t", "t", "--max-reconsume", "-2"}, "--max-reconsume -2: must be -1, or 0 to 2147483647 (maxReconsumeTimes)"},
		"output":              {[]string{"consume", "-g", "g", "-t", "t", "-o", "table"}, "-o table: must be json, text or none"},
		"max with batch":      {[]string{"consume", "-g", "g", "-t", "t", "--max", "5", "--batch", "3"}, "--max counts messages one by one"},
		"negative max":        {[]string{"consume", "-g", "g", "-t", "t", "--max", "-5"}, "must not be negative"},
		"time zone":           {[]string{"tail", "t", "--tz", "Mars/Phobos"}, `--tz "Mars/Phobos": no such time zone`},
		"timeout":             {[]string{"tail", "t", "--timeout", "0s"}, "--timeout 0s: must be positive"},
		"no cluster":          {[]string{"tail", "t"}, "no cluster to work with: --namesrv HOST:PORT names one"},
		"no such cluster":     {[]string{"tail", "t", "--cluster", "prod"}, `there is no cluster "prod" (flag --cluster); no cluster is configured`},
		"namesrv":             {[]string{"tail", "t", "--namesrv", "localhost"}, `flag --namesrv: "localhost" must be HOST:PORT`},
		"namesrv of IPv6":     {[]string{"tail", "t", "--namesrv", "::1:9876"}, `flag --namesrv: "::1:9876" must be HOST:PORT, and an IPv6 address in brackets: [::1]:9876`},
		"namesrv, no port":    {[]string{"tail", "t", "--namesrv", "fe80::"}, `"fe80::" must be HOST:PORT, and an IPv6 address in brackets: [fe80::]:PORT`},
		"namesrv by https":    {[]string{"tail", "t", "--namesrv", "https://a:9876"}, `"https://a:9876": a name server speaks no HTTP, https:// would not make it TLS either: write a:9876`},
		"namesrv by tcp":      {[]string{"tail", "t", "--namesrv", "tcp://a:9876"}, `"tcp://a:9876" must be HOST:PORT, before which only http:// may stand`},
		"namesrv with a path": {[]string{"tail", "t", "--namesrv", "http://a:9876/x"}, `"a:9876/x" must have a port from 1 to 65535`},
		"port":                {[]string{"tail", "t", "--namesrv", "a:1;b:99999"}, `"b:99999" must have a port`},
		"tail without topic":  {[]string{"tail"}, "which topic? eyeq tail TOPIC"},
		"tail two topics":     {[]string{"tail", "a", "b"}, `"b" is one argument too many`},
		"tail position":       {[]string{"tail", "t", "--from", "offset:x"}, "must be offset:N"},
		"tail until before":   {[]string{"tail", "t", "--from", "offset:9", "--until", "offset:3"}, "--until offset:3 lies before --from offset:9"},
		"tail until, follow":  {[]string{"tail", "t", "--until", "now", "--follow"}, "give one of them"},
		"tail queue":          {[]string{"tail", "t", "--queue", "broker-a"}, `"broker-a" is no queue: write BROKER:ID`},
		"tail grep":           {[]string{"tail", "t", "--grep", "["}, "--grep: error parsing regexp"},
		"tail property":       {[]string{"tail", "t", "--property", "x"}, `--property "x": must be K=V`},
		"tail sql and tag":    {[]string{"tail", "t", "--sql", "a > 1", "--tag", "A"}, "--sql with --tag: brokers filter by one of them"},
		"tail empty sql":      {[]string{"tail", "t", "--sql", " "}, "--sql: the expression is empty"},
		"tail tag":            {[]string{"tail", "t", "--tag", "||"}, `--tag: filter expression has no tag: ||`},
		"send property":       {[]string{"send", "t", "b", "--property", "TAGS=x", "--tag", "y"}, "--property TAGS: is set already"},
		"send delay":          {[]string{"send", "t", "b", "--delay-level", "19"}, "--delay-level 19: must be 1 to 18"},
		"send topic":          {[]string{"send", "a b", "x"}, `topic "a b": must be at most 127 of letters`},
		"tail topic":          {[]string{"tail", "orders:paid"}, `topic "orders:paid": must be at most 127 of letters`},
		"tail dead letters":   {[]string{"tail", "%DLQ%a b"}, `topic "%DLQ%a b": may hold only letters`},
		"send count":          {[]string{"send", "t", "b", "-n", "0"}, "-n 0: must be at least 1"},
		"sandbox port":        {[]string{"sandbox", "--broker-port", "70000"}, "--broker-port 70000: must be 0 to 65535"},
		"config command":      {[]string{"config", "edit"}, `there is no command "edit": eyeq config has`},
		"completion":          {[]string{"completion"}, "which shell? bash, zsh, fish or powershell"},
		"completion of shell": {[]string{"completion", "tcsh"}, `"tcsh": must be bash`},
		"version argument":    {[]string{"version", "x"}, "takes no argument"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := runs(t, tt.args).want(t, statusUsage, tt.stderr)
			if p.out.String() != "" {
				t.Errorf("stdout = %q, want nothing", p.out)
			}
			if n := strings.Count(p.err.String(), "\n"); n != 2 {
				t.Errorf("stderr has %d lines, want the reason and a hint: %q", n, p.err)
			}
		})
	}
}

// TestOptionOfTheFileNamesItsLine holds that a value that a command cannot take is
// told by its key and line when the file gave it.
func TestOptionOfTheFileNamesItsLine(t *testing.T) {
	c := config.Default()
	c.Path, c.Origins["consumer.pull_batch_size"] = "c.toml", "file:3"
	f := &consumeFlags{changed: func(string) bool { return false }}
	err := f.explain(&engine.ConfigError{Property: "pullBatchSize", Value: 0, Rule: "must be 1 to 1024"}, c)
	if got, want := err.Error(), "c.toml:3: consumer.pull_batch_size = 0: must be 1 to 1024 (pullBatchSize)"; got != want {
		t.Errorf("error = %q, want %q", got, want)
	}
}

// TestConsumeHelpShowsWhatWorks holds that examples work as they stand.
func TestConsumeHelpShowsWhatWorks(t *testing.T) {
	help := runs(t, []string{"consume", "--help"}).want(t, statusDone, "").out.String()
	for _, want := range []string{`jq 'select(.kind=="message").body'`, "N is N:N", "--client-id or --offset-dir", "--exec-timeout"} {
		if !strings.Contains(help, want) {
			t.Errorf("help does not show %q: %s", want, help)
		}
	}
}

func TestAloneSaysWhatToDoNext(t *testing.T) {
	p := runs(t, nil).want(t, statusDone, "")
	for _, want := range []string{"eyeq demo", "eyeq consume --namesrv"} {
		if !strings.Contains(p.out.String(), want) {
			t.Errorf("help does not show %q: %s", want, p.out)
		}
	}
}

func TestVersionAndCompletion(t *testing.T) {
	if p := runs(t, []string{"version"}).want(t, statusDone, ""); !strings.HasPrefix(p.out.String(), "eyeq ") || len(p.lines()) != 1 {
		t.Errorf("version = %q", p.out)
	}
	var v versionJSON
	if err := json.Unmarshal([]byte(runs(t, []string{"version", "-o", "json"}).want(t, statusDone, "").out.String()), &v); err != nil || v.Version == "" || v.Go != runtime.Version() || v.OS != runtime.GOOS {
		t.Errorf("version in JSON = %+v, %v", v, err)
	}
	runs(t, []string{"version", "-o", "table"}).want(t, statusUsage, "-o table: must be text or json")
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if p := runs(t, []string{"completion", shell}).want(t, statusDone, ""); !strings.Contains(p.out.String(), "eyeq") {
			t.Errorf("completion %s = %.60q", shell, p.out)
		}
	}
}

func TestExitStatus(t *testing.T) {
	code := func(c protocol.ResponseCode) error { return fmt.Errorf("send: %w", &remoting.CodeError{Code: c}) }
	tests := map[string]struct {
		err, cause error
		want       int
	}{
		"done":                       {nil, nil, 0},
		"failed":                     {errors.New("x"), nil, 1},
		"usage":                      {usagef("x"), nil, 2},
		"configuration":              {&config.Error{}, nil, 2},
		"option":                     {&engine.ConfigError{}, nil, 2},
		"not found":                  {&notFoundError{}, nil, 3},
		"no route":                   {fmt.Errorf("x: %w", &remoting.NoRouteError{}), nil, 3},
		"topic not exist":            {code(protocol.TopicNotExist), nil, 3},
		"refused":                    {&refusedError{}, nil, 4},
		"unreachable":                {&remoting.UnreachableError{}, nil, 5},
		"no broker":                  {&remoting.NoBrokerError{}, nil, 5},
		"dial":                       {fmt.Errorf("x: %w", &net.OpError{Err: syscall.ECONNREFUSED}), nil, 5},
		"time out":                   {fmt.Errorf("x: %w", context.DeadlineExceeded), nil, 5},
		"closed connection":          {fmt.Errorf("x: %w", remoting.ErrClosed), nil, 5},
		"no permission":              {code(protocol.NoPermission), nil, 1},
		"closed pipe":                {&outputError{Err: syscall.EPIPE}, nil, 1},
		"ctrl-c":                     {nil, &signalError{syscall.SIGINT}, 130},
		"SIGTERM":                    {nil, &signalError{syscall.SIGTERM}, 143},
		"SIGHUP":                     {nil, &signalError{syscall.SIGHUP}, 129},
		"ctrl-c while it fails":      {context.Canceled, &signalError{syscall.SIGINT}, 130},
		"panic":                      {nil, &panicError{}, 1},
		"panic in the command":       {&panicError{}, nil, 1},
		"panic, then ctrl-c is lost": {&panicError{}, &signalError{syscall.SIGINT}, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := exitStatus(tt.err, tt.cause); got != tt.want {
				t.Errorf("exitStatus(%v, %v) = %d, want %d", tt.err, tt.cause, got, tt.want)
			}
		})
	}
}

// TestTimeoutNamesTheReason holds that the end of --timeout says what was tried in
// vain, for a cluster that refuses and for one that is silent.
func TestTimeoutNamesTheReason(t *testing.T) {
	t.Parallel()
	sb, silentBroker := serveSandbox(t, sandboxtest.Topic("t", 1))
	sb.SetFault(func(r sandbox.Request) sandbox.Fault {
		return sandbox.Fault{Drop: protocol.RequestCode(r.Command.Code) != protocol.GetRouteInfoByTopic}
	})
	tests := map[string]struct{ namesrv, want string }{
		"refused": {deadAddress(t), "connection refused"},
		"silent":  {silentAddress(t), "no name server answers: none of 127.0.0.1:"},
	}
	commands := map[string][]string{
		"consume": {"consume", "-g", "g", "-t", "t"}, "tail": {"tail", "t"}, "send": {"send", "t", "x"},
	}
	for name, tt := range tests {
		for command, args := range commands {
			t.Run(name+" "+command, func(t *testing.T) {
				t.Parallel()
				p := runs(t, append(args, "--namesrv", tt.namesrv, "--timeout", "500ms")).want(t, statusUnreachable, tt.want)
				if strings.Contains(p.err.String(), "context deadline") {
					t.Errorf("stderr = %q", p.err)
				}
			})
		}
	}
	for command, args := range map[string][]string{
		"tail": {"tail", "t", "--until", "now"}, "send": {"send", "t", "x"},
	} {
		t.Run("silent broker "+command, func(t *testing.T) {
			t.Parallel()
			p := runs(t, append(args, "--namesrv", silentBroker, "--timeout", "300ms")).want(t, statusUnreachable, "t broker-a/0: ")
			if text := p.err.String(); strings.Contains(text, "context deadline") || !strings.Contains(text, "no answer in time") {
				t.Errorf("stderr = %q", text)
			}
		})
	}
}

func TestErrorsWithSeveralLinesAreOneLine(t *testing.T) {
	if got, want := oneLine("a\nb\r\n\nc"), "a; b; c"; got != want {
		t.Errorf("oneLine = %q, want %q", got, want)
	}
}

func TestPanicOfAGoroutineEndsTheRun(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	c := &crew{cancel: cancel}
	c.start(func() { panic("boom") })
	c.wait()
	p, ok := errors.AsType[*panicError](context.Cause(ctx))
	if !ok || p.value != "boom" || !strings.Contains(string(p.stack), "cli_test.go") {
		t.Errorf("cause = %v, want the panic with its stack", context.Cause(ctx))
	}
}
