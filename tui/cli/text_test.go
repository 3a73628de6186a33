package cli

import (
	"strings"
	"testing"

	"eyeq/tui/table"
)

func TestTheSummaryCountsAsPeopleDo(t *testing.T) {
	for s, want := range map[summary]string{
		{Messages: 1, Duplicates: 1, Group: "g", ClientID: "me"}:                     "1 message, 1 duplicate, 0 failed in 0.000 s; group g, client id me",
		{Messages: 20, Failed: 1, Seconds: 1.5, Group: "g", ClientID: "me"}:          "20 messages, 0 duplicates, 1 failed in 1.500 s; group g, client id me",
		{Kind: "summary", Messages: 1234567, Group: "a\x1b[2J", ClientID: "\u202eb"}: "1,234,567 messages, 0 duplicates, 0 failed in 0.000 s; group a␛[2J, client id ‹U+202E›b",
	} {
		if got := s.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// One client's id of many characters does not make every row as long.
func TestATableIsNotAsWideAsTheLongestID(t *testing.T) {
	long := "begin" + strings.Repeat("x", 30_000) + "end"
	text := string(appendTable(nil, "lrl", [][]string{{"CLIENT", "N", "WHY"}, {"c1", "1", "-"}, {long, "2", long}}))
	lines := strings.Split(text, "\n")
	if w := table.Width(lines[1]); w > maxCell+20 {
		t.Errorf("a row of short cells is %d wide", w)
	}
	if !strings.HasPrefix(lines[2], "beginx") || !strings.Contains(lines[2], "end  ") || !strings.HasSuffix(lines[2], long) {
		t.Errorf("the row of the long id is %.300s", lines[2])
	}
}
