package tui

import (
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/tui/draw"
	"eyeq/tui/live"
	"eyeq/tui/words"
)

// allEvents is one event of each kind.
func allEvents(a engine.At) []engine.Event {
	return []engine.Event{
		engine.ConsumerState{At: a}, engine.ConfigRejected{At: a}, engine.ClientInstance{At: a}, engine.RouteChanged{At: a}, engine.RouteMissing{At: a}, engine.NamesrvUnreachable{At: a}, engine.NamesrvRecovered{At: a},
		engine.BrokerOffline{At: a}, engine.BrokerOnline{At: a}, engine.HeartbeatSent{At: a}, engine.ClockStepped{At: a}, engine.MembersChanged{At: a}, engine.RebalanceBegin{At: a},
		engine.RebalanceEnd{At: a}, engine.RebalanceTopic{At: a}, engine.RebalanceSkipped{At: a}, engine.QueueAdded{At: a}, engine.QueueAddFailed{At: a},
		engine.QueueDropped{At: a}, engine.QueueRemoved{At: a}, engine.LockGained{At: a}, engine.LockLost{At: a}, engine.LockRequestFailed{At: a},
		engine.PullError{At: a}, engine.PullRecovered{At: a}, engine.PullMoved{At: a}, engine.PullRegressed{At: a}, engine.PullSuspended{At: a}, engine.MessagesExpired{At: a}, engine.TagsCorrected{At: a}, engine.FlowBegin{At: a, Cause: core.FlowCount}, engine.FlowEnd{At: a, Cause: core.FlowBroker}, engine.OffsetIllegal{At: a},
		engine.ConsumeDiscarded{At: a}, engine.ConsumeFailed{At: a}, engine.SentBack{At: a}, engine.SendBackFailed{At: a}, engine.RetryLocal{At: a},
		engine.ConsumeBegin{At: a}, engine.ConsumeEnd{At: a}, engine.OrderlyUncommitted{At: a, Cause: core.FlowCount}, engine.RetrySuspend{At: a}, engine.MessageExpired{At: a}, engine.MessageUndecodable{At: a}, engine.OffsetPersistFailed{At: a}, engine.Pause{At: a},
		engine.Resume{At: a}, engine.ResetBegin{At: a}, engine.ResetEnd{At: a}, engine.AdminRequest{At: a}, engine.ConsumedDirectly{At: a}, engine.ShutdownStep{At: a}, engine.HoldSettled{At: a},
		engine.HeartbeatSkipped{At: a}, engine.AssignmentChanged{At: a}, engine.ClientIDShared{At: a}, engine.ClientIDAlone{At: a}, engine.StartAtFirst{At: a},
		engine.QueueRemovalDelayed{At: a}, engine.OffsetForgotten{At: a}, engine.LockRenewed{At: a}, engine.LockExpired{At: a}, engine.UnlockSent{At: a}, engine.OffsetFixed{At: a},
	}
}

// withText puts text into every text field of each event.
func withText(events []engine.Event, text string) []engine.Event {
	out := make([]engine.Event, len(events))
	for i, e := range events {
		v := reflect.New(reflect.TypeOf(e)).Elem()
		v.Set(reflect.ValueOf(e))
		for f := range v.NumField() {
			if s, ok := v.Field(f).Interface().([]string); ok && s == nil {
				v.Field(f).Set(reflect.ValueOf([]string{text, text}))
			}
		}
		eachString(v, "", func(_ string, s reflect.Value) { s.SetString(text) })
		out[i] = v.Interface().(engine.Event)
	}
	return out
}

func TestEveryEventIsOneSafeLine(t *testing.T) {
	for _, text := range []string{"", "x", "\x1b[31m\n\u202e\xff"} {
		for _, mq := range []engine.MessageQueue{{}, mq("orders-paid", "broker-a", 3)} {
			for _, e := range withText(allEvents(at(time.Second, mq)), text) {
				line := words.EventLine(e, fixtureZone)
				if bad := foreignControls(line); bad != "" || strings.Contains(line, "\x1b") {
					t.Errorf("%s: %s in %q", e.EventName(), bad, line)
				}
				if !strings.Contains(line, e.EventName()) || !strings.HasPrefix(line, "2026-11-29 14:32:06.000") {
					t.Errorf("%s: %q", e.EventName(), line)
				}
				if r := words.Describe(e); r.Kind == "" || r.Kind == "EVENT" {
					t.Errorf("%s is not described", e.EventName())
				}
			}
		}
	}
}

