package page

import (
	"errors"
	"eyeq/tui/draw"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
)

// Filter is what the operator typed after `/`: a text (any case), ~regexp, !without
// or >column number (also <column number). The zero value lets everything through.
type Filter struct {
	Text   string // as typed
	needle string
	re     *regexp.Regexp
	not    bool
	column string
	less   bool
	bound  float64
}

// ParseFilter reads a filter; columns are the names it may compare.
func ParseFilter(text string, columns []string) (Filter, error) {
	f := Filter{Text: text}
	rest := strings.TrimSpace(text)
	if after, ok := strings.CutPrefix(rest, "!"); ok {
		f.not, rest = true, after
	}
	switch {
	case rest == "":
		return f, nil
	case rest[0] == '~':
		re, err := regexp.Compile(anyCase + rest[1:])
		if err != nil {
			return Filter{}, errors.New(PatternFault(err))
		}
		f.re = re
	case rest[0] == '>' || rest[0] == '<':
		f.less = rest[0] == '<'
		if len(columns) == 0 {
			return Filter{}, fmt.Errorf("there are no columns to compare here: a text, ~regexp or !without")
		}
		fields := strings.Fields(rest[1:])
		if len(fields) != 2 {
			return Filter{}, fmt.Errorf("%c needs a column and a number: %cCOLUMN 100 (%s)", rest[0], rest[0], strings.Join(columns, ", "))
		}
		for _, c := range columns {
			if strings.EqualFold(c, fields[0]) {
				f.column = c
			}
		}
		if f.column == "" {
			return Filter{}, fmt.Errorf("no column %q; there are %s", draw.SafeText(fields[0]), strings.Join(columns, ", "))
		}
		n, err := parseNumber(fields[1])
		if err != nil {
			return Filter{}, err
		}
		f.bound = n
	default:
		f.needle = strings.ToLower(rest)
	}
	return f, nil
}

// PatternFault says what is wrong with a regular expression that is being typed.
func PatternFault(err error) string {
	fault, ok := errors.AsType[*syntax.Error](err)
	if !ok {
		return draw.SafeText(err.Error())
	}
	switch fault.Code {
	case syntax.ErrMissingBracket, syntax.ErrMissingParen, syntax.ErrTrailingBackslash:
		return "not whole: " + string(fault.Code)
	}
	return draw.SafeText(fmt.Sprintf("%s: %s", fault.Code, strings.TrimPrefix(fault.Expr, anyCase)))
}

// anyCase begins the pattern of a table's filter: lines apart, whatever the case.
const anyCase = "(?im)"

// parseNumber reads "1200", "1,200", "1.2k", "3M".
func parseNumber(text string) (float64, error) {
	scale := 1.0
	digits := strings.ReplaceAll(text, ",", "")
	switch {
	case strings.HasSuffix(digits, "k"), strings.HasSuffix(digits, "K"):
		scale, digits = 1e3, digits[:len(digits)-1]
	case strings.HasSuffix(digits, "M"):
		scale, digits = 1e6, digits[:len(digits)-1]
	}
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no number", draw.SafeText(text))
	}
	return n * scale, nil
}

// Active reports whether the filter hides anything at all.
func (f *Filter) Active() bool { return f.needle != "" || f.re != nil || f.column != "" }

// Matches says whether a row passes: text is what the row shows, a field a line so
// that ^ and $ are a field's ends; number gives a
// column's value, ok false where it is not known (such a row passes: unknown is not
// small).
func (f *Filter) Matches(text func() string, number func(column string) (v float64, ok bool)) bool {
	switch {
	case !f.Active():
		return true
	case f.column != "":
		v, ok := number(f.column)
		return !ok || (f.less && v < f.bound || !f.less && v > f.bound) != f.not
	case f.re != nil:
		return f.re.MatchString(text()) != f.not
	}
	return strings.Contains(strings.ToLower(text()), f.needle) != f.not
}
