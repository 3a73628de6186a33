package cli

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// settleLimit bounds the wait for groups of which several JVMs have just started on a
// busy machine: a group counts as settled half a minute after its youngest member's start.
const settleLimit = 3 * time.Minute

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

// awaitFindings examines a group until it has exactly the findings that are wanted,
// in any order, and gives the report and the status.
func awaitFindings(t *testing.T, namesrv, group string, want ...string) (doctorReport, int) {
	t.Helper()
	var r doctorReport
	status := 0
	slices.Sort(want)
	last := time.Now().Add(settleLimit)
	sandboxtest.AwaitWithin(t, settleLimit+time.Minute, fmt.Sprintf("the findings %q of %s", want, group), func(context.Context) bool {
		r, status = examine(t, namesrv, group)
		codes := r.codes()
		slices.Sort(codes)
		if !slices.Equal(codes, want) && time.Now().After(last) {
			t.Fatalf("findings of %s: got %q, want %q\n%s", group, codes, want, r.text())
		}
		return slices.Equal(codes, want)
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
			p.launchConsumer(t, namesrv, groups[mode], topic, mode, "600", "5")
		}
		for i := range 2 {
			startLeaving(t, []string{"consume", "--namesrv", namesrv, "-g", groups["eyeq"], "-t", topic, "--from", "first", "--headless", "-o", "none", "--client-id", fmt.Sprintf("10.0.0.%d@eyeq", i)})
		}
		settled := map[string]bool{}
		look := func(mode string) {
			r, status := examine(t, namesrv, groups[mode])
			switch {
			case status == statusNotFound: // nobody is there yet
			case status != statusDone || r.Healthy == nil || !*r.Healthy:
				t.Errorf("%s: status %d\n%s", mode, status, r.text())
			default:
				settled[mode] = len(r.Findings) == 0 || mode == "broadcast" && slices.Equal(r.codes(), []string{"info broadcasting"})
			}
		}
		look("eyeq") // while it joins
		startLeaving(t, []string{"consume", "--namesrv", namesrv, "-g", groups["eyeq"], "-t", topic, "--from", "first", "--headless", "-o", "none", "--client-id", "10.0.0.9@eyeq"})
		look("eyeq")
		tg.Produce(t, topic, 400)
		sandboxtest.AwaitWithin(t, settleLimit, "all groups settled", func(context.Context) bool {
			for mode := range groups {
				if !settled[mode] && !t.Failed() {
					look(mode)
				}
			}
			return len(settled) == len(groups) && settled["concurrent"] && settled["orderly"] && settled["broadcast"] && settled["eyeq"] || t.Failed()
		})
	})
}

// Members that subscribe to different topics (R010), call themselves alike (R014) or
// are too many are found.
func TestPeersDoctorOfMembersThatDisagree(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		namesrv := strings.Join(tg.Namesrv, ";")
		one, other, single := tg.Topic(t, 4), tg.Topic(t, 4), tg.Topic(t, 1)
		differ, twins, many := tg.Group(t), tg.Group(t), tg.Group(t)
		tg.Produce(t, one, 100)
		tg.Produce(t, other, 100)
		p.launchConsumer(t, namesrv, differ, one, "concurrent", "600")
		p.launchConsumer(t, namesrv, differ, other, "concurrent", "600")
		for range 2 {
			p.launchConsumer(t, namesrv, twins, one, "concurrent", "600", "0", "twin")
			p.launchConsumer(t, namesrv, many, single, "concurrent", "600")
		}
		r, status := awaitFindings(t, namesrv, differ, "critical subscriptions_differ", "critical queue_unowned", "critical queue_unowned")
		r.wantWords(t, "A = 1 member: ", "B = 1 member: ", one, other, "which does not subscribe to the topic")
		if status != statusFindings {
			t.Errorf("status = %d, want %d", status, statusFindings)
		}
		tg.Produce(t, one, 100)
		r, _ = awaitFindings(t, namesrv, twins, "critical client_id_shared", "critical queue_unowned")
		r.wantWords(t, "1 client id, 2 connections", "@twin", "127.0.0.1:", "2 queues of "+one+" have no owner", "50 messages wait", "@twin is connected 2 times")
		r, _ = awaitFindings(t, namesrv, many, "warning members_idle")
		r.wantWords(t, "1 of 2 have nothing to do", "without a queue: ")
	})
}