// FuzzNames: whatever other members and brokers call things, no byte of it does
// anything to the terminal, and the frame keeps its size.
func FuzzNames(f *testing.F) {
	for _, s := range []string{"", "orders", "\x1b]52;c;aGk=\a", "\u202eabc", "订单订单订单订单订单订单", "\xff\xc3", strings.Repeat("é", 300), "a\tb\nc", "🇩🇪🇩", "\u0e33\u0d4e", "👩‍👩‍👧", "%s%d", "\u1100\u1161\u11a8"} {
		f.Add(s, uint8(120), uint8(36))
	}
	color := lipgloss.NewRenderer(io.Discard)
	color.SetColorProfile(termenv.ANSI)
	f.Fuzz(func(t *testing.T, text string, w, h uint8) {
		s := twoTopics()
		s.Pause = &engine.PauseState{}
		eachString(reflect.ValueOf(s).Elem(), "", func(_ string, v reflect.Value) { v.SetString(text) })
		o := defaultOptions()
		o.Cluster, o.Operator, o.Title, o.ASCII = text, text, text, len(text)%7 == 0
		o.LogTail = func(int) []string { return []string{text} }
		e := resetEngine()
		d := driveOn(t, int(w%200), int(h%60), o, e, color)
		d.send(snapshotsMsg{snapshots: []*engine.Snapshot{s}})
		d.send(eventsMsg{events: withText(allEvents(engine.At{Time: fixtureNow, MQ: engine.MessageQueue{Topic: text + "t", BrokerName: text}}), text)})
		for _, keys := range []string{"", "7", "E", "1", "z", "z", "R", "P", "!", "/" + text, ":queue " + text} {
			d.keys("esc", "esc", "esc")
			for _, r := range keys {
				d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
			}
			if d.a.w > 0 && d.a.h > 0 {
				d.lines()
			}
		}
		d.send(live.HeldMsg{MQ: d.a.queue.MQ, Rows: []live.HeldRow{{ID: draw.SafeText(text), Body: draw.SafeText(text), Keys: draw.SafeText(text)}}})
		d.keys("1", "enter", "enter")
		if d.a.w > 0 && d.a.h > 0 {
			d.lines()
		}
	})
}

// FuzzKeys: no stream of keys, resizes and snapshots makes the screen panic or draw
// a frame of the wrong size.
func FuzzKeys(f *testing.F) {
	f.Add([]byte("jjjvvR\t\t\r/a\r7EG1q"))
	f.Add([]byte(":queue a/3\rRpP\x1b\x1b\x1bnnnNszlll0$"))
	names := make([]string, 0, len(keyTypes))
	for k := range keyTypes {
		names = append(names, k)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 200 {
			data = data[:200]
		}
		rnd := rand.New(rand.NewPCG(uint64(len(data)), 7))
		d := drive(t, 120, 36, defaultOptions(), resetEngine())
		snapshots := []*engine.Snapshot{fixture(0), twoTopics(), noRoute(), orderly(), manyQueues(60), wideNames()}
		for _, c := range data {
			switch {
			case c >= 0xf0:
				d.send(tea.WindowSizeMsg{Width: rnd.IntN(200), Height: rnd.IntN(60)})
			case c >= 0xe0:
				d.now = d.now.Add(time.Duration(c) * 10 * time.Millisecond)
				s := *snapshots[int(c)%len(snapshots)]
				s.At = d.now
				d.send(snapshotsMsg{snapshots: []*engine.Snapshot{&s}})
				d.send(eventsMsg{events: allEvents(at(0, s2mq(&s)))[int(c)%30:]})
			case c >= 0x80:
				d.keys(names[int(c)%len(names)])
			case c == '\r':
				d.keys("enter")
			case c == '\t':
				d.keys("tab")
			case c == 0x1b:
				d.keys("esc")
			case c >= ' ' && c < 0x7f:
				d.keys(string(rune(c)))
			}
			if d.a.w > 0 && d.a.h > 0 {
				d.lines()
			}
			if d.quit {
				return
			}
		}
	})
}

func s2mq(s *engine.Snapshot) engine.MessageQueue {
	if len(s.Queues) == 0 {
		return engine.MessageQueue{}
	}
	return s.Queues[0].MessageQueue
}
