package cli

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// settleLimit bounds the wait for groups of which several JVMs have just started on a
// busy machine: a group counts as settled half a minute after its youngest member's start.
const settleLimit = 5 * time.Minute

// launch starts a stock Java program, which runs until it is stopped or the test ends.
func (p *peers) launch(t *testing.T, program string, args ...string) *stoppable {
	t.Helper()
	out, stderr := newBuffer(), newBuffer()
	cmd := exec.Command(p.script, append([]string{"java", p.version, program}, args...)...)
	cmd.Stdout, cmd.Stderr = out, stderr
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	s := &stoppable{out: out, stop: func() {
		if !ended {
			ended = true
			killGroup(cmd)
			cmd.Wait()
		}
	}}
	t.Cleanup(func() {
		s.stop()
		if t.Failed() {
			t.Logf("standard error of %s: %q", program, stderr)
		}
	})
	return s
}

// launchConsumer launches a member and waits until it has started: several JVMs that
// start at once on a small machine take each other's time until their calls time out.
func (p *peers) launchConsumer(t *testing.T, args ...string) *stoppable {
	t.Helper()
	s := p.launch(t, "Consume", args...)
	awaitCount(t, s.out, `"started":true`, 1)
	return s
}

// diskFinding is what the doctor finds wherever a disk is as full as the brokers
// themselves say that theirs is; known is false where they do not answer.
func diskFinding(ctx context.Context, t *testing.T, tg *sandboxtest.Target, c *remoting.Client) (codes []string, known bool) {
	t.Helper()
	for _, addr := range tg.Masters(t) {
		info, err := c.RuntimeInfo(ctx, addr)
		if err != nil {
			return nil, false
		}
		ratio, err := strconv.ParseFloat(info["commitLogDiskRatio"], 64)
		if err != nil {
			t.Fatalf("the broker at %s says of its disk: %v", addr, err)
		}
		switch {
		case ratio >= 0.90:
			codes = append(codes, "critical broker_disk_full")
		case ratio >= 0.85:
			codes = append(codes, "warning broker_disk_full")
		}
	}
	return codes, true
}

// examineBeside examines a group; disk is what it has to find of the brokers' disks, and
// comparable is false where that changed meanwhile.
func examineBeside(ctx context.Context, t *testing.T, tg *sandboxtest.Target, c *remoting.Client, group string) (r doctorReport, status int, disk []string, comparable bool) {
	t.Helper()
	before, known := diskFinding(ctx, t, tg, c)
	r, status = examine(t, strings.Join(tg.Namesrv, ";"), group, "--timeout", "20s")
	disk, knownToo := diskFinding(ctx, t, tg, c)
	return r, status, disk, known && knownToo && slices.Equal(before, disk)
}

// awaitFindings examines a group until it has exactly the findings that are wanted, in
// any order, and gives the report and the status. A finding that begins with "later "
// comes of the same state when it has lasted for minutes: it may be there.
func awaitFindings(t *testing.T, tg *sandboxtest.Target, group string, want ...string) (doctorReport, int) {
	t.Helper()
	return awaitFindingsWhile(t, tg, group, func(context.Context) {}, want...)
}

// awaitFindingsWhile is that with something to do before each look.
func awaitFindingsWhile(t *testing.T, tg *sandboxtest.Target, group string, before func(context.Context), want ...string) (doctorReport, int) {
	t.Helper()
	c := clientOf(t, tg.Namesrv...)
	var r doctorReport
	status := 0
	last := time.Now().Add(settleLimit)
	sandboxtest.AwaitWithin(t, settleLimit+time.Minute, fmt.Sprintf("the findings %q of %s", want, group), func(ctx context.Context) bool {
		before(ctx)
		var disk []string
		var comparable bool
		r, status, disk, comparable = examineBeside(ctx, t, tg, c, group)
		codes := r.codes()
		var must []string
		for _, w := range slices.Concat(want, disk) {
			if later, ok := strings.CutPrefix(w, "later "); !ok {
				must = append(must, w)
			} else if slices.Contains(codes, later) {
				must = append(must, later)
			}
		}
		slices.Sort(must)
		slices.Sort(codes)
		same := comparable && slices.Equal(codes, must)
		if !same && time.Now().After(last) {
			t.Fatalf("findings of %s: got %q, want %q\n%s", group, codes, must, r.text())
		}
		return same
	})
	return r, status
}

// wantWords checks that the findings say something.
func (r *doctorReport) wantWords(t *testing.T, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(r.text(), w) {
			t.Errorf("no %q in\n%s", w, r.text())
		}
	}
}

