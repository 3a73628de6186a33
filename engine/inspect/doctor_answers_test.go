package inspect_test

import (
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// wordsOnly are the questions of a doctor whose answers only give a finding its words.
var wordsOnly = map[protocol.RequestCode]string{
	protocol.PullMessage:    "how many of a backlog's messages a filter matches; the message at which a queue stands",
	protocol.GetTopicConfig: "what type of topic the dead letters are kept in, by the way",
}

// The group of these tests has a member that filters, a backlog, a queue without messages, and
// a dead letter of long ago.
func untroubled(t *testing.T, tg *sandboxtest.Target) (group, id string) {
	t.Helper()
	group, id = tg.Group(t), "member-1"
	topic := tg.Topic(t, 2)
	d := newDesk(t, tg)
	d.makeGroup(tg, group)
	tg.Sandbox.CreateTopic(protocol.RetryTopic(group), 1)
	tg.Sandbox.CreateTopic(protocol.DLQTopic(group), 1)
	tg.Sandbox.Put(sandbox.Message{Topic: protocol.DLQTopic(group), Body: []byte("dead")})
	time.Sleep(time.Hour)
	for broker := range tg.Masters(t) {
		for range 400 { // in one of the two queues
			tg.Sandbox.Put(sandbox.Message{Topic: topic, Broker: broker, Body: []byte("x"), Properties: []protocol.Property{property(protocol.PropertyTags, "A")}})
		}
	}
	mqs := d.queues(topic)
	d.commit(group, 0, mqs...)
	newStub(t, tg, group, id, 0, mqs, func(s *stub) { s.filter = "A" })
	time.Sleep(40 * time.Second) // it is no new member any more
	return group, id
}

// A question of the doctor's that is refused leaves a group neither healthy nor, by
// itself, with a finding: it is named as not checked.
func TestDoctorNamesEachRefusedQuestion(t *testing.T) {
	bothLines(t, func(t *testing.T, tg *sandboxtest.Target) {
		group, id := untroubled(t, tg)
		var mu sync.Mutex // guards these
		var refused protocol.RequestCode
		asked := map[protocol.RequestCode]bool{}
		tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault {
			code := protocol.RequestCode(r.Command.Code)
			if r.ClientID == id {
				return sandbox.Fault{}
			}
			mu.Lock()
			defer mu.Unlock()
			asked[code] = true
			if code == refused {
				return sandbox.Fault{Code: protocol.SystemError, Remark: "refused"}
			}
			return sandbox.Fault{}
		})
		visit := func(code protocol.RequestCode) (inspect.Report, error) {
			mu.Lock()
			refused = code
			mu.Unlock()
			return newDesk(t, tg).DoctorWith(t.Context(), group, inspect.DoctorOptions{Interval: 2 * time.Second}) // brokers forget a member that is silent for two minutes
		}
		r, err := visit(0)
		if err != nil || !r.Healthy() || len(r.Unchecked) > 0 {
			t.Fatalf("nothing refused: %+v, %v", r, err)
		}
		mu.Lock()
		codes := slices.Sorted(maps.Keys(asked))
		mu.Unlock()
		for _, want := range []protocol.RequestCode{
			protocol.GetAllTopicListFromNamesrv, protocol.GetRouteInfoByTopic, protocol.GetTopicStatsInfo, protocol.GetConsumeStats, protocol.QueryConsumeTimeSpan,
			protocol.GetBrokerConfig, protocol.GetAllConsumerOffset, protocol.PullMessage,
		} {
			if !slices.Contains(codes, want) {
				t.Errorf("%v was not asked, so the test does not try it", want)
			}
		}
		for _, code := range codes {
			r, err := visit(code)
			switch {
			case err != nil: // that is no verdict
			case wordsOnly[code] != "":
				if len(r.Unchecked) > 0 {
					t.Errorf("%v refused: %v; want no word of it, since it is about %s", code, r.Unchecked, wordsOnly[code])
				}
			case !r.Healthy():
				t.Errorf("%v refused: %+v; want no finding", code, r.Findings)
			case !r.Doubtful():
				t.Errorf("%v refused: healthy, unchecked %v", code, r.Unchecked)
			}
		}
	})
}
