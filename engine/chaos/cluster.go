package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// cluster is a name server and a broker of our own, by .ci/cluster.
type cluster struct {
	script, version, dir string
	namesrv, broker      string // addresses
	masterName           string
	admin                *remoting.Client
}

// upCluster starts one under dir.
func upCluster(ctx context.Context, script, version, dir string) (*cluster, error) {
	c := &cluster{script: script, version: version, dir: dir}
	out, err := c.run(ctx, "up", version, dir)
	if err != nil {
		return c, err
	}
	for text := range strings.Lines(out) {
		if addr, ok := strings.CutPrefix(strings.TrimSpace(text), "namesrv="); ok {
			c.namesrv = addr
		}
		if addr, ok := strings.CutPrefix(strings.TrimSpace(text), "broker="); ok {
			c.broker = addr
		}
	}
	if c.namesrv == "" || c.broker == "" {
		return c, fmt.Errorf("%s up tells no addresses: %q", script, out)
	}
	c.admin, err = remoting.NewClient(remoting.Options{Namesrv: []string{c.namesrv}})
	return c, err
}

// run runs a command of the script to its end. When ctx ends first the script is
// asked to end, as ctrl-c would.
func (c *cluster) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.script, args...)
	apart(cmd)
	cmd.Cancel = func() error { return askToLeave(cmd) }
	cmd.WaitDelay = 10 * time.Second
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", c.script, strings.Join(args, " "), cmp.Or(context.Cause(ctx), err), strings.TrimSpace(stderr.String()))
	}
	return string(out), nil
}

// killLimit bounds the end of a cluster, which SIGKILL makes quick.
const killLimit = 30 * time.Second

// down kills what runs under the folder, whatever became of ctx.
func (c *cluster) down(ctx context.Context) error {
	if c.admin != nil {
		c.admin.Close()
	}
	if _, err := os.Stat(c.dir + "/version"); err != nil {
		return nil // it was never up
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), killLimit)
	defer cancel()
	_, err := c.run(ctx, "kill", c.dir)
	return err
}

// topicLimit bounds the making of the topic, which a broker that has just started
// on a busy machine may let wait.
const topicLimit = time.Minute

// makeTopic makes the topic and waits until it has a route.
func (c *cluster) makeTopic(ctx context.Context, queues int32) error {
	ctx, cancel := context.WithTimeout(ctx, topicLimit)
	defer cancel()
	for {
		err := c.admin.CreateTopic(ctx, c.broker, &protocol.CreateTopicRequestHeader{
			Topic: topic, DefaultTopic: "TBW102", ReadQueueNums: queues, WriteQueueNums: queues, Perm: protocol.PermRead | protocol.PermWrite,
		})
		if err == nil {
			var route *remoting.TopicRoute
			if route, _, err = c.admin.RefreshRoute(ctx, topic); err == nil && len(route.PublishQueues) == int(queues) {
				c.masterName = route.PublishQueues[0].BrokerName
				return nil
			}
		}
		if !pause(ctx, 200*time.Millisecond) {
			return fmt.Errorf("topic %s has no route with %d queues: %w", topic, queues, errors.Join(err, context.Cause(ctx)))
		}
	}
}

func (c *cluster) queue(id int32) protocol.MessageQueue {
	return protocol.MessageQueue{Topic: topic, BrokerName: c.masterName, QueueID: id}
}

// stored asks how many messages each queue has.
func (c *cluster) stored(ctx context.Context, queues int32) ([]int64, error) {
	ends := make([]int64, queues)
	for id := range queues {
		end, err := c.admin.MaxOffset(ctx, c.queue(id))
		if err != nil {
			return nil, err
		}
		ends[id] = end
	}
	return ends, nil
}

// holders asks the members of a group, through the broker, for their queues.
func (c *cluster) holders(ctx context.Context, g Group) ([]Holder, error) {
	ids, addr, err := c.admin.ConsumerIDs(ctx, topic, g.group())
	if err != nil {
		return nil, err
	}
	var all []Holder
	for _, id := range ids {
		h := protocol.ConsumerRunningInfoRequestHeader{ConsumerGroup: g.group(), ClientID: id}
		answer, err := c.admin.Invoke(ctx, addr, &protocol.Command{Code: int32(protocol.GetConsumerRunningInfo), ExtFields: protocol.EncodeFields(&h)})
		if err != nil {
			return nil, fmt.Errorf("running info of %s: %w", id, err)
		}
		info, err := protocol.DecodeRunningInfo(answer.Body)
		if err != nil {
			return nil, err
		}
		for mq := range info.MQTable {
			if mq.Topic == topic {
				all = append(all, Holder{Group: g, Queue: mq.QueueID, Member: memberOf(id)})
			}
		}
	}
	return all, nil
}

// memberOf is the name in a client id: ~c01-eyeq, or 10.0.0.1@c02-java#UNIT.
func memberOf(id string) string {
	if _, instance, ok := strings.Cut(id, "@"); ok {
		name, _, _ := strings.Cut(instance, "#")
		return name
	}
	return strings.TrimLeft(id, "!~")
}

// pause waits; false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
