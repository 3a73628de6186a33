package tail

import (
	"fmt"
	"strconv"
	"strings"

	"eyeq/tui/draw"
	"eyeq/tui/page"
)

// ParsePosition reads where a tail begins: what --from of the command takes, or a time
// of today.
func ParsePosition(e *page.Env, text string) (page.TailPosition, error) {
	switch text = strings.TrimSpace(text); {
	case text == "latest", text == "last", text == "now", text == "end", text == "":
		return page.TailPosition{}, nil
	case text == "earliest", text == "first":
		return page.TailPosition{Earliest: true}, nil
	case strings.HasPrefix(text, "offset:"):
		n, err := strconv.ParseInt(strings.ReplaceAll(text[len("offset:"):], ",", ""), 10, 64)
		if err != nil || n < 0 {
			return page.TailPosition{}, fmt.Errorf("%q is no offset", draw.SafeText(text))
		}
		return page.TailPosition{ByOffset: true, Offset: n}, nil
	}
	t, err := page.ParseTime(text, e.Now, e.Options.Location)
	return page.TailPosition{Time: t}, err
}
