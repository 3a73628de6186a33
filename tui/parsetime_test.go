package tui

import (
	"eyeq/tui/page"
	"strings"
	"testing"
	"time"
)

// What has an offset of its own is read with it, whatever --tz says.
func TestParseTime(t *testing.T) {
	shanghai, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 29, 6, 32, 0, 0, time.UTC)
	tests := map[string]struct {
		text string
		want string // in UTC; "" is an error
	}{
		"Z is UTC, whatever --tz says": {"2026-07-21T23:28:00Z", "2026-07-21T23:28:00Z"},
		"an offset is kept":            {"2026-08-20T10:00:00+08:00", "2026-08-20T02:00:00Z"},
		"an offset with a blank":       {"2026-08-20 10:00:00+02:00", "2026-08-20T08:00:00Z"},
		"fractions":                    {"2026-08-20T10:00:00.25Z", "2026-08-20T10:00:00.25Z"},
		"local, to the minute":         {"2026-08-20 10:00", "2026-08-20T02:00:00Z"},
		"local, to the second":         {"2026-08-20 10:00:05", "2026-08-20T02:00:05Z"},
		"local with T":                 {"2026-08-20T10:00:05", "2026-08-20T02:00:05Z"},
		"a day":                        {"2026-08-20", "2026-08-19T16:00:00Z"},
		"minutes ago":                  {"-10m", "2026-11-29T06:22:00Z"},
		"mixed ago":                    {"-1h30m", "2026-11-29T05:02:00Z"},
		"days ago":                     {"-2d", "2026-11-27T06:32:00Z"},
		"forward":                      {"10m", ""},
		"twice negative":               {"--10m", ""},
		"nonsense":                     {"yesterday", ""},
		"empty":                        {"", ""},
		"a time of today":              {"10:00", "2026-11-29T02:00:00Z"},
		"with seconds":                 {"10:00:05", "2026-11-29T02:00:05Z"},
		"milliseconds of the epoch":    {"1795933920123", "2026-11-29T06:32:00.123Z"},
		"seconds of the epoch":         {"1795933920", ""},
		"zero":                         {"0", ""},
		"no time of a day":             {"25:00", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := page.ParseTime(tt.text, now, shanghai)
			text := got.UTC().Format(time.RFC3339Nano)
			if err != nil {
				text = ""
			}
			if text != tt.want {
				t.Errorf("ParseTime(%q) = %q, %v, want %q", tt.text, text, err, tt.want)
			}
		})
	}
}

// A clock that is put back shows an hour twice, and one that is put forward leaves one out:
// what may be meant is named, and nothing is guessed.
func TestParseTimeWhereClocksAreChanged(t *testing.T) {
	now := time.Date(2026, 11, 29, 6, 32, 0, 0, time.UTC)
	for _, tt := range []struct{ zone, text, want, why string }{
		{"Europe/Berlin", "2026-10-25 01:59:59", "2026-10-24T23:59:59Z", ""},
		{"Europe/Berlin", "2026-10-25 02:00", "", "2026-10-25 02:00:00 comes twice in Europe/Berlin, clocks are put back: write 2026-10-25T02:00:00+02:00 for the first or 2026-10-25T02:00:00+01:00 for the second"},
		{"Europe/Berlin", "2026-10-25 02:59:59", "", "2026-10-25T02:59:59+02:00 for the first or 2026-10-25T02:59:59+01:00 for the second"},
		{"Europe/Berlin", "2026-10-25 03:00", "2026-10-25T02:00:00Z", ""},
		{"Europe/Berlin", "2026-10-25T02:30:00+01:00", "2026-10-25T01:30:00Z", ""},
		{"Europe/Berlin", "2026-03-29 02:30", "", "2026-03-29 02:30:00 is skipped in Europe/Berlin: clocks are put forward over it"},
		{"Europe/Berlin", "2026-03-29 03:00", "2026-03-29T01:00:00Z", ""},
		{"America/New_York", "2026-11-01 01:30", "", "2026-11-01T01:30:00-04:00 for the first or 2026-11-01T01:30:00-05:00 for the second"},
		{"Australia/Lord_Howe", "2026-04-05 01:45", "", "2026-04-05T01:45:00+11:00 for the first or 2026-04-05T01:45:00+10:30 for the second"}, // half an hour
		{"Australia/Lord_Howe", "2026-04-05 01:15", "2026-04-04T14:15:00Z", ""},
	} {
		loc, err := time.LoadLocation(tt.zone)
		if err != nil {
			t.Fatal(err)
		}
		got, err := page.ParseTime(tt.text, now, loc)
		switch {
		case tt.why == "" && (err != nil || got.UTC().Format(time.RFC3339) != tt.want):
			t.Errorf("%s in %s: %v, %v; want %s", tt.text, tt.zone, got, err, tt.want)
		case tt.why != "" && (err == nil || !strings.Contains(err.Error(), tt.why)):
			t.Errorf("%s in %s: %v, %v; want %q", tt.text, tt.zone, got, err, tt.why)
		}
	}
}
