package cli

import "testing"

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
