package sandbox

import (
	"fmt"
	"strconv"
	"time"

	"eyeq/remoting/protocol"
)

// What a broker tells of its own state: 28, with the keys that the stock tools
// read. Lines differ in the spelling of a key.

// rates counts messages and gives their rates between two questions.
type rates struct {
	put, get         int64 // all so far
	since            time.Time
	putThen, getThen int64
	putTPS, getTPS   float64
}

// rateSpan is the least time that a rate is measured over: those who ask
// together get the same answer.
const rateSpan = time.Second

// measure brings the rates up to date.
func (r *rates) measure(now time.Time) {
	span := now.Sub(r.since)
	if span < rateSpan {
		return
	}
	r.putTPS = float64(r.put-r.putThen) / span.Seconds()
	r.getTPS = float64(r.get-r.getThen) / span.Seconds()
	r.since, r.putThen, r.getThen = now, r.put, r.get
}

func (b *broker) handleRuntimeInfo() answer {
	b.rates.measure(b.loop.now)
	description, getTransferred := "V5_3_3", "getTransferredTps"
	if b.loop.four {
		description, getTransferred = "V4_9_7", "getTransferedTps"
	}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	// A broker gives the rates of the last 10 s, minute and 10 minutes.
	three := func(tps float64) string { return fmt.Sprintf("%.1f %.1f %.1f", tps, tps, tps) }
	disk := strconv.FormatFloat(float64(b.log.held)/float64(b.log.limit), 'f', 4, 64)
	return answer{body: protocol.EncodeRuntimeInfo(map[string]string{
		"brokerVersionDesc": description, "brokerVersion": number(int64(b.loop.version())),
		"bootTimestamp": number(b.loop.begun.UnixMilli()), "runtime": b.loop.now.Sub(b.loop.begun).String(),
		"putTps": three(b.rates.putTPS), getTransferred: three(b.rates.getTPS),
		"commitLogMinOffset": number(b.log.minOffset()), "commitLogMaxOffset": number(b.log.next),
		"msgPutTotalTodayNow": number(b.rates.put), "msgPutTotalTodayMorning": "0", "msgPutTotalYesterdayMorning": "0",
		"msgGetTotalTodayNow": number(b.rates.get), "msgGetTotalTodayMorning": "0", "msgGetTotalYesterdayMorning": "0",
		"sendThreadPoolQueueSize": "0", "sendThreadPoolQueueHeadWaitTimeMills": "0",
		"pullThreadPoolQueueSize": "0", "pullThreadPoolQueueHeadWaitTimeMills": "0",
		"commitLogDiskRatio": disk, "consumeQueueDiskRatio": disk, "dispatchBehindBytes": "0", "pageCacheLockTimeMills": "0",
		"earliestMessageTimeStamp": number(b.earliest()),
	})}
}

// earliest is when the oldest message was stored, in milliseconds; -1 without one.
func (b *broker) earliest() int64 {
	oldest, _, err := b.log.lookup(b.log.minOffset())
	if err != nil {
		return -1
	}
	return oldest.Stored.UnixMilli()
}
