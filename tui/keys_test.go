package tui

import (
	"eyeq/tui/page"
	"strings"
	"testing"
)

func TestTheKeyTableHasNoClash(t *testing.T) {
	m, err := page.NewKeymap(nil, false)
	if err != nil {
		t.Fatal(err)
	}
	names := map[page.Action]bool{}
	for _, b := range m.Bindings {
		if names[b.Name] {
			t.Errorf("%s is bound twice", b.Name)
		}
		names[b.Name] = true
		if b.Help().Desc == "" || b.Help().Key == "" || len(b.Keys()) == 0 {
			t.Errorf("%s has no help or no key", b.Name)
		}
	}
	for _, name := range hintRank {
		if m.Of(name) == nil || m.Of(name).Hint == "" {
			t.Errorf("%s is ranked for the hint line but has no hint", name)
		}
	}
}

func TestSingleKeysThatWriteAreCapitals(t *testing.T) {
	for _, b := range page.DefaultKeys() {
		if b.Write && strings.ToLower(b.Keys()[0]) == b.Keys()[0] {
			t.Errorf("%s writes to brokers and opens on %q", b.Name, b.Keys()[0])
		}
	}
}

func TestKeysCanBeChanged(t *testing.T) {
	tests := map[string]struct {
		keys  map[string]string
		wrong string // part of the error; "" for none
	}{
		"one":                        {map[string]string{"reset": "X"}, ""},
		"several, both spellings":    {map[string]string{"reset": "X ctrl-x alt+r f5"}, ""},
		"exchanged":                  {map[string]string{"reset": "p", "pause": "R"}, ""},
		"the same key in two views":  {map[string]string{"next-error": "p"}, ""},
		"clash":                      {map[string]string{"reset": "p"}, "both pause and reset"},
		"clash of two overrides":     {map[string]string{"reset": "w", "mark": "w"}, "both mark and reset"},
		"unknown name":               {map[string]string{"rest": "x"}, `"rest" is no key binding`},
		"the way out":                {map[string]string{"quit": "x"}, "cannot be changed"},
		"no key":                     {map[string]string{"reset": " "}, "both reset and freeze"},
		"nothing":                    {map[string]string{"reset": ""}, "at least one key"},
		"a word that is no key":      {map[string]string{"reset": "reset"}, "is no key"},
		"space is a key with a name": {map[string]string{"reset": "space", "freeze": "F", "mark-message": "v"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := page.CheckKeys(tt.keys)
			switch {
			case tt.wrong == "" && err != nil:
				t.Errorf("got %v", err)
			case tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)):
				t.Errorf("got %v, want %q in it", err, tt.wrong)
			}
		})
	}
}

func TestBindingsAreTheTable(t *testing.T) {
	list := page.Bindings()
	if len(list) != len(page.DefaultKeys()) {
		t.Errorf("%d bindings of %d", len(list), len(page.DefaultKeys()))
	}
	for _, b := range list {
		if b.Name == "reset" && (b.Keys != "R" || b.Where != "Live, Queue, Held, Lag, Watch" || b.Help == "") {
			t.Errorf("reset is described as %+v", b)
		}
	}
}

func TestASCIIKeysHaveNames(t *testing.T) {
	m, _ := page.NewKeymap(nil, true)
	if got := m.First("detail"); got != "enter" {
		t.Errorf("enter is written %q", got)
	}
}
