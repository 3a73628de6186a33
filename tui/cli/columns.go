package cli

import (
	"strconv"
	"strings"
	"time"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/table"
)

// textUnknown stands in tables for what is not known.
const textUnknown = "?"

// numberText writes a Number: exact, a bound, or unknown.
func numberText(n inspect.Number) string {
	switch {
	case n.Known && n.AtLeast:
		return "≥" + strconv.FormatInt(n.Value, 10)
	case n.Known:
		return strconv.FormatInt(n.Value, 10)
	case n.Why.Kind == inspect.ReasonNoCommit:
		return "none"
	case n.Why.Kind == inspect.ReasonNone, n.Why.Kind == inspect.ReasonUnsupported:
		return textUnknown
	}
	return n.Why.Kind.String()
}

// ageText says how long ago t was; "" when it is not known.
func ageText(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return inspect.Span(now.Sub(t))
}

// timeText is a time in the zone of --tz; "" when it is not known.
func (e *env) timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.In(e.location).Format(textTime)
}

// maxCell is how wide a cell may be that others stand behind: no topic or group has a
// longer name, but a client gives itself its id, of up to 32 KiB, and each row is as wide
// as the widest.
const maxCell = 256

// appendTable writes rows, the first of which is the head. align has a letter for each
// column: r puts its cells to the right. Foreign text is made safe, and cut to maxCell but
// in the last column; JSON has it whole.
func appendTable(dst []byte, align string, rows [][]string) []byte {
	widths := make([]int, len(align))
	for _, row := range rows {
		for i, cell := range row {
			row[i] = draw.SafeText(cell)
			if i < len(align)-1 {
				row[i] = table.CutMiddle(row[i], maxCell)
			}
			widths[i] = max(widths[i], table.Width(row[i]))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-table.Width(cell))
			if align[i] == 'r' {
				line.WriteString(pad + cell)
			} else {
				line.WriteString(cell + pad)
			}
			line.WriteString("  ")
		}
		dst = append(dst, strings.TrimRight(line.String(), " ")...)
		dst = append(dst, '\n')
	}
	return dst
}

// listText joins names, and counts those that there is no room for.
func listText(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + " +" + strconv.Itoa(len(names)-most)
}

// agoText is the age of a time that a member gives.
func agoText(t timeJSON, now time.Time) string { return ageText(time.Time(t), now) }
