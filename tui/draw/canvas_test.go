package draw

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNotesAreBrokenIntoTheRoomThereIs(t *testing.T) {
	notes := []string{"", "No offset of this group is known", "  either it is new"}
	tests := map[string]struct {
		w, n int
		want []string
	}{
		"room for all":          {40, 5, notes},
		"as many lines as rows": {20, 3, []string{"No offset of this", "group is known", "  either it is new"}},
		"indented":              {14, 9, []string{"", "No offset of", "this group is", "known", "  either it", "  is new"}},
		"air is for more room":  {40, 2, []string{"No offset of this group is known", "  either it is new"}},
		"one note for one line": {20, 1, []string{"No offset of this group is known"}},
		"none of the next note": {20, 2, []string{"No offset of this", "group is known"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, FitNotes(notes, tt.w, tt.n)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
