package sandboxtest

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// clusterEnv names the script that starts real brokers (.ci/cluster).
const clusterEnv = "EYEQ_TEST_CLUSTER"

// Pair is a master "broker-a" with a slave, of the sandbox or real ones that were
// started for this test. Pulls are sent to the slave unless they read the end.
type Pair struct {
	target        *Target
	script        string // with real brokers
	master, slave string // their folders
}

// RunWithSlave is Run over clusters of a master with a slave: the sandbox, and
// brokers of each version that EYEQ_TEST_NAMESRV names, started by the script that
// EYEQ_TEST_CLUSTER names.
func RunWithSlave(t *testing.T, body func(t *testing.T, target *Target, pair *Pair)) {
	t.Helper()
	for name, line := range map[string]string{"sandbox": "5", "sandbox-4": "4"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sb := Start(t, Line(line), Slaves(1))
				target := &Target{Name: name, Namesrv: []string{sb.NamesrvAddr()}, Dial: sb.Dial, Line: line, Sandbox: sb}
				target.admin = target.Client(t, nil)
				body(t, target, &Pair{target: target})
			})
		})
	}
	OnOwnBrokers(t, func(t *testing.T, own *OwnBrokers) {
		settings := []string{"slaveReadEnable=true", "accessMessageInMemoryMaxRatio=0"}
		target := own.Up(t, "master", settings...)
		own.Broker(t, "slave", target.Namesrv[0], append(settings, "brokerRole=SLAVE", "brokerId=1")...)
		body(t, target, &Pair{target: target, script: own.script, master: own.dir("master"), slave: own.dir("slave")})
	})
}

// OwnBrokers are real brokers that a test may kill: they were started for it.
type OwnBrokers struct {
	script, version, root string
	javaOptions           string           // of all JVMs
	signer                *protocol.Signer // of the target's clients
	tls                   *tls.Config
}

// OnOwnBrokers runs body, as subtests, for each version that EYEQ_TEST_NAMESRV
// names, and skips without the script that EYEQ_TEST_CLUSTER names. Where
// EYEQ_TEST_OWN_BROKERS names versions it runs for those among them only. Such a
// test takes minutes a version, of which it waits for most: it runs beside others, as
// the real halves of Run do.
func OnOwnBrokers(t *testing.T, body func(t *testing.T, own *OwnBrokers)) {
	t.Helper()
	script, clusters, only := os.Getenv(clusterEnv), os.Getenv(clustersEnv), os.Getenv("EYEQ_TEST_OWN_BROKERS")
	if script == "" || clusters == "" {
		t.Run("real", func(t *testing.T) {
			reason := clusterEnv + " and " + clustersEnv + " are not both set: it takes real brokers of its own"
			if os.Getenv(requireEnv) == "1" {
				t.Fatal(reason)
			}
			t.Skip(reason)
		})
		return
	}
	t.Parallel()
	for entry := range strings.SplitSeq(clusters, ",") {
		version, _, _ := strings.Cut(strings.TrimSpace(entry), "=")
		if only != "" && !slices.Contains(strings.Split(only, ","), version) {
			continue
		}
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			body(t, &OwnBrokers{script: script, version: version, root: t.TempDir()})
		})
	}
}

func (o *OwnBrokers) dir(name string) string { return filepath.Join(o.root, name) }

// Up starts a name server and a broker, which are killed at the end of the test.
func (o *OwnBrokers) Up(t *testing.T, name string, settings ...string) *Target {
	t.Helper()
	out := o.start(t, name, append([]string{"up", o.version, o.dir(name)}, settings...))
	target := &Target{Name: o.version, Line: o.version[:1]}
	for line := range strings.Lines(out) {
		if addr, ok := strings.CutPrefix(strings.TrimSpace(line), "namesrv="); ok {
			target.Namesrv = []string{addr}
		}
	}
	if target.Namesrv == nil {
		t.Fatalf("the cluster has not told its name server: %q", out)
	}
	target.Signer, target.TLS = o.signer, o.tls
	target.admin = target.Client(t, nil)
	return target
}

// Broker starts one more broker and gives its address.
func (o *OwnBrokers) Broker(t *testing.T, name, namesrv string, settings ...string) (addr string) {
	t.Helper()
	out := o.start(t, name, append([]string{"broker", o.version, o.dir(name), namesrv}, settings...))
	for line := range strings.Lines(out) {
		if a, ok := strings.CutPrefix(strings.TrimSpace(line), "broker="); ok {
			return a
		}
	}
	t.Fatalf("the broker has not told its address: %q", out)
	return ""
}

func (o *OwnBrokers) start(t *testing.T, name string, args []string) string {
	t.Helper()
	t.Cleanup(func() {
		if _, err := os.Stat(filepath.Join(o.dir(name), "version")); err == nil {
			o.Run(t, "kill", o.dir(name))
		}
	})
	return o.Run(t, args...)
}

