package tui

import (
	"errors"
	"io"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
)

// pieces is a terminal that gives one piece a read; late are those that come after the
// wait for a key's rest.
type pieces struct {
	list  []string
	late  map[int]bool
	given int
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.given == len(p.list) {
		return 0, io.EOF
	}
	n := copy(b, p.list[p.given])
	p.given++
	return n, nil
}

func (p *pieces) more(within time.Duration) bool {
	return within == escapeWait && p.given < len(p.list) && !p.late[p.given]
}

func TestKeysComeWhole(t *testing.T) {
	tests := map[string]struct {
		pieces []string
		late   map[int]bool
		want   []string
	}{
		"an arrow in three":         {[]string{"\x1b", "[", "B", "j"}, nil, []string{"\x1b[B", "j"}},
		"an arrow amid others":      {[]string{"jj\x1b", "[B"}, nil, []string{"jj\x1b[B"}},
		"a key with a number":       {[]string{"\x1b[1", "5", "~"}, nil, []string{"\x1b[15~"}},
		"an application key":        {[]string{"\x1bO", "B"}, nil, []string{"\x1bOB"}},
		"a click":                   {[]string{"\x1b[<0;12;", "5M"}, nil, []string{"\x1b[<0;12;5M"}},
		"an old click":              {[]string{"\x1b[M", " !", "!"}, nil, []string{"\x1b[M !!"}},
		"a key of the console":      {[]string{"\x1b[[", "A"}, nil, []string{"\x1b[[A"}},
		"a character":               {[]string{"\xe8", "\xae", "\xa2x"}, nil, []string{"订x"}},
		"escape alone":              {[]string{"\x1b", "j"}, map[int]bool{1: true}, []string{"\x1b", "j"}},
		"what is late is by itself": {[]string{"\x1b", "[B"}, map[int]bool{1: true}, []string{"\x1b", "[B"}},
		"letters wait for nothing":  {[]string{"j", "k"}, nil, []string{"j", "k"}},
		"nor does a whole key":      {[]string{"\x1b[B", "k"}, nil, []string{"\x1b[B", "k"}},
		"no character at all":       {[]string{"\xff", "k"}, nil, []string{"\xff", "k"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := &pieces{list: tt.pieces, late: tt.late}
			k := wholeKeys{p, p.more}
			var got []string
			for {
				b := make([]byte, 256)
				n, err := k.Read(b)
				if errors.Is(err, io.EOF) {
					break
				}
				got = append(got, string(b[:n]))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("reads (-want +got):\n%s", diff)
			}
		})
	}
}

func TestATerminalTellsWhetherThereIsMore(t *testing.T) {
	if !canWaitForInput {
		t.Skip("not on this system")
	}
	master, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo terminal: %v", err)
	}
	defer master.Close()
	defer tty.Close()
	if inputWithin(tty, 0) {
		t.Error("there is input before any was written")
	}
	go master.WriteString("\x1b[B\n")
	if !inputWithin(tty, patience) {
		t.Error("what was written is not seen")
	}
	in, ok := terminalInput(tty).(interface {
		io.ReadWriteCloser
		Fd() uintptr
		Name() string
	})
	if !ok {
		t.Fatal("bubbletea would not take it for a terminal")
	}
	if f, ok := in.(keyFile); !ok || f.file != tty || in.Fd() != tty.Fd() {
		t.Error("it is another file")
	}
}

// A key typed at once after escape is not lost: the two arrive as alt with that key.
func TestAKeyRightAfterEscapeIsBoth(t *testing.T) {
	alt := func(r rune) tea.KeyMsg { return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: true} }
	d := drive(t, 120, 36, defaultOptions(), nil).keys("?").see("HELP")
	d.send(alt(':'))
	d.see("COMMAND").typing("live one")
	d.send(alt('b')) // a word back, as text fields have it
	d.typing("x").see(":live x▏one")
	o := defaultOptions()
	o.Keys = map[string]string{"help": "alt+h"}
	d = drive(t, 120, 36, o, nil)
	d.send(alt('h'))
	d.see("HELP")
}
