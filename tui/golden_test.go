package tui

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/go-cmp/cmp"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/tui/draw"
	"eyeq/tui/live"
	"eyeq/tui/page"
)

var update = flag.Bool("update", false, "write the golden frames anew")

var sizes = [][2]int{{60, 16}, {80, 24}, {100, 30}, {120, 36}, {200, 60}}

// TestGolden holds each state of the screen at five sizes: one file a state.
func TestGolden(t *testing.T) {
	states := map[string]func(t *testing.T, w, h int) *driver{
		"normal": func(t *testing.T, w, h int) *driver { return drive(t, w, h, defaultOptions(), nil) },
		"loading": func(t *testing.T, w, h int) *driver {
			d := driveEmpty(t, w, h, defaultOptions(), nil).miss("waiting for the engine")
			d.now = d.now.Add(page.LoadingAfter)
			d.send(tea.WindowSizeMsg{Width: w, Height: h})
			return d
		},
		"empty": func(t *testing.T, w, h int) *driver { return withSnapshot(t, w, h, noRoute()) },
		"error": func(t *testing.T, w, h int) *driver { return withSnapshot(t, w, h, namesrvDown()) },
		"frozen": func(t *testing.T, w, h int) *driver {
			d := drive(t, w, h, defaultOptions(), nil).keys("space")
			d.now = d.now.Add(9 * time.Second)
			s := fixture(0)
			s.At = d.now
			for i := range s.Queues {
				s.Queues[i].MaxOffset += int64(i) * 100
			}
			d.send(snapshotsMsg{snapshots: []*engine.Snapshot{s}})
			d.send(eventsMsg{events: fixtureEvents()[:3]})
			return d
		},
		"read-only": func(t *testing.T, w, h int) *driver {
			o := defaultOptions()
			o.Mode = "read-only"
			return drive(t, w, h, o, nil).keys("R")
		},
		"ascii": func(t *testing.T, w, h int) *driver {
			o := defaultOptions()
			o.ASCII = true
			return withOptions(t, w, h, o, wideNames())
		},
		"cjk": func(t *testing.T, w, h int) *driver { return withSnapshot(t, w, h, wideNames()) },
		"orderly": func(t *testing.T, w, h int) *driver {
			return withSnapshot(t, w, h, orderly())
		},
		"topics": func(t *testing.T, w, h int) *driver { return withSnapshot(t, w, h, twoTopics()) },
		"paused": func(t *testing.T, w, h int) *driver {
			s := fixture(0)
			s.Pause = &engine.PauseState{By: "wang", Reason: "deploy", Since: fixtureNow.Add(-time.Minute)}
			for i := range s.Queues {
				if s.Queues[i].Own {
					s.Queues[i].Pause, s.Queues[i].State = s.Pause, engine.QueuePaused
				}
			}
			return withSnapshot(t, w, h, s)
		},
		"filter": func(t *testing.T, w, h int) *driver {
			return drive(t, w, h, defaultOptions(), nil).keys("v", "v", "/").typing("~a/[")
		},
		"help":    func(t *testing.T, w, h int) *driver { return drive(t, w, h, defaultOptions(), nil).keys("?") },
		"command": func(t *testing.T, w, h int) *driver { return drive(t, w, h, defaultOptions(), nil).keys(":", "s") },
		"events":  func(t *testing.T, w, h int) *driver { return drive(t, w, h, defaultOptions(), nil).keys("7", "E") },
		"event": func(t *testing.T, w, h int) *driver {
			return drive(t, w, h, defaultOptions(), nil).keys("7", "E", "enter")
		},
		"queue": func(t *testing.T, w, h int) *driver {
			d := drive(t, w, h, defaultOptions(), nil).keys("enter")
			d.send(live.HeldMsg{MQ: d.a.queue.MQ, Rows: fixtureHeld()})
			return d.keys("j")
		},
		"held":        func(t *testing.T, w, h int) *driver { return drivesHold(t, w, h, nil) },
		"held-queue":  func(t *testing.T, w, h int) *driver { return drivesHold(t, w, h, nil).keys("enter", " ", "j", " ") },
		"held-ack":    func(t *testing.T, w, h int) *driver { return drivesHold(t, w, h, nil).keys("enter", "a") },
		"held-refuse": func(t *testing.T, w, h int) *driver { return drivesHold(t, w, h, nil).keys("enter", "ctrl+a", "x") },
		"held-dead":   func(t *testing.T, w, h int) *driver { return drivesHold(t, w, h, nil).keys("v", "v", "D") },
		"held-failed": func(t *testing.T, w, h int) *driver {
			e := &fakeEngine{settle: func(r engine.SettleRequest) ([]engine.SettleRow, error) { return settleRows(r, 2), nil }}
			return drivesHold(t, w, h, e).keys("enter", "ctrl+a", "x", "tab", "tab", "enter")
		},
		"pause": func(t *testing.T, w, h int) *driver {
			return drive(t, w, h, defaultOptions(), nil).keys("p").typing("bad batch")
		},
		"leave": func(t *testing.T, w, h int) *driver {
			o := defaultOptions()
			o.Member = true
			return drive(t, w, h, o, nil).keys("q")
		},
		"leaving": func(t *testing.T, w, h int) *driver {
			o := defaultOptions()
			o.Leave, o.Left = func() {}, make(chan error)
			d := drive(t, w, h, o, nil).keys("q")
			d.send(eventsMsg{events: []engine.Event{engine.ShutdownStep{At: engine.At{Time: fixtureNow}, Step: "persist", DurationMS: 12}}})
			return d
		},
		"reset": func(t *testing.T, w, h int) *driver {
			return drive(t, w, h, defaultOptions(), resetEngine()).keys("R")
		},
		"reset-ready": func(t *testing.T, w, h int) *driver {
			d := drive(t, w, h, defaultOptions(), resetEngine()).keys("R", "tab", "right", "tab", "left", "left", "enter", "tab", "tab", "down", "down", "down", "down", "down", " ", "tab")
			return d.typing("bad batch").keys("tab").typing("order-settle")
		},
		"reset-result": func(t *testing.T, w, h int) *driver {
			d := drive(t, w, h, defaultOptions(), resetEngine()).keys("R", "tab", "right", "tab", "left", "left", "enter", "tab", "tab", "down", "down", "down", "down", "down", " ", "tab", "tab")
			return d.typing("order-settle").keys("tab", "enter")
		},
		"log": func(t *testing.T, w, h int) *driver {
			o := defaultOptions()
			o.LogTail = func(int) []string {
				return []string{"time=14:32:06 level=WARN msg=\"pull again\" code=2", "time=14:32:07 level=INFO msg=\"\x1b[31mred\x1b[0m\""}
			}
			return drive(t, w, h, o, nil).keys("!")
		},
	}
	for name, start := range states {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			for _, size := range sizes {
				d := start(t, size[0], size[1])
				fmt.Fprintf(&got, "== %dx%d\n%s\n", size[0], size[1], trimLines(d.frame()))
			}
			compareGolden(t, name, got.String())
		})
	}
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (write it with -update and read it)", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}

