package inspect

import (
	"fmt"
)

// judgeOffline tells of a backlog that nobody reads. A question that failed is not
// nobody.
func judgeOffline(v *visit) {
	l := &v.last.Lag
	n := l.Members
	if len(v.last.Members.Members) > 0 || v.proxied() {
		return
	}
	if !n.Known || n.AtLeast {
		v.unchecked("the members of "+v.f.Group, "the brokers", n.Why)
		return
	}
	if len(v.first.Members.Members) > 0 || n.Value > 0 || !l.Lag.Known || l.Lag.Value == 0 {
		return // they went just now, or there is nothing to read
	}
	lines := []string{numberText(l.Lag) + " messages wait"}
	for i := range l.Queues {
		if q := &l.Queues[i]; q.Lag.Known && q.Lag.Value > 0 {
			lines = append(lines, fmt.Sprintf("%v: committed %s, lag %s%s", q.MessageQueue, committedText(q), Grouped(q.Lag.Value), v.waitText(q)))
		}
	}
	v.find(CodeOfflineWithLag, SeverityCritical, "no member is connected, and "+numberText(l.Lag)+" messages wait",
		"Start the consumers. If the group is not used any more, delete it: "+v.eyeq("group delete %s", v.f.Group), capped(lines)...)
}

func (v *visit) waitText(q *QueueLag) string {
	if w := v.waits(q); w > 0 {
		return fmt.Sprintf(", next message stored %s ago", Span(w))
	}
	return ""
}

// expiringShare is the part of a message's life that is left when its backlog is
// said to expire soon.
const expiringShare = 4

// judgeExpiry finds messages that were deleted before they were consumed, and those
// that soon will be.
func judgeExpiry(v *visit) {
	if !v.clustering() {
		return
	}
	var gone int64
	var expired, expiring []string
	for i := range v.last.Lag.Queues {
		q := &v.last.Lag.Queues[i]
		if q.Expired > 0 {
			gone += q.Expired
			expired = append(expired, fmt.Sprintf("%v: committed at %s, the first message left is %s: %s never consumed", q.MessageQueue, Grouped(q.Committed.Value), Grouped(q.Min.Value), Plural(q.Expired, "message")))
			continue
		}
		left, life := q.ExpiresAt.Sub(v.last.At), q.ExpiresAt.Sub(q.NextStored)
		if q.ExpiresAt.IsZero() || q.NextStored.IsZero() || !q.Lag.Known || q.Lag.Value <= 0 || left*expiringShare > life {
			continue
		}
		when := "in about " + Span(left)
		if left <= 0 {
			when = "with the next cleaning"
		}
		expiring = append(expiring, fmt.Sprintf("%v: the next message was stored %s ago and will be deleted %s, lag %s", q.MessageQueue, Span(v.waits(q)), when, Grouped(q.Lag.Value)))
	}
	if len(expired) > 0 {
		v.find(CodeBacklogExpired, SeverityCritical, Plural(gone, "message")+" expired before they were consumed",
			"They are gone from the brokers. The group goes on at the first message that is left; a stopped one is moved there by: "+v.eyeq("group reset %s --to earliest --dry-run", v.f.Group), capped(expired)...)
	}
	if len(expiring) > 0 {
		v.find(CodeBacklogExpiring, SeverityWarning, fmt.Sprintf("the backlog of %s expires soon", Plural(len(expiring), "queue")),
			"Speed consumption up, or keep messages longer (fileReservedTime of the broker, while its disk has room: "+v.eyeq("broker list")+").",
			append(capped(expiring), "when brokers delete is an estimate: at the hour that they are told (deleteWhen), or earlier when a disk fills")...)
	}
}

