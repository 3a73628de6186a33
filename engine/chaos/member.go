package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// cast starts members and knows those that are there.
type cast struct {
	cluster *cluster
	eyeq    string // the program
	listens time.Duration
	record  *recorder
	wg      sync.WaitGroup

	turn       chan struct{} // of capacity 1: held by who makes a proxy or tells all of them something
	brokerAway bool          // by who holds turn

	mu      sync.Mutex // guards members
	members map[string]*member
}

func newCast(c *cluster, eyeq string, listens time.Duration, record *recorder) *cast {
	return &cast{cluster: c, eyeq: eyeq, listens: listens, record: record, turn: make(chan struct{}, 1), members: map[string]*member{}}
}

// member is a process that is a member of a group.
type member struct {
	role  Role
	cmd   *exec.Cmd
	proxy *proxy
	up    chan struct{} // closed when it said that it is ready
	gone  chan struct{} // closed when it has ended and all it said is in the ledger
	once  sync.Once     // closes up

	mu     sync.Mutex // guards wanted
	wanted bool       // its end is
}

// group is a group's name at the broker.
func (g Group) group() string { return "chaos-" + string(g) }

// topic is what both groups read.
const topic = "chaos"

// start brings a member up behind a proxy of its own.
func (c *cast) start(role Role) (*member, error) {
	m, err := c.enter(role)
	if err != nil {
		return nil, err
	}
	if role.Java {
		m.cmd = c.java(role, m.proxy.namesrv.addr)
	} else {
		m.cmd = c.ours(role, m.proxy.namesrv.addr)
	}
	apart(m.cmd)
	said, err := m.cmd.StdoutPipe()
	var logs *os.File
	if err == nil {
		logs, err = c.logs(m)
	}
	if err == nil {
		err = m.cmd.Start()
	}
	if err != nil {
		c.forget(m)
		m.proxy.close()
		return nil, fmt.Errorf("start member %s: %w", role.Name, err)
	}
	c.wg.Go(func() {
		defer close(m.gone)
		defer m.proxy.close()
		defer logs.Close()
		c.listen(m, said, logs)
		err := m.cmd.Wait()
		select {
		case <-m.up:
		default:
			return // whoever brings it up tells
		}
		if !m.endWanted() {
			c.record.trouble("member %s ended by itself: %v", role.Name, err)
		}
	})
	return m, nil
}

// enter makes a member with its proxy, which knows whether there is a broker.
func (c *cast) enter(role Role) (*member, error) {
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	p, err := newProxy(c.cluster.namesrv, c.cluster.broker, c.brokerAway)
	if err != nil {
		return nil, err
	}
	m := &member{role: role, proxy: p, up: make(chan struct{}), gone: make(chan struct{})}
	c.mu.Lock()
	c.members[role.Name] = m
	c.mu.Unlock()
	return m, nil
}

// setBroker tells the proxies that the broker is gone, so that they refuse as it
// would, or back.
func (c *cast) setBroker(gone bool) error {
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	c.brokerAway = gone
	var err error
	for _, m := range c.all() {
		if gone {
			m.proxy.broker.shut(away)
		} else {
			err = errors.Join(err, m.proxy.broker.open(away))
		}
	}
	return err
}

// slowListener is how long a slow member works on a batch, one at a time.
const slowListener = 50 * time.Millisecond