func withSnapshot(t *testing.T, w, h int, s *engine.Snapshot) *driver {
	t.Helper()
	return withOptions(t, w, h, defaultOptions(), s)
}

func withOptions(t *testing.T, w, h int, o page.Options, s *engine.Snapshot) *driver {
	t.Helper()
	d := driveEmpty(t, w, h, o, nil)
	d.send(snapshotsMsg{snapshots: []*engine.Snapshot{s}})
	return d
}

func noRoute() *engine.Snapshot {
	s := fixture(0)
	s.Queues, s.Totals = nil, engine.Totals{}
	s.ThreadsBusy = 0
	s.LastRebalance, s.LastPersist = time.Time{}, time.Time{}
	s.Topics = []engine.TopicSnapshot{{Topic: "orders-paid", Expression: "*", Missing: "no route at any name server"}}
	return s
}

func namesrvDown() *engine.Snapshot {
	s := noRoute()
	s.Brokers = nil
	s.NamesrvCurrent, s.NamesrvError = "", "10.0.3.11:9876: connection refused, 3 tries in 14s"
	s.Topics[0].Missing = "asking the name servers"
	s.Topics[0].MembersError = "no broker is known"
	return s
}

func orderly() *engine.Snapshot {
	s := fixture(0)
	s.Orderly, s.Strategy = true, "AVG_BY_CIRCLE"
	for i := range s.Queues {
		q := &s.Queues[i]
		if !q.Own {
			continue
		}
		q.Locked, q.LockedAt = true, fixtureNow.Add(-7*time.Second)
		if q.Flow == core.FlowSpan {
			q.Flow, q.State = core.FlowNone, engine.QueueRun
		}
		switch q.QueueID {
		case 2:
			q.State, q.Detail, q.Locked = engine.QueueUnlocked, "another member may hold the lock", false
		case 5:
			q.State, q.Detail = engine.QueueSuspended, "retry of the head in 1.2s"
		case 0:
			q.State, q.Detail, q.LastError = engine.QueueError, "pull: broker busy", "pull: broker busy"
		}
	}
	return s
}