// judgeAhead finds commits beyond the end of their queue. The end must be the later
// look's and the commit the earlier's, or a queue that moves would be one.
func judgeAhead(v *visit) {
	var lines, back []string
	var ahead, passed int64
	for i := range v.last.Lag.Queues {
		q := &v.last.Lag.Queues[i]
		if !q.Max.Known {
			continue
		}
		if n := v.aheadByMember(q); n > 0 {
			ahead += n
			lines = append(lines, fmt.Sprintf("%v: its member %s is at %s by its own word, the end is %s: ahead by %s%s", q.MessageQueue, v.holders[q.MessageQueue].member.ClientID, Grouped(q.Max.Value+n), Grouped(q.Max.Value), Grouped(n), passedText(q)))
			continue
		}
		if from := v.cameBack(q); from > 0 {
			n := q.Committed.Value - q.Min.Value
			passed += n
			back = append(back, fmt.Sprintf("%v: at %s at the first look, beyond the end at %s, and committed at %s now: passed are up to %s of the queue, from %s on",
				q.MessageQueue, Grouped(from), Grouped(q.Max.Value), Grouped(q.Committed.Value), Plural(n, "message"), Grouped(q.Min.Value)))
			continue
		}
		was := v.queues[q.MessageQueue]
		if was == nil || !was.Committed.Known || !q.Committed.Known || q.Max.Value >= min(was.Committed.Value, q.Committed.Value) {
			continue
		}
		n := q.Committed.Value - q.Max.Value
		ahead += n
		lines = append(lines, fmt.Sprintf("%v: committed at %s, the end is %s: ahead by %s%s", q.MessageQueue, Grouped(q.Committed.Value), Grouped(q.Max.Value), Grouped(n), passedText(q)))
	}
	if len(back) > 0 {
		v.find(CodeCommitAhead, SeverityCritical, fmt.Sprintf("%s committed beyond %s until just now (topic re-created?): up to %s may not have been consumed",
			verb(len(back), "1 queue was", Grouped(int64(len(back)))+" queues were"), verb(len(back), "its end", "their ends"), Plural(passed, "message")),
			"Look at what the topic holds, and have it consumed from the beginning where that does no harm: "+v.eyeq("group reset %s --to earliest --dry-run", v.f.Group),
			append(capped(back), "no later look shows this: a member has put its offset right, and what it passed looks consumed")...)
	}
	if len(lines) == 0 {
		return
	}
	v.find(CodeCommitAhead, SeverityCritical, fmt.Sprintf("%s committed beyond %s (topic re-created?): %s to come may be skipped",
		verb(len(lines), "1 queue is", Grouped(int64(len(lines)))+" queues are"), verb(len(lines), "its end", "their ends"), Plural(ahead, "message")),
		"Move the group to where it should go on, the beginning when the topic is new: "+v.eyeq("group reset %s --to earliest --dry-run", v.f.Group),
		append(capped(lines), "these do not lower the lag that is shown")...)
}

// passedText says what a queue holds whose commit lies beyond it: a new topic's messages
// that have been passed already.
func passedText(q *QueueLag) string {
	if !q.Min.Known || q.Max.Value <= q.Min.Value {
		return ""
	}
	return "; passed are the " + Plural(q.Max.Value-q.Min.Value, "message") + " that it holds, of which those of a new topic were not consumed"
}

// aheadByMember is how far a member is beyond the end of a queue by its own word, at both
// looks, where its broker has not learned of it: brokers of 5.x forget a topic's commits
// with the topic. 0: it is not.
func (v *visit) aheadByMember(q *QueueLag) int64 {
	now, was := v.holders[q.MessageQueue], v.heldBefore[q.MessageQueue]
	if !v.two() || now.member == nil || was.member == nil || q.Committed.Known && q.Committed.Value > q.Max.Value {
		return 0
	}
	return max(min(now.info.CommitOffset, was.info.CommitOffset)-q.Max.Value, 0)
}

// cameBack is where the first look found the commit of a queue, or its member, beyond an end
// that the second look has it within; 0: it did not. A member that meets such an end goes on
// at the end (Java: on PULL_OFFSET_MOVED, ten seconds later), past what a new topic holds.
func (v *visit) cameBack(q *QueueLag) int64 {
	was := v.queues[q.MessageQueue]
	if !v.two() || was == nil || !q.Committed.Known || !q.Min.Known || q.Committed.Value > q.Max.Value || q.Committed.Value <= q.Min.Value {
		return 0
	}
	from := v.heldBefore[q.MessageQueue].info.CommitOffset
	if was.Committed.Known {
		from = max(from, was.Committed.Value)
	}
	if from <= q.Max.Value {
		return 0
	}
	return from
}

