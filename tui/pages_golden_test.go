package tui

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine/inspect"
	"eyeq/tui/page"
	"eyeq/tui/pages"
)

// TestGoldenPages holds each page in each state at five sizes: one file a state.
func TestGoldenPages(t *testing.T) {
	full := func(t *testing.T, w, h int) *driver { return driveCluster(t, w, h, defaultOptions(), fullCluster()) }
	refused := errors.New("name server 10.0.3.11:9876: connection refused")
	states := map[string]func(t *testing.T, w, h int) *driver{
		"groups": full,
		"groups-loading": func(t *testing.T, w, h int) *driver {
			d := full(t, w, h)
			d.a.setPage(page.ViewGroups, pages.NewGroupsView(d.a.env)) // asked, and no answer yet
			d.a.pages[page.ViewGroups], _ = d.a.page().Update(page.DueMsg{})
			d.now = d.now.Add(2100 * time.Millisecond)
			d.send(tea.WindowSizeMsg{Width: w, Height: h})
			return d
		},
		"groups-filter": func(t *testing.T, w, h int) *driver { return full(t, w, h).keys("v", "j", "v", "/").typing("setle") },
		"groups-empty": func(t *testing.T, w, h int) *driver {
			return driveCluster(t, w, h, defaultOptions(), &fakeCluster{})
		},
		"groups-error": func(t *testing.T, w, h int) *driver {
			f := fullCluster()
			f.groups = func() (inspect.GroupList, error) { return inspect.GroupList{}, refused }
			return driveCluster(t, w, h, defaultOptions(), f)
		},
		"groups-stale": func(t *testing.T, w, h int) *driver {
			f := fullCluster()
			d := driveCluster(t, w, h, defaultOptions(), f)
			f.groups = func() (inspect.GroupList, error) { return inspect.GroupList{}, refused }
			return d.later(41 * time.Second)
		},
		"groups-read-only": func(t *testing.T, w, h int) *driver {
			o := defaultOptions()
			o.Mode, o.ModeWhy = "read-only", "clusters.prod-sh.mode"
			return driveCluster(t, w, h, o, fullCluster()).keys(":").typing("pause").keys("enter")
		},
		"groups-ascii": func(t *testing.T, w, h int) *driver {
			o := defaultOptions()
			o.ASCII = true
			return driveCluster(t, w, h, o, fullCluster())
		},
		"groups-help":    func(t *testing.T, w, h int) *driver { return full(t, w, h).keys("?") },
		"groups-command": func(t *testing.T, w, h int) *driver { return full(t, w, h).keys(":").typing("lag o") },
		"lag":            func(t *testing.T, w, h int) *driver { return full(t, w, h).keys("2") },
		"lag-rates": func(t *testing.T, w, h int) *driver {
			f := fullCluster()
			l := onlineLag()
			l.Lag = inspect.Exact(110_000)
			l.UnknownQueues, l.Queues = 0, append(l.Queues[:5:5], l.Queues[6])
			f.lag = func(string) (inspect.GroupLag, error) { return l, nil }
			d := driveCluster(t, w, h, defaultOptions(), f).keys("2")
			for range 8 {
				l.Queues = append([]inspect.QueueLag{}, l.Queues...)
				l.Queues[0].Committed.Value += 4_000
				l.Queues[1].Max.Value += 1_000
				l.Lag.Value -= 3_000
				d.later(2 * time.Second)
			}
			return d
		},
		"lag-closed": func(t *testing.T, w, h int) *driver { return full(t, w, h).keys("2", "k", "enter", "G", "enter") },
		"lag-online": func(t *testing.T, w, h int) *driver {
			f := fullCluster()
			f.lag = func(string) (inspect.GroupLag, error) { return onlineLag(), nil }
			return driveCluster(t, w, h, defaultOptions(), f).keys("2", "v")
		},
		"lag-frozen": func(t *testing.T, w, h int) *driver {
			f := fullCluster()
			d := driveCluster(t, w, h, defaultOptions(), f).keys("2", "space")
			f.lag = func(string) (inspect.GroupLag, error) { return onlineLag(), nil }
			l := fixtureLag()
			l.Queues[0].Max.Value += 100
			f.lag = func(string) (inspect.GroupLag, error) { return l, nil }
			return d.later(9 * time.Second)
		},
		"lag-broadcast": func(t *testing.T, w, h int) *driver {
			f := fullCluster()
			f.lag = func(g string) (inspect.GroupLag, error) {
				return inspect.GroupLag{Group: g, State: "broadcasting", Model: 2, Members: inspect.Exact(4), Lag: inspect.Unknown(inspect.Reason{Kind: inspect.ReasonBroadcasting})}, nil
			}
			return driveCluster(t, w, h, defaultOptions(), f).keys("2")
		},
		"lag-error": func(t *testing.T, w, h int) *driver {
			f := fullCluster()
			f.lag = func(g string) (inspect.GroupLag, error) {
				return inspect.GroupLag{}, errors.New("there is no group " + g)
			}
			return driveCluster(t, w, h, defaultOptions(), f).keys("2")
		},
		"group":   func(t *testing.T, w, h int) *driver { return full(t, w, h).keys("d") },
		"group-2": func(t *testing.T, w, h int) *driver { return full(t, w, h).keys("d", "tab", "z") },
		"group-offline": func(t *testing.T, w, h int) *driver {
			f := fullCluster()
			f.members = func(string) (inspect.Members, error) { return inspect.Members{}, nil }
			f.group = func(string) (inspect.GroupDetail, error) {
				return inspect.GroupDetail{Row: fixtureGroups()[4]}, nil
			}
			return driveCluster(t, w, h, defaultOptions(), f).keys("d")
		},
		"group-member": func(t *testing.T, w, h int) *driver { return full(t, w, h).keys("d", "j", "enter") },
		"topics":       func(t *testing.T, w, h int) *driver { return full(t, w, h).keys("5") },
		"topics-all":   func(t *testing.T, w, h int) *driver { return full(t, w, h).keys("5", "a", "s") },
		"topic":        func(t *testing.T, w, h int) *driver { return full(t, w, h).keys("5", "enter") },
		"brokers":      func(t *testing.T, w, h int) *driver { return full(t, w, h).keys("6") },
		"brokers-info": func(t *testing.T, w, h int) *driver { return full(t, w, h).keys("6", "enter") },
		"brokers-mapped": func(t *testing.T, w, h int) *driver {
			f := fullCluster()
			b := fixtureBrokers()
			b.Brokers[0].Dialled, b.Brokers[3].Dialled, b.Namesrv[0].Dialled = "127.0.0.1:20911", "gate.example:10911", "127.0.0.1:9876"
			f.brokers = func() (inspect.Brokers, error) { return b, nil }
			return driveCluster(t, w, h, defaultOptions(), f).keys("6")
		},
		"resetany": func(t *testing.T, w, h int) *driver { return full(t, w, h).keys("2", "R") },
		"resetany-file": func(t *testing.T, w, h int) *driver {
			dir, err := os.Getwd()
			if err != nil {
				t.Fatal(err)
			}
			path := savedOffsets(t, "order-settle", 100, 200, -1)
			defer t.Chdir(dir) // of the golden files
			return toFileTarget(full(t, w, h)).typing(path).keys("enter")
		},
		"resetany-done": func(t *testing.T, w, h int) *driver { return resetGroup(full(t, w, h)) },
		"pausegroup": func(t *testing.T, w, h int) *driver {
			return full(t, w, h).keys(":").typing("pause").keys("enter", "tab").typing("bad batch 7781").keys("tab").typing("order-settle").keys("tab")
		},
		"pausegroup-done": func(t *testing.T, w, h int) *driver {
			return full(t, w, h).keys(":").typing("pause").keys("enter", "tab", "tab").typing("order-settle").keys("tab", "enter")
		},
	}
	for name, start := range states {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			for _, size := range sizes {
				d := start(t, size[0], size[1])
				fmt.Fprintf(&got, "== %dx%d\n%s\n", size[0], size[1], trimLines(d.frame()))
			}
			compareGolden(t, "page-"+name, got.String())
		})
	}
}

// resetGroup resets the topic of the group under the cursor, without the queue that
// cannot be read.
func resetGroup(d *driver) *driver {
	d.keys("2", "R", "tab", "tab", "left", "left", "enter", "tab", "tab", "down", "down", "down", "down", " ", "tab").typing("bad batch").keys("tab").typing("order-settle")
	return d.keys("tab", "enter")
}