// twoTopics subscribes to two topics and has the retry topic.
func twoTopics() *engine.Snapshot {
	s := fixture(0)
	for i, topic := range []string{"inventory-sync", "%RETRY%order-settle"} {
		retry := i == 1
		t := engine.TopicSnapshot{Topic: topic, Expression: "*", Retry: retry, Queues: 2, Brokers: []string{"broker-a", "broker-b"},
			MembersFrom: "10.0.4.1:10911", MembersAt: fixtureNow.Add(-12 * time.Second)}
		a, b := mq(topic, "broker-a", 0), mq(topic, "broker-b", 0)
		t.Members = []engine.MemberSnapshot{{ClientID: memberA, Self: true, Since: s.Started, Queues: []engine.MessageQueue{a}},
			{ClientID: memberB, Since: s.Started, Queues: []engine.MessageQueue{b}}, {ClientID: memberC, Since: s.Started}}
		s.Topics = append(s.Topics, t)
		mine, other := ownQueue(a, 40_112, 210, 3, 0), otherQueue(b, memberB, 40_112, 0)
		mine.Retry, other.Retry = retry, retry
		other.MaxOffset, other.CommittedOffset = engine.Unknown, engine.Unknown
		s.Queues = append(s.Queues, mine, other)
	}
	return s
}

// wideNames has double-width names, one of them as long as names get.
func wideNames() *engine.Snapshot {
	s := fixture(0)
	rename := map[string]string{"broker-a": "杭州-订单-甲", "broker-b": "杭州-订单-乙"}
	s.Group = "订单结算-消费组"
	s.Topics[0].Topic = strings.Repeat("订单", 30)
	s.Topics[0].Expression = "已付款||退款"
	for i := range s.Queues {
		s.Queues[i].Topic, s.Queues[i].BrokerName = s.Topics[0].Topic, rename[s.Queues[i].BrokerName]
	}
	for i := range s.Topics[0].Members {
		m := &s.Topics[0].Members[i]
		for j := range m.Queues {
			m.Queues[j].Topic, m.Queues[j].BrokerName = s.Topics[0].Topic, rename[m.Queues[j].BrokerName]
		}
	}
	s.Topics[0].Members[1].ClientID = "客户端@7181#值班"
	for i := range s.Queues {
		if s.Queues[i].Owner == memberB {
			s.Queues[i].Owner = s.Topics[0].Members[1].ClientID
		}
	}
	s.Queues[0].Pause = &engine.PauseState{By: "王", Reason: "坏批次", Since: fixtureNow}
	s.Queues[0].State = engine.QueuePaused
	return s
}

func fixtureHeld() []live.HeldRow {
	rows := []live.HeldRow{
		{Offset: 18_204_551, Stage: core.StageTaken, Started: fixtureNow.Add(-2 * time.Second), ID: "0A000415000078D9F3C1", Tags: "paid",
			Keys: "o-7781203", Born: fixtureNow.Add(-252 * time.Second), Stored: fixtureNow.Add(-252*time.Second + 13*time.Millisecond), BodySize: 1204,
			Body: draw.SafeText("{\"id\":7781203,\"note\":\"\x1b[31mred\x1b[0m\",\n\"名称\":\"退款\"}")},
	}
	for i := range 6 {
		rows = append(rows, live.HeldRow{Offset: 18_204_552 + int64(i), Stage: []core.Stage{core.StageDone, core.StageCached}[i/3], Reconsumed: int32(i),
			ID: fmt.Sprintf("0A000415000078D9F3C%d", i+2), Born: fixtureNow.Add(-time.Minute), Stored: fixtureNow.Add(-time.Minute), Body: `{"id":7781204,"amount":1299.00,"cur":"CNY"}`})
	}
	return rows
}

// resetEngine answers previews and resets of the fixture's queues.
func resetEngine() *fakeEngine {
	rows := func(r engine.ResetRequest) []engine.ResetRow {
		var rows []engine.ResetRow
		for i, mq := range r.Queues {
			row := engine.ResetRow{MessageQueue: mq, MinOffset: 11_018_002, MaxOffset: 18_252_110 + int64(i), Before: 18_201_977 + int64(i)*1000,
				After: 18_190_440 + int64(i)*1000, Effect: core.EffectReplay, Count: 11_537, FirstStored: fixtureNow.Add(-15 * time.Minute)}
			switch mq.QueueID {
			case 2:
				row.After, row.Effect, row.Count = row.Before+349, core.EffectSkip, 349
			case 4:
				row.Before, row.After, row.Effect, row.Count = 10_987_802, row.MinOffset, core.EffectGone, 30_200
			case 5:
				row = engine.ResetRow{MessageQueue: mq, MinOffset: -1, MaxOffset: -1, Before: -1, After: -1, Err: errors.New("broker-a: no answer after 3s")}
			}
			rows = append(rows, row)
		}
		return rows
	}
	return &fakeEngine{
		preview: func(r engine.ResetRequest) ([]engine.ResetRow, error) { return rows(r), nil },
		reset: func(r engine.ResetRequest) ([]engine.ResetRow, error) {
			list := rows(r)
			for i := range list {
				list[i].Verified = true
				if list[i].QueueID == 1 {
					list[i].Verified, list[i].Err = false, errors.New("moved back to 18,000,000 since the preview")
				}
			}
			return list, nil
		},
	}
}