// ours is eyeq as anybody runs it.
func (c *cast) ours(role Role, namesrv string) *exec.Cmd {
	// Half of them before the Java members in the order of ids, half behind, so that
	// every kind has every kind of neighbour.
	id := "~" + role.Name
	if serial, _ := strconv.Atoi(role.Name[1:3]); serial%8 < 4 {
		id = "!" + role.Name
	}
	args := []string{
		"consume", "--namesrv", namesrv, "-g", role.Group.group(), "-t", topic, "--from", "first",
		"--headless", "-o", "json", "--events", "--client-id", id,
	}
	if role.Slow {
		// Few are cached, so that who falls behind pulls whole batches and catches up.
		args = append(args, "--batch", "32", "--pull-threshold", "64", "--threads", "1",
			"--listener", "exec", "--exec", fmt.Sprintf("exec sleep %.3f", slowListener.Seconds()))
	}
	if role.Group == Orderly {
		args = append(args, "--orderly")
	}
	cmd := exec.Command(c.eyeq, args...)
	home := filepath.Join(c.cluster.dir, "home") // where nobody has configured anything
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "EYEQ_CLUSTER=", "EYEQ_NAMESRV=", "NAMESRV_ADDR=")
	return cmd
}

// java is the stock client, whose listener takes its time.
func (c *cast) java(role Role, namesrv string) *exec.Cmd {
	cmd := exec.Command(c.cluster.script, "java", c.cluster.version, "Consume", namesrv, role.Group.group(), topic, string(role.Group),
		strconv.Itoa(24*60*60), strconv.FormatInt(c.listens.Milliseconds(), 10), role.Name)
	// Its logs are under TMPDIR.
	cmd.Env = append(os.Environ(), "TMPDIR="+filepath.Join(c.cluster.dir, role.Name), "RMQ_JAVA_OPTS=-Xmx128m")
	return cmd
}

// logs makes the files of a member: what it said but for messages, its standard
// error, and the folder for a Java member's logs.
func (c *cast) logs(m *member) (*os.File, error) {
	if err := os.MkdirAll(filepath.Join(c.cluster.dir, m.role.Name), 0o755); err != nil {
		return nil, err
	}
	stderr, err := os.Create(filepath.Join(c.cluster.dir, m.role.Name+".err"))
	if err != nil {
		return nil, err
	}
	m.cmd.Stderr = stderr // the descriptor is the child's; ours is closed with the process
	return os.Create(filepath.Join(c.cluster.dir, m.role.Name+".events"))
}

// listen takes in what a member says until it ends.
func (c *cast) listen(m *member, said io.Reader, logs io.Writer) {
	r := bufio.NewReaderSize(said, 1<<16)
	for {
		text, err := r.ReadBytes('\n')
		at := c.record.now()
		if err != nil {
			if rest := bytes.TrimSpace(text); len(rest) > 0 && !m.endWanted() { // who is killed may be cut short
				c.record.trouble("member %s ended within a line: %.200q", m.role.Name, rest)
			}
			if !errors.Is(err, io.EOF) {
				c.record.trouble("read from member %s: %v", m.role.Name, err)
			}
			return
		}
		l, ok, err := parseLine(text)
		switch {
		case err != nil:
			c.record.trouble("member %s: %v", m.role.Name, err)
		case ok && l.delivery:
			d := Delivery{At: at, Member: m.role.Name, Queue: l.queue, Offset: l.offset, Seq: l.seq}
			if l.topic != topic {
				d.Topic = l.topic
			}
			c.record.delivered(m.role.Group, d)
			continue
		case ok && l.ready:
			m.once.Do(func() { close(m.up) })
		}
		fmt.Fprintf(logs, "%9.3f %s", at.Seconds(), text)
	}
}

func (m *member) endWanted() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wanted
}

func (m *member) wantEnd() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wanted = true
}

// named gives a member that is there.
func (c *cast) named(name string) (*member, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.members[name]; m != nil {
		return m, nil
	}
	return nil, fmt.Errorf("there is no member %s", name)
}

// forget takes a member off the list.
func (c *cast) forget(m *member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.members, m.role.Name)
}

// all are the members that are there.
func (c *cast) all() []*member {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ms []*member
	for _, m := range c.members {
		ms = append(ms, m)
	}
	return ms
}

// end kills whoever is there and waits for all goroutines.
func (c *cast) end() {
	for _, m := range c.all() {
		m.wantEnd()
		killProcess(m.cmd) // fails when it has ended
	}
	c.wg.Wait()
}