// judgeTags labels a lag that counts what the group does not read.
func judgeTags(v *visit) {
	l := &v.last.Lag
	if !l.Filtered || !l.Lag.Known || l.Lag.Value == 0 {
		return
	}
	summary, s := "the lag may count messages that the group's filter leaves out", v.f.Matching
	lines := []string{"members subscribe by a filter; brokers count all messages of the topic, and skipped ones are committed as pulls pass them"}
	if s.Looked > 0 {
		lines = append(lines, fmt.Sprintf("of %s looked at where the backlog begins %s", Plural(s.Looked, "message"), verb(s.Match, "1 matches", Grouped(int64(s.Match))+" match")))
		switch out := s.Looked - s.Match; out {
		case 0:
			summary += ", but none of those looked at"
		default:
			summary = fmt.Sprintf("the lag counts messages that the group's filter leaves out: %s of %s looked at", Grouped(int64(out)), Grouped(int64(s.Looked)))
		}
	}
	v.find(CodeTagsLeaveOut, SeverityInfo, summary, "Judge the group by the age of its backlog: "+v.eyeq("group lag %s", v.f.Group), lines...)
}

// judgePaused tells what keeps the group from consuming by intent.
func judgePaused(v *visit) {
	p := v.last.Lag.Pause
	switch {
	case p.All():
		v.find(CodeGroupPaused, SeverityWarning, "the group is paused: its configuration lets no member consume",
			"Resume it when it should go on: "+v.eyeq("group resume %s", v.f.Group),
			"consumeEnable is false at "+joined(p.Brokers), "members stay connected, and finish what they have cached; lag "+numberText(v.last.Lag.Lag))
	case len(p.Brokers) > 0:
		v.find(CodeGroupPaused, SeverityWarning, fmt.Sprintf("the group is paused at %d of %d brokers", len(p.Brokers), p.Of),
			"Resume it, or pause it everywhere: "+v.eyeq("group resume %s", v.f.Group)+" or "+v.eyeq("group pause %s", v.f.Group),
			"consumeEnable is false at "+joined(p.Brokers)+" and true at the others")
	}
	for _, topic := range sortedKeys(p.Topics) {
		where := ""
		if n := len(p.Topics[topic]); n < p.Of {
			where = fmt.Sprintf(" at %d of %d brokers", n, p.Of)
		}
		v.find(CodeTopicPaused, SeverityWarning, "the group is kept from reading "+topic+where,
			"Resume it when it should go on: "+v.eyeq("group resume %s -t %s", v.f.Group, topic), "reading is forbidden at "+joined(p.Topics[topic]))
	}
}

// judgeConfig names what the brokers' configurations of the group differ in.
func judgeConfig(v *visit) {
	if len(v.f.Detail.Differences) == 0 {
		return
	}
	var lines []string
	for _, name := range v.f.Detail.Differences {
		for _, c := range v.f.Detail.Configs {
			value, ok := c.Fields[name]
			switch {
			case c.missed():
				if name != groupNameField {
					continue // said once
				}
				value = "no configuration, and " + Plural(c.Queues, "queue") + " of the group"
			case c.Fields == nil:
				continue // not known, or not needed
			case !ok:
				value = "not set"
			}
			lines = append(lines, fmt.Sprintf("%s at %s: %s", name, c.Broker, value))
		}
	}
	v.find(CodeConfigDiffers, SeverityWarning, "brokers have different configurations of the group: "+joined(v.f.Detail.Differences),
		"Make them the same; compare: "+v.eyeq("group show %s", v.f.Group), capped(lines)...)
}

// waitingAt is what waits at a broker, as far as it is known.
func (v *visit) waitingAt(broker string) (queues, unknown int, lag int64) {
	for i := range v.last.Lag.Queues {
		if q := &v.last.Lag.Queues[i]; q.BrokerName == broker {
			queues++
			if q.Lag.Known {
				lag += max(q.Lag.Value, 0)
			} else {
				unknown++
			}
		}
	}
	return queues, unknown, lag
}