// Kill ends what runs under a name by SIGKILL: "broker", "namesrv" or "" for both.
func (o *OwnBrokers) Kill(t *testing.T, name, role string) {
	t.Helper()
	o.Run(t, append([]string{"kill", o.dir(name)}, strings.Fields(role)...)...)
}

// FreeBrokerPort is a port that is free for a broker, which takes its neighbours too.
func FreeBrokerPort(t *testing.T) int {
	t.Helper()
	for range 1000 {
		port := 28000 + 4*rand.IntN(1000) // others look for one at the same time
		free := true
		for _, p := range []int{port - 2, port, port + 1} {
			ln, err := net.Listen("tcp", ":"+strconv.Itoa(p))
			if err != nil {
				free = false
				break
			}
			ln.Close()
		}
		if free {
			return port
		}
	}
	t.Fatal("no free ports for a broker")
	return 0
}

// Restart starts it again with the same data, and the settings as they are in its
// files now.
func (o *OwnBrokers) Restart(t *testing.T, name, role string) {
	t.Helper()
	o.Run(t, append([]string{"start", o.dir(name)}, strings.Fields(role)...)...)
}

// Set changes settings of a broker that is down, or takes effect at its next start.
func (o *OwnBrokers) Set(t *testing.T, name string, settings ...string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(o.dir(name), "broker.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(strings.Join(settings, "\n") + "\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// scriptLimit bounds one command of the script: JVMs start slowly on a busy machine.
const scriptLimit = 5 * time.Minute

// Run runs a command of the script and gives its standard output.
func (o *OwnBrokers) Run(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), scriptLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, o.script, args...)
	if o.javaOptions != "" {
		cmd.Env = append(os.Environ(), "RMQ_JAVA_OPTS="+o.javaOptions)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v, stdout %q, stderr %q", strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out)
}

func (p *Pair) own() *OwnBrokers {
	return &OwnBrokers{script: p.script, version: p.target.Name, root: filepath.Dir(p.master)}
}

// Addrs are the addresses of the two, which both are up.
func (p *Pair) Addrs(t *testing.T) (master, slave string) {
	t.Helper()
	Await(t, "master and slave", func(ctx context.Context) bool {
		info, err := p.target.admin.ClusterInfo(ctx)
		addrs := info.BrokerAddrTable["broker-a"].BrokerAddrs
		master, slave = addrs[0], addrs[1]
		return err == nil && master != "" && slave != ""
	})
	return master, slave
}

// AwaitSlave waits until the slave has so many messages of a queue and serves
// them. A 5.x one copies topics once a minute only, but takes one by request too.
func (p *Pair) AwaitSlave(t *testing.T, group string, mq protocol.MessageQueue, end int64) {
	t.Helper()
	_, slave := p.Addrs(t)
	if p.target.Sandbox == nil && p.target.Line != "4" {
		route, err := p.target.admin.Route(t.Context(), mq.Topic)
		if err == nil {
			n := int32(len(route.Queues))
			err = p.target.admin.CreateTopic(t.Context(), slave, &protocol.CreateTopicRequestHeader{
				Topic: mq.Topic, DefaultTopic: "TBW102", ReadQueueNums: n, WriteQueueNums: n, Perm: protocol.PermRead | protocol.PermWrite,
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	AwaitWithin(t, 2*time.Minute, "the slave's copy of the messages", func(ctx context.Context) bool {
		r, err := p.target.admin.Pull(ctx, slave, &protocol.PullMessageRequestHeader{
			ConsumerGroup: group, Topic: mq.Topic, QueueID: mq.QueueID, QueueOffset: end - 1, MaxMsgNums: 1,
			SysFlag: protocol.PullSubscription, Subscription: "*", ExpressionType: protocol.ExpressionTAG, BrokerName: mq.BrokerName,
		})
		return err == nil && r.Status == remoting.PullFound
	})
}

// Kill ends the master by SIGKILL.
func (p *Pair) Kill(t *testing.T) {
	t.Helper()
	if sb := p.target.Sandbox; sb != nil {
		sb.StopBroker("broker-a")
		return
	}
	p.own().Kill(t, "master", "broker")
}

// Revive starts the master again, with its data and at its address.
func (p *Pair) Revive(t *testing.T) {
	t.Helper()
	if sb := p.target.Sandbox; sb != nil {
		sb.StartBroker("broker-a")
		return
	}
	p.own().Restart(t, "master", "broker")
}

// KillSlave ends the slave by SIGKILL.
func (p *Pair) KillSlave(t *testing.T) {
	t.Helper()
	if sb := p.target.Sandbox; sb != nil {
		sb.StopSlave("broker-a")
		return
	}
	p.own().Kill(t, "slave", "broker")
}
