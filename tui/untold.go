package tui

import (
	"encoding/json"
	"time"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/words"
)

// jsonText is a text to be copied that is made when it is wanted.
func jsonText(what string, v any) page.Copied {
	return page.Copied{What: what + " as JSON", Text: func() (string, error) {
		b, err := json.MarshalIndent(v, "", "  ")
		return string(inspect.PlainJSON(b)), err
	}}
}

// untold is the right end of the tabs where nothing was told: there is no such thing, it
// could not be asked for, or the answer is awaited.
func untold(th *draw.Theme, gone, failed bool) []draw.Segment {
	switch {
	case gone:
		return []draw.Segment{draw.Styled(th.Bad, words.Failure.Sign()+" not there ")}
	case failed:
		return []draw.Segment{draw.Styled(th.Bad, words.Failure.Sign()+" no answer ")}
	}
	return []draw.Segment{draw.Styled(th.Dim, "reading … ")}
}

// noteFor is how long the answer to a key stays.
const noteFor = 10 * time.Second

// staleAfter is when a snapshot counts as old.
const staleAfter = 3 * time.Second

// commitWindow is the least distance of two samples that tell how fast commits
// move: members send them every 5 s, so in less they seem to stand still.
const commitWindow = 5 * time.Second
