package tui

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/tui/page"
)

// savedOffsets writes what a reset saves, of the first queues of orders-paid, as
// offsets.json of a directory that becomes the current one.
func savedOffsets(t *testing.T, group string, offsets ...int64) string {
	t.Helper()
	t.Chdir(t.TempDir())
	s := inspect.SavedOffsets{Time: fixtureNow.Add(-30 * time.Minute), Cluster: "prod-sh", Group: group}
	for i, n := range offsets {
		q := inspect.SavedQueue{Topic: "orders-paid", Broker: "broker-a", Queue: int32(i)}
		if n >= 0 {
			q.Committed = &n
		}
		s.Queues = append(s.Queues, q)
	}
	path, err := s.Save(".")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, "offsets.json"); err != nil {
		t.Fatal(err)
	}
	return "offsets.json"
}

// toFileTarget opens the reset dialog of the group and goes to the path's field.
func toFileTarget(d *driver) *driver {
	return d.keys("2", "R", "tab", "tab", "right", "tab").see("(•)file")
}

func TestAResetGoesToTheOffsetsOfAFile(t *testing.T) {
	path := savedOffsets(t, "order-settle", 100, 200, -1)
	f := fullCluster()
	var plans []inspect.ResetRequest
	inner := f.planReset
	f.planReset = func(r inspect.ResetRequest) (inspect.ResetPlan, error) { plans = append(plans, r); return inner(r) }
	d := toFileTarget(driveCluster(t, 120, 36, defaultOptions(), f))
	asked := len(plans)
	d.see("Apply is off: the form changed").typing(path).see("[offsets.json")
	if len(plans) != asked {
		t.Error("a half-typed path was read")
	}
	d.keys("enter").see("= 2 queues, saved 2026-11-29 14:02:07 +08:00").see("1 had none and stay").see("--to file:offsets.json --dry-run")
	want := inspect.ResetRequest{Group: "order-settle", Topics: []string{"orders-paid"},
		Exact: map[engine.MessageQueue]int64{mq("orders-paid", "broker-a", 0): 100, mq("orders-paid", "broker-a", 1): 200}}
	if diff := cmp.Diff(want, plans[len(plans)-1]); diff != "" {
		t.Errorf("the request (-want +got):\n%s", diff)
	}
	d.keys("shift+tab", "left").see("(•)shift").keys("tab", "enter")
	if last := plans[len(plans)-1]; last.Exact != nil {
		t.Errorf("another target still has the file's offsets: %+v", last)
	}
}

// What the file has to say against itself is shown, and nothing can be applied.
func TestAFileThatCannotBeUsedSaysWhy(t *testing.T) {
	tests := map[string]struct{ text, see string }{
		"missing":     {"", "no such file"},
		"no JSON":     {"queue,offset\n", "no file of saved offsets"},
		"other JSON":  {`{"kind":"message","group":"g"}`, `its kind is "message"`},
		"two offsets": {`{"kind":"eyeq-offsets","group":"g","queues":[{"topic":"t","broker":"b"},{"topic":"t","broker":"b"}]}`, "is there twice"},
		"no offset":   {`{"kind":"eyeq-offsets","group":"g","queues":[{"topic":"t","broker":"b","queue":1}]}`, "has no offset in it"},
		"hostile":     {`{"kind":"\u001b]0;x\u0007","group":"g"}`, `its kind is`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if tt.text != "" {
				if err := os.WriteFile("f.json", []byte(tt.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			f := fullCluster()
			d := toFileTarget(driveCluster(t, 120, 36, defaultOptions(), f))
			f.planReset = func(inspect.ResetRequest) (inspect.ResetPlan, error) {
				t.Error("the cluster was asked")
				return inspect.ResetPlan{}, nil
			}
			d.typing("f.json").keys("enter").see(tt.see).see("there is no preview")
		})
	}
	d := toFileTarget(driveCluster(t, 80, 24, defaultOptions(), fullCluster()))
	d.keys("enter").see("type the path of a file")
}

// The command line takes offsets of another group, too, but one has to know.
func TestAFileOfAnotherGroupIsNamed(t *testing.T) {
	path := savedOffsets(t, "audit-copy", 7)
	toFileTarget(driveCluster(t, 120, 36, defaultOptions(), fullCluster())).typing(path).keys("enter").see("! of group audit-copy on prod-sh: 1 queue")
}

// After a reset the way back is one choice: its file stands in the field already.
func TestTheFileOfTheLastResetIsOffered(t *testing.T) {
	d := resetGroup(driveCluster(t, 120, 36, defaultOptions(), fullCluster())).see("3 of 4 verified").keys("enter")
	toFileTarget(d).see("/offsets/order-settle.json")
}

func TestOwnQueuesGoToTheOffsetsOfAFile(t *testing.T) {
	path := savedOffsets(t, "order-settle", 100, 200)
	e := resetEngine()
	var previews, resets []engine.ResetRequest
	preview, reset := e.preview, e.reset
	e.preview = func(r engine.ResetRequest) ([]engine.ResetRow, error) {
		previews = append(previews, r)
		return preview(r)
	}
	e.reset = func(r engine.ResetRequest) ([]engine.ResetRow, error) { resets = append(resets, r); return reset(r) }
	d := toReset(t, e).keys("tab", "right", "right", "right", "tab").typing(path).keys("enter")
	last := previews[len(previews)-1]
	if want := (map[engine.MessageQueue]int64{mq("orders-paid", "broker-a", 0): 100, mq("orders-paid", "broker-a", 1): 200}); !cmp.Equal(last.Exact, want) || len(last.Queues) != 2 {
		t.Errorf("the preview was of %+v", last)
	}
	d.keys("tab", "tab", "tab").typing("order-settle").keys("tab").see("Apply writes the offsets of 2 queues").keys("enter")
	if rows, _ := preview(last); len(resets) != 1 || !cmp.Equal(resets[0].Preview, rows) {
		t.Errorf("resets %+v", resets)
	}
	none := savedOffsets(t, "order-settle") // its queues are elsewhere
	text, _ := json.Marshal(inspect.SavedOffsets{Kind: "eyeq-offsets", Group: "order-settle",
		Queues: []inspect.SavedQueue{{Topic: "elsewhere", Broker: "b", Committed: new(int64)}}})
	if err := os.WriteFile(none, text, 0o600); err != nil {
		t.Fatal(err)
	}
	toReset(t, e).keys("tab", "right", "right", "right", "tab").typing(none).keys("enter").see("no offset of any of these queues")
}

func TestAHomeDirectoryIsWrittenAsAShellDoes(t *testing.T) {
	dir, err := os.UserHomeDir()
	if err != nil {
		t.Skip(err)
	}
	if got, want := page.HomeDir("~/x.json"), filepath.Join(dir, "x.json"); got != want || strings.Contains(got, "~") {
		t.Errorf("%s, want %s", got, want)
	}
}