// A listener that does not return is found with its message, whether others go on
// (R021, R023) or not, and so is a message that an orderly listener refuses for ever.
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
		r, status := awaitFindings(t, namesrv, blocked, "critical message_blocks")
		r.wantWords(t, "keys k-41", "stored ", "would be delivered again after a restart")
		if status != statusFindings {
			t.Errorf("status = %d, want %d", status, statusFindings)
		}
		r, _ = awaitFindings(t, namesrv, refused, "critical message_blocks", "warning consumption_failing")
		r.wantWords(t, "its oldest message fails again and again", "keys k-41", "--to shift:+1")
		// Both queues are full: nothing comes back from a listener.
		r, _ = awaitFindings(t, namesrv, dead, "critical queue_stuck", "warning throttled_by_count")
		r.wantWords(t, "2 queues stand still while messages wait", "committed at 0 for ", "nothing consumed for at least 1m", "count 1,0")
	})
}

// The queues of an orderly member that died have no owner until its locks end (R034).
func TestPeersDoctorOfADeadOrderlyMember(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		namesrv := strings.Join(tg.Namesrv, ";")
		topic, group := tg.Topic(t, 4), tg.Group(t)
		p.launchConsumer(t, namesrv, group, topic, "orderly", "600")
		second := p.launchConsumer(t, namesrv, group, topic, "orderly", "600")
		awaitFindings(t, namesrv, group)
		second.stop()
		tg.Produce(t, topic, 40)
		r, status := awaitFindings(t, namesrv, group, "critical queue_unowned")
		r.wantWords(t, "2 queues of "+topic+" have no owner", "20 messages wait", "which a member that died keeps for up to 60 s")
		if status != statusFindings {
			t.Errorf("status = %d, want %d", status, statusFindings)
		}
		awaitFindings(t, namesrv, group) // the locks have ended
	})
}

// A group that is paused, has left a backlog, or is committed beyond its queues' ends.
func TestPeersDoctorOfAGroupThatStands(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		namesrv := strings.Join(tg.Namesrv, ";")
		topic, group := tg.Topic(t, 2), tg.Group(t)
		admin := tg.Client(t, nil)
		tg.Produce(t, topic, 20)
		member := p.launchConsumer(t, namesrv, group, topic, "concurrent", "600")
		awaitCount(t, member.out, `"offset":`, 20)
		awaitFindings(t, namesrv, group)

		setConsumeEnable(t, tg, admin, group, false)
		tg.Produce(t, topic, 10)
		r, status := awaitFindings(t, namesrv, group, "warning group_paused")
		r.wantWords(t, "the group is paused", "consumeEnable is false at broker-a", "eyeq group resume "+group)
		if status != statusFindings {
			t.Errorf("status = %d, want %d", status, statusFindings)
		}
		member.stop()
		setConsumeEnable(t, tg, admin, group, true)
		awaitOffline(t, tg, group)
		r, _ = awaitFindings(t, namesrv, group, "critical offline_with_lag")
		r.wantWords(t, "no member is connected, and 10 messages wait", "lag 5, next message stored ")

		for id := range int32(2) {
			mq := protocol.MessageQueue{Topic: topic, BrokerName: "broker-a", QueueID: id}
			if err := admin.UpdateConsumerOffset(t.Context(), group, mq, 105); err != nil {
				t.Fatal(err)
			}
		}
		r, _ = awaitFindings(t, namesrv, group, "critical commit_ahead")
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