// Nothing is found of healthy groups, from the start of their members on.
func TestPeersDoctorRaisesNoFalseAlarm(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		namesrv := strings.Join(tg.Namesrv, ";")
		topic := tg.Topic(t, 8)
		tg.Produce(t, topic, 400)
		groups := map[string]string{}
		for _, mode := range []string{"concurrent", "orderly", "broadcast", "eyeq"} {
			groups[mode] = tg.Group(t)
		}
		for _, mode := range []string{"concurrent", "concurrent", "orderly", "orderly", "broadcast"} {
			p.launchConsumer(t, namesrv, groups[mode], topic, mode, memberLife, "5")
		}
		for i := range 2 {
			startLeaving(t, []string{"consume", "--namesrv", namesrv, "-g", groups["eyeq"], "-t", topic, "--from", "first", "--headless", "-o", "none", "--client-id", fmt.Sprintf("10.0.0.%d@eyeq", i)})
		}
		c, settled := clientOf(t, tg.Namesrv...), map[string]bool{}
		look := func(ctx context.Context, mode string) {
			r, status, disk, comparable := examineBeside(ctx, t, tg, c, groups[mode])
			codes := slices.DeleteFunc(r.codes(), func(code string) bool { return strings.HasPrefix(code, "info ") })
			switch {
			case status == statusNotFound || !comparable: // nobody is there yet
			case slices.Contains(codes, "warning broker_slow"), slices.Contains(codes, "warning broker_store_fails"): // so it is, for the moment: others use it
			case !slices.Equal(codes, disk):
				t.Errorf("%s: status %d\n%s", mode, status, r.text())
			case r.Healthy == nil: // not everything was answered
			default:
				if healthy := len(disk) == 0; *r.Healthy != healthy || (status == statusDone) != healthy {
					t.Errorf("%s: status %d, healthy %v\n%s", mode, status, *r.Healthy, r.text())
				}
				settled[mode] = len(r.Findings) == len(disk) || mode == "broadcast" && slices.Contains(r.codes(), "info broadcasting") && len(r.Findings) == len(disk)+1
			}
		}
		look(t.Context(), "eyeq") // while it joins
		startLeaving(t, []string{"consume", "--namesrv", namesrv, "-g", groups["eyeq"], "-t", topic, "--from", "first", "--headless", "-o", "none", "--client-id", "10.0.0.9@eyeq"})
		look(t.Context(), "eyeq")
		tg.Produce(t, topic, 400)
		sandboxtest.AwaitWithin(t, settleLimit, "all groups settled", func(ctx context.Context) bool {
			for mode := range groups {
				if !settled[mode] && !t.Failed() {
					look(ctx, mode)
				}
			}
			return len(settled) == len(groups) && settled["concurrent"] && settled["orderly"] && settled["broadcast"] && settled["eyeq"] || t.Failed()
		})
	})
}

// Members that subscribe to different topics, call themselves alike or
// are too many are found.
func TestPeersDoctorOfMembersThatDisagree(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		namesrv := strings.Join(tg.Namesrv, ";")
		one, other, both, single := tg.Topic(t, 4), tg.Topic(t, 4), tg.Topic(t, 4), tg.Topic(t, 1)
		differ, twins, many := tg.Group(t), tg.Group(t), tg.Group(t)
		tg.Produce(t, one, 100)
		tg.Produce(t, other, 100)
		tg.Produce(t, both, 100)
		p.launchConsumer(t, namesrv, differ, one, "concurrent", memberLife)
		p.launchConsumer(t, namesrv, differ, other, "concurrent", memberLife)
		for i := range 2 {
			twin := p.launchConsumer(t, namesrv, twins, both, "concurrent", memberLife, "0", "twin")
			if i == 0 { // nothing of these is left for the second
				awaitCount(t, twin.out, `"offset":`, 100)
			}
			p.launchConsumer(t, namesrv, many, single, "concurrent", memberLife)
		}
		c := clientOf(t, tg.Namesrv...)
		sandboxtest.AwaitWithin(t, settleLimit, "the first member with half of the queues", func(ctx context.Context) bool {
			held := 0
			for _, mqs := range sharesOf(ctx, c, one, differ) {
				held += len(mqs)
			}
			return held == 2
		})
		tg.Produce(t, one, 100) // half of them for nobody: no queue is without an owner and without lag
		r, status := awaitFindings(t, tg, differ, "critical subscriptions_differ", "critical queue_unowned", "critical queue_unowned")
		r.wantWords(t, "A = 1 member: ", "B = 1 member: ", one, other, "which does not subscribe to the topic")
		if status != statusFindings {
			t.Errorf("status = %d, want %d", status, statusFindings)
		}
		tg.Produce(t, both, 100)
		r, _ = awaitFindings(t, tg, twins, "critical client_id_shared", "critical queue_unowned")
		r.wantWords(t, "1 client id, 2 connections", "@twin", "127.0.0.1:", "2 queues of "+both+" have no owner", "50 messages wait", "@twin is connected 2 times")
		r, _ = awaitFindings(t, tg, many, "warning members_idle")
		r.wantWords(t, "1 of 2 has nothing to do", "without a queue: ")
	})
}

