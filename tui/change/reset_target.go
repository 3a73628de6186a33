package change

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"eyeq/engine/core"
	"eyeq/tui/draw"
	"eyeq/tui/page"
)

var resetKinds = []core.ResetKind{core.ResetEarliest, core.ResetLatest, core.ResetTime, core.ResetOffset, core.ResetShift, toFile}

func (d *ResetDialog) hasValue() bool {
	return d.kind != core.ResetEarliest && d.kind != core.ResetLatest
}

// target reads the form.
func (d *ResetDialog) target() (core.ResetTarget, error) {
	text := strings.TrimSpace(d.value.Value())
	t := core.ResetTarget{Kind: d.kind}
	switch d.kind {
	case core.ResetTime:
		at, err := page.ParseTime(text, d.Env.Now, d.Env.Options.Location)
		t.Time = at
		return t, err
	case core.ResetOffset, core.ResetShift:
		n, err := strconv.ParseInt(strings.ReplaceAll(strings.TrimPrefix(strings.ReplaceAll(text, "−", "-"), "+"), ",", ""), 10, 64)
		if err != nil {
			return t, fmt.Errorf("%q is no number", draw.SafeText(text))
		}
		if d.kind == core.ResetOffset && n < 0 {
			return t, fmt.Errorf("an offset is not negative")
		}
		t.Offset = n
	case toFile:
		if text == "" {
			return t, errors.New("type the path of a file that a reset has saved")
		}
	}
	return t, nil
}
