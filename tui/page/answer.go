package page

import (
	"encoding/json"
	"time"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/words"
)

// JsonText is a text to be copied that is made when it is wanted.
func JsonText(what string, v any) Copied {
	return Copied{What: what + " as JSON", Text: func() (string, error) {
		b, err := json.MarshalIndent(v, "", "  ")
		return string(inspect.PlainJSON(b)), err
	}}
}

// Untold is the right end of the tabs where nothing was told: there is no such thing, it
// could not be asked for, or the answer is awaited.
func Untold(th *draw.Theme, gone, failed bool) []draw.Segment {
	switch {
	case gone:
		return []draw.Segment{draw.Styled(th.Bad, words.Failure.Sign()+" not there ")}
	case failed:
		return []draw.Segment{draw.Styled(th.Bad, words.Failure.Sign()+" no answer ")}
	}
	return []draw.Segment{draw.Styled(th.Dim, "reading … ")}
}

// NoteFor is how long the answer to a key stays.
const NoteFor = 10 * time.Second

// StaleAfter is when a snapshot counts as old.
const StaleAfter = 3 * time.Second

// CommitWindow is the least distance of two samples that tell how fast commits
// move: members send them every 5 s, so in less they seem to stand still.
const CommitWindow = 5 * time.Second