// A listener that does not return is found with its message, whether others go on
// or not, and so is a message that an orderly listener refuses for ever.
func TestPeersDoctorOfAMessageThatBlocks(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		namesrv := strings.Join(tg.Namesrv, ";")
		topic := tg.Topic(t, 2)
		blocked, dead, refused := tg.Group(t), tg.Group(t), tg.Group(t)
		p.produce(t, namesrv, topic, 6000)
		for _, args := range [][]string{{blocked, topic, "concurrent", "k-41"}, {dead, topic, "concurrent", "*"}, {refused, topic, "orderly", "fail:k-41"}} {
			m := p.launch(t, "Stuck", append([]string{namesrv}, args...)...)
			awaitCount(t, m.out, `"stuck":`, 1)
		}
		r, status := awaitFindings(t, tg, blocked, "critical message_blocks")
		r.wantWords(t, "keys k-41", "stored ", "would be delivered again after a restart")
		if status != statusFindings {
			t.Errorf("status = %d, want %d", status, statusFindings)
		}
		r, _ = awaitFindings(t, tg, refused, "critical message_blocks", "warning consumption_failing", "later warning throttled_by_count")
		r.wantWords(t, "its oldest message fails again and again", "keys k-41", "--to shift:+1")
		// Both queues are full: nothing comes back from a listener.
		r, _ = awaitFindings(t, tg, dead, "critical queue_stuck", "warning throttled_by_count")
		r.wantWords(t, "2 queues stand still while messages wait", "committed at 0 for ", "count 1,0")
		if idle := regexp.MustCompile(`nothing consumed for at least \d+m`); !idle.MatchString(r.text()) {
			t.Errorf("no %q in\n%s", idle, r.text())
		}
	})
}

// The queues of an orderly member that died have no owner until its locks end,
// which is put off until they were seen.
func TestPeersDoctorOfADeadOrderlyMember(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		namesrv := strings.Join(tg.Namesrv, ";")
		topic, group := tg.Topic(t, 4), tg.Group(t)
		p.launchConsumer(t, namesrv, group, topic, "orderly", memberLife)
		second := p.launchConsumer(t, namesrv, group, topic, "orderly", memberLife, "0", "second")
		awaitFindings(t, tg, group)
		c := clientOf(t, tg.Namesrv...)
		locks := &protocol.LockBatchBody{ConsumerGroup: group}
		for id, mqs := range sharesOf(t.Context(), c, topic, group) {
			if strings.HasSuffix(id, "@second") {
				locks.ClientID, locks.MQSet = id, mqs
			}
		}
		renew := func(ctx context.Context) {
			if held, err := c.LockBatch(ctx, "broker-a", locks); err != nil || len(held) != 2 {
				t.Fatalf("locks of %q: %v, %v, want two", locks.ClientID, held, err)
			}
		}
		second.stop()
		renew(t.Context()) // as if it had just done so
		tg.Produce(t, topic, 40)
		r, status := awaitFindingsWhile(t, tg, group, renew, "critical queue_unowned")
		r.wantWords(t, "2 queues of "+topic+" have no owner", "20 messages wait", "which a member that died keeps for up to 60 s")
		if status != statusFindings {
			t.Errorf("status = %d, want %d", status, statusFindings)
		}
		awaitFindings(t, tg, group) // the locks have ended
	})
}

// A group that is paused, has left a backlog, or is committed beyond its queues' ends.
func TestPeersDoctorOfAGroupThatStands(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		namesrv := strings.Join(tg.Namesrv, ";")
		topic, group := tg.Topic(t, 2), tg.Group(t)
		admin := clientOf(t, tg.Namesrv...)
		tg.Produce(t, topic, 20)
		member := p.launchConsumer(t, namesrv, group, topic, "concurrent", memberLife)
		awaitCount(t, member.out, `"offset":`, 20)
		awaitFindings(t, tg, group)

		setConsumeEnable(t, tg, admin, group, false)
		tg.Produce(t, topic, 10)
		r, status := awaitFindings(t, tg, group, "warning group_paused")
		r.wantWords(t, "the group is paused", "consumeEnable is false at broker-a", "eyeq group resume "+group)
		if status != statusFindings {
			t.Errorf("status = %d, want %d", status, statusFindings)
		}
		member.stop()
		setConsumeEnable(t, tg, admin, group, true)
		awaitOffline(t, tg, group)
		r, _ = awaitFindings(t, tg, group, "critical offline_with_lag")
		r.wantWords(t, "no member is connected, and 10 messages wait", "lag 5, next message stored ")

		for id := range int32(2) {
			mq := protocol.MessageQueue{Topic: topic, BrokerName: "broker-a", QueueID: id}
			if err := admin.UpdateConsumerOffset(t.Context(), group, mq, 105); err != nil {
				t.Fatal(err)
			}
		}
		r, _ = awaitFindings(t, tg, group, "critical commit_ahead")
		r.wantWords(t, "2 queues are committed beyond their ends", "180 messages to come may be skipped", "ahead by 90")
	})
}

// setConsumeEnable pauses or resumes a group on all masters.
func setConsumeEnable(t *testing.T, tg *sandboxtest.Target, admin *remoting.Client, group string, enable bool) {
	t.Helper()
	for name, addr := range tg.Masters(t) {
		configs, err := admin.GroupConfigs(t.Context(), addr)
		if err != nil {
			t.Fatal(err)
		}
		c := configs.Groups[group]
		c.SetBool("consumeEnable", enable)
		if err := admin.UpdateGroupConfig(t.Context(), addr, c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}
